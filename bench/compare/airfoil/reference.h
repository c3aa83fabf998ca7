/* Residuals that are known from elsewhere. */
#ifndef AIRFOIL_REFERENCE_H
#define AIRFOIL_REFERENCE_H

#include "common/report.h"
#include "flow.h"

/* What a run gave. */
struct flow_run {
  double *rms;           /* of each iteration */
  struct flow_step last; /* the last iteration */
  double *q;             /* cells x 4: the state at the end */
  double first, later;   /* seconds of the first iteration, and of one of the others */
};

/* Compare the history of a run on a mesh with what is known of that mesh, if it was generated; returns how
 * many figures were compared. */
int reference_check(struct check *check, const struct airfoil_mesh *mesh, int iterations,
                    const struct flow_run *run, int single);

#endif
