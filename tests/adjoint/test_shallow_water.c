/* Shallow water as its sample has it, on shuffled points, with derivatives by the first state. Nothing of it is looked at. */
#define main shallow_water_main
#include "../../samples/shallow_water/shallow_water.c"
#undef main

#include "sample.h"

enum { STEPS = 3 };

static int points_along = 8;
static struct model grid;
static struct water water;
static struct sample sample;

/* The old level begins as the new one. */
static void run_water(void) {
  const op_dat from[] = {water.u, water.v, water.p}, to[] = {water.uold, water.vold, water.pold};
  for (int k = 0; k < 3; k++)
    op_par_loop("static void copy(const double *from, double *to) { *to = *from; }", "copy", water.points,
                own(from[k], OP_READ), own(to[k], OP_WRITE));
  for (int k = 0; k < STEPS; k++) {
    sample_step();
    step(&water, model_factors_of(&grid, k));
  }
  const op_dat all[] = {water.u, water.v, water.p};
  for (int k = 0; k < 3; k++)
    sample_add_up(water.points, all[k], 1, sample.output);
}

LIBRARY_TEST(the_gradient_of_shallow_water) {
  const int count = points_along * points_along;
  int *number = array(count, sizeof *number);
  struct state first = state_make(count);
  grid = model_make(points_along, points_along);
  find_numbering("shuffled")->number(points_along, points_along, number);
  model_initial(&grid, first.u, first.v, first.p);
  water = water_make(&grid, number, &first);
  sample = (struct sample){.ninputs = 3,
                           .inputs = {{.dat = water.u, .set = water.points, .dim = 1, .by = 1e-3},
                                      {.dat = water.v, .set = water.points, .dim = 1, .by = 1e-3},
                                      {.dat = water.p, .set = water.points, .dim = 1, .by = 1}},
                           .output = sample_output(),
                           .run = run_water,
                           .steps = STEPS,
                           .most = 1e-7};
  sample_compare(&sample);
  state_free(&first);
  free(number);
}

int main(int argc, char **argv) {
  points_along = argc > 1 ? atoi(argv[1]) : points_along;
  return run_these(NULL, NULL);
}
