/* A process whose PETSc is of another kind: what it says of itself is this program's, which the plugin finds first. */
#include <petscsys.h>

#include "grid.h"

__attribute__((visibility("default"))) PetscErrorCode
PetscDataTypeFromString(const char *name, PetscDataType *type, PetscBool *found) {
  *type = strcmp(name, "scalar") == 0 ? PETSC_COMPLEX : PETSC_INT;
  *found = PETSC_TRUE;
  return 0;
}

int main(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == OP_OK);
  struct grid g = grid_make(4);
  check(grid_assemble(&g) == OP_OK);
  check(op_solve(g.k, g.b, g.x, NULL) == OP_ERR_SOLVER);
  check(strstr(op_last_error()->message, "the PETSc in this process has complex or other numbers") != NULL);
  check(op_exit() == OP_OK);
  return 0;
}
