/* Tapes: what they record, and what comes of going backwards. Adjoints of kernels are given by hand. */
#include <math.h>

#include "api/api.h"
#include "context/context.h"
#include "record/record.h"
#include "ring.h"

enum { STEPS = 12 };

static const double one = 1;

static void near(const double *is, const double *should, int n) {
  for (int i = 0; i < n; i++)
    if (!(is[i] - should[i] <= 1e-12 * (1 + should[i] * should[i]) &&
          should[i] - is[i] <= 1e-12 * (1 + should[i] * should[i])))
      fail_msg("value %d is %.17g and should be %.17g", i, is[i], should[i]);
}

static op_tape record(const struct ring *r, size_t bytes) {
  const op_dat inputs[] = {r->a, r->u};
  op_tape tape = op_tape_begin(2, inputs, bytes);
  assert_non_null(tape);
  works(op_tape_input_gbl(r->f));
  for (int s = 0; s < STEPS; s++) {
    works(op_tape_step());
    ring_step(r);
  }
  ring_total_up(r);
  works(op_tape_end(tape));
  return tape;
}

struct gradient {
  double a[EDGES], u[NODES], f;
};

static struct gradient reverse(const struct ring *r, op_tape tape, int last) {
  struct gradient g;
  works(op_put_gbl(op_bar_gbl(r->sum), &one));
  works(op_tape_reverse(tape, last));
  works(op_fetch_data(op_bar(r->a), g.a));
  works(op_fetch_data(op_bar(r->u), g.u));
  works(op_get_gbl(op_bar_gbl(r->f), &g.f));
  return g;
}

static void is_right(const struct gradient *g) {
  struct gradient should;
  ring_by_hand(STEPS, should.a, should.u, &should.f);
  near(g->a, should.a, EDGES);
  near(g->u, should.u, NODES);
  near(&g->f, &should.f, 1);
}

LIBRARY_TEST(gradients_are_those_by_hand) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  double before[NODES], after[NODES], sum, a_b[EDGES], u_b[NODES], f_b;
  op_tape tape = record(&r, 0);
  works(op_fetch_data(r.u, before));
  works(op_get_gbl(r.sum, &sum));
  const double should = ring_by_hand(STEPS, a_b, u_b, &f_b);
  near(&sum, &should, 1);
  struct gradient g = reverse(&r, tape, 1);
  is_right(&g);
  works(op_fetch_data(r.u, after));
  assert_memory_equal(before, after, sizeof before);
  fails(OP_ERR_STATE, op_tape_reverse(tape, 1));
  works(op_tape_free(tape));
  fails(OP_ERR_HANDLE, op_tape_free(tape));
}

LIBRARY_TEST(a_tape_is_reversed_several_times) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  op_tape tape = record(&r, 0);
  struct gradient g = reverse(&r, tape, 0), again;
  is_right(&g);
  /* Bars of inputs are added to where they are only read, and are zero where the program says so. */
  const double zeros[EDGES] = {0};
  works(op_put_data(op_bar(r.a), zeros));
  works(op_put_data(op_bar(r.u), zeros));
  works(op_put_gbl(op_bar_gbl(r.f), zeros));
  again = reverse(&r, tape, 0);
  assert_memory_equal(&g, &again, sizeof g);
  works(op_tape_free(tape));
}

/* ---- memory ---- */

static op_tape_facts_t facts_of(op_tape tape) {
  op_tape_facts_t facts;
  works(op_tape_facts(tape, &facts));
  return facts;
}

static struct ring declare_again(void) {
  works(op_exit());
  works(op_init(0, NULL, 0));
  ring_say_adjoints();
  return ring_declare();
}

/* The least budget, which the message says. */
static size_t least_budget(const struct ring *r) {
  const op_dat inputs[] = {r->a, r->u};
  size_t given = 0, least = 0;
  op_tape tape = op_tape_begin(2, inputs, 1);
  assert_non_null(tape);
  int code = OP_OK;
  for (int s = 0; s < STEPS && !code; s++)
    if (!(code = op_tape_step()))
      ring_step(r);
  if (!code)
    code = op_tape_end(tape);
  assert_int_equal(code, OP_ERR_SIZE);
  const char *message = op_last_error()->message;
  if (sscanf(message, "the tape may keep %zu bytes, but to go back by one step it needs %zu", &given,
             &least) != 2)
    fail_msg("%s", message);
  assert_int_equal(given, 1);
  works(op_tape_free(tape));
  return least;
}

