/* A process whose PETSc is of another kind: what it says of itself is this program's, which the plugin finds first. Complex
 * numbers, single precision, and indices of another width. */
#include <petscsys.h>

#include "grid.h"

static PetscDataType scalar = PETSC_COMPLEX;
static size_t index_bytes = sizeof(PetscInt);

__attribute__((visibility("default"))) PetscErrorCode
PetscDataTypeFromString(const char *name, PetscDataType *type, PetscBool *found) {
  *type = strcmp(name, "scalar") == 0 ? scalar : PETSC_INT;
  *found = PETSC_TRUE;
  return 0;
}

__attribute__((visibility("default"))) PetscErrorCode PetscDataTypeGetSize(PetscDataType type,
                                                                           size_t *bytes) {
  *bytes = type == PETSC_INT ? index_bytes : sizeof(double);
  return 0;
}

static void be_refused(const struct grid *g, PetscDataType is, size_t bytes, const char *words) {
  scalar = is;
  index_bytes = bytes;
  check(op_solve(g->k, g->b, g->x, NULL) == OP_ERR_SOLVER);
  check(strstr(op_last_error()->message, words) != NULL);
  check(strstr(op_last_error()->message, "link the program with the PETSc whose headers it has") != NULL);
}

int main(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == OP_OK);
  struct grid g = grid_make(4);
  check(grid_assemble(&g) == OP_OK);
  be_refused(&g, PETSC_COMPLEX, 4,
             "the PETSc in this process has complex or other numbers and 32-bit indices");
  be_refused(&g, PETSC_FLOAT, 4, "the PETSc in this process has complex or other numbers and 32-bit indices");
  be_refused(&g, PETSC_DOUBLE, 8, "the PETSc in this process has real numbers and 64-bit indices");
  check(op_exit() == OP_OK);
  return 0;
}
