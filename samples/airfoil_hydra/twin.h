/* The wide loops by hand. */
#ifndef AIRFOIL_HYDRA_TWIN_H
#define AIRFOIL_HYDRA_TWIN_H

#include "box.h"

/* `iterations` explicit steps of `dt` on q, serially or with OpenMP. */
struct box_result hydra_twin(const struct box *box, int iterations, double dt, int parallel, double *q);

#endif
