/* The solver of flow3d: a mesh with coarse levels from a file, and the loops that find a steady flow on it. */
#ifndef FLOW3D_SOLVER_H
#define FLOW3D_SOLVER_H

#include <op2jit_adjoint.h>

enum { MOST_LEVELS = 8, HEIGHTS = 3, WALLS = 10 };

struct level {
  op_set cells, faces, sides;
  op_map face_cells, side_cell, parent; /* parent: the cell of the next level, NULL on the last one */
  op_dat area, centre, side_area, side_centre, kind, given; /* of faces and sides */
  op_dat moments, volume, middle;                           /* of cells */
  op_dat q, w, old, res, forcing, rate, gradient, limit;
  op_dat matrix, low, high; /* on the first level */
  op_dat first, rest;       /* on others: what came from the finer one */
  double work;              /* of one stage, where that of the first level is 1 */
};

/* A kind of cell, for pictures. */
struct shape {
  op_set cells;
  op_map nodes, cell;
  op_dat shown[4]; /* density, velocity, pressure, Mach number */
};

struct solver {
  int levels, limited;
  double cfl, work; /* work: in stages of the first level, so far */
  struct level level[MOST_LEVELS];
  struct shape shape[4];
  op_set nodes;
  op_map face_nodes, side_nodes;
  op_dat straight, x;
  op_gbl heights, squares, walls;
};

/* Constants of kernels, set once. `viscosity`, 0: without friction. `limiter`: the K of Venkatakrishnan, 0 for none.
 * `couette`: the speed of the plane in Couette's flow, 0 for another one. */
void solver_constants(double viscosity, double limiter, double couette);
/* The mesh, whose geometry comes next. `state`, if not NULL: a file with the flow to go on from, else all cells get
 * `stream`, which is a state of flow3d_kernels.h: temperature, velocity, pressure. */
void solver_read(struct solver *s, const char *mesh, const char *state, double stream[5]);
/* Lengths, areas and volumes, from where nodes are once bumps have these heights. */
void solver_geometry(struct solver *s);
/* Sources, boundary values and a first state, for a flow that is known. */
void solver_make_up(struct solver *s);
/* One cycle of multigrid, or five stages on one level. The residual of before is in s->squares. */
void solver_cycle(struct solver *s);
void solver_walls(struct solver *s); /* what walls feel (flow3d_kernels.h), into s->walls */
void solver_show(struct solver *s);  /* fills the dats of the pictures */
/* The error against the flow that is known, by variable. */
void solver_error(struct solver *s, double error[5]);

#endif
