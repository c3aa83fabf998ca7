/* The flow that airfoil computes: constants, free stream and what a run gives. */
#ifndef AIRFOIL_FLOW_H
#define AIRFOIL_FLOW_H

#include "mesh.h"

/* Single-precision numbers, as the published figures were made with them. */
#define FLOW_GAMMA ((double)1.4f) /* ratio of specific heats */
#define FLOW_CFL ((double)0.9f)   /* share of the largest stable time step */
#define FLOW_EPS ((double)0.05f)  /* amount of smoothing */
#define FLOW_MACH ((double)0.4f)

/* Density, x and y momentum and energy of the free stream (per volume). */
void flow_free_stream(double state[4]);

struct flow_result {
  double *rms;    /* of each iteration: root of the mean over the cells of the squared changes */
  double largest; /* in the last iteration: largest squared change of one variable in a cell, */
  int cell;       /* and the cell */
  double *q;      /* cells x 4: the state at the end */
  double seconds; /* of one iteration */
};

struct flow_result flow_result_make(const struct airfoil_mesh *mesh, int iterations);
void flow_result_free(struct flow_result *result);

#endif
