/* shallow_water against hand-written loops, every bit of which must be the same with OP2_FP=strict, and more of
 * the benchmark's values. */
#define SHALLOW_WATER_SAMPLE
#include "common/arguments.h"
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/shallow_water/shallow_water.c"
#undef main

#include "known.h"
#include "twin.h"

#include <stdint.h>

struct settings {
  int m, n, steps, compare;
  const char *mesh, *fp;
};

/* Leaves the state at the end in `state`; returns the seconds of one step, without the first, which plans and
 * compiles. */
static double run_library(const struct settings *s, const struct model *model, const int *number,
                          const struct state *state) {
  const int count = model->m * model->n, first = s->steps > 1;
  double value, start = clock_seconds();
  model_initial(model, state->u, state->v, state->p);
  struct water w = water_make(model, number, state);
  for (int k = 0; k < s->steps; k++) {
    if (k == first)
      start = clock_seconds();
    step(&w, model_factors_of(model, k));
  }
  wait_for(w.p, &value);
  const double seconds = (clock_seconds() - start) / (s->steps - first);
  fetch(w.u, number, count, state->u);
  fetch(w.v, number, count, state->v);
  fetch(w.p, number, count, state->p);
  return seconds;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static long long different_values(const double *a, const double *b, int count) {
  long long different = 0;
  for (int k = 0; k < count; k++)
    different += bits_of(a[k]) != bits_of(b[k]);
  return different;
}

static void check_twin(struct check *check, const struct settings *s, int count, const struct state *a,
                       const struct state *b) {
  if (!strcmp(s->fp, "strict")) {
    check_equal(check, "values of u, v and p with other bits than the twin's",
                different_values(a->u, b->u, count) + different_values(a->v, b->v, count) +
                    different_values(a->p, b->p, count),
                0);
  } else {
    check_at_most(check, "u and v against the hand-written loops",
                  fmax(largest_difference(a->u, b->u, count), largest_difference(a->v, b->v, count)), 1e-10);
    check_at_most(check, "p against the hand-written loops", largest_difference(a->p, b->p, count), 1e-8);
  }
}

/* On the mesh that the library had. */
static void compare_by_map(struct check *check, const struct settings *s, const struct numbering *numbering,
                           const struct model *model, const struct state *library, const struct state *twin,
                           double *base) {
  int count = s->m * s->n, *number = room(count, sizeof *number);
  numbering->number(s->m, s->n, number);
  int *table = neighbour_table(s->m, s->n, number);
  struct state there = state_make(count);
  model_initial(model, twin->u, twin->v, twin->p);
  double *const fields[3][2] = {{there.u, twin->u}, {there.v, twin->v}, {there.p, twin->p}};
  for (int f = 0; f < 3; f++)
    for (int k = 0; k < count; k++)
      fields[f][0][number[k]] = fields[f][1][k];
  double seconds = twin_run_by_map(model, s->steps, table, there.u, there.v, there.p);
  for (int f = 0; f < 3; f++)
    for (int k = 0; k < count; k++)
      fields[f][1][k] = fields[f][0][number[k]];
  check_twin(check, s, count, library, twin);
  compare_row("hand-written, OpenMP, by the map", seconds, 256.0 * count, base);
  state_free(&there);
  free(number);
  free(table);
}

/* What the library left and how long a step took, against all that is known. Returns the program's status. */
static int check_all(const struct settings *s, const struct numbering *numbering, const struct model *model,
                     const struct state *library, double library_seconds) {
  int count = s->m * s->n;
  struct state twin = state_make(count);
  struct check check = {0};
  model_initial(model, twin.u, twin.v, twin.p);
  double mean = model_mean(model, twin.p);
  known_check(&check, model, 0, twin.u, twin.v, twin.p);
  double serial_seconds = twin_run(model, s->steps, 0, twin.u, twin.v, twin.p);
  op_printf("%d x %d points, %s, %d steps: rms of p - 50000 %.15e, of u %.15e\n", s->m, s->n, numbering->name,
            s->steps, model_rms(model, library->p, MODEL_MEAN_PRESSURE), model_rms(model, library->u, 0));
  known_check(&check, model, s->steps, library->u, library->v, library->p);
  check_at_most(&check, "mean of p: relative change",
                relative_difference(model_mean(model, library->p), mean), 1e-14);
  check_twin(&check, s, count, library, &twin);
  double bytes = 256.0 * count, base = 0;
  compare_header("one step");
  compare_row("hand-written, serial", serial_seconds, bytes, &base);
  if (s->compare) {
    compare_row("hand-written, OpenMP", twin_run(model, s->steps, 1, twin.u, twin.v, twin.p), bytes, &base);
    check_twin(&check, s, count, library, &twin);
    compare_by_map(&check, s, numbering, model, library, &twin, &base);
  }
  compare_row("op2jit", library_seconds, bytes, &base);
  state_free(&twin);
  return check_end(&check, "shallow_water");
}

static int run(const struct settings *s, const struct numbering *numbering) {
  struct model model = model_make(s->m, s->n);
  int count = s->m * s->n, *number = room(count, sizeof *number), status = EXIT_SUCCESS;
  struct state state = state_make(count);
  numbering->number(s->m, s->n, number);
  double seconds = run_library(s, &model, number, &state);
  if (op_is_root())
    status = check_all(s, numbering, &model, &state, seconds);
  state_free(&state);
  free(number);
  return status;
}

/* All tables of which fit in what most machines have, and their entries in an int. */
enum { MOST_POINTS = 300000000 };

static int is_floating_point(const char *word) {
  return !strcmp(word, "strict") || !strcmp(word, "contract") || !strcmp(word, "fast");
}

/* As the library decides: a word of the command line, --fp, the environment. Sums in another order are for who asks. */
static const char *floating_point(int argc, char **argv, const char *asked) {
  static const char name[] = "OP2_FP=";
  for (int i = argc - 1; i > 0; i--)
    if (!strncmp(argv[i], name, sizeof name - 1))
      return argv[i] + sizeof name - 1;
  const char *set = getenv("OP2_FP");
  return asked ? asked : set && *set ? set : "strict";
}

int main(int argc, char **argv) {
  struct settings s = {.m = 64, .n = 0, .steps = 100, .mesh = "rows"};
  const struct option_entry entries[] = {
      {"m", OPTION_INT, &s.m, 2, 16384, "points in x"},
      {"n", OPTION_INT, &s.n, 0, 16384, "points in y; 0: as many as in x (hexagons: twice)"},
      {"steps", OPTION_INT, &s.steps, 1, 1e9, "time steps"},
      {"mesh", OPTION_WORD, &s.mesh, 0, 0, "how points are numbered: rows, shuffled or hexagons"},
      {"fp", OPTION_WORD, &s.fp, 0, 0,
       "strict, contract or fast [OP2_FP, or strict]: with strict, all bits must be the twin's"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "the shallow-water equations on a periodic grid",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  const struct numbering *numbering = find_numbering(s.mesh);
  if (!numbering)
    return options_refuse("--mesh %s: expected rows, shuffled or hexagons", s.mesh);
  if (s.fp && !is_floating_point(s.fp))
    return options_refuse("--fp %s: expected strict, contract or fast", s.fp);
  int hexagons = !strcmp(s.mesh, "hexagons");
  if (s.n == 0)
    s.n = hexagons ? 2 * s.m : s.m;
  if (hexagons && s.n != 2 * s.m)
    return options_refuse("--n %d: expected %d, twice what --m gives, as --mesh hexagons needs it", s.n,
                          2 * s.m);
  if ((long long)s.m * s.n > MOST_POINTS)
    return options_refuse("--m %d --n %d: expected at most %d points in all", s.m, s.n, MOST_POINTS);
  s.fp = floating_point(argc, argv, s.fp);
  char word[64];
  snprintf(word, sizeof word, "OP2_FP=%s", s.fp);
  init_with(argc, argv, 1, word);
  int status = run(&s, numbering);
  op_exit();
  return status;
}
