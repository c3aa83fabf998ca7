/* airfoil by hand. */
#ifndef AIRFOIL_TWIN_H
#define AIRFOIL_TWIN_H

#include "colouring.h"
#include "flow.h"

/* Run `iterations` iterations; serially without a colouring of the edges by cells, else with OpenMP. */
void twin_run_double(const struct airfoil_mesh *mesh, int iterations, const struct colouring *edges,
                     struct flow_result *result);
void twin_run_single(const struct airfoil_mesh *mesh, int iterations, const struct colouring *edges,
                     struct flow_result *result);

#endif
