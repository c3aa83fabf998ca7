#include "mesh.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

double aero_potential(double x, double y) {
  return x + AERO_AMPLITUDE * sin(M_PI * x) * sin(M_PI * y);
}

static int on_boundary(const struct aero_mesh *mesh, int node) {
  int i = node % (mesh->n + 1), j = node / (mesh->n + 1);
  return i == 0 || j == 0 || i == mesh->n || j == mesh->n;
}

struct aero_mesh aero_mesh_make(int n) {
  struct aero_mesh made = {.n = n, .nodes = (n + 1) * (n + 1), .cells = n * n};
  made.x = room(2LL * made.nodes, sizeof *made.x);
  made.cell_nodes = room(4LL * made.cells, sizeof *made.cell_nodes);
  made.fixed_node = room(4LL * n, sizeof *made.fixed_node);
  for (int node = 0; node < made.nodes; node++) {
    int i = node % (n + 1), j = node / (n + 1);
    double s = (double)i / n, t = (double)j / n;
    double bend = 0.04 * sin(2 * M_PI * s) * sin(2 * M_PI * t);
    made.x[2 * node] = s + bend;
    made.x[2 * node + 1] = t - bend;
    if (on_boundary(&made, node))
      made.fixed_node[made.fixed++] = node;
  }
  for (int cell = 0; cell < made.cells; cell++) {
    int corner = cell % n + cell / n * (n + 1), *nodes = made.cell_nodes + 4 * cell;
    nodes[0] = corner;
    nodes[1] = corner + 1;
    nodes[2] = corner + n + 2;
    nodes[3] = corner + n + 1;
  }
  return made;
}

void aero_mesh_free(struct aero_mesh *mesh) {
  free(mesh->x);
  free(mesh->cell_nodes);
  free(mesh->fixed_node);
  *mesh = (struct aero_mesh){0};
}

double *aero_start(const struct aero_mesh *mesh) {
  double *phi = room(mesh->nodes, sizeof *phi);
  for (int node = 0; node < mesh->nodes; node++)
    phi[node] = mesh->x[2 * node];
  for (int k = 0; k < mesh->fixed; k++) {
    int node = mesh->fixed_node[k];
    phi[node] = aero_potential(mesh->x[2 * node], mesh->x[2 * node + 1]);
  }
  return phi;
}
