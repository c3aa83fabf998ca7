#include "twin.h"

#include <stddef.h>

enum { LANES = 8 };

/* A sum for each lane, so that compilers may use vectors. */
static double dot(const double *restrict a, const double *restrict b, int n) {
  double lane[LANES] = {0}, sum = 0;
  int k = 0;
  for (; k + LANES <= n; k += LANES) {
#pragma omp simd
    for (int l = 0; l < LANES; l++)
      lane[l] += a[k + l] * b[k + l];
  }
  for (; k < n; k++)
    sum += a[k] * b[k];
  for (int l = 0; l < LANES; l++)
    sum += lane[l];
  return sum;
}

static void row_of(const struct product *p, int i) {
  size_t inner = (size_t)p->inner;
  for (int j = 0; j < p->columns; j++)
    p->c[(size_t)i * (size_t)p->columns + (size_t)j] =
        dot(p->a + (size_t)i * inner, p->b + (size_t)j * inner, p->inner);
}

void matmul_serial(const struct product *product) {
  for (int i = 0; i < product->rows; i++)
    row_of(product, i);
}

void matmul_openmp(const struct product *product) {
  int rows = product->rows;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < rows; i++)
    row_of(product, i);
}
