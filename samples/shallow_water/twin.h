/* The shallow-water model by hand, on arrays with halo rows as the original benchmark has them. */
#ifndef SHALLOW_WATER_TWIN_H
#define SHALLOW_WATER_TWIN_H

#include "model.h"

/* Run `steps` steps from the initial state; serially, or with OpenMP if `parallel`. u, v and p (m x n, n
 * fastest) are set to the state at the end. Returns the seconds of one step. */
double twin_run(const struct model *model, int steps, int parallel, double *u, double *v, double *p);

#endif
