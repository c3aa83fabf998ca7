/* The integral by hand. */
#ifndef PI_TWIN_H
#define PI_TWIN_H

double pi_serial(int strips);
double pi_openmp(int strips);

#endif
