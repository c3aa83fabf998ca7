/* A part of op2jit_petsc.h, which includes it: a matrix of loops as PETSc's. Nothing here is for programs. */
#ifndef OP2JIT_PETSC_MAT_H
#define OP2JIT_PETSC_MAT_H

#include <op2jit_petsc_cuda.h>
#include <petsctime.h>

struct op2jit_petsc_mat_ {
  Mat mat;
  long long epoch, pattern, version; /* of what it has */
  const double *rows;                /* the library's memory, which its values lie in; NULL: it has its own */
  double *buffer;                    /* on a device, for the values of lists */
  long long room;
};

/* ---- from lists -------------------------------------------------------------------------------*/

/* PETSc changes the lists that it is given. */
static inline PetscErrorCode op2jit_petsc_give_lists_(Mat mat, const op_coo_t *coo) {
  PetscInt *lists;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)(2 * coo->count), &lists));
  for (long long k = 0; k < coo->count; k++) {
    lists[k] = (PetscInt)coo->rows[k];
    lists[coo->count + k] = (PetscInt)coo->columns[k];
  }
  PetscCall(MatSetPreallocationCOO(mat, (PetscCount)coo->count, lists, lists + coo->count));
  PetscCall(PetscFree(lists));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_from_lists_(const op_coo_t *coo, Mat *mat) {
  PetscFunctionBegin;
  PetscCall(MatCreate(op2jit_petsc_comm_(), mat));
  PetscCall(MatSetSizes(*mat, (PetscInt)coo->owned_rows, (PetscInt)coo->owned_columns,
                        (PetscInt)coo->all_rows, (PetscInt)coo->all_columns));
  PetscCall(MatSetBlockSizes(*mat, coo->row_dim, coo->column_dim));
  PetscCall(MatSetType(*mat, OP2JIT_PETSC_MAT_TYPE_));
  PetscCall(MatSetFromOptions(*mat));
  PetscCall(op2jit_petsc_give_lists_(*mat, coo));
  PetscFunctionReturn(0);
}

/* ---- in the library's memory ------------------------------------------------------------------*/

static inline PetscErrorCode op2jit_petsc_free_numbers_(void *numbers) {
  free(numbers);
  return 0;
}

/* PETSc changes the columns that it is given; they live as long as the matrix does. Columns of the rank's own count from its
 * first. */
static inline PetscErrorCode op2jit_petsc_from_rows_(const op_coo_t *coo, Mat *mat) {
  const MPI_Comm comm = op2jit_petsc_comm_();
  const long long n = coo->owned_rows, own = coo->own[n];
  const PetscInt rows = (PetscInt)n, columns = (PetscInt)coo->owned_columns;
  PetscInt *numbers, *first, *beyond;
  PetscContainer keeps;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  numbers = (PetscInt *)malloc((size_t)(coo->count + 2 * n + 2) * sizeof *numbers);
  PetscCheck(numbers, PETSC_COMM_SELF, PETSC_ERR_MEM, "there is no memory for the rows of a matrix");
  first = numbers + coo->count;
  beyond = first + n + 1;
  for (long long k = 0; k < coo->count; k++)
    numbers[k] = (PetscInt)(k < own ? coo->columns[k] - coo->first_column : coo->columns[k]);
  for (long long r = 0; r <= n; r++) {
    first[r] = (PetscInt)coo->own[r];
    beyond[r] = (PetscInt)(coo->others[r] - own);
  }
  if (size == 1)
    PetscCall(MatCreateSeqAIJWithArrays(comm, rows, columns, first, numbers, coo->values, mat));
  else
    PetscCall(MatCreateMPIAIJWithSplitArrays(comm, rows, columns, (PetscInt)coo->all_rows,
                                             (PetscInt)coo->all_columns, first, numbers, coo->values, beyond,
                                             numbers + own, coo->values + own, mat));
  PetscCall(MatSetBlockSizes(*mat, coo->row_dim, coo->column_dim));
  PetscCall(PetscContainerCreate(comm, &keeps));
  PetscCall(PetscContainerSetPointer(keeps, numbers));
  PetscCall(PetscContainerSetUserDestroy(keeps, op2jit_petsc_free_numbers_));
  PetscCall(PetscObjectCompose((PetscObject)*mat, "op2jit_numbers", (PetscObject)keeps));
  PetscCall(PetscContainerDestroy(&keeps));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_touch_(Mat part) {
  PetscScalar *values;
  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(part, &values));
  PetscCall(MatSeqAIJRestoreArray(part, &values));
  PetscFunctionReturn(0);
}

/* Values changed behind PETSc's back. */
static inline PetscErrorCode op2jit_petsc_changed_(Mat mat) {
  PetscBool single;
  Mat own, others;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)mat, MATSEQAIJ, &single));
  if (single)
    PetscCall(op2jit_petsc_touch_(mat));
  else {
    PetscCall(MatMPIAIJGetSeqAIJ(mat, &own, &others, NULL));
    PetscCall(op2jit_petsc_touch_(own));
    PetscCall(op2jit_petsc_touch_(others));
    PetscCall(MatDiagonalScale(mat, NULL, NULL)); /* scales nothing, but counts as a change of the whole */
  }
  PetscFunctionReturn(0);
}

