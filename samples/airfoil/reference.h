/* Residuals that are known from elsewhere. */
#ifndef AIRFOIL_REFERENCE_H
#define AIRFOIL_REFERENCE_H

#include "flow.h"
#include "report.h"

/* Compare the history of a run on a mesh with what is known of that mesh, if it was generated; returns how
 * many figures were compared. */
int reference_check(struct check *check, const struct airfoil_mesh *mesh, int iterations,
                    const struct flow_result *result, int single);

#endif
