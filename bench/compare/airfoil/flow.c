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
