/* Reductions by hand. */
#ifndef REDUCTION_TWIN_H
#define REDUCTION_TWIN_H

struct extremes {
  double sum, smallest, largest;
};

struct extremes reduce_serial(int count, const double *x);
struct extremes reduce_openmp(int count, const double *x);

#endif
