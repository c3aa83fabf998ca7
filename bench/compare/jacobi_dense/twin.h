/* Jacobi iteration for a dense system by hand. */
#ifndef JACOBI_DENSE_TWIN_H
#define JACOBI_DENSE_TWIN_H

/* The system of the sample. */
#ifndef JACOBI_DENSE_SAMPLE
struct dense_system {
  int n;
  double *a; /* n x n, row by row */
  double *b;
};
#endif

/* Iterate from x = 0 until the root of the sum of the squared changes is at most `tolerance`, or `most`
 * iterations are done; serially or with OpenMP. Returns how many; x and the seconds of one are set. */
int dense_twin(const struct dense_system *system, double tolerance, int most, int parallel, double *x,
               double *seconds);

#endif
