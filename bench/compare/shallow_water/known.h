/* Values of the original benchmark after some steps on square grids. */
#ifndef SHALLOW_WATER_KNOWN_H
#define SHALLOW_WATER_KNOWN_H

#include "common/report.h"
#include "model.h"

/* The state (m x n, n fastest) after `steps` steps against all values that are known of it; there may be none. */
void known_check(struct check *check, const struct model *model, int steps, const double *u, const double *v,
                 const double *p);

#endif
