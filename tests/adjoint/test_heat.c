/* Heat as its sample has it: two dats that change places, in a kernel of the program's own text. */
#define main heat_main
#include "../../samples/heat/heat.c"
#undef main

#include "sample.h"

enum { STEPS = 4 }; /* even: then both dats are where they were */

static int points_along = 6;
static struct plate plate;
static struct sample sample;

static void run_heat(void) {
  for (int k = 0; k < STEPS; k++) {
    sample_step();
    plate_run(&plate, 1, 0.2);
  }
  sample_add_up(plate.points, plate.u, 1, sample.output);
}

LIBRARY_TEST(the_gradient_of_heat) {
  plate = plate_make(points_along);
  sample = (struct sample){.ninputs = 1,
                           .inputs = {{.dat = plate.u, .set = plate.points, .dim = 1, .by = 1e-4}},
                           .output = sample_output(),
                           .run = run_heat,
                           .steps = STEPS,
                           .most = 1e-9};
  sample_compare(&sample);
  free(plate.table);
}

int main(int argc, char **argv) {
  points_along = argc > 1 ? atoi(argv[1]) : points_along;
  return run_these(NULL, NULL);
}
