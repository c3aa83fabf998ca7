#include "flow.h"

#include <math.h>

void flow_free_stream(double state[4]) {
  double pressure = 1, density = 1;
  double speed = sqrt(FLOW_GAMMA * pressure / density) * FLOW_MACH;
  double energy = pressure / (density * (FLOW_GAMMA - 1)) + 0.5 * speed * speed;
  state[0] = density;
  state[1] = density * speed;
  state[2] = 0;
  state[3] = density * energy;
}

double flow_bytes(const struct airfoil_mesh *mesh, int single) {
  double real = single ? 4 : 8, cells = mesh->cells, nodes = mesh->nodes, edges = mesh->edges;
  double save = cells * 8 * real;
  double time_step = nodes * 2 * real + cells * (5 * real + 4 * 4);
  double fluxes = nodes * 2 * real + cells * (4 + 1 + 8) * real + edges * 4 * 4;
  double update = cells * (4 + 4 + 8 + 1) * real;
  return save + 2 * (time_step + fluxes + update);
}

int flow_block(const struct airfoil_mesh *mesh) {
  const int fitting = mesh->edges / 64;
  return fitting < 256 ? 256 : fitting > 16384 ? 16384 : fitting;
}
