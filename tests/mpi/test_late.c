/* Results that come late: loops that leave theirs in globals with handles wait for no other rank, and who looks sees what
 * loops see that wait. Each loop runs a second time with variables of the program, which it waits for: all bits must
 * be the same.
 *
 *   test-mpi-late FOLDER PROGRAMS [OP2_...=...] */
#include <math.h>
#include <stdint.h>
#include <unistd.h>

#include "api/api.h"
#include "check.h"
#include "mesh/globals.h"
#include "mesh/handles.h"
#include "ranks/comm.h"
#include "record/record.h"

enum { N = 37, STEPS = 40, DIM = 2, OPERATIONS = 60, WIDE = 100000 };

static int rank, size;

/* clang-format off */
OP_KERNEL_DEF(sum, void sum(const double *x, double *s) { s[0] += x[0]; s[1] += x[0] * x[1]; })
OP_KERNEL_DEF(sum_both, void sum_both(const double *x, double *s, double *t) { s[0] += x[1]; s[1] -= x[0]; *t += x[0]; })
OP_KERNEL_DEF(ends, void ends(const double *x, double *low, double *high) {
  for (int k = 0; k < 2; k++) { if (x[k] < low[k]) low[k] = x[k]; if (x[k] > high[k]) high[k] = x[k]; } })
OP_KERNEL_DEF(grow, void grow(const double *s, const double *low, double *x) {
  x[0] = 0.75 * x[0] + s[0] / (1 + s[0] * s[0]); x[1] = 0.5 * x[1] + low[1] / (1 + low[1] * low[1] + s[1] * s[1]); })
OP_KERNEL_DEF(divide, void divide(const double *a, const double *b, double *q) {
  q[0] = a[0] / (1 + b[0] * b[0]); q[1] = a[1] / (1 + b[1] * b[1]); })
OP_KERNEL_DEF(spread, void spread(const double *x, double *s) { s[0] += x[0]; s[99999] += x[1]; })
OP_KERNEL_DEF(halve, void halve(double *a) { a[0] = 0.5 * a[0] + 0.1; a[1] = 0.25 * a[1] - 0.1; })
/* clang-format on */

/* The globals of a program, by handles or as variables. */
enum { A, B, Q, LOW, HIGH, GLOBALS };

static struct {
  op_set cells, one;
  op_dat x[2]; /* of both forms */
  op_gbl by_handle[GLOBALS];
  double variable[GLOBALS][DIM];
} my;

static op_arg global(bool handles, int which, op_access access) {
  return handles ? op_arg_global(my.by_handle[which], access)
                 : op_arg_gbl(my.variable[which], DIM, "double", access);
}

static op_arg rows(bool handles, op_access access) {
  return op_arg_dat(my.x[handles], -1, OP_ID, DIM, "double", access);
}

static void works(int code) {
  check(code == OP_OK);
}

static void run_sum(bool handles, int into) {
  works(
      op_par_loop(OP_KERNEL_OF(sum), "sum", my.cells, rows(handles, OP_READ), global(handles, into, OP_INC)));
}

/* A loop that also leaves something in a variable is waited for. */
static void run_sum_both(bool handles) {
  double t = 0;
  works(op_par_loop(OP_KERNEL_OF(sum_both), "sum_both", my.cells, rows(handles, OP_READ),
                    global(handles, A, OP_INC), op_arg_gbl(&t, 1, "double", OP_INC)));
  check(isfinite(t));
}

static void run_ends(bool handles) {
  works(op_par_loop(OP_KERNEL_OF(ends), "ends", my.cells, rows(handles, OP_READ),
                    global(handles, LOW, OP_MIN), global(handles, HIGH, OP_MAX)));
}

static void run_grow(bool handles) {
  works(op_par_loop(OP_KERNEL_OF(grow), "grow", my.cells, global(handles, A, OP_READ),
                    global(handles, LOW, OP_READ), rows(handles, OP_RW)));
}

static void run_divide(bool handles) {
  works(op_par_loop(OP_KERNEL_OF(divide), "divide", my.one, global(handles, A, OP_READ),
                    global(handles, B, OP_READ), global(handles, Q, OP_WRITE)));
}

