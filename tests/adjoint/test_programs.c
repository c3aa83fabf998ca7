/* Random programs with everything that a tape records, and gradients against differences; with a budget the same bits.
 *
 * usage: test-adjoint-programs [COUNT [FIRST-SEED [made]]]   made: the library makes the adjoints */
#include <math.h>
#include <stdbool.h>

#include "../api/support.h"
#include "op2jit_adjoint.h"

enum { SIDE = 12, NODES = SIDE * SIDE, EDGES = 2 * NODES, QS = 4, WS = 3, GS = 2, LONGEST = 30, ROUNDS = 3 };

/* ---- kernels, with adjoints by hand ---- */

/* Adjoint kernels read `scale` too. */
static const char gather[] =
    "static void gather(const double *w, const double *c, const double *x, double *y) {"
    "  y[0] += scale * *w * x[0] * x[1]; y[1] += *c * *w * x[0]; }";
static const char gather_b[] =
    "static void gather_b(const double *w, double *w_b, const double *c, double *c_b, const double *x, "
    "double *x_b,"
    "                     const double *y_b) {"
    "  *w_b += scale * x[0] * x[1] * y_b[0] + *c * x[0] * y_b[1]; *c_b += *w * x[0] * y_b[1];"
    "  x_b[0] += scale * *w * x[1] * y_b[0] + *c * *w * y_b[1]; x_b[1] += scale * *w * x[0] * y_b[0]; }";
static const char relax[] = "static void relax(const double *x, double *y) {"
                            "  y[0] = 0.9 * sin(y[0]) + 0.3 * x[1]; y[1] = 0.8 * y[1] * cos(x[0]); }";
static const char relax_b[] =
    "static void relax_b(const double *x, double *x_b, const double *y, double *y_b) {"
    "  x_b[1] += 0.3 * y_b[0]; x_b[0] += -0.8 * y[1] * sin(x[0]) * y_b[1];"
    "  y_b[0] = 0.9 * cos(y[0]) * y_b[0]; y_b[1] = 0.8 * cos(x[0]) * y_b[1]; }";
static const char reset[] = "static void reset(const double *x, double *y) {"
                            "  y[0] = 0.5 * x[0] * cos(x[1]); y[1] = sin(x[0]); }";
static const char reset_b[] =
    "static void reset_b(const double *x, double *x_b, double *y_b) {"
    "  x_b[0] += 0.5 * cos(x[1]) * y_b[0] + cos(x[0]) * y_b[1]; x_b[1] += -0.5 * x[0] * sin(x[1]) * y_b[0];"
    "  y_b[0] = 0; y_b[1] = 0; }";
static const char sum[] = "static void sum(const double *x, double *g) { *g += 0.01 * x[0] * x[1]; }";
static const char sum_b[] = "static void sum_b(const double *x, double *x_b, const double *g_b) {"
                            "  x_b[0] += 0.01 * x[1] * *g_b; x_b[1] += 0.01 * x[0] * *g_b; }";
static const char use[] = "static void use(const double *g, double *y) { y[0] += 0.1 * sin(*g) * y[1]; }";
static const char use_b[] = "static void use_b(const double *g, double *g_b, const double *y, double *y_b) {"
                            "  *g_b += 0.1 * cos(*g) * y[1] * y_b[0]; y_b[1] += 0.1 * sin(*g) * y_b[0]; }";
static const char along[] = "static void along(const double **x, double *w) {"
                            "  *w = 0.3 * x[0][0] * x[1][0] - 0.2 * x[1][1]; }";
static const char along_b[] = "static void along_b(const double **x, double **x_b, double *w_b) {"
                              "  x_b[0][0] += 0.3 * x[1][0] * *w_b; x_b[1][0] += 0.3 * x[0][0] * *w_b; "
                              "x_b[1][1] -= 0.2 * *w_b; *w_b = 0; }";

/* The library's in any case. */
static const char most[] =
    "static void most(const double *w, const double *x, double *y) {"
    "  const double v = *w * x[0], u = sin(x[1]) + *w; if (v > y[0]) y[0] = v; if (u > y[1]) y[1] = u; }";
static const char least[] =
    "static void least(const double *x, double *g) { if (x[0] * x[1] < *g) *g = x[0] * x[1]; }";

static const char settle[] = "static void settle(double *flow, double *y) {"
                             "  y[0] += 0.2 * flow[0]; y[1] += 0.1 * flow[0] * flow[1];"
                             "  flow[0] = flow[1] = 0; }";

