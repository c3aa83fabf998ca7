/* Aero as its sample has it: Newton's method with conjugate gradients, whose coefficients stay with the library. Derivatives
 * by where the nodes are and by the potential, which is given on the boundary. */
#define main aero_main
#include "../../samples/aero/aero.c"
#undef main

#include "sample.h"

static int elements = 4; /* along a side */
static struct aero solver;
static struct sample sample;

/* How often it iterates depends on the residual, as it came. */
static void run_aero(void) {
  sample_step();
  const struct history history = solve(&solver, 100 * elements);
  assert_true(history.steps > 2 && history.steps < MOST_STEPS);
  sample_add_up(solver.nodes, solver.phi, 1, sample.output);
}

LIBRARY_TEST(the_gradient_of_aero) {
  op_decl_const("mach2", 1, "double", &mach2);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("amplitude", 1, "double", &amplitude);
  struct aero_mesh mesh = aero_mesh_make(elements);
  double *phi = aero_start(&mesh);
  solver = declare(&mesh, phi, 0);
  sample = (struct sample){.ninputs = 2,
                           .inputs = {{.dat = solver.x, .set = solver.nodes, .dim = 2, .by = 1e-6},
                                      {.dat = solver.phi, .set = solver.nodes, .dim = 1, .by = 1e-6}},
                           .output = sample_output(),
                           .run = run_aero,
                           .steps = 1,
                           .passive = 1,
                           .most = 1e-6};
  sample_compare(&sample);
  free(phi);
  aero_mesh_free(&mesh);
}

int main(int argc, char **argv) {
  elements = argc > 1 ? atoi(argv[1]) : elements;
  return run_these(NULL, NULL);
}
