/* Fixed points: one round stands for all. Second derivatives: a tape records tangents. */
#include <math.h>

#include "ring.h"

static const double one = 1;

static void near(const double *is, const double *should, int n, double by) {
  for (int i = 0; op_is_root() && i < n; i++)
    if (!(fabs(is[i] - should[i]) <= by * (1 + fabs(should[i]))))
      fail_msg("value %d is %.17g and should be %.17g", i, is[i], should[i]);
}

static op_tape_facts_t facts_of(op_tape tape) {
  op_tape_facts_t facts;
  works(op_tape_facts(tape, &facts));
  return facts;
}

/* ---- what changes while a tape records ---- */

/* Old values are copied in both steps, and between them the mesh gets a map, for which ranks deal it out anew. */
LIBRARY_TEST(a_map_is_declared_in_the_middle) {
  struct ring r = ring_declare();
  static const char square[] = "static void square(double *a) { *a = 0.9 * *a + 0.2 * *a * *a; }";
  double ones[EDGES], is[EDGES] = {0}, should[EDGES];
  int more[EDGES];
  for (int e = 0; e < EDGES; e++) {
    const double a = ring_a(e), b = 0.9 * a + 0.2 * a * a, c = 0.9 * b + 0.2 * b * b;
    ones[e] = 1;
    more[e] = ring_end(e, 0);
    should[e] = (0.9 + 0.4 * a) * (0.9 + 0.4 * b) * (0.9 + 0.4 * c);
  }
  op_tape tape = op_tape_begin(1, (const op_dat[]){r.a}, 0);
  assert_non_null(tape);
  for (int k = 0; k < 3; k++) {
    works(op_par_loop(square, "square", r.edges, direct(r.a, 1, "double", OP_RW)));
    if (k == 1)
      assert_non_null(op_decl_map(r.edges, r.nodes, 1, more, "more"));
  }
  works(op_tape_end(tape));
  works(op_put_data(op_bar(r.a), ones));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(r.a), is));
  near(is, should, EDGES, 1e-12);
  works(op_tape_free(tape));
}

/* ---- fixed points ---- */

static const char settle[] = "static void settle(const double *f, const double *du, double *u) {"
                             "  *u = 0.3 * cos(*f * *du) + 0.2 * *u; }";

struct solver {
  struct ring r;
  op_set some;
};

/* Not all nodes settle: the others are data of the problem. */
static struct solver declare(void) {
  struct solver s = {.r = ring_declare()};
  s.some = op_decl_subset_range(s.r.nodes, op_is_root() ? 3 : 0, op_is_root() ? NODES - 6 : 0, "some");
  return s;
}

static struct solver declare_again(void) {
  works(op_exit());
  works(op_init(0, NULL, 0));
  return declare();
}

static void one_round(const struct solver *s) {
  const struct ring *r = &s->r;
  works(op_par_loop(ring_zero, "zero", r->nodes, direct(r->du, 1, "double", OP_WRITE)));
  works(op_par_loop(ring_gather, "gather", r->edges, direct(r->a, 1, "double", OP_READ),
                    op_arg_dat(r->u, 1, r->ends, 1, "double", OP_READ),
                    op_arg_dat(r->du, 0, r->ends, 1, "double", OP_INC)));
  works(op_par_loop(settle, "settle", s->some, op_arg_global(r->f, OP_READ),
                    direct(r->du, 1, "double", OP_READ), direct(r->u, 1, "double", OP_RW)));
}

enum { ROUNDS = 60, OUTER = 6 };

struct gradient {
  double a[EDGES], u[NODES], f;
};

/* The derivative of the sum of squares of what converges, behind a loop in front of it. */
static struct gradient solve(const struct solver *s, int fixed, size_t budget, op_tape_facts_t *facts) {
  const op_dat inputs[] = {s->r.a, s->r.u};
  struct gradient g = {{0}, {0}, 0};
  op_tape tape = op_tape_begin(2, inputs, budget);
  assert_non_null(tape);
  works(op_tape_input_gbl(s->r.f));
  for (int k = 0; k < OUTER; k++) {
    works(op_tape_step());
    works(op_par_loop("static void square(double *a) { *a = 0.9 * *a + 0.2 * *a * *a; }", "square",
                      s->r.edges, direct(s->r.a, 1, "double", OP_RW)));
    if (fixed)
      works(op_tape_fixed_begin(1e-12, 200));
    for (int i = 0; i < ROUNDS; i++) {
      if (fixed)
        works(op_tape_round());
      one_round(s);
    }
    if (fixed)
      works(op_tape_fixed_end());
    ring_total_up(&s->r);
  }
  works(op_tape_end(tape));
  works(op_put_gbl(op_bar_gbl(s->r.sum), &one));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(s->r.a), g.a));
  works(op_fetch_data(op_bar(s->r.u), g.u));
  works(op_get_gbl(op_bar_gbl(s->r.f), &g.f));
  *facts = facts_of(tape);
  works(op_tape_free(tape));
  return g;
}

