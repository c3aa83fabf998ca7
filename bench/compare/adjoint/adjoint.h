/* The program whose loops are differentiated. It runs between op_init and op_exit, adds its checks, and prints times if
 * `compare` is set. */
#ifndef ADJOINT_ADJOINT_H
#define ADJOINT_ADJOINT_H

#include "common/report.h"

#include <op2jit.h>

void adjoint_airfoil(struct check *check, int cells, int compare);

/* Numbers from -1 to 1 that depend on `seed` alone. */
double *adjoint_noise(long long count, unsigned seed);
/* The sum of the products of two dats of two or four components on a set. */
double adjoint_dot(op_set set, op_dat a, op_dat b, int dim);
/* The dot-product test: <y, J x> must be <J^T y, x>; `scale` is the size of what was added up. */
void adjoint_check(struct check *check, const char *what, double forward, double backward, double scale);

#endif
