/* Laplace's equation by hand. */
#ifndef LAPLACE_TWIN_H
#define LAPLACE_TWIN_H

/* Jacobi iterations on u (width x width, its frame given) until no value changes by more than `tolerance`,
 * or `most` have been done; serially or with OpenMP. Returns how many, and the seconds of one. */
int laplace_twin(int width, double tolerance, int most, int parallel, double *u, double *seconds);

#endif
