/* Loops that wait on ranks with GPUs (stand-ins): what a GPU does between messages is a graph, with what packs and unpacks
 * them, and the bits are those of loops one by one. Also where the driver has no graphs, and where dats, constants and values
 * that travel with launches change from step to step. */
#include <stdbool.h>

#include "api/api.h"
#include "backend/gpu/gpu.h"
#include "check.h"

enum { CELLS = 400, STEPS = 6, ROUNDS = 4 };

static int rank, size;

static const char *const fill =
    "void fill(const double *r, double *x, double *y) { *x = 0.5 * *r + 1; *y = *r / 3; }";
static const char *const change = "void change(double *y, const double *by) { *y = *y * factor + *by; }";
static const char *const flux = "void flux(const double *x0, const double *x1, double *r0, double *r1) {\n"
                                "  const double f = 0.01 * (*x0 - *x1) / 3;\n  *r0 -= f;\n  *r1 += f;\n}";
static const char *const move =
    "void move(double *r, double *s, double *sum) { *r += *s; *s = 0; *sum += *r; }";

static struct {
  op_set cells, edges;
  op_map ends;
  op_dat r, s, x, y;
  op_gbl sum;
} my;
static double factor;

/* Each rank declares its part. */
static void declare(void) {
  static int ends[2 * CELLS];
  static double values[CELLS];
  const int first = CELLS * rank / size, n = CELLS * (rank + 1) / size - first;
  for (int e = 0; e < n; e++) {
    ends[2 * e] = first + e;
    ends[2 * e + 1] = (first + e + 1 + (e % 5 == 0) * 17) % CELLS;
    values[e] = 1.0 / (first + e + 3);
  }
  factor = 1.25;
  op_decl_const("factor", 1, "double", &factor);
  my.cells = op_decl_set(n, "cells");
  my.edges = op_decl_set(n, "edges");
  my.ends = op_decl_map(my.edges, my.cells, 2, ends, "ends");
  my.r = op_decl_dat(my.cells, 1, "double", values, "r");
  my.s = op_decl_dat(my.cells, 1, "double:soa", NULL, "s");
  my.x = op_decl_dat(my.cells, 1, "double", NULL, "x");
  my.y = op_decl_dat(my.cells, 1, "double", NULL, "y");
  my.sum = op_decl_gbl(1, "double", NULL, "sum");
  check(my.ends && my.r && my.s && my.x && my.y && my.sum);
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}
static op_arg end(op_dat dat, int i, op_access access) {
  return op_arg_dat(dat, i, my.ends, 1, "double", access);
}

/* The state of x and y travels before the first loop over edges. */
static void step(double by) {
  int code =
      op_par_loop(fill, "fill", my.cells, own(my.r, OP_READ), own(my.x, OP_WRITE), own(my.y, OP_WRITE));
  code |= op_par_loop(change, "change", my.cells, own(my.y, OP_RW), op_arg_gbl(&by, 1, "double", OP_READ));
  for (int i = 0; i < 2; i++)
    code |= op_par_loop(flux, "flux", my.edges, end(i ? my.y : my.x, 0, OP_READ),
                        end(i ? my.y : my.x, 1, OP_READ), end(my.s, 0, OP_INC), end(my.s, 1, OP_INC));
  code |=
      op_par_loop(move, "move", my.cells, own(my.r, OP_RW), own(my.s, OP_RW), op_arg_global(my.sum, OP_INC));
  check(code == OP_OK);
}

struct outcome {
  double r[CELLS], sum;
  /* Counts of the last round. */
  long long graphs, exchanges;
  struct gpu_given given;
};

static struct gpu_given given(void) {
  return gpu_of(api_context(), space_of_device(0))->given;
}

static struct outcome run(int argc, char **argv, const char *lazy) {
  static char *more[16];
  struct outcome o = {0};
  memcpy(more, argv, (size_t)argc * sizeof *argv);
  char *mode = more[argc] = strdup(lazy);
  check(op_init(argc + 1, more, 0) == OP_OK);
  rank = op_rank();
  declare();
  for (int round = 0; round < ROUNDS; round++) {
    const op_counters_t before = *op_counters();
    const struct gpu_given first = given();
    for (int s = 0; s < STEPS; s++)
      step(0.1 + 0.3 * s);
    check(op_fetch_data(my.r, o.r) == OP_OK);
    check(op_get_gbl(my.sum, &o.sum) == OP_OK);
    o.graphs = op_counters()->graphs - before.graphs;
    o.exchanges = op_counters()->exchanges - before.exchanges;
    o.given = given();
    o.given.calls -= first.calls;
    o.given.launches -= first.launches;
    factor += round < ROUNDS - 2 ? 0.25 : 0; /* what copies it to the GPU comes between launches */
    if (round < ROUNDS - 2)
      check(op_update_const("factor", &factor) == OP_OK);
  }
  check(op_exit() == OP_OK);
  free(mode);
  return o;
}

static void compare(const struct outcome *o, const struct outcome *one_by_one) {
  check(memcmp(o->r, one_by_one->r, sizeof o->r) == 0);
  check(memcmp(&o->sum, &one_by_one->sum, sizeof o->sum) == 0);
}

int main(int argc, char **argv) {
  static struct outcome off, on, checked, without;
  check(argc > 1 && argc < 15);
  size = atoi(argv[1]);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  off = run(argc, argv, "OP2_LAZY=off");
  check(off.given.calls == 0 && off.graphs == 0);
  on = run(argc, argv, "OP2_LAZY=on");
  compare(&on, &off);
  /* In each step: what comes before the messages, packing them included, and what comes behind, unpacking them included. What
   * needs none is one kernel; so are all rows that are packed, and all that are unpacked. */
  check(on.exchanges == STEPS && on.graphs == 2 * STEPS);
  check(on.given.calls == 3 * STEPS && on.given.launches >= 10 * STEPS);
  checked = run(argc, argv, "OP2_LAZY=check");
  compare(&checked, &off);
  setenv("STANDIN_FAIL", "cuGraphInstantiateWithFlags:1:801", 1);
  without = run(argc, argv, "OP2_LAZY=on");
  compare(&without, &off);
  check(without.graphs == 0 && without.given.launches == on.given.launches);
  check(without.given.calls == without.given.launches);
  return 0;
}
