#include "twin.h"

#include <stddef.h>
#include <string.h>

enum { LANES = PANEL / 4 };

/* A row of A times a panel: the sums stay in registers, and nothing is added up across them. */
static void multiply(const double *restrict row, const double *restrict panel, int inner,
                     double *restrict c) {
  double sum0[LANES] = {0}, sum1[LANES] = {0}, sum2[LANES] = {0}, sum3[LANES] = {0};
  for (int k = 0; k < inner; k++) {
    const double *restrict b = panel + PANEL * (size_t)k;
    double factor = row[k];
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
      sum0[l] += factor * b[l];
      sum1[l] += factor * b[LANES + l];
      sum2[l] += factor * b[2 * LANES + l];
      sum3[l] += factor * b[3 * LANES + l];
    }
  }
  memcpy(c, sum0, sizeof sum0);
  memcpy(c + LANES, sum1, sizeof sum1);
  memcpy(c + 2 * LANES, sum2, sizeof sum2);
  memcpy(c + 3 * LANES, sum3, sizeof sum3);
}

static void row_of(const struct product *p, int i) {
  const double *row = p->a + (size_t)i * (size_t)p->inner;
  for (int first = 0; first < p->columns; first += PANEL) {
    double piece[PANEL], *c = p->c + (size_t)i * (size_t)p->columns + (size_t)first;
    int left = p->columns - first;
    multiply(row, p->b + (size_t)first * (size_t)p->inner, p->inner, piece);
    memcpy(c, piece, (size_t)(left < PANEL ? left : PANEL) * sizeof *c);
  }
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
