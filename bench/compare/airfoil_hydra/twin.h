/* The wide loops by hand. */
#ifndef AIRFOIL_HYDRA_TWIN_H
#define AIRFOIL_HYDRA_TWIN_H

#include "samples/airfoil_hydra/box.h"

/* What a run gives: norms of the residual, the sum of all residuals in the first iteration over the sum of their
 * sizes (it must vanish), and the seconds of one iteration. */
struct box_result {
  double first, last, leak, seconds;
};

/* `iterations` explicit steps of `dt` on q, serially or with OpenMP. */
struct box_result hydra_twin(const struct box *box, int iterations, double dt, int parallel, double *q);

#endif
