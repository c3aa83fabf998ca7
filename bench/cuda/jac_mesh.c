#include <stdlib.h>

#include "cases.h"
#include "common/memory.h"

struct jac_mesh jac_mesh_make(int n) {
  static const int step[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
  struct jac_mesh made = {.nodes = n * n, .edges = 4 * n * (n - 1)};
  made.ends = room(2LL * made.edges, sizeof *made.ends);
  made.a = room(made.edges, sizeof *made.a);
  made.r = room(made.nodes, sizeof *made.r);
  for (int node = 0, edge = 0; node < made.nodes; node++) {
    made.r[node] = 1.0 / (1 + node % 97);
    for (int k = 0; k < 4; k++) {
      const int i = node % n + step[k][0], j = node / n + step[k][1];
      if (i < 0 || j < 0 || i >= n || j >= n)
        continue;
      made.ends[2 * edge] = node;
      made.ends[2 * edge + 1] = j * n + i;
      made.a[edge++] = 0.25;
    }
  }
  return made;
}

void jac_mesh_free(struct jac_mesh *mesh) {
  free(mesh->ends);
  free(mesh->a);
  free(mesh->r);
}
