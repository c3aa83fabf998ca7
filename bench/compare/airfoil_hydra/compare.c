/* airfoil_hydra against hand-written loops. */
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"
#include "twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/airfoil_hydra/airfoil_hydra.c"
#undef main

struct settings {
  int n, iterations, compare;
  double step;
};

static double length_of_step(const struct settings *s) {
  return s->step / (s->n - 1);
}

static struct box_result run_library(const struct hydra *h, int iterations, double dt) {
  struct box_result result = {0, 0, 0, 0};
  double start = clock_seconds();
  for (int i = 0; i < iterations; i++) {
    if (i == 1)
      start = clock_seconds();
    double leak = find_residual(h);
    result.last = advance_by(h, dt);
    if (i == 0) {
      result.first = result.last;
      result.leak = leak;
    }
  }
  result.seconds = (clock_seconds() - start) / (iterations > 1 ? iterations - 1 : 1);
  return result;
}

/* Without an unstable run, whose numbers say nothing about the loops. */
static int check_stable(struct check *check, const struct settings *s, const struct box_result *library) {
  const double most = 2, growth = library->last / library->first;
  if (growth <= most)
    return 1;
  op_printf("unstable: with --step %g the residual grows; take a shorter step\n", s->step);
  check_at_most(check, "growth of the residual", growth, most);
  return 0;
}

/* What the run gave against the hand-written loops, at the first rank. */
static void check_run(struct check *check, const struct settings *s, const struct box *box, const double *q,
                      const struct box_result *library) {
  long long count = (long long)VARIABLES * box->nodes;
  double *by_hand = room(count, sizeof *by_hand), dt = length_of_step(s), base = 0;
  box_state(box, 0.05, by_hand);
  struct box_result serial = hydra_twin(box, s->iterations, dt, 0, by_hand);
  check_at_most(check, "sum of all residuals, over the sum of their sizes", library->leak, 1e-13);
  /* In a flow that does not change any more it is rounding. */
  check_at_most(check, "norm of the last residual against the hand-written loops",
                difference_above(1e-2 * serial.first, library->last, serial.last), 1e-11);
  check_at_most(check, "state against the hand-written loops", largest_difference(q, by_hand, count), 1e-11);

  double bytes = box->edges * (2 * 8.0 + 2 * 24.0) +
                 box->nodes * 8.0 * (7 + 42 + 42 + 1 + 4 + 7 + 21 + 14 + 7 + 1 + 14 + 14 + 21);
  compare_header("one iteration");
  compare_row("hand-written, serial", serial.seconds, bytes, &base);
  if (s->compare) {
    box_state(box, 0.05, by_hand);
    compare_row("hand-written, OpenMP", hydra_twin(box, s->iterations, dt, 1, by_hand).seconds, bytes, &base);
    check_at_most(check, "state, hand-written with OpenMP", largest_difference(q, by_hand, count), 1e-11);
  }
  compare_row("op2jit", library->seconds, bytes, &base);
  free(by_hand);
}

static int compare(const struct settings *s) {
  struct box box = box_make(s->n);
  double *q = room((long long)VARIABLES * box.nodes, sizeof *q);
  struct hydra hydra = declare(&box);
  struct check check = {0};
  box_state(&box, 0.05, q);
  op_put_data(hydra.q, q);
  struct box_result library = run_library(&hydra, s->iterations, length_of_step(s));
  op_fetch_data(hydra.q, q);
  if (op_is_root() && check_stable(&check, s, &library))
    check_run(&check, s, &box, q, &library);
  free(q);
  box_free(&box);
  return check_end(&check, "airfoil_hydra");
}

int main(int argc, char **argv) {
  struct settings s = {.n = 24, .iterations = 20, .step = 0.1};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 3, 400, "n x n x n nodes"},
      {"iters", OPTION_INT, &s.iterations, 1, 1e9, "iterations"},
      {"step", OPTION_REAL, &s.step, 0, 0.2,
       "time step over the distance of nodes; longer ones are unstable"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "the wide loops of a large flow solver: seven variables and their gradients",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  gam = BOX_GAMMA;
  viscosity = BOX_VISCOSITY;
  op_init(argc, argv, 1);
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("viscosity", 1, "double", &viscosity);
  int status = compare(&s);
  op_exit();
  return status;
}
