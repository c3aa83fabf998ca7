/* Reading through an index, by hand. */
#ifndef ACCESS_PATTERNS_TWIN_H
#define ACCESS_PATTERNS_TWIN_H

void gather_serial(int count, const int *index, const double *in, double *out);
void gather_openmp(int count, const int *index, const double *in, double *out);

#endif
