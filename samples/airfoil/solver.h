/* airfoil on the library, in both precisions. Between op_init and op_exit. */
#ifndef AIRFOIL_SOLVER_H
#define AIRFOIL_SOLVER_H

#include "flow.h"

extern const struct flow_code solver_double, solver_single;

/* Before the run is finished: everything into an HDF5 file, and the state for ParaView (NULL: not). 0, or -1. */
int solver_double_write(void *run, const char *file, const char *vtk);
int solver_single_write(void *run, const char *file, const char *vtk);

#endif
