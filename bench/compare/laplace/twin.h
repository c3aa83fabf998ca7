/* Laplace's equation by hand. */
#ifndef LAPLACE_TWIN_H
#define LAPLACE_TWIN_H

/* Jacobi iterations on u (width x width, its frame given) until no value changes by more than `tolerance`,
 * or `most` have been done; serially or with OpenMP. Returns how many, and the seconds of one. */
int laplace_twin(int width, double tolerance, int most, int parallel, double *u, double *seconds);

/* The same with OpenMP through a map: cross[5 * k] .. are point k of those inside and its neighbours. */
int laplace_twin_by_map(int points, int inside, const int *cross, double tolerance, int most, double *u,
                        double *seconds);

#endif