LIBRARY_TEST(gradients_have_the_same_bits_for_each_budget) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  op_tape tape = record(&r, 0);
  const size_t whole = (size_t)facts_of(tape).most;
  double end[NODES], end_again[NODES];
  works(op_fetch_data(r.u, end));
  const struct gradient should = reverse(&r, tape, 0);
  works(op_tape_free(tape));
  r = declare_again();
  const size_t least = least_budget(&r);
  long long again_before = 0, most_again = 0;
  for (size_t budget = 2 * whole; budget >= least; budget -= (2 * whole - least) / 6 + 1) {
    for (int last = 0; last < 2; last++) {
      r = declare_again();
      tape = record(&r, budget);
      works(op_fetch_data(r.u, end_again));
      assert_memory_equal(end, end_again, sizeof end);
      struct gradient g = reverse(&r, tape, last);
      assert_memory_equal(&g, &should, sizeof g);
      works(op_fetch_data(r.u, end_again));
      assert_memory_equal(end, end_again, sizeof end);
      const op_tape_facts_t facts = facts_of(tape);
      assert_true(facts.most <= (long long)budget);
      if (!last) { /* and once more */
        const double zeros[EDGES] = {0};
        works(op_put_data(op_bar(r.a), zeros));
        works(op_put_data(op_bar(r.u), zeros));
        works(op_put_gbl(op_bar_gbl(r.f), zeros));
        g = reverse(&r, tape, 1);
        assert_memory_equal(&g, &should, sizeof g);
      } else if (budget >= whole + whole / 4)
        again_before += facts.again;
      else if (facts.again > most_again)
        most_again = facts.again;
      works(op_tape_free(tape));
    }
  }
  assert_int_equal(again_before, 0);
  assert_true(most_again >= STEPS);
  assert_true(most_again <= STEPS * (STEPS + 1) / 2);
}

/* Steps that run on the way back if steps are reversed from a checkpoint, and there is room for `slots` more. */
static long long fewest(int steps, int slots) {
  long long best = steps * (steps + 1) / 2;
  for (int m = 1; slots && m < steps; m++) {
    const long long all = m + fewest(steps - m, slots - 1) + fewest(m, slots);
    best = all < best ? all : best;
  }
  return best;
}

/* The same if the program itself left the checkpoints, and old values of the last step are there. */
static long long fewest_behind_the_program(int steps, int slots) {
  long long best = fewest(steps - 1, slots);
  for (int m = 1; slots && m < steps; m++) {
    const long long all = fewest_behind_the_program(steps - m, slots - 1) + fewest(m, slots);
    best = all < best ? all : best;
  }
  return best;
}

/* How many steps there are nobody knows while checkpoints are chosen: a twentieth more is allowed. */
LIBRARY_TEST(few_steps_run_again) {
  struct ring r = declare_again();
  const size_t least = least_budget(&r);
  r = declare_again();
  const op_tape_facts_t all = facts_of(record(&r, 0)); /* it keeps u and du, and sum once */
  const size_t bytes = (size_t)(all.bytes / (all.versions - 1)) + 2 * sizeof(double); /* u and sum */
  for (int slots = 0; slots < 5; slots++) {
    r = declare_again();
    op_tape tape = record(&r, least + (size_t)(slots + 1) * bytes); /* one for what comes back at the end */
    const struct gradient g = reverse(&r, tape, 1);
    is_right(&g);
    const long long again = facts_of(tape).again - 1, should = fewest_behind_the_program(STEPS, slots);
    if (again < should || again > should + should / 20)
      fail_msg("with %d slots %lld steps run again, where %lld would do", slots, again, should);
    works(op_tape_free(tape));
  }
}