static void say_adjoints(void) {
  works(op_kernel_adjoint(gather, "gather", gather_b, "gather_b"));
  works(op_kernel_adjoint(relax, "relax", relax_b, "relax_b"));
  works(op_kernel_adjoint(reset, "reset", reset_b, "reset_b"));
  works(op_kernel_adjoint(sum, "sum", sum_b, "sum_b"));
  works(op_kernel_adjoint(use, "use", use_b, "use_b"));
  works(op_kernel_adjoint(along, "along", along_b, "along_b"));
}

/* ---- the mesh ---- */

static struct {
  op_set nodes, edges;
  op_map ends, turn;
  op_dat q[QS], w[WS], view;
  op_gbl g[GS];
  double *array; /* the view's */
} m;

static unsigned state;
static int any(int n) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 8) % (unsigned)n);
}
static double number(void) {
  return any(2000) / 1000.0 - 1;
}
static const double *numbers(int n) {
  static double some[2 * EDGES];
  for (int i = 0; i < n; i++)
    some[i] = number();
  return some;
}
static int here(int n) {
  return op_is_root() ? n : 0;
}

static void declare(void) {
  static int ends[2 * EDGES], turn[NODES];
  for (int n = 0; n < NODES; n++) {
    const int right = n % SIDE + 1 < SIDE ? n + 1 : n - SIDE + 1, up = (n + SIDE) % NODES;
    ends[4 * n] = ends[4 * n + 2] = n;
    ends[4 * n + 1] = right;
    ends[4 * n + 3] = up;
    turn[n] = (n + 5) % NODES;
  }
  m.nodes = op_decl_set(here(NODES), "nodes");
  m.edges = op_decl_set(here(EDGES), "edges");
  m.ends = op_decl_map(m.edges, m.nodes, 2, ends, "ends");
  m.turn = op_decl_map(m.nodes, m.nodes, 1, turn, "turn");
  for (int i = 0; i < QS; i++)
    m.q[i] = op_decl_dat(m.nodes, 2, i == 2 ? "double:soa" : "double", NULL, "q");
  for (int i = 0; i < WS; i++)
    m.w[i] = op_decl_dat(m.edges, 1, "double", NULL, "w");
  for (int i = 0; i < GS; i++)
    m.g[i] = op_decl_gbl(1, "double", NULL, "g");
  m.array = calloc(2 * NODES + 8, sizeof *m.array);
  m.view = op_decl_dat_view(m.nodes, 2, "double", m.array, "view");
  const double scale = 0.4;
  works(op_decl_const("scale", 1, "double", &scale));
  works(op_partition("block", "", m.nodes, NULL, NULL));
}

static op_arg node(op_dat dat, op_access access) {
  return direct(dat, 2, "double", access);
}
static op_arg at(op_dat dat, int end, op_access access) {
  return op_arg_dat(dat, end, m.ends, 2, "double", access);
}

/* ---- what programs do; each takes the same numbers whatever it does with them ---- */

static op_dat some_q(void) {
  const int i = any(QS + 1);
  return i == QS ? m.view : m.q[i];
}
static op_dat other_q(op_dat than) {
  op_dat dat = some_q();
  while (dat == than)
    dat = some_q();
  return dat;
}

