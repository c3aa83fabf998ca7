#include "twin.h"

enum { LANES = 8 };

/* Strips begin .. end-1; a sum for each lane, so that compilers may use vectors. */
static double strips_between(int begin, int end, double width) {
  double lane[LANES] = {0}, sum = 0;
  int i = begin;
  for (; i + LANES <= end; i += LANES) {
#pragma omp simd
    for (int k = 0; k < LANES; k++) {
      double x = (i + k + 0.5) * width;
      lane[k] += 4 / (1 + x * x);
    }
  }
  for (; i < end; i++) {
    double x = (i + 0.5) * width;
    sum += 4 / (1 + x * x);
  }
  for (int k = 0; k < LANES; k++)
    sum += lane[k];
  return sum * width;
}

double pi_serial(int strips) {
  return strips_between(0, strips, 1.0 / strips);
}

double pi_openmp(int strips) {
  enum { CHUNK = 4096 };
  int chunks = (strips + CHUNK - 1) / CHUNK;
  double width = 1.0 / strips, sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (int c = 0; c < chunks; c++)
    sum += strips_between(c * CHUNK, (c + 1) * CHUNK < strips ? (c + 1) * CHUNK : strips, width);
  return sum;
}