LIBRARY_TEST(one_round_stands_for_all) {
  op_tape_facts_t all, fixed;
  struct solver s = declare();
  double end[NODES] = {0}, end_again[NODES] = {0};
  const struct gradient should = solve(&s, 0, 0, &all);
  works(op_fetch_data(s.r.u, end));
  s = declare_again();
  const struct gradient is = solve(&s, 1, 0, &fixed);
  works(op_fetch_data(s.r.u, end_again));
  assert_memory_equal(end, end_again, sizeof end);
  near(is.a, should.a, EDGES, 1e-9);
  near(is.u, should.u, NODES, 1e-9);
  near(&is.f, &should.f, 1, 1e-9);
  assert_true(fabs(should.f) > 1e-3);
  assert_true(fixed.most < all.most / 10);
  assert_true(fixed.rounds > 4 * OUTER && fixed.rounds < OUTER * ROUNDS);
  assert_int_equal(all.rounds, 0);
  /* With less memory there are the same bits. */
  const size_t budget = (size_t)fixed.most * 3 / 4;
  op_tape_facts_t less;
  s = declare_again();
  const struct gradient again = solve(&s, 1, budget, &less);
  assert_memory_equal(&again, &is, sizeof is);
  assert_true(less.again > 0 && less.most <= (long long)budget);
  works(op_fetch_data(s.r.u, end_again));
  assert_memory_equal(end, end_again, sizeof end);
}

LIBRARY_TEST(rounds_have_an_order) {
  struct solver s = declare();
  fails(OP_ERR_STATE, op_tape_fixed_begin(0.1, 9));
  op_tape tape = op_tape_begin(1, &s.r.u, 0);
  fails(OP_ERR_STATE, op_tape_round());
  fails(OP_ERR_STATE, op_tape_fixed_end());
  fails(OP_ERR_ARGUMENT, op_tape_fixed_begin(0, 9));
  fails(OP_ERR_ARGUMENT, op_tape_fixed_begin(0.1, 1));
  works(op_tape_fixed_begin(0.1, 9));
  fails(OP_ERR_STATE, op_tape_fixed_begin(0.1, 9));
  fails(OP_ERR_STATE, op_tape_step());
  fails(OP_ERR_STATE, op_tape_end(tape));
  works(op_tape_round());
  one_round(&s);
  works(op_tape_round());
  works(op_par_loop(ring_zero, "zero", s.r.nodes, direct(s.r.du, 1, "double", OP_WRITE)));
  fails(OP_ERR_STATE, op_tape_fixed_end());
  if (!strstr(op_last_error()->message, "loop \"gather\" is in an earlier round and not in the last one"))
    fail_msg("%s", op_last_error()->message);
  works(op_tape_free(tape));
  tape = op_tape_begin(1, &s.r.u, 0);
  works(op_tape_fixed_begin(0.1, 9));
  fails(OP_ERR_STATE, op_tape_fixed_end()); /* no round */
  works(op_tape_free(tape));
}

LIBRARY_TEST(rounds_that_do_not_converge_are_found) {
  struct ring r = ring_declare();
  op_tape tape = op_tape_begin(1, &r.u, 0);
  works(op_tape_fixed_begin(1e-9, 30));
  for (int i = 0; i < 3; i++) {
    works(op_tape_round());
    works(op_par_loop("static void grow(double *u) { *u = -1.5 * *u; }", "grow", r.nodes,
                      direct(r.u, 1, "double", OP_RW)));
  }
  works(op_tape_fixed_end());
  works(op_tape_end(tape));
  double ones[NODES];
  for (int n = 0; n < NODES; n++)
    ones[n] = 1;
  works(op_put_data(op_bar(r.u), ones));
  fails(OP_ERR_STATE, op_tape_reverse(tape, 1));
  if (!strstr(op_last_error()->message, "do not converge: behind 30 rounds"))
    fail_msg("%s", op_last_error()->message);
  works(op_tape_free(tape));
}

/* ---- second derivatives ---- */

static const char top[] = "static void top(const double *u, double *m) { if (*u * *u > *m) *m = *u * *u; }";

enum { STEPS = 4 };

