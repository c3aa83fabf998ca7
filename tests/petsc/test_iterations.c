/* iterations LEAST MOST: conjugate gradients with multigrid on grids of LEAST, 2 LEAST .. MOST squares along a side; a line "N squares,
 * M iterations" for each. */
#include "grid.h"

static long long solve(int side) {
  struct grid g = grid_make(side);
  op_partition("rcb", "", g.node_set, NULL, g.at);
  check(op_fix_mat(g.k, g.fixed, g.fixed, 1) == OP_OK && grid_assemble(&g) == OP_OK);
  const long long before = op_counters()->iterations;
  check(op_solve(g.k, g.b, g.x, "grid_") == OP_OK);
  const long long iterations = op_counters()->iterations - before;
  op_free_mat(g.k);
  return iterations;
}

int main(int argc, char **argv) {
  setenv("PETSC_OPTIONS", "-grid_ksp_type cg -grid_pc_type gamg -grid_ksp_rtol 1e-8", 0);
  check(argc > 2 && op_init(argc, argv, 0) == OP_OK);
  const int most = atoi(argv[2]);
  for (int side = atoi(argv[1]); side <= most; side *= 2)
    op_printf("%d squares, %lld iterations\n", side, solve(side));
  check(op_exit() == OP_OK);
  return 0;
}
