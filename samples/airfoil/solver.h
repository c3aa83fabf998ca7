/* airfoil on the library, in both precisions. */
#ifndef AIRFOIL_SOLVER_H
#define AIRFOIL_SOLVER_H

#include "flow.h"

/* Declare the mesh, run `iterations` iterations, fetch the result. Call it once, between op_init and
 * op_exit. */
void solver_run_double(const struct airfoil_mesh *mesh, int iterations, struct flow_result *result);
void solver_run_single(const struct airfoil_mesh *mesh, int iterations, struct flow_result *result);

#endif
