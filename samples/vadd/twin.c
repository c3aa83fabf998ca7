#include "twin.h"

#include "common/touch.h"

struct vadd_arrays vadd_arrays_make(int size) {
  struct vadd_arrays made = {size, touched_zeros(size, sizeof(double), 1),
                             touched_zeros(size, sizeof(double), 1), touched_zeros(size, sizeof(double), 1)};
  double *restrict a = made.a, *restrict b = made.b;
  for (int i = 0; i < size; i++) {
    a[i] = i;
    b[i] = 2.0 * i;
  }
  return made;
}

void vadd_arrays_free(struct vadd_arrays *arrays) {
  touched_free(arrays->a);
  touched_free(arrays->b);
  touched_free(arrays->c);
  *arrays = (struct vadd_arrays){0};
}

void vadd_serial(const struct vadd_arrays *arrays) {
  const double *restrict a = arrays->a, *restrict b = arrays->b;
  double *restrict c = arrays->c;
  int size = arrays->size;
  for (int i = 0; i < size; i++)
    c[i] = a[i] + b[i];
}

void vadd_openmp(const struct vadd_arrays *arrays) {
  const double *restrict a = arrays->a, *restrict b = arrays->b;
  double *restrict c = arrays->c;
  int size = arrays->size;
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < size; i++)
    c[i] = a[i] + b[i];
}