/* A dat is changed in few steps: a copy for a checkpoint may be made behind the next checkpoint. */
LIBRARY_TEST(copies_go_with_their_checkpoint) {
  enum { WIDE = 8, MANY = 30, EVERY = 11, ROWS = 29 };
  static const char make[] = "static void make(const double *x, double *t) {"
                             "  for (int i = 0; i < 8; i++) t[i] = 0.5 * *x + i; }";
  static const char use[] = "static void use(const double *t, double *x) {"
                            "  double s = 0; for (int i = 0; i < 8; i++) s += t[i] * t[i];"
                            "  *x += 1e-5 * s * *x; }";
  struct ring r = ring_declare();
  op_dat t = op_decl_dat(r.nodes, WIDE, "double", NULL, "t");
  const op_arg made[] = {direct(r.u, 1, "double", OP_READ), direct(t, WIDE, "double", OP_WRITE)};
  const op_arg used[] = {direct(t, WIDE, "double", OP_READ), direct(r.u, 1, "double", OP_RW)};
  op_tape tape = op_tape_begin(1, &r.u, 0);
  works(op_par_loop_array(use, "use", r.nodes, 2, used, __FILE__, __LINE__));
  works(op_tape_end(tape));
  const long long row = facts_of(tape).bytes;
  works(op_tape_free(tape));
  tape = op_tape_begin(1, &r.u, (size_t)(ROWS * row));
  for (int s = 0; s < MANY; s++) {
    works(op_tape_step());
    if (s % EVERY == 0)
      works(op_par_loop_array(make, "make", r.nodes, 2, made, __FILE__, __LINE__));
    works(op_par_loop_array(use, "use", r.nodes, 2, used, __FILE__, __LINE__));
  }
  works(op_tape_end(tape));
  const op_tape_facts_t facts = facts_of(tape);
  /* t is changed so often while it is of use to a checkpoint, and u has a copy for each and one for the last step. */
  const long long most = (MANY - 1) / EVERY * WIDE + facts.checkpoints + 1;
  if (facts.bytes > most * row)
    fail_msg("%lld rows are kept for %lld checkpoints", facts.bytes / row, facts.checkpoints);
  works(op_tape_reverse(tape, 1));
  works(op_tape_free(tape));
}

/* Fault 6 of the first prototype: each old value was a dat of its own, so that loops had a record in each step, and each record
 * is tuned. */
LIBRARY_TEST(old_values_make_no_records) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  size_t records[2];
  for (int longer = 0; longer < 2; longer++) {
    op_tape tape = op_tape_begin(1, &r.a, 0);
    for (int s = 0; s < (longer ? 9 : 2); s++) {
      works(op_tape_step());
      ring_step(&r);
    }
    ring_total_up(&r);
    works(op_tape_end(tape));
    assert_true(facts_of(tape).versions >= (longer ? 9 : 2));
    reverse(&r, tape, 1);
    works(op_tape_free(tape));
    records[longer] = api_context()->loops->count;
  }
  assert_int_equal(records[0], records[1]);
}

/* ---- without a tape, and without a derivative ---- */

LIBRARY_TEST(one_loop_has_derivatives_of_its_own) {
  struct ring r = ring_declare();
  double line[NODES], bar[NODES], u[NODES], should = 0, moves, sum, by_hand = 0;
  for (int n = 0; n < NODES; n++) {
    line[n] = 0.1 * (n % 7) - 0.3;
    u[n] = ring_u(n);
    should += 2 * u[n] * line[n];
    by_hand += u[n] * u[n];
  }
  const op_arg args[] = {direct(r.u, 1, "double", OP_READ), op_arg_global(r.sum, OP_INC)};
  works(op_put_data(op_dot(r.u), line));
  works(op_tangent_loop_array(ring_total, "total", r.nodes, 2, args, __FILE__, __LINE__));
  works(op_get_gbl(op_dot_gbl(r.sum), &moves));
  works(op_get_gbl(r.sum, &sum));
  near(&moves, &should, 1);
  near(&sum, &by_hand, 1); /* it does what the loop does */
  works(op_put_gbl(op_bar_gbl(r.sum), &one));
  works(op_adjoint_loop_array(ring_total, "total", r.nodes, 2, args, __FILE__, __LINE__));
  works(op_fetch_data(op_bar(r.u), bar));
  for (int n = 0; n < NODES; n++)
    u[n] *= 2;
  near(bar, u, NODES);
  works(op_get_gbl(r.sum, &moves));
  near(&moves, &sum, 1); /* and this one does not */
}

