/* airfoil on the library, in both precisions. Between op_init and op_exit. */
#ifndef AIRFOIL_SOLVER_H
#define AIRFOIL_SOLVER_H

#include "flow.h"

extern const struct flow_code solver_double, solver_single;

#endif
