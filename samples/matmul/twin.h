/* Matrix product by hand, as three loops. */
#ifndef MATMUL_TWIN_H
#define MATMUL_TWIN_H

/* c (rows x columns) = a (rows x inner) times b, given by its columns (columns x inner). */
struct product {
  int rows, columns, inner;
  const double *a, *b;
  double *c;
};

void matmul_serial(const struct product *product);
void matmul_openmp(const struct product *product);

#endif
