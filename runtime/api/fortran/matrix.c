/* Matrices as Fortran has them: its names of types, and entries that count from 1. */
#include "mesh/matrix/matrix.h"
#include "api/api.h"
#include "api/fortran/fortran.h"
#include "spread/bridge/coo.h"

op_mat op2jit_f_decl_mat(int npairs, const op_map rows[], const op_map columns[], int row_dim, int column_dim,
                         const char *type, const char *name) {
  char room[64];
  return op2jit_decl_mat(npairs, rows, columns, row_dim, column_dim, fortran_type(type, room), name);
}

void op2jit_f_arg_mat(op_arg *out, op_mat mat, op_map rows, op_map columns, int row_dim, int column_dim,
                      const char *type, int access) {
  char room[64];
  *out = op2jit_arg_mat(mat, rows, columns, row_dim, column_dim, fortran_type(type, room), (op_access)access);
}

int op2jit_f_mat_size(op_mat mat, long long *rows, long long *entries) {
  const int code = op2jit_fetch_mat(mat, entries, NULL, NULL, NULL);
  if (!code) {
    const struct matrix *m = handle_object(api_context()->handles, mat, HANDLE_MATRIX);
    *rows = (long long)m->coo->csr.rows;
  }
  return code;
}

int op2jit_f_fetch_mat(op_mat mat, long long offsets[], long long columns[], double values[]) {
  long long entries = 0, nothing = 0;
  double nought = 0;
  const int code =
      op2jit_fetch_mat(mat, &entries, offsets, columns ? columns : &nothing, values ? values : &nought);
  if (code)
    return code;
  const struct matrix *m = handle_object(api_context()->handles, mat, HANDLE_MATRIX);
  for (long long r = 0; r <= (long long)m->coo->csr.rows; r++)
    offsets[r]++;
  for (long long k = 0; k < entries; k++)
    columns[k]++;
  return code;
}
