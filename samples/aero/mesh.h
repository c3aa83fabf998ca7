/* Quadrilateral elements on a distorted unit square, and the flow that is to come out. */
#ifndef AERO_MESH_H
#define AERO_MESH_H

struct aero_mesh {
  int n, nodes, cells, fixed;
  double *x;       /* nodes x 2 */
  int *cell_nodes; /* cells x 4, anticlockwise */
  int *fixed_node; /* the nodes of the boundary */
};

/* n x n elements. */
struct aero_mesh aero_mesh_make(int n);
void aero_mesh_free(struct aero_mesh *mesh);

/* The potential that solves the equation with the source that the kernels have. */
double aero_potential(double x, double y);
/* That potential on the boundary, a parallel flow inside. */
double *aero_start(const struct aero_mesh *mesh);

static const double AERO_MACH = 0.4, AERO_GAMMA = 1.4, AERO_AMPLITUDE = 0.1;

/* What a solver reports of each Newton step. */
enum { AERO_MOST_STEPS = 20 };
struct aero_history {
  int steps;
  double residual[AERO_MOST_STEPS]; /* root mean square over the nodes, before the step */
  int iterations[AERO_MOST_STEPS];  /* of conjugate gradients */
  double seconds;                   /* of one of these iterations, on average */
};

struct aero_limits {
  int newton, gradient;           /* most steps and iterations */
  double residual, gradient_drop; /* stop below; shrink the residual of each linear solve by */
};

#endif
