/* ends [first]: a program that begins PETSc itself, and ends it after op_exit, or "first": before it, which on several ranks is an
 * error in words. */
#include "grid.h"

#include <petscmat.h>

#include "op2jit_petsc.h"

int main(int argc, char **argv) {
  const int first = argc > 1 && strcmp(argv[1], "first") == 0;
  check(PetscInitialize(&argc, &argv, NULL, NULL) == 0);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == OP_OK);
  struct grid g = grid_make(8);
  op_partition("rcb", "", g.node_set, NULL, g.at);
  check(grid_assemble(&g) == OP_OK && op_mat_petsc(g.k) && op_dat_petsc(g.b, OP_RW) && !op_petsc_end(g.b));
  check(op_petsc_end(g.b) == OP_ERR_STATE && op_petsc_end(NULL) == OP_ERR_STATE);
  check(op_place_petsc(g.x, op_dat_petsc(g.b, OP_READ), OP_READ) == OP_OK);
  check(op_place_petsc(g.x, NULL, OP_READ) == OP_ERR_STATE);
  check(op_petsc_end(g.x) == OP_OK && op_petsc_end(g.b) == OP_OK);
  if (first) {
    check(PetscFinalize() == 0);
    check(op_mat_petsc(g.k) == NULL && op_last_error()->code != OP_OK);
  }
  const int ranks = op_rank_count(), code = op_exit();
  check(code == (first && ranks > 1 ? OP_ERR_MPI : OP_OK));
  check(!code || strstr(op_last_error()->message, "PetscFinalize"));
  if (!first)
    check(PetscFinalize() == 0);
  return 0;
}
