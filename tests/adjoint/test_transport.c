/* Transport as its sample has it: least squares, a limiter, walls, inflow and outflow, steps as long as the flow allows; with
 * derivatives by what is transported and by where the nodes are. */
#define main transport_main
#include "../../samples/transport/transport.c"
#undef main

#include "sample.h"

enum { STEPS = 3 };

static int squares = 4; /* along a side */
static double length;   /* of a step: shorter than the flow allows, so that it does not depend on the mesh */
static struct sample sample;

static void run_transport(void) {
  struct progress now = {0};
  for (int i = 1; i <= STEPS; i++) {
    sample_step();
    assert_true(step(&now, i * length) > 0 && now.time == i * length);
  }
  sample_add_up(cells, c, 1, sample.output);
}

LIBRARY_TEST(the_gradient_of_transport) {
  declare(squares);
  prepare(1);
  length = 0.04 / squares;
  sample = (struct sample){.ninputs = 2,
                           .inputs = {{.dat = c, .set = cells, .dim = 1, .by = 1e-6},
                                      {.dat = x, .set = nodes, .dim = 2, .by = 1e-7}},
                           .output = sample_output(),
                           .run = run_transport,
                           .steps = STEPS,
                           .passive = 1, /* the largest rate, and what leaves the square */
                           .most = 1e-6};
  sample_compare(&sample);
}

int main(int argc, char **argv) {
  squares = argc > 1 ? atoi(argv[1]) : squares;
  return run_these(NULL, NULL);
}
