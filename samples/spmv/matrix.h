/* Sparse matrices by rows, of three kinds. */
#ifndef SPMV_MATRIX_H
#define SPMV_MATRIX_H

struct matrix {
  int rows; /* and columns */
  long long *offsets;
  int *targets;
  double *values;
};

/* "five": the five-point formula on a square. "power": many short rows and few long ones, anywhere. "banded": a band,
 * and every 1000th row with 10^4 entries. "ring": five entries in each row. `rows` is about how many. 0: no memory, or no
 * such kind; then the matrix is empty. */
int matrix_make(struct matrix *m, const char *kind, int rows);
void matrix_free(struct matrix *m);

#endif
