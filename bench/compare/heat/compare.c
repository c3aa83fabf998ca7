/* heat against hand-written loops, and against what others found. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/heat/heat.c"
#undef main

/* What others found: L2 error against the solution of the equation. */
struct known {
  int n, steps;
  double dt, l2;
};
static const struct known known[] = {
    {1000, 10, 0.05, 3.808801e-10},
    {100, 10, 0.05, 4.015950e-09},
    {8000, 10, 0.05, 1.440503e-10},
    {100, 1000, 200, 1.568879e-03},
};

static void check_known(struct check *check, int n, int steps, double dt, double l2) {
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].n == n && known[k].steps == steps && fabs(known[k].dt - dt) < 1e-12)
      check_at_most(check, "L2 error against the known value: relative", relative_difference(l2, known[k].l2),
                    1e-3);
}

struct settings {
  int n, steps, compare;
  double dt;
};

/* Seconds of a step, without the first two: each is a loop of its own, on other dats, that the library plans and
 * compiles. */
static double plate_time(struct plate *plate, int steps, double r) {
  double value;
  const int first = steps > 2 ? 2 : 0;
  plate_run(plate, first, r);
  wait_for(plate->u, &value);
  const double start = clock_seconds();
  plate_run(plate, steps - first, r);
  wait_for(plate->u, &value);
  return (clock_seconds() - start) / (steps - first);
}

/* All rows are given the traffic that cannot be avoided, u read and written once: GB/s then compare with the triad's.
 * The map, which the library reads too, is as much again. */
static void compare(struct check *check, const struct settings *s, const struct plate *plate, double r,
                    const double *mine, double library_seconds) {
  const long long points = framed(s->n);
  double base = 0, traffic = 16.0 * s->n * s->n;
  double *u = hill(s->n, 1);
  double serial = heat_twin(s->n, s->steps, r, 0, u);
  check_at_most(check, "u against the hand-written loops", largest_difference(u, mine, points), 1e-13);
  compare_header("one step");
  compare_row("hand-written, serial", serial, traffic, &base);
  free(u);
  u = hill(s->n, 1);
  compare_row("hand-written, OpenMP", heat_twin(s->n, s->steps, r, 1, u), traffic, &base);
  check_at_most(check, "hand-written with OpenMP", largest_difference(u, mine, points), 1e-13);
  free(u);
  u = hill(s->n, 1);
  double by_map = heat_twin_by_map((int)points, plate->table, s->steps, r, u);
  check_at_most(check, "hand-written through the map", largest_difference(u, mine, points), 1e-13);
  compare_row("hand-written, OpenMP, by the map", by_map, traffic, &base);
  compare_row("op2jit", library_seconds, traffic, &base);
  free(u);
}

static int run(const struct settings *s) {
  struct plate plate = plate_make(s->n);
  double dt = s->dt > 0 ? s->dt : 0.5 / s->steps, *u = room(framed(s->n), sizeof *u);
  double r = alpha * dt / (plate.dx * plate.dx), seconds = plate_time(&plate, s->steps, r);
  struct error equation = plate_error(&plate, exact_decay(s->steps * dt));
  struct error discrete = plate_error(&plate, discrete_decay(&plate, r, s->steps));
  struct check check = {0};
  check_known(&check, s->n, s->steps, dt, equation.l2);
  check_between(&check, "largest error against the discrete solution", discrete.largest, 0, 1e-12);
  op_fetch_data(plate.u, u);
  if (s->compare && op_is_root())
    compare(&check, s, &plate, r, u, seconds);
  free(u);
  free(plate.table);
  return check_end(&check, "heat");
}

int main(int argc, char **argv) {
  struct settings s = {.n = 1000, .steps = 10};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 1, 20000, "n x n points inside the plate"},
      {"steps", OPTION_INT, &s.steps, 1, 1e9, "time steps"},
      {"dt", OPTION_REAL, &s.dt, 0, 1e9, "length of a step; 0: half a second for all of them"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "the heat equation on a square plate",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  int status = run(&s);
  op_exit();
  return status;
}