static void run_halve(bool handles, int which) {
  works(op_par_loop(OP_KERNEL_OF(halve), "halve", my.one, global(handles, which, OP_RW)));
}

static void put(int which, double value) {
  const double values[DIM] = {value, -value};
  memcpy(my.variable[which], values, sizeof values);
  works(op_put_gbl(my.by_handle[which], values));
}

static void get(int which) {
  double got[DIM];
  works(op_get_gbl(my.by_handle[which], got));
  check(memcmp(got, my.variable[which], sizeof got) == 0);
}

static void declare(void) {
  double x[DIM * N];
  for (int i = 0; i < DIM * N; i++)
    x[i] = pow(-1.1, i % 17) * (1 + rank) + 1e6 * (i == 5);
  my.cells = op_decl_set(N - rank, "cells");
  my.one = op_decl_set(rank == size - 1, "one");
  for (int f = 0; f < 2; f++)
    check(my.x[f] = op_decl_dat(my.cells, DIM, "double", x, f ? "x" : "y"));
  for (int g = 0; g < GLOBALS; g++)
    check(my.by_handle[g] = op_decl_gbl(DIM, "double", NULL, "g"));
}

/* ---- nobody waits ---- */

static char flag[300];

static void raise_flag(void) {
  FILE *file = fopen(flag, "w");
  check(file && fclose(file) == 0);
}

static void wait_for_flag(void) {
  for (int tries = 0; access(flag, F_OK); tries++) {
    check(tries < 2000); /* 20 s: the others wait in a loop */
    usleep(10000);
  }
}

/* The last rank begins when rank 0 has run all its sums, which it could not if it waited for one. */
static void nobody_waits(void) {
  put(A, 0);
  put(B, 1);
  for (int which = A; which <= B; which++) /* a new loop is agreed on */
    for (int handles = 0; handles < 2; handles++)
      run_sum(handles, which);
  get(A);
  get(B);
  if (rank == 0)
    remove(flag);
  op_barrier();
  const op_counters_t before = *op_counters();
  if (size > 1 && rank == size - 1)
    wait_for_flag();
  for (int i = 0; i < 8; i++)
    run_sum(true, i % 2 ? A : B);
  if (rank == 0)
    raise_flag();
  check(op_counters()->late - before.late == (size > 1 ? 8 : 0));
  check(op_counters()->awaited == before.awaited);
  for (int i = 0; i < 8; i++)
    run_sum(false, i % 2 ? A : B);
  get(A);
  get(B);
}

/* A sum in each step that nobody reads: memory and messages have a bound, the sums are right. */
static void sums_of_many_steps(void) {
  const op_counters_t before = *op_counters();
  const struct gbl *gbl = handle_object(api_context()->handles, my.by_handle[A], HANDLE_GBL);
  for (int step = 0; step < 5 * STEPS; step++) {
    run_sum(true, A);
    check(gbl->late <= 32);
  }
  check(op_counters()->late - before.late == (size > 1 ? 5 * STEPS : 0));
  for (int step = 0; step < 5 * STEPS; step++)
    run_sum(false, A);
  get(A);
  const op_counters_t after = *op_counters();
  get(A); /* what was brought is there */
  check(op_counters()->awaited == after.awaited);
}

/* The message on the sums into A by its handle. */
static const struct loop_stats *stats_of_sum(void) {
  struct loop **records = loop_records(api_context());
  int i = 0;
  check(records);
  while (strcmp(records[i]->name, "sum") != 0 || !records[i]->args[1].gbl ||
         records[i]->args[1].gbl->handle != my.by_handle[A])
    i++;
  const struct loop_stats *stats = &records[i]->stats;
  free(records);
  return stats;
}