static void do_gather(void) {
  const double c = number();
  op_dat x = some_q();
  works(op_par_loop(gather, "gather", m.edges, direct(m.w[any(WS)], 1, "double", OP_READ),
                    op_arg_gbl((double *)&c, 1, "double", OP_READ), at(x, 1, OP_READ),
                    at(other_q(x), 0, OP_INC)));
}
static void do_relax(void) {
  op_dat x = some_q();
  works(op_par_loop(relax, "relax", m.nodes, node(x, OP_READ), node(other_q(x), OP_RW)));
}
static void do_turn(void) {
  op_dat x = some_q();
  works(op_par_loop(relax, "relax", m.nodes, node(x, OP_READ),
                    op_arg_dat(other_q(x), 0, m.turn, 2, "double", OP_RW)));
}
static void do_reset(void) {
  op_dat x = some_q();
  works(op_par_loop(reset, "reset", m.nodes, node(x, OP_READ), node(other_q(x), OP_WRITE)));
}
/* Some rows are written only. */
static void do_subset(void) {
  int first = any(NODES / 2), n = 1 + any(NODES / 2);
  op_set some = op_decl_subset_range(m.nodes, here(first), here(n), "some");
  assert_non_null(some);
  op_dat x = some_q();
  if (any(2))
    works(op_par_loop(relax, "relax", some, node(x, OP_READ), node(other_q(x), OP_RW)));
  else
    works(op_par_loop(reset, "reset", some, node(x, OP_READ), node(other_q(x), OP_WRITE)));
  works(op_free_set(some));
}
static void do_sum(void) {
  works(op_par_loop(sum, "sum", m.nodes, node(some_q(), OP_READ), op_arg_global(m.g[any(GS)], OP_INC)));
}
static void do_use(void) {
  works(op_par_loop(use, "use", m.nodes, op_arg_global(m.g[any(GS)], OP_READ), node(some_q(), OP_RW)));
}
static void do_along(void) {
  works(op_par_loop(along, "along", m.edges, at(some_q(), OP_ALL, OP_READ),
                    direct(m.w[any(WS)], 1, "double", OP_WRITE)));
}
static void do_most(void) {
  op_dat x = some_q();
  works(op_par_loop(most, "most", m.edges, direct(m.w[any(WS)], 1, "double", OP_READ), at(x, 1, OP_READ),
                    at(other_q(x), 0, OP_MAX)));
}
static void do_least(void) {
  works(op_par_loop(least, "least", m.nodes, node(some_q(), OP_READ), op_arg_global(m.g[any(GS)], OP_MIN)));
}
static void do_put(void) {
  op_dat q = m.q[any(QS)];
  const double *values = numbers(2 * NODES);
  works(op_put_data(q, values));
}
static void do_put_gbl(void) {
  const double value = number();
  works(op_put_gbl(m.g[any(GS)], &value));
}
static void do_constant(void) {
  const double value = number();
  works(op_update_const("scale", &value));
}
static void do_view(void) {
  const double *values = numbers(2 * NODES);
  double *array = op_acquire(m.view, OP_WRITE);
  assert_non_null(array);
  memcpy(array, values, (size_t)op_get_size(m.nodes) * 2 * sizeof *array);
  works(op_release(m.view));
}
static void do_temporary(void) {
  const double *values = numbers(2 * NODES);
  op_dat t = op_decl_dat_temp(m.nodes, 2, "double", any(2) ? values : NULL, "t"), x = some_q();
  assert_non_null(t);
  works(op_par_loop(gather, "gather", m.edges, direct(m.w[any(WS)], 1, "double", OP_READ),
                    op_arg_gbl((double *)&(double){0.7}, 1, "double", OP_READ), at(x, 1, OP_READ),
                    at(t, 0, OP_INC)));
  works(op_par_loop(relax, "relax", m.nodes, node(t, OP_READ), node(some_q(), OP_RW)));
  works(op_free_dat_temp(t));
}
static int recording;
static long long ran_again; /* steps, of all programs */
static size_t too_small;    /* the budget; what it should be, as the message says */
static void note_budget(int code) {
  size_t given = 0, least = 0;
  if (!code)
    return;
  const char *says =
      strstr(op_last_error()->message, "the tape may keep"); /* with ranks behind their numbers */
  if (code != OP_ERR_SIZE || !says ||
      sscanf(says, "the tape may keep %zu bytes, but to go back by one step it needs %zu", &given, &least) !=
          2)
    fail_msg("%s", op_last_error()->message);
  too_small = least;
}
static void do_step(void) {
  if (recording)
    note_budget(op_tape_step());
}

/* Sums that begin anew, of all nodes or of some: nothing is to be kept of zeros, and a checkpoint may be in front of them. They
 * do not stay: among many zeros extrema would have more than two sides. */
static void do_settle(void) {
  const double c = number();
  op_dat flow = some_q(), x = other_q(flow);
  op_set some = any(2) ? m.nodes : op_decl_subset_range(m.nodes, 0, here(NODES / 3), "some");
  works(op_par_loop(settle, "settle", some, node(flow, OP_RW), node(x, OP_RW)));
  if (some != m.nodes)
    works(op_free_set(some));
  if (any(4))
    do_step();
  works(op_par_loop(gather, "gather", m.edges, direct(m.w[any(WS)], 1, "double", OP_READ),
                    op_arg_gbl((double *)&c, 1, "double", OP_READ), at(x, 1, OP_READ), at(flow, 0, OP_INC)));
}

