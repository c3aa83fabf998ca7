/* airfoil by hand. */
#ifndef AIRFOIL_TWIN_H
#define AIRFOIL_TWIN_H

#include "flow.h"

extern const struct flow_code twin_serial_double, twin_openmp_double, twin_serial_single, twin_openmp_single;

#endif
