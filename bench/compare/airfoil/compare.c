/* The loops of airfoil in two precisions against hand-written loops. The loops are in solver_loops.h; the same by hand
 * is in twin_loops.h. */
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"
#include "flow.h"
#include "reference.h"
#include "solver.h"
#include "twin.h"

#include <float.h>
#include <op2jit.h>
#include <stdlib.h>

struct settings {
  int cells, iterations, block, single, compare;
};

static struct flow_run run_make(const struct airfoil_mesh *mesh, int iterations) {
  return (struct flow_run){.rms = room(iterations, sizeof(double)),
                           .q = room(4LL * mesh->cells, sizeof(double))};
}

static void run_free(struct flow_run *run) {
  free(run->rms);
  free(run->q);
}

/* The first iteration is timed by itself: in it the library plans and compiles. */
static void run_code(const struct flow_code *code, const struct airfoil_mesh *mesh, int iterations, int block,
                     struct flow_run *run) {
  void *state = code->start(mesh, block);
  double start = clock_seconds(), second = start;
  for (int i = 0; i < iterations; i++) {
    run->last = code->iterate(state);
    run->rms[i] = run->last.rms;
    if (i == 0)
      second = clock_seconds();
  }
  double end = clock_seconds();
  run->first = second - start;
  run->later = iterations > 1 ? (end - second) / (iterations - 1) : run->first;
  code->finish(state, run->q);
}

static double rms_limit(const struct settings *s) {
  return s->single ? 1e-3 : 1e-9;
}

/* What rounding leaves of an rms, once the flow does not change any more: a few of the last digits of states about
 * 1. */
static double rounding_of(const struct settings *s) {
  return 2 * (s->single ? FLT_EPSILON : DBL_EPSILON);
}

/* Of so many iterations. */
static double rms_difference(const struct settings *s, const struct flow_run *one,
                             const struct flow_run *other, int iterations) {
  const double least = rounding_of(s) / rms_limit(s);
  double worst = 0;
  for (int i = 0; i < iterations; i++)
    worst = worse_of(worst, difference_above(least, one->rms[i], other->rms[i]));
  return worst;
}

static void check_by_hand(struct check *check, const struct settings *s, const struct airfoil_mesh *mesh,
                          const struct flow_run *one, const struct flow_run *other) {
  check_at_most(check, "rms of all iterations against the hand-written loops",
                rms_difference(s, one, other, s->iterations), rms_limit(s));
  check_at_most(check, "state of all cells against the hand-written loops",
                largest_difference(one->q, other->q, 4LL * mesh->cells), s->single ? 1e-4 : 1e-10);
  /* Where nothing changes any more, rounding decides. */
  if (!s->single && other->last.largest > 1e-20)
    check_equal(check, "cell of the largest change, or its mirror image",
                mesh_lower_image(mesh, one->last.cell), mesh_lower_image(mesh, other->last.cell));
}

static int compare(const struct settings *s) {
  struct airfoil_mesh mesh;
  mesh_generate(&mesh, s->cells);
  struct flow_run library = run_make(&mesh, s->iterations), serial = run_make(&mesh, s->iterations),
                  openmp = run_make(&mesh, s->iterations);
  const int block = s->block > 0 ? s->block : flow_block(&mesh);
  double base = 0, bytes = flow_bytes(&mesh, s->single);
  struct check check = {0};
  run_code(s->single ? &solver_single : &solver_double, &mesh, s->iterations, 0, &library);
  reference_check(&check, &mesh, s->iterations, &library, s->single);
  run_code(s->single ? &twin_serial_single : &twin_serial_double, &mesh, s->iterations, block, &serial);
  check_by_hand(&check, s, &mesh, &library, &serial);
  compare_header("one iteration");
  compare_row("hand-written, serial", serial.later, bytes, &base);
  if (s->compare) {
    run_code(s->single ? &twin_openmp_single : &twin_openmp_double, &mesh, s->iterations, block, &openmp);
    check_by_hand(&check, s, &mesh, &openmp, &serial);
    compare_row("hand-written, OpenMP", openmp.later, bytes, &base);
  }
  compare_row("op2jit, the first", library.first, bytes, &base);
  compare_row("op2jit, the others", library.later, bytes, &base);
  run_free(&library);
  run_free(&serial);
  run_free(&openmp);
  mesh_free(&mesh);
  return check_end(&check, "airfoil");
}

int main(int argc, char **argv) {
  struct settings s = {.cells = 20000, .iterations = 200, .block = 0};
  const struct option_entry entries[] = {
      {"cells", OPTION_INT, &s.cells, 12, 2e8, "size of the mesh; 720000 is the published one"},
      {"iters", OPTION_INT, &s.iterations, 1, 1e9, "iterations"},
      {"single", OPTION_FLAG, &s.single, 0, 0, "single precision"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "the hand-written loops with OpenMP too"},
      {"block", OPTION_INT, &s.block, 0, 1e9, "block size of the hand-written loops with OpenMP; 0 chooses"},
  };
  enum options_outcome outcome = options_read(argc, argv, "airfoil against hand-written loops",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  int status = compare(&s);
  op_exit();
  return status;
}