static void (*const does[])(void) = {
    do_gather,    do_gather,    do_gather, do_relax, do_relax, do_turn,    do_reset,  do_subset,
    do_sum,       do_use,       do_use,    do_along, do_put,   do_put_gbl, do_view,   do_constant,
    do_temporary, do_temporary, do_step,   do_step,  do_most,  do_least,   do_settle, do_settle};
enum { DOES = sizeof does / sizeof *does };

/* ---- one program ---- */

struct values {
  double q[QS][2 * NODES], view[2 * NODES], w[WS][EDGES], g[GS];
};
static bool made; /* adjoints, by the library */
static struct values start_at, direction, weight, gradient;

static void fill(struct values *v, double by) {
  double *all = (double *)v;
  for (size_t i = 0; i < sizeof *v / sizeof *all; i++)
    all[i] = by * number();
}

/* With the inputs moved by h along the direction. */
static void set(double h) {
  struct values v = start_at;
  double *to = (double *)&v, *along_it = (double *)&direction;
  for (size_t i = 0; i < sizeof v / sizeof *to; i++)
    to[i] += h * along_it[i];
  for (int i = 0; i < QS; i++)
    works(op_put_data(m.q[i], v.q[i]));
  works(op_put_data(m.view, v.view));
  for (int i = 0; i < WS; i++)
    works(op_put_data(m.w[i], v.w[i]));
  for (int i = 0; i < GS; i++)
    works(op_put_gbl(m.g[i], &v.g[i]));
  const double scale = 0.4;
  works(op_update_const("scale", &scale));
}

static void run(unsigned seed) {
  state = seed;
  const int n = 3 + any(LONGEST - 3);
  for (int i = 0; i < n; i++)
    does[any(DOES)]();
  for (int round = 0, first = (int)state; round < ROUNDS; round++) {
    state = (unsigned)first;
    do_step();
    for (int i = 0; i < 4; i++)
      does[any(DOES)]();
  }
}

static double weighted(void) {
  static struct values end;
  double total = 0;
  for (int i = 0; i < QS; i++)
    works(op_fetch_data(m.q[i], end.q[i]));
  works(op_fetch_data(m.view, end.view));
  for (int i = 0; i < WS; i++)
    works(op_fetch_data(m.w[i], end.w[i]));
  for (int i = 0; i < GS; i++)
    works(op_get_gbl(m.g[i], &end.g[i]));
  const double *is = (const double *)&end, *by = (const double *)&weight;
  for (size_t i = 0; op_is_root() && i < sizeof end / sizeof *is; i++)
    total += is[i] * by[i];
  return total;
}

static op_tape record(unsigned seed, size_t bytes) {
  op_dat inputs[QS + WS + 1];
  for (int i = 0; i < QS; i++)
    inputs[i] = m.q[i];
  for (int i = 0; i < WS; i++)
    inputs[QS + i] = m.w[i];
  inputs[QS + WS] = m.view;
  set(0);
  op_tape tape = op_tape_begin(QS + WS + 1, inputs, bytes);
  if (!tape)
    fail_msg("%s", op_last_error()->message);
  for (int i = 0; i < GS; i++)
    works(op_tape_input_gbl(m.g[i]));
  recording = 1;
  run(seed);
  recording = 0;
  return tape;
}

/* Bars of inputs are the weights before, and the gradient behind it. */
static void reverse(op_tape tape) {
  for (int i = 0; i < QS; i++)
    works(op_put_data(op_bar(m.q[i]), weight.q[i]));
  works(op_put_data(op_bar(m.view), weight.view));
  for (int i = 0; i < WS; i++)
    works(op_put_data(op_bar(m.w[i]), weight.w[i]));
  for (int i = 0; i < GS; i++)
    works(op_put_gbl(op_bar_gbl(m.g[i]), &weight.g[i]));
  works(op_tape_reverse(tape, 1));
  for (int i = 0; i < QS; i++)
    works(op_fetch_data(op_bar(m.q[i]), gradient.q[i]));
  works(op_fetch_data(op_bar(m.view), gradient.view));
  for (int i = 0; i < WS; i++)
    works(op_fetch_data(op_bar(m.w[i]), gradient.w[i]));
  for (int i = 0; i < GS; i++)
    works(op_get_gbl(op_bar_gbl(m.g[i]), &gradient.g[i]));
}

