/* Matrix product by hand. */
#ifndef MATMUL_TWIN_H
#define MATMUL_TWIN_H

#ifndef MATMUL_PANEL /* what the sample has */
#define MATMUL_PANEL
enum { PANEL = 32 }; /* columns of B that lie together */
#endif

/* c (rows x columns) = a (rows x inner) times b, which is given in panels: of each the first row of its PANEL
 * columns, then the second, inner rows; what is beyond the last column is zero. */
struct product {
  int rows, columns, inner;
  const double *a, *b;
  double *c;
};

static inline int product_panels(const struct product *product) {
  return (product->columns + PANEL - 1) / PANEL;
}

void matmul_serial(const struct product *product);
void matmul_openmp(const struct product *product);

#endif
