/* airfoil by hand. */
#ifndef AIRFOIL_TWIN_H
#define AIRFOIL_TWIN_H

#include "flow.h"

extern const struct flow_code twin_serial_double, twin_openmp_double, twin_serial_single, twin_openmp_single;
/* Edges by the threads that own their cells, and with atomic additions; openmp is by colours of blocks. */
extern const struct flow_code twin_owners_double, twin_atomics_double, twin_owners_single,
    twin_atomics_single;

#endif
