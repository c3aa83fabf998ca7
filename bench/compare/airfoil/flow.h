/* The flow that airfoil computes: constants, free stream and what a run gives. */
#ifndef AIRFOIL_FLOW_H
#define AIRFOIL_FLOW_H

#include "samples/airfoil/mesh.h"

/* Single-precision numbers, as the published figures were made with them. */
#define FLOW_GAMMA ((double)1.4f) /* ratio of specific heats */
#define FLOW_CFL ((double)0.9f)   /* share of the largest stable time step */
#define FLOW_EPS ((double)0.05f)  /* amount of smoothing */
#define FLOW_MACH ((double)0.4f)

/* Density, x and y momentum and energy of the free stream (per volume). */
void flow_free_stream(double state[4]);

/* What an iteration must move: each loop's data once, its maps once. */
double flow_bytes(const struct airfoil_mesh *mesh, int single);
/* How many edges a block of the hand-written loops has: large ones are best as long as all threads get enough of them. */
int flow_block(const struct airfoil_mesh *mesh);

/* What one iteration changed. */
struct flow_step {
  double rms;     /* root of the mean over the cells of the squared changes */
  double largest; /* largest squared change of one variable in a cell, */
  int cell;       /* and the cell */
};

/* One implementation of the flow. */
struct flow_code {
  const char *name;
  /* Start from the free stream. `block` is the block size of hand-written loops; others ignore it. */
  void *(*start)(const struct airfoil_mesh *mesh, int block);
  struct flow_step (*iterate)(void *run);
  /* Leave the state in q (cells x 4, unless NULL) and end the run. */
  void (*finish)(void *run, double *q);
};

#endif
