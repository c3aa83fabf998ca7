/* switch: a solver keeps its Mat while the library tries both forms of the matrix: the Mat stays the same, its values and products are
 * right with either, and the solver follows. */
#include <math.h>

#include "grid.h"

#include <petscksp.h>

#include "op2jit_petsc.h"

#define petsc(call) check((call) == 0)

/* The largest component of b - K x, by loops. */
static double residual(struct grid *g) {
  double *y = memory((size_t)g->nodes, sizeof *y), *b = memory((size_t)g->nodes, sizeof *b), most = 0;
  check(grid_multiply(g) == OP_OK && op_fetch_data(g->y, y) == OP_OK && op_fetch_data(g->b, b) == OP_OK);
  for (int n = 0; op_is_root() && n < g->nodes; n++)
    most = fmax(most, fabs(y[n] - b[n]));
  free(y);
  free(b);
  return most;
}

static void solve(struct grid *g, KSP ksp) {
  KSPConvergedReason reason;
  const Vec b = op_dat_petsc(g->b, OP_READ), x = op_dat_petsc(g->x, OP_WRITE);
  check(b && x);
  petsc(KSPSolve(ksp, b, x));
  petsc(KSPGetConvergedReason(ksp, &reason));
  check(op_petsc_end(g->x) == OP_OK && op_petsc_end(g->b) == OP_OK);
  check(reason > 0 && residual(g) < 1e-6);
}

int main(int argc, char **argv) {
  setenv("OP2_TUNE", "force", 1);
  check(op_init(argc, argv, 0) == OP_OK);
  struct grid g = grid_make(16);
  op_partition("rcb", "", g.node_set, NULL, g.at);
  double *w = memory((size_t)g.edges, sizeof *w);
  int forms[2] = {0};
  KSP ksp = NULL;
  Mat k = NULL;
  check(op_fix_mat(g.k, g.fixed, g.fixed, 1) == OP_OK);
  for (int times = 0; times < 20; times++) {
    op_coo_t coo;
    for (int e = 0; e < g.edges; e++)
      w[e] = 1 + (e + times) % 7;
    check(op_put_data(g.weight, w) == OP_OK);
    check(op_zero_mat(g.k) == OP_OK && grid_assemble(&g) == OP_OK);
    Mat same = op_mat_petsc(g.k);
    check(same && (!k || same == k));
    k = same;
    if (!ksp) {
      petsc(KSPCreate(PetscObjectComm((PetscObject)k), &ksp));
      petsc(KSPSetType(ksp, KSPCG));
      petsc(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
      petsc(KSPSetOperators(ksp, k, k));
    }
    solve(&g, ksp);
    check(op_coo(g.k, &coo) == OP_OK);
    forms[coo.own != NULL]++;
  }
  check(forms[0] > 0 && forms[1] > 0);
  petsc(KSPDestroy(&ksp));
  free(w);
  check(op_exit() == OP_OK);
  return 0;
}
