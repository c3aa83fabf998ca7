/* A box of nodes with edges between neighbours, and what a solver needs of it: the dual faces' normals, the
 * volumes round the nodes, and the outward normals that close the volumes on the boundary. */
#ifndef AIRFOIL_HYDRA_BOX_H
#define AIRFOIL_HYDRA_BOX_H

enum { VARIABLES = 7, GRADIENTS = 3 * VARIABLES };

struct box {
  int n, nodes, edges, boundary;
  int *edge_nodes;         /* edges x 2 */
  int *boundary_node;      /* boundary */
  double *x;               /* nodes x 3 */
  double *volume;          /* nodes */
  double *normal;          /* edges x 3, from the first node to the second, as long as the face is large */
  double *boundary_normal; /* boundary x 3 */
};

/* n x n x n nodes in the unit cube, sheared. */
struct box box_make(int n);
void box_free(struct box *box);
int box_inside(const struct box *box, int node);

/* Density, momentum, energy and two quantities of turbulence, per volume: everywhere the same, or with
 * waves of this height. */
void box_state(const struct box *box, double height, double *q);

static const double BOX_GAMMA = 1.4, BOX_VISCOSITY = 1e-3;

#endif