/* ---- the end ----------------------------------------------------------------------------------*/

/* The library's memory goes: a Mat that is still in use (by a solver, a variable of Python) has its values in
 * PETSc's. Local, as ranks may have it for different times. */
static inline PetscErrorCode op2jit_petsc_leave_part_(Mat part) {
  Mat copy;
  PetscFunctionBegin;
  PetscCall(MatDuplicate(part, MAT_COPY_VALUES, &copy));
  PetscCall(MatHeaderReplace(part, &copy));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_leave_rows_(Mat mat) {
  PetscBool single;
  PetscInt users;
  Mat own, others;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetReference((PetscObject)mat, &users));
  if (users < 2)
    PetscFunctionReturn(0);
  PetscCall(PetscObjectTypeCompare((PetscObject)mat, MATSEQAIJ, &single));
  if (single)
    PetscCall(op2jit_petsc_leave_part_(mat));
  else {
    PetscCall(MatMPIAIJGetSeqAIJ(mat, &own, &others, NULL));
    PetscCall(op2jit_petsc_leave_part_(own));
    PetscCall(op2jit_petsc_leave_part_(others));
  }
  PetscFunctionReturn(0);
}

static inline void op2jit_petsc_free_mat_(void *data) {
  struct op2jit_petsc_mat_ *own = (struct op2jit_petsc_mat_ *)data;
  PetscBool over = PETSC_TRUE;
  PetscFinalized(&over);
  if (!over && own->mat && own->rows)
    op2jit_petsc_leave_rows_(own->mat);
  if (!over)
    MatDestroy(&own->mat);
  op2jit_petsc_cuda_free_(own->buffer);
  free(own);
}

/* ---- all --------------------------------------------------------------------------------------*/

/* Solvers keep the Mat, where it is as large as before and has as many entries: the new one takes its place in it. */
static inline PetscErrorCode op2jit_petsc_replace_(struct op2jit_petsc_mat_ *own, const op_coo_t *coo,
                                                   Mat *mat) {
  MatInfo before, after;
  double same;
  PetscFunctionBegin;
  if (own->mat && own->epoch == coo->epoch) {
    PetscCall(MatGetInfo(own->mat, MAT_GLOBAL_SUM, &before));
    PetscCall(MatGetInfo(*mat, MAT_GLOBAL_SUM, &after));
    same = before.nz_used - after.nz_used;
    if (same > -0.5 && same < 0.5) {
      PetscCall(MatHeaderReplace(own->mat, mat));
      PetscFunctionReturn(0);
    }
  }
  PetscCall(MatDestroy(&own->mat));
  own->mat = *mat;
  PetscFunctionReturn(0);
}

/* Its pattern once, its values each time they changed. -mat_type may ask for a matrix whose memory is PETSc's own. */
static inline PetscErrorCode op2jit_petsc_fill_(struct op2jit_petsc_mat_ *own, const op_coo_t *coo) {
  PetscBool other = PETSC_FALSE;
  const double *rows;
  PetscFunctionBegin;
  if (coo->own)
    PetscCall(PetscOptionsHasName(NULL, NULL, "-mat_type", &other));
  rows = coo->own && !other ? coo->values : NULL;
  if (!own->mat || own->epoch != coo->epoch || own->pattern != coo->pattern || own->rows != rows) {
    Mat mat;
    if (rows)
      PetscCall(op2jit_petsc_from_rows_(coo, &mat));
    else {
      PetscCall(op2jit_petsc_from_lists_(coo, &mat));
      PetscCall(MatSetValuesCOO(mat, coo->values, INSERT_VALUES));
    }
    PetscCall(op2jit_petsc_replace_(own, coo, &mat));
    own->epoch = coo->epoch;
    own->pattern = coo->pattern;
    own->rows = rows;
  } else if (own->version != coo->version) {
    if (rows)
      PetscCall(op2jit_petsc_changed_(own->mat));
    else
      PetscCall(MatSetValuesCOO(own->mat, coo->values, INSERT_VALUES));
  }
  own->version = coo->version;
  PetscFunctionReturn(0);
}

/* The matrix's lists, or rows; the values are on the device where PETSc's matrix is. */
static inline int op2jit_petsc_lists_of_(op_mat mat, struct op2jit_petsc_mat_ *own, op_coo_t *coo) {
  return op2jit_petsc_mat_on_cuda_() ? op2jit_petsc_cuda_coo_(mat, coo, &own->buffer, &own->room)
                                     : op_coo(mat, coo);
}

/* The time of values alone: a pattern is made once. */
static inline PetscErrorCode op2jit_petsc_bring_(op_mat mat, struct op2jit_petsc_mat_ *own,
                                                 const op_coo_t *coo) {
  const int known = own->mat && own->epoch == coo->epoch && own->pattern == coo->pattern;
  PetscLogDouble begin, end;
  PetscFunctionBegin;
  PetscCall(PetscTime(&begin));
  PetscCall(op2jit_petsc_fill_(own, coo));
  PetscCall(PetscTime(&end));
  if (known)
    op_coo_took(mat, end - begin);
  PetscFunctionReturn(0);
}

#endif