static void run(const struct ring *r) {
  for (int s = 0; s < STEPS; s++)
    ring_step(r);
  works(op_par_loop(ring_zero, "zero", r->nodes, direct(r->du, 1, "double", OP_WRITE)));
  works(op_par_loop(top, "top", r->edges, op_arg_dat(r->u, 1, r->ends, 1, "double", OP_READ),
                    op_arg_dat(r->du, 0, r->ends, 1, "double", OP_MAX)));
  works(op_par_loop("static void more(const double *m, double *u) { *u += 0.1 * *m * factor; }", "more",
                    r->nodes, direct(r->du, 1, "double", OP_READ), direct(r->u, 1, "double", OP_RW)));
  ring_total_up(r);
}

static void put(const struct ring *r, const double *u) {
  const double zeros[NODES] = {0};
  works(op_put_data(r->u, u));
  works(op_put_gbl(r->sum, zeros));
  works(op_put_data(op_bar(r->u), zeros));
}

static void gradient_at(const struct ring *r, const double *u, double *gradient) {
  put(r, u);
  op_tape tape = op_tape_begin(1, &r->u, 0);
  run(r);
  works(op_tape_end(tape));
  works(op_put_gbl(op_bar_gbl(r->sum), &one));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(r->u), gradient));
  works(op_tape_free(tape));
}

/* The Hessian times the line, and the gradient. */
static void second(const struct ring *r, const double *u, const double *line, size_t budget, double *times,
                   double *gradient) {
  put(r, u);
  works(op_tangent(1));
  works(op_put_data(op_dot(r->u), line));
  const op_dat inputs[] = {r->u, op_dot(r->u)};
  op_tape tape = op_tape_begin(2, inputs, budget);
  assert_non_null(tape);
  works(op_tape_step());
  run(r);
  fails(OP_ERR_STATE, op_tangent(0));
  works(op_tape_end(tape));
  works(op_tangent(0));
  works(op_put_gbl(op_bar_gbl(op_dot_gbl(r->sum)), &one));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(r->u), times));
  works(op_fetch_data(op_bar(op_dot(r->u)), gradient));
  works(op_tape_free(tape));
}

LIBRARY_TEST(hessians_times_lines) {
  struct ring r = ring_declare();
  const double factor = 0.7;
  works(op_decl_const("factor", 1, "double", &factor));
  double u[NODES], line[NODES], moved[2][NODES] = {{0}}, times[NODES] = {0}, gradient[NODES], should[NODES],
                                g[NODES];
  for (int n = 0; n < NODES; n++) {
    u[n] = ring_u(n) + 1e-3 * n;
    line[n] = 0.1 * (n % 7) - 0.3;
  }
  gradient_at(&r, u, g);
  const double h = 1e-5;
  for (int side = 0; side < 2; side++) {
    double there[NODES];
    for (int n = 0; n < NODES; n++)
      there[n] = u[n] + (side ? h : -h) * line[n];
    gradient_at(&r, there, moved[side]);
  }
  for (int n = 0; n < NODES; n++)
    should[n] = (moved[1][n] - moved[0][n]) / (2 * h);
  second(&r, u, line, 0, times, gradient);
  near(times, should, NODES, 1e-7);
  near(gradient, g, NODES, 1e-12);
  double difference, size = 0;
  for (int n = 0; n < NODES; n++)
    size += fabs(should[n]);
  assert_true(size > 1 || !op_is_root());
  /* Data that are put have no line, and nothing moves with a constant of the program. */
  works(op_tangent(1));
  put(&r, u);
  works(op_put_data(op_dot(r.u), line));
  op_tape tape = op_tape_begin(1, &r.u, 0);
  run(&r);
  put(&r, u);
  run(&r);
  works(op_tape_end(tape));
  works(op_tangent(0));
  fails(OP_ERR_STATE, op_tape_check(tape, 1, &difference)); /* dots are data there */
  works(op_put_gbl(op_bar_gbl(op_dot_gbl(r.sum)), &one));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(r.u), times));
  for (int n = 0; n < NODES; n++)
    assert_true(times[n] == 0);
  works(op_tape_free(tape));
}

LIBRARY_TEST(globals_of_extrema_have_no_second_derivative) {
  struct ring r = ring_declare();
  double ones[NODES];
  for (int n = 0; n < NODES; n++)
    ones[n] = 1;
  works(op_tangent(1));
  works(op_put_data(op_dot(r.u), ones));
  op_tape tape = op_tape_begin(1, &r.u, 0);
  fails(OP_ERR_KERNEL,
        op_par_loop("static void most(const double *u, double *g) { if (*u > *g) *g = *u; }", "most", r.nodes,
                    direct(r.u, 1, "double", OP_READ), op_arg_global(r.sum, OP_MAX)));
  if (!strstr(op_last_error()->message, "have no second derivative"))
    fail_msg("%s", op_last_error()->message);
  works(op_tape_free(tape));
}
