#include "flow.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>

void flow_free_stream(double state[4]) {
  double pressure = 1, density = 1;
  double speed = sqrt(FLOW_GAMMA * pressure / density) * FLOW_MACH;
  double energy = pressure / (density * (FLOW_GAMMA - 1)) + 0.5 * speed * speed;
  state[0] = density;
  state[1] = density * speed;
  state[2] = 0;
  state[3] = density * energy;
}

struct flow_result flow_result_make(const struct airfoil_mesh *mesh, int iterations) {
  return (struct flow_result){
      .rms = room(iterations, sizeof(double)), .q = room(4LL * mesh->cells, sizeof(double)), .cell = -1};
}

void flow_result_free(struct flow_result *result) {
  free(result->rms);
  free(result->q);
  *result = (struct flow_result){0};
}
