/* What derivatives cost, against what was aimed at: airfoil alone, with tangents, and recorded and gone back through, in turns;
 * processor time of one process on one core, medians of the turns' ratios. And how long a derivative takes to make, and a
 * process that finds all in the cache to start.
 *
 * usage: adjoint                      all of it
 *        adjoint CELLS INPUTS BYTES   one case in turns, such as for a profile; INPUTS: 1 by the flow, 2 by the shape too, 0:
 *                                     tangents; BYTES: the budget, 0: none */
#define main airfoil_main
#include "../samples/airfoil/airfoil.c"
#undef main

#include <op2jit_adjoint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jit/derive.h"

enum { ITERATIONS = 10, TURNS = 11, WARM = 4, STAGES = 2 };

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double used(void) {
  return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* One way to run, and what its turns took. */
struct way {
  int inputs; /* 0: with tangents */
  size_t bytes;
  op_tape_facts_t recorded, reversed;
  double record[TURNS], both[TURNS]; /* over the primal's time */
};

static double run_primal(const struct airfoil *a) {
  const double start = used();
  for (int i = 0; i < ITERATIONS; i++)
    iterate(a, NULL);
  return used() - start;
}

static double run_tangents(const struct airfoil *a, const double *ones) {
  op_tangent(1);
  op_put_data(op_dot(a->q), ones);
  op_put_data(op_dot(a->x), ones);
  const double seconds = run_primal(a);
  op_tangent(0);
  return seconds;
}

static double run_tape(const struct airfoil *a, struct way *w, const double *ones, double *record) {
  const op_dat inputs[] = {a->q, a->x};
  op_put_data(op_bar(a->q), ones);
  op_put_data(op_bar(a->x), ones);
  const double one = 1, start = used();
  op_tape tape = op_tape_begin(w->inputs, inputs, w->bytes);
  for (int i = 0; i < ITERATIONS; i++) {
    op_tape_step();
    iterate(a, NULL);
  }
  op_tape_end(tape);
  *record = used() - start;
  op_tape_facts(tape, &w->recorded);
  op_put_gbl(op_bar_gbl(a->squares[1]), &one);
  op_tape_reverse(tape, 1);
  const double all = used() - start;
  op_tape_facts(tape, &w->reversed);
  op_tape_free(tape);
  return all;
}

/* The primal and a way in turns, `WARM` times before any is counted: then variants are known, and memory is there. */
static void take_turns(const struct airfoil *a, struct way *w, const double *ones) {
  for (int t = -WARM; t < TURNS; t++) {
    const int at = t < 0 ? 0 : t;
    const double primal = run_primal(a);
    double record = 0;
    const double both = w->inputs ? run_tape(a, w, ones, &record) : run_tangents(a, ones);
    w->record[at] = record / primal;
    w->both[at] = both / primal;
  }
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *of) {
  double sorted[TURNS];
  memcpy(sorted, of, sizeof sorted);
  qsort(sorted, TURNS, sizeof *sorted, compare);
  return sorted[TURNS / 2];
}

static void say(const char *what, double is, double most) {
  printf("  %-58s %8.2f, at most %5.1f: %s\n", what, is, most, is <= most ? "met" : "MISSED");
}

static struct airfoil begin(int cells, double **ones) {
  struct airfoil_mesh mesh;
  mesh_generate(&mesh, cells);
  const struct airfoil a = declare_mesh(&mesh);
  const size_t count = 4 * (size_t)mesh.cells + 2 * (size_t)mesh.nodes;
  *ones = calloc(count, sizeof **ones);
  for (size_t i = 0; *ones && i < count; i++)
    (*ones)[i] = 1;
  mesh_free(&mesh);
  return a;
}

static void compare_costs(int cells, double by_flow, double by_both) {
  struct way ways[] = {{.inputs = 0}, {.inputs = 1}, {.inputs = 2}, {.inputs = 2}};
  double *ones;
  const struct airfoil a = begin(cells, &ones);
  ways[3].bytes = (size_t)a.cell_count * 9 * sizeof(double) * STAGES * ITERATIONS / 4;
  for (int i = 0; i < 4; i++)
    take_turns(&a, &ways[i], ones);
  free(ones);
  const double kept =
      (double)ways[2].recorded.bytes / ((double)sizeof(double) * STAGES * ITERATIONS * a.cell_count);
  printf("%d cells, processor time over that of the primal\n", a.cell_count);
  say("tangent by flow and shape", median(ways[0].both), 2.2);
  printf("  record by flow %.2f, by flow and shape %.2f, in a quarter %.2f\n", median(ways[1].record),
         median(ways[2].record), median(ways[3].record));
  say("adjoint by the flow", median(ways[1].both), by_flow);
  say("adjoint by flow and shape", median(ways[2].both), by_both);
  say("the same in a quarter of the memory", median(ways[3].both), 6);
  printf("  %lld steps run again, %lld bytes of %lld at most, of %lld\n", ways[3].reversed.again,
         ways[3].reversed.most, (long long)ways[3].bytes, ways[2].reversed.most);
  /* With what is kept once, and the room behind the ends of dats. */
  say("doubles kept of a cell and stage, by flow and shape", kept, 9);
}

/* ---- making derivatives, and starting with them ---- */

static void time_deriving(void) {
  const char *slowest;
  const double seconds = slowest_to_derive(&slowest);
  printf("the slowest to derive is %s\n", slowest);
  say("milliseconds to derive a kernel", 1e3 * seconds, 20);
}

/* Milliseconds of a process on a tiny mesh, with a tape or without. */
static double start_once(const char *program, const char *inputs) {
  const double start = seconds(CLOCK_MONOTONIC);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout))
      _exit(1);
    execl(program, program, "start", inputs, (char *)NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  return 1e3 * (seconds(CLOCK_MONOTONIC) - start);
}

