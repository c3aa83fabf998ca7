/* Sparse matrices as arguments of loops: a part of op2jit.h, which includes it. A loop adds each element's part to a
 * matrix, the library keeps it, and a solver takes it through a bridge (op2jit_bridge.h). docs/matrices.md is the
 * manual. */
#ifndef OP2JIT_MATRIX_H
#define OP2JIT_MATRIX_H

/* A sparse matrix. Its rows are the components of the elements of one set, its columns those of another or the same. */
typedef struct op2jit_mat *op_mat;

/* A matrix of zeros. It has an entry wherever an element names a row by rows[i] and a column by columns[i]. Both maps of
 * a pair are from one set; OP_ID is that set itself, and one of the two is a map. All rows[i] lead to one set, and all
 * columns[i]. An entry is a block of row_dim x column_dim numbers. Where rows and columns are of one set and dim, the
 * diagonal has entries too. Matrices of the same pairs and dims share what is known of their pattern. Type: "double".
 * Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT (no pair), OP_ERR_MAP_SET, OP_ERR_DIM, OP_ERR_TYPE, OP_ERR_SIZE, OP_ERR_MEMORY. */
op_mat op_decl_mat(int npairs, const op_map rows[], const op_map columns[], int row_dim, int column_dim,
                   const char *type, const char *name);
/* A matrix as an argument of a loop, by one of its pairs. The kernel gets `double *a`, the element's own matrix, for
 * it to set, add to and read: all zeros at first, row_dim rows for each target of `rows`, one row after the other,
 * and column_dim columns for each target of `columns`. OP_INC: what the kernel leaves there is added. OP_WRITE: it
 * replaces the values of these entries. The program promises that no two elements set one entry; loops by other
 * pairs, sets or fixed rows must not have added anything since op_zero_mat (OP_ERR_STATE). Where a map is ragged, an
 * earlier argument goes through it and gives the kernel the number of targets. With OP_ID the loop's own element is
 * the only target. `row_dim`, `column_dim` and `type` repeat the declaration. Errors come from the loop. Local. */
op_arg op_arg_mat(op_mat mat, op_map rows, op_map columns, int row_dim, int column_dim, const char *type,
                  op_access access);
/* All entries are zero from now on. Costs nothing: no memory is written. Errors: OP_ERR_HANDLE. */
int op_zero_mat(op_mat mat);
/* Fix rows and columns. `rows` is a dat of int and row_dim on the set of the rows: loops from now on add nothing to a
 * row whose component is not 0. `columns` does the same for columns; the program subtracts what these would give to
 * the right-hand side. A fixed row of a square matrix has `diagonal` on its diagonal, and nothing else. The dats are
 * read here: call it again when they changed. NULL: none are fixed. Values of earlier loops stay, so fix before loops
 * run, or after op_zero_mat. Errors: OP_ERR_HANDLE, OP_ERR_MAP_SET for a dat of another set, OP_ERR_DIM, OP_ERR_TYPE,
 * OP_ERR_RANGE for a value that is neither 0 nor 1, OP_ERR_ARGUMENT for a diagonal of a matrix that has none or that
 * is no number, OP_ERR_MEMORY. */
int op_fix_mat(op_mat mat, op_dat rows, op_dat columns, double diagonal);
/* The matrix by rows (CSR), for programs that look into it: of the rows that this rank declared, and in the user's global
 * numbers times dim plus the component. `*entries` becomes their number. `offsets` has a number for each row and one more,
 * `columns` are ascending in each row, `values` are doubles. All three may be NULL: then only the number is told. Entries
 * that are zero are there too. Errors: OP_ERR_HANDLE, OP_ERR_ARGUMENT, OP_ERR_STATE before a loop filled it, OP_ERR_MEMORY. */
int op_fetch_mat(op_mat mat, long long *entries, long long *offsets, long long *columns, void *values);
/* Free it, and what bridges keep for it. The handle becomes invalid. Errors: OP_ERR_HANDLE. */
int op_free_mat(op_mat mat);
/* Solve mat x = b by PETSc: a plugin, so that the program needs nothing of PETSc. `b` and `x` are dats of double on the
 * sets of rows and columns, with their dims. `x` is the first guess, and holds the solution afterwards; where the call fails
 * after solving began, the last iterate. Solver, preconditioner and tolerance are PETSc's options of this `prefix` ("" or NULL:
 * those without one), among the arguments of op_init or in PETSC_OPTIONS: -PREFIXksp_type cg -PREFIXpc_type gamg
 * -PREFIXksp_rtol 1e-8. Options of the prefix that PETSc does not know are told once, as a warning. What was set up stays
 * for the next call with this matrix and prefix. Errors: OP_ERR_NOT_BUILT without the plugin; OP_ERR_SOLVER where PETSc fails or
 * does not converge, with its reason; OP_ERR_HANDLE, OP_ERR_MAP_SET, OP_ERR_DIM, OP_ERR_TYPE; OP_ERR_SIZE for more rows
 * than PETSc can number; OP_ERR_STATE before a loop filled the matrix. */
int op_solve(op_mat mat, op_dat b, op_dat x, const char *prefix);

#endif