/* Where there is no room for one more, a loop waits for the first to end: that is not time of its own. */
static void waits_for_room(void) {
  const struct loop_stats *stats = stats_of_sum();
  get(A);
  if (rank == 0)
    remove(flag);
  op_barrier();
  if (size > 1 && rank == size - 1) {
    wait_for_flag();
    usleep(400000);
  }
  for (int i = 0; i < 32; i++)
    run_sum(true, A);
  const struct loop_stats before = *stats;
  if (rank == 0)
    raise_flag();
  run_sum(true, A);
  if (size > 1 && rank == 0) {
    check(stats->waiting_seconds - before.waiting_seconds > 0.05);
    check(stats->exchange_seconds - before.exchange_seconds > 0.05);
  }
  for (int i = 0; i < 33; i++)
    run_sum(false, A);
  get(A);
}

/* The sum of all ranks has a bound, not that of one. */
static void wide_sums(void) {
  static double got[WIDE];
  op_gbl wide = op_decl_gbl(WIDE, "double", NULL, "wide");
  const op_counters_t before = *op_counters();
  for (int i = 0; i < 3; i++) /* the first is agreed on */
    works(op_par_loop(OP_KERNEL_OF(spread), "spread", my.cells, rows(true, OP_READ),
                      op_arg_global(wide, OP_INC)));
  check(op_counters()->late == before.late);
  works(op_get_gbl(wide, got));
  check(got[0] != 0 && got[1] == 0 && got[WIDE - 1] != 0);
}

/* ---- random programs ---- */

static uint64_t state;

static int random_below(int n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)n);
}

static void run_something(void) {
  const int what = random_below(12), which = random_below(2);
  for (int handles = 1; handles >= 0; handles--)
    switch (what) {
    case 0:
    case 1:
    case 2: run_sum(handles, which); break;
    case 3: run_sum_both(handles); break;
    case 4: run_ends(handles); break;
    case 5:
    case 6: run_grow(handles); break;
    case 7: run_divide(handles); break;
    case 8: run_halve(handles, which ? A : Q); break;
    case 9: run_sum(handles, Q); break;
    default: break;
    }
  if (what == 10)
    put(which, 0.125 * random_below(100));
  if (what == 11)
    get(random_below(GLOBALS));
}

static void random_program(int number) {
  double x[2][DIM * N] = {{0}};
  state = (uint64_t)number * 7919 + 1;
  for (int g = 0; g < GLOBALS; g++)
    put(g, g == LOW ? 1e3 : g == HIGH ? -1e3 : 0.5 * g);
  for (int i = 0; i < OPERATIONS; i++)
    run_something();
  if (number % 2) /* else what is on its way is brought later */
    for (int g = 0; g < GLOBALS; g++)
      get(g);
  for (int f = 0; f < 2; f++)
    works(op_fetch_data(my.x[f], x[f]));
  check(memcmp(x[0], x[1], sizeof x[0]) == 0);
}

/* The values of a declaration may differ from rank to rank: then the first loop that changes it finds that. */
static void starts_that_differ(void) {
  const double start[DIM] = {rank == size - 1, 0};
  op_gbl differs = op_decl_gbl(DIM, "double", start, "differs");
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (int again = 0; again < 2; again++) {
    const int code =
        op_par_loop(OP_KERNEL_OF(sum), "sum", my.cells, rows(true, OP_READ), op_arg_global(differs, OP_INC));
    check(code == (size > 1 ? OP_ERR_MPI : OP_OK));
    check(size == 1 || strstr(op_last_error()->message, "which the loop changes, before it"));
  }
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
}

int main(int argc, char **argv) {
  check(argc > 2);
  works(op_init(argc, argv, 0));
  rank = op_rank();
  size = api_context()->comm->size;
  snprintf(flag, sizeof flag, "%s/late-flag", argv[1]);
  declare();
  nobody_waits();
  sums_of_many_steps();
  waits_for_room();
  if (size > 1 && !api_context()->mover) /* a thread of a GPU has no room for so many */
    wide_sums();
  for (int p = 0; p < atoi(argv[2]); p++)
    random_program(p);
  starts_that_differ();
  run_sum(true, A); /* op_exit waits for it */
  works(op_exit());
  if (rank == 0)
    printf("late results: %d ranks, as expected\n", size);
  return 0;
}