/* The same bits; where loops wait, chains are cut elsewhere with a budget, and the last bits may be others. */
static bool is_same(const struct values *found, const struct values *should) {
  const char *lazy = getenv("OP2_LAZY");
  const bool waits = lazy && (strcmp(lazy, "on") == 0 || strcmp(lazy, "check") == 0);
  const double *a = (const double *)found, *b = (const double *)should;
  bool same = memcmp(found, should, sizeof *found) == 0;
  if (!same && waits) {
    same = true;
    for (size_t i = 0; i < sizeof *found / sizeof *a; i++)
      same &= fabs(a[i] - b[i]) <= 1e-12 * (1 + fabs(b[i]));
  }
  return same;
}

static void check_budgets(unsigned seed, size_t most, double end) {
  const struct values should = gradient;
  size_t budget = most / 2;
  for (bool done = false; !done;) {
    too_small = 0;
    op_tape tape = record(seed, budget);
    note_budget(op_tape_end(tape));
    if (too_small) {
      assert_true(too_small > budget);
      budget = too_small;
    } else {
      if (weighted() != end)
        fail_msg("seed %u: the program has other values with a budget of %zu", seed, budget);
      reverse(tape);
      op_tape_facts_t facts;
      works(op_tape_facts(tape, &facts));
      ran_again += facts.again;
      if (facts.most > (long long)budget)
        fail_msg("seed %u: %lld bytes with a budget of %zu", seed, facts.most, budget);
      if (!is_same(&gradient, &should))
        fail_msg("seed %u: another gradient with a budget of %zu", seed, budget);
      done = true;
    }
    works(op_tape_free(tape));
  }
}

static double run_at(unsigned seed, double h) {
  set(h);
  run(seed);
  return weighted();
}

/* Differences of second order, on one side of where the program is: among values that are the same number the tape takes one, and there the
 * other differences have the mean of both sides (seed 134). */
static double on_one_side(unsigned seed, double h) {
  return (4 * run_at(seed, h) - run_at(seed, 2 * h) - 3 * run_at(seed, 0)) / (2 * h);
}

static void check(unsigned seed) {
  state = seed ^ 0x9e3779b9u;
  fill(&start_at, 1);
  fill(&direction, 1);
  fill(&weight, 1);
  double by_hand[2]; /* a kink may be within one step, and hardly within the other too */
  for (int k = 0; k < 2; k++) {
    const double h = k ? 1e-6 : 1e-5;
    by_hand[k] = (run_at(seed, h) - run_at(seed, -h)) / (2 * h);
  }
  op_tape tape = record(seed, 0);
  works(op_tape_end(tape));
  const double end = weighted();
  op_tape_facts_t facts;
  double difference = 0;
  if (made)
    works(op_tape_check(tape, (int)seed, &difference));
  if (!(difference < 1e-13))
    fail_msg("seed %u: the dot-product test is off by %g", seed, difference);
  if (weighted() != end)
    fail_msg("seed %u: the program has other values behind the test", seed);
  reverse(tape);
  works(op_tape_facts(tape, &facts));
  works(op_tape_free(tape));
  if (weighted() != end)
    fail_msg("seed %u: the program has other values behind it", seed);
  double by_tape = 0, size = 0;
  const double *b = (const double *)&gradient, *d = (const double *)&direction;
  for (size_t i = 0; op_is_root() && i < sizeof gradient / sizeof *b; i++) {
    by_tape += b[i] * d[i];
    size += b[i] * b[i];
  }
  size = 1 + sqrt(size);
  const double within = 1e-6 * size;
  int good = op_is_root() ? fabs(by_hand[0] - by_tape) <= within || fabs(by_hand[1] - by_tape) <= within : 1;
  for (int side = -1; op_rank_count() == 1 && !good && side < 2; side += 2)
    good = fabs(on_one_side(seed, side * 1e-5) - by_tape) <= within;
  if (!good)
    fail_msg("seed %u: differences give %.12g and %.12g, the tape %.12g, of %.3g", seed, by_hand[0],
             by_hand[1], by_tape, size);
  check_budgets(seed, (size_t)facts.most, end);
}

static int count = 50;
static unsigned first = 1;

LIBRARY_TEST(random_programs) {
  if (!made)
    say_adjoints();
  declare();
  for (int i = 0; i < count; i++)
    check(first + (unsigned)i);
  assert_true(ran_again >= count / 2);
  works(op_free_dat(m.view));
  free(m.array);
}

int main(int argc, char **argv) {
  if (argc > 1)
    count = atoi(argv[1]);
  if (argc > 2)
    first = (unsigned)atoi(argv[2]);
  made = argc > 3;
  return run_these(NULL, NULL);
}
