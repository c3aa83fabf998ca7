/* The multigrid solver by hand. */
#ifndef MULTIGRID_TWIN_H
#define MULTIGRID_TWIN_H

#include "samples/multigrid/levels.h"

/* Improve u, serially or with OpenMP; residual[k] is the norm after k cycles (cycles + 1 of them). Returns
 * the seconds of one cycle. */
double multigrid_twin(const struct levels *levels, const struct schedule *schedule, int parallel,
                      const double *right, double *u, double *residual);

#endif
