/* The load of a large flow solver as its sample has it, with derivatives by the flow and by all that its mesh is. */
#define main hydra_main
#include "../../samples/airfoil_hydra/airfoil_hydra.c"
#undef main

#include "sample.h"

enum { ITERATIONS = 2 };

static int side = 4; /* nodes along it */
static struct hydra solver;
static struct sample sample;

static void run_hydra(void) {
  for (int i = 0; i < ITERATIONS; i++) {
    sample_step();
    find_residual(&solver);
    advance_by(&solver, 0.1 / (side - 1));
  }
  sample_add_up(solver.nodes, solver.q, VARIABLES, sample.output);
}

LIBRARY_TEST(the_gradient_of_hydra) {
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("viscosity", 1, "double", &viscosity);
  struct box box = box_make(side);
  double *q = calloc((size_t)VARIABLES * (size_t)box.nodes, sizeof *q);
  assert_non_null(q);
  solver = declare(&box);
  box_state(&box, 0.05, q);
  works(op_put_data(solver.q, q));
  sample = (struct sample){.ninputs = 4,
                           .inputs = {{.dat = solver.q, .set = solver.nodes, .dim = VARIABLES, .by = 1e-5},
                                      {.dat = solver.x, .set = solver.nodes, .dim = 3, .by = 1e-5},
                                      {.dat = solver.volume, .set = solver.nodes, .dim = 1, .by = 1e-6},
                                      {.dat = solver.normal, .set = solver.edges, .dim = 3, .by = 1e-6}},
                           .output = sample_output(),
                           .run = run_hydra,
                           .steps = ITERATIONS,
                           .passive = 1, /* sums that are printed go into variables of the program */
                           .most = 1e-7};
  sample_compare(&sample);
  free(q);
  box_free(&box);
}

int main(int argc, char **argv) {
  side = argc > 1 ? atoi(argv[1]) : side;
  return run_these(NULL, NULL);
}
