/* The shallow-water model by hand, on arrays with halo rows as the original benchmark has them. */
#ifndef SHALLOW_WATER_TWIN_H
#define SHALLOW_WATER_TWIN_H

#include "model.h"

#ifndef SHALLOW_WATER_SAMPLE
enum { EAST, WEST, NORTH, SOUTH, NORTH_WEST, SOUTH_EAST, SOUTH_WEST, NEIGHBOURS };
#endif

/* Run `steps` steps from the initial state; serially, or with OpenMP if `parallel`. u, v and p (m x n, n
 * fastest) are set to the state at the end. Returns the seconds of one step. */
double twin_run(const struct model *model, int steps, int parallel, double *u, double *v, double *p);

/* The same with OpenMP on m x n points that find their neighbours through a map, as a program must that knows
 * nothing of the grid. u, v and p hold the state at the start, then that at the end, of points in the map's
 * numbering. The map's columns are the sample's. */
double twin_run_by_map(const struct model *model, int steps, const int *neighbours, double *u, double *v,
                       double *p);

#endif