/* Loops see on the way back what they saw, whatever constants are behind the end; then the program has what it had. */
static void change_behind_the_end(size_t budget, int last) {
  struct ring r = declare_again();
  double factor = 0.5, ones[NODES], u[NODES], u_b[NODES], should[NODES];
  works(op_decl_const("factor", 1, "double", &factor));
  for (int i = 0; i < NODES; i++) {
    u[i] = ring_u(i);
    ones[i] = should[i] = 1;
  }
  const op_dat inputs[] = {r.u};
  op_tape tape = op_tape_begin(1, inputs, budget);
  for (int s = 0; s < 20; s++) {
    works(op_tape_step());
    works(op_update_const("factor", (factor = 0.5 + 0.02 * s, &factor)));
    works(op_par_loop("static void grow(double *u) { *u += 0.01 * factor * *u * *u; }", "grow", r.nodes,
                      direct(r.u, 1, "double", OP_RW)));
    for (int i = 0; i < NODES; i++) {
      should[i] *= 1 + 0.02 * factor * u[i];
      u[i] += 0.01 * factor * u[i] * u[i];
    }
  }
  works(op_tape_end(tape));
  works(op_update_const("factor", (factor = 7, &factor)));
  works(op_put_data(op_bar(r.u), ones));
  works(op_tape_reverse(tape, last));
  assert_true((facts_of(tape).again > 0) == (budget > 0));
  works(op_fetch_data(op_bar(r.u), u_b));
  near(u_b, should, NODES);
  works(op_par_loop("static void see(double *du) { *du = factor; }", "see", r.nodes,
                    direct(r.du, 1, "double", OP_WRITE)));
  works(op_fetch_data(r.du, u));
  assert_true(u[0] == 7);
  works(op_tape_free(tape));
}

LIBRARY_TEST(constants_change_behind_the_end) {
  for (int last = 0; last < 2; last++) {
    change_behind_the_end(0, last);
    change_behind_the_end(12 * NODES * sizeof(double), last);
  }
}

/* Integers of the program may decide how often a kernel's loops run; tangents follow them. */
LIBRARY_TEST(tangents_follow_integers) {
  const char power[] = "static void power(const double *u, double *du) {"
                       "  double p = 1; for (int i = 0; i < n; i++) p *= *u; *du = p; }";
  struct ring r = ring_declare();
  double line[NODES], dots[2][NODES], should[NODES];
  const op_arg args[] = {direct(r.u, 1, "double", OP_READ), direct(r.du, 1, "double", OP_WRITE)};
  int n = 2;
  for (int i = 0; i < NODES; i++)
    line[i] = 1;
  works(op_decl_const("n", 1, "int", &n));
  works(op_put_data(op_dot(r.u), line));
  for (; n <= 7; n++) {
    works(op_update_const("n", &n));
    works(op_tangent(1));
    works(op_par_loop(power, "power", r.nodes, args[0], args[1]));
    works(op_tangent(0));
    works(op_fetch_data(op_dot(r.du), dots[0]));
    works(op_tangent_loop_array(power, "power", r.nodes, 2, args, __FILE__, __LINE__));
    works(op_fetch_data(op_dot(r.du), dots[1]));
    for (int i = 0; i < NODES; i++)
      should[i] = n * pow(ring_u(i), n - 1);
    near(dots[0], should, NODES);
    near(dots[1], should, NODES);
  }
}

LIBRARY_TEST(frozen_kernels_are_constant) {
  works(op_freeze_kernel(ring_gather, "gather"));
  struct ring r = ring_declare();
  const struct gradient g = reverse(&r, record(&r, 0), 1);
  for (int e = 0; e < EDGES; e++)
    assert_true(g.a[e] == 0); /* a counts in that kernel alone */
  assert_true(g.u[0] != 0);
}

