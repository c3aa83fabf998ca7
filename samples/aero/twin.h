/* The finite elements by hand. */
#ifndef AERO_TWIN_H
#define AERO_TWIN_H

#include "mesh.h"

/* Solve from phi, which becomes the answer; serially or with OpenMP. */
struct aero_history aero_twin(const struct aero_mesh *mesh, const struct aero_limits *limits, int parallel,
                              double *phi);

#endif