static int start(int inputs) {
  struct way w = {.inputs = inputs};
  double *ones, record;
  const struct airfoil a = begin(100, &ones);
  inputs ? run_tape(&a, &w, ones, &record) : run_primal(&a);
  free(ones);
  return op_exit();
}

static void time_starts(const char *program) {
  double least[2] = {INFINITY, INFINITY};
  for (int t = 0; t < TURNS; t++)
    for (int tape = 0; tape < 2; tape++)
      least[tape] = fmin(least[tape], start_once(program, tape ? "2" : "0"));
  printf("milliseconds of a warm process on 100 cells: %.1f, with a tape and back %.1f\n", least[0],
         least[1]);
}

static void run_case(int cells, int inputs, size_t bytes) {
  struct way w = {.inputs = inputs, .bytes = bytes};
  double *ones;
  const struct airfoil a = begin(cells, &ones);
  take_turns(&a, &w, ones);
  free(ones);
  printf("%d cells: record %.2f, all %.2f of the primal; %lld bytes at most, %lld steps again, %lld copied "
         "of %lld\n",
         a.cell_count, median(w.record), median(w.both), w.reversed.most, w.reversed.again, w.reversed.copied,
         w.reversed.versions);
}

int main(int argc, char **argv) {
  const int starts = argc > 2 && !strcmp(argv[1], "start");
  setenv("OP2_BACKEND", "seq", 0);
  if (op_init(0, NULL, starts ? 0 : 1))
    return 1;
  declare_constants();
  if (starts)
    return start(atoi(argv[2]));
  if (argc > 3) {
    run_case(atoi(argv[1]), atoi(argv[2]), strtoull(argv[3], NULL, 10));
    return op_exit();
  }
  compare_costs(20000, 3.5, 3.8);
  time_deriving();
  compare_costs(200000, 3.0, 3.5);
  op_exit();
  time_starts(argv[0]);
  return 0;
}