/* Values that loops are given with the call take room too. */
LIBRARY_TEST(no_budget_is_exceeded) {
  static const char shrink[] = "static void shrink(const double *by, double *u) { *u -= *by * *u * *u; }";
  struct ring r = ring_declare();
  const op_dat inputs[] = {r.u};
  const double by = 0.01;
  double start[NODES], bars[NODES], should[NODES];
  long long whole = 0;
  works(op_fetch_data(r.u, start));
  for (long long budget = 0; budget >= 0; budget = (budget ? budget : whole + 24) - 24) {
    works(op_put_data(r.u, start));
    op_tape tape = op_tape_begin(1, inputs, (size_t)budget);
    assert_non_null(tape);
    int code = OP_OK;
    for (int s = 0; s < STEPS && !code; s++)
      if (!(code = op_tape_step()))
        code = op_par_loop(shrink, "shrink", r.nodes, op_arg_gbl((double *)&by, 1, "double", OP_READ),
                           direct(r.u, 1, "double", OP_RW));
    if (!code)
      code = op_tape_end(tape);
    if (!code) {
      works(op_put_data(op_bar(r.u), start));
      works(op_tape_reverse(tape, 0));
      works(op_fetch_data(op_bar(r.u), bars));
      const op_tape_facts_t facts = facts_of(tape);
      if (!budget) {
        whole = facts.most;
        memcpy(should, bars, sizeof should);
      } else if (facts.most > budget)
        fail_msg("%lld bytes are kept, and the budget is %lld", facts.most, budget);
      assert_memory_equal(bars, should, sizeof bars);
    }
    works(op_tape_free(tape));
    if (code) {
      assert_int_equal(code, OP_ERR_SIZE);
      assert_true(budget && budget < whole / 2);
      return;
    }
  }
  fail_msg("no budget is too small");
}

/* Whoever reads a report knows the kernels of the program, and not those that are made of them. */
LIBRARY_TEST(reports_name_derivatives_by_their_primal) {
  enum { ROOM = 1 << 20 };
  static const char *const rows[] = {"\"gather\"", "\"gather (adjoint)\"", "\"update (adjoint)\"",
                                     "\"update (tangent)\"", "\"total (adjoint)\""};
  char *report = calloc(1, ROOM);
  assert_non_null(report);
  works(op_kernel_adjoint(ring_gather, "gather", ring_gather_b, "gather_b")); /* one by hand */
  struct ring r = ring_declare();
  op_tape tape = record(&r, 0);
  double difference;
  works(op_tape_check(tape, 1, &difference)); /* with tangents */
  reverse(&r, tape, 1);
  works(op_tape_free(tape));
  works(op_report_json(report, ROOM));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (!strstr(report, rows[i]))
      fail_msg("no row is called %s", rows[i]);
  assert_null(strstr(report, "\"op2_")); /* nor is anything called as the texts are */
  assert_null(strstr(report, "\"gather_b"));
  free(report);
}

/* By the same name a variant is asked for. */
LIBRARY_TEST(variants_are_of_derivatives_by_that_name) {
  char *arguments[] = {"test", "OP2_VARIANT=total (adjoint):nonsense"};
  works(op_exit());
  works(op_init(2, arguments, 0));
  ring_say_adjoints();
  struct ring r = ring_declare();
  op_tape tape = record(&r, 0);
  works(op_put_gbl(op_bar_gbl(r.sum), &one));
  fails(OP_ERR_ENV, op_tape_reverse(tape, 1));
  works(op_tape_free(tape));
}

/* Most tests open the library several times: what one has compiled is there for the next. */
int main(void) {
  char folder[] = "/tmp/op2jit-tape-XXXXXX", file[64], command[64];
  if (!mkdtemp(folder))
    return 1;
  snprintf(file, sizeof file, "%s/kernels.db", folder);
  snprintf(command, sizeof command, "rm -r %s", folder);
  setenv("OP2_CACHE", file, 1);
  const int failed = run_these(NULL, NULL);
  return system(command) ? 1 : failed;
}
