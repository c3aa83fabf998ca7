/* The wing section, unfolded by a square root: a smooth bump on the real axis. */
#ifndef AIRFOIL_PROFILE_H
#define AIRFOIL_PROFILE_H

/* y[k] is the height of the bump at x[k]; x within or near -1 .. 1. */
void profile_heights(int count, const double x[], double y[]);

#endif
