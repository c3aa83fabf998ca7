/* The finite elements by hand. */
#ifndef AERO_TWIN_H
#define AERO_TWIN_H

/* The sample's mesh, for those that do not include the sample. */
#ifndef AERO_SAMPLE
struct aero_mesh {
  int n, nodes, cells, fixed;
  double *x;       /* nodes x 2 */
  int *cell_nodes; /* cells x 4, anticlockwise */
  int *fixed_node; /* the nodes of the boundary */
};
#endif

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

/* How cells add to nodes: blocks by colours, nodes that threads own, atomic additions. */
enum aero_form { AERO_COLOURS, AERO_OWNERS, AERO_ATOMICS };

/* So many iterations of conjugate gradients with OpenMP, which begin anew after each `most`; u is set to what they
 * come to. Returns the seconds of one. */
double aero_twin_iterations(const struct aero_mesh *mesh, const double *phi, int iterations, int most,
                            enum aero_form form, double *u);

/* Solve from phi, which becomes the answer; serially or with OpenMP. */
struct aero_history aero_twin(const struct aero_mesh *mesh, const struct aero_limits *limits, int parallel,
                              double *phi);

#endif
