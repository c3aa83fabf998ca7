/* jac by hand: the same graph and the same sums, without the library. */
#ifndef JAC_TWIN_H
#define JAC_TWIN_H

#include "common/colouring.h"

/* Jacobi iteration for u = r + sum over the edges of a node of a * u(other end). */
struct jac_problem {
  int nodes, edges;
  const int *ends; /* edges x 2: the node that is added to, and the node that is read */
  const double *a, *r;
  double *u, *du;
};

/* u = du = 0; with `parallel`, each page is first touched by the thread that uses it. */
void jac_clear(const struct jac_problem *problem, int parallel);
/* One iteration; returns the sum of the squared changes. */
double jac_serial(const struct jac_problem *problem);
double jac_openmp(const struct jac_problem *problem, const struct colouring *colouring);

#endif
