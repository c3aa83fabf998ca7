#include "reference.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* Residuals after every `step` iterations, as printed with six digits. */
struct history {
  int cells, step, count;
  const double *rms;
};

/* OP2's published figures. */
static const double published[] = {5.02186e-04, 3.41746e-04, 2.63430e-04, 2.16288e-04, 1.84659e-04,
                                   1.60866e-04, 1.42253e-04, 1.27627e-04, 1.15810e-04, 1.06011e-04};

/* The small default mesh, by the hand-written loops compiled without optimisation. */
static const double small[] = {8.078632254612656e-04, 4.930576949844269e-04, 3.512976319532475e-04,
                               2.678919462698765e-04};

static const struct history histories[] = {
    {PUBLISHED_CELLS, 100, 10, published},
    {20100, 50, 4, small},
};

/* The last of them with all digits, and the place and size of the largest change. */
enum { LAST_ITERATION = 1000, LAST_CELL = 159019 };
static const double last_rms = 0.0001060114637578;
static const double last_largest = 2.315029308756640e-06;

int reference_check(struct check *check, const struct airfoil_mesh *mesh, int iterations,
                    const struct flow_run *run, int single) {
  int before = check->done, cells = mesh->columns ? mesh->cells : 0;
  /* Six digits are printed; single precision gives about four. */
  double limit = single ? 1e-3 : 5e-6;
  for (size_t h = 0; h < sizeof histories / sizeof *histories; h++) {
    const struct history *known = &histories[h];
    for (int k = 1; known->cells == cells && k <= known->count && k * known->step <= iterations; k++) {
      char what[64];
      snprintf(what, sizeof what, "rms after %d iterations against %.5e", k * known->step, known->rms[k - 1]);
      check_at_most(check, what, relative_difference(run->rms[k * known->step - 1], known->rms[k - 1]),
                    limit);
    }
  }
  if (cells == PUBLISHED_CELLS && iterations == LAST_ITERATION && !single) {
    check_at_most(check, "rms after 1000 iterations against all digits",
                  relative_difference(run->rms[LAST_ITERATION - 1], last_rms), 1e-7);
    check_at_most(check, "largest squared change against the published",
                  relative_difference(run->last.largest, last_largest), 1e-7);
    check_equal(check, "its cell, or the mirror image", mesh_lower_image(mesh, run->last.cell),
                mesh_lower_image(mesh, LAST_CELL));
  }
  return check->done - before;
}
