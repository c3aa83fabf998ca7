#include "twin.h"

void gather_serial(int count, const int *restrict index, const double *restrict in, double *restrict out) {
  for (int i = 0; i < count; i++)
    out[i] = in[index[i]];
}

void gather_openmp(int count, const int *restrict index, const double *restrict in, double *restrict out) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < count; i++)
    out[i] = in[index[i]];
}
