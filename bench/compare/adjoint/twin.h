/* The adjoint of airfoil's flux loop by hand. */
#ifndef ADJOINT_TWIN_H
#define ADJOINT_TWIN_H

#include "common/colouring.h"
#include "samples/airfoil/mesh.h"

/* Primal data, the adjoint of the residual (cells x 4), and what it adds to the adjoints of the nodes'
 * coordinates (x 2), the cells' states (x 4) and time steps. */
struct flux_adjoint {
  const struct airfoil_mesh *mesh;
  double gm1, eps;
  const double *x, *q, *adt, *res_bar;
  double *x_bar, *q_bar, *adt_bar;
};

void flux_adjoint_serial(const struct flux_adjoint *f);
/* `blocks` colours the edges by nodes and cells. */
void flux_adjoint_openmp(const struct flux_adjoint *f, const struct colouring *blocks);

#endif
