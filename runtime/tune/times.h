/* Times that were measured of one thing. */
#ifndef OP2JIT_TIMES_H
#define OP2JIT_TIMES_H

enum { TIMES_MOST = 16 }; /* that are looked at together */

void times_sort(double *values, int count);
double times_median(const double *values, int count); /* 0 of none */
/* Half the spread of the middle half, relative to the median; 0 of fewer than three. */
double times_spread(const double *values, int count);

#endif
