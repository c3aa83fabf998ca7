/* The residual of airfoil, from the coordinates of the nodes and the state of the cells through the time
 * steps to the residual, with its tangent (names end in _d) and its adjoint (_b) as differentiation tools
 * write them. In the adjoint the loops run in the opposite order; coordinates and states, which were read
 * through maps, are incremented through them. */
#ifndef ADJOINT_AIRFOIL_LOOPS_H
#define ADJOINT_AIRFOIL_LOOPS_H

#include <op2jit.h>

struct airfoil {
  op_set nodes, cells, edges, boundary;
  op_map cell_nodes, edge_nodes, edge_cells, boundary_nodes, boundary_cell;
  op_dat kind, x, q, adt, res, x_d, q_d, adt_d, res_d, x_b, q_b, adt_b, res_b;
};

/* What the kernels know by name; declared before the first loop. */
void airfoil_constants(void);
/* From x and q to adt, and added to res. */
void airfoil_residual(const struct airfoil *a);
/* From x_d and q_d, at x and q, to adt_d, and added to res_d. */
void airfoil_tangent(const struct airfoil *a);
/* From res_b, at x and q, added to x_b and q_b; adt_b is zero before and after. */
void airfoil_adjoint(const struct airfoil *a);
/* Of these loops the one over the edges, to be timed. */
void airfoil_fluxes_backward(const struct airfoil *a);

#endif
