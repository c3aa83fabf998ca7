/* The heat equation by hand, on arrays with a frame of zeros. */
#ifndef HEAT_TWIN_H
#define HEAT_TWIN_H

/* `steps` explicit steps with r = alpha dt / dx^2 from u (n x n points in their frame), serially or with
 * OpenMP; u is set to the state at the end. Returns the seconds of one step. */
double heat_twin(int n, int steps, double r, int parallel, double *u);

/* The same with OpenMP through a map, as a program must that knows nothing of the grid: near[4 * k] .. are the
 * neighbours of point k. u (points) is set to the state at the end. */
double heat_twin_by_map(int points, const int *near, int steps, double r, double *u);

#endif
