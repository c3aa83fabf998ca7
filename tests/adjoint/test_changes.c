/* Changes by a program while derivatives know of them. */
#include "ring.h"

enum { N = 8 };

static const char square[] = "static void square(const double *x, double *y) { *y = *x * *x; }";

static void near(const double *is, const double *should, int n) {
  for (int i = 0; i < n; i++)
    if (!(is[i] - should[i] <= 1e-12 && should[i] - is[i] <= 1e-12))
      fail_msg("value %d is %.17g and should be %.17g", i, is[i], should[i]);
}

static void start_again(char *variable) {
  char *arguments[] = {"test", variable};
  works(op_exit());
  works(op_init(2, arguments, 0));
}

/* Loops that wait use the dots of temporaries that are freed. */
LIBRARY_TEST(temporaries_with_dots_wait_for_their_loops) {
  start_again("OP2_LAZY=on");
  double x0[N], ones[N], moves[N], should[N];
  for (int i = 0; i < N; i++) {
    x0[i] = 0.3 + 0.1 * i;
    ones[i] = 1;
    should[i] = 4 * x0[i] * x0[i] * x0[i];
  }
  op_set s = op_decl_set(N, "s");
  op_dat x = op_decl_dat(s, 1, "double", x0, "x"), y = op_decl_dat(s, 1, "double", NULL, "y");
  works(op_tangent(1));
  works(op_put_data(op_dot(x), ones));
  for (int i = 0; i < 3; i++) {
    op_dat t = op_decl_dat_temp(s, 1, "double", NULL, "t");
    works(
        op_par_loop(square, "square", s, direct(x, 1, "double", OP_READ), direct(t, 1, "double", OP_WRITE)));
    works(
        op_par_loop(square, "square", s, direct(t, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
    works(op_free_dat_temp(t));
  }
  works(op_fetch_data(op_dot(y), moves));
  near(moves, should, N);
}

/* ---- what goes ---- */

/* A dat that comes where a ragged map's targets were is known as nothing else. */
LIBRARY_TEST(targets_of_a_map_are_forgotten) {
  const long long offsets[] = {0, 1, 3, 4};
  const int targets[] = {2, 1, 0, 2};
  op_set s = op_decl_set(3, "s");
  op_dat y = op_decl_dat(s, 1, "double", NULL, "y");
  works(op_tangent(1));
  op_map maps[16]; /* the C library keeps some of what is freed aside */
  for (int i = 0; i < 16; i++) {
    maps[i] = op_decl_map_ragged(s, s, offsets, targets, "m");
    works(op_par_loop("static void numbers(int n, const int **t, double *y) { *y = 0;"
                      "  for (int k = 0; k < n; k++) *y += *OP_ROW(t, k); }",
                      "numbers", s, op_arg_idx(OP_ALL, maps[i]), direct(y, 1, "double", OP_WRITE)));
  }
  for (int i = 0; i < 16; i++)
    works(op_free_map(maps[i]));
  for (int i = 0; i < 16; i++) {
    op_dat x = op_decl_dat(s, 1, "double", NULL, "x");
    if (!op_dot(x))
      fail_msg("%s", op_last_error()->message);
  }
}

/* ---- layouts ---- */

static const char products[] =
    "static void products(const double *r, double *q) { q[0] = r[0] * r[0]; q[1] = r[1] * r[0]; }";
static const char crossed[] =
    "static void crossed(const double *r, double *q) { q[0] = r[1]; q[1] = r[0] + r[1]; }";
static const char turned[] =
    "static void turned(const double *r, double *q) { q[0] *= q[1]; q[1] *= 0.5 * q[1] + r[0]; }";
static const char cubes[] = "static void cubes(const double *q, double *w) { *w += q[0] * q[0] * q[1]; }";
static const char rows[] =
    "static void rows(int n, const double **q, double *w) {"
    "  for (int k = 0; k < n; k++) *w += OP_ROW(q, k)[0] * OP_ROW(q, k)[1] * OP_ROW(q, k)[1]; }";

/* The gradient of w by r, where q lies apart at first, and in rows from the ragged loop on. */
static void gradient_of_rows(char *variant, double *gradient) {
  start_again(variant);
  double r0[2 * N], ones[N];
  long long offsets[N + 1] = {0};
  int targets[N];
  for (int i = 0; i < N; i++) {
    r0[2 * i] = 0.4 + 0.125 * i;
    r0[2 * i + 1] = 1.25 - 0.0625 * i;
    ones[i] = 1;
    offsets[i + 1] = i + 1;
    targets[i] = i * 3 % N;
  }
  op_set s = op_decl_set(N, "s");
  op_map m = op_decl_map_ragged(s, s, offsets, targets, "m");
  op_dat r = op_decl_dat(s, 2, "double", r0, "r"), q = op_decl_dat(s, 2, "double", NULL, "q");
  op_dat w = op_decl_dat(s, 1, "double", NULL, "w");
  op_tape tape = op_tape_begin(1, &r, 0);
  for (int twice = 0; twice < 2; twice++) {
    works(op_par_loop(products, "products", s, direct(r, 2, "double", OP_READ),
                      direct(q, 2, "double", OP_WRITE)));
    works(op_par_loop(cubes, "cubes", s, direct(q, 2, "double", OP_READ), direct(w, 1, "double", OP_INC)));
    works(op_par_loop(crossed, "crossed", s, direct(r, 2, "double", OP_READ),
                      direct(q, 2, "double", OP_WRITE)));
    works(op_par_loop(turned, "turned", s, direct(r, 2, "double", OP_READ), direct(q, 2, "double", OP_RW)));
    works(op_par_loop(rows, "rows", s, op_arg_dat(q, OP_ALL, m, 2, "double", OP_READ),
                      direct(w, 1, "double", OP_INC)));
    works(op_par_loop(turned, "turned", s, direct(r, 2, "double", OP_READ), direct(q, 2, "double", OP_RW)));
    works(op_par_loop(cubes, "cubes", s, direct(q, 2, "double", OP_READ), direct(w, 1, "double", OP_INC)));
  }
  works(op_tape_end(tape));
  works(op_put_data(op_bar(w), ones));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(r), gradient));
}

LIBRARY_TEST(old_values_follow_when_a_dat_gets_rows) {
  double should[2 * N], is[2 * N];
  gradient_of_rows("OP2_VARIANT=aos", should);
  gradient_of_rows("OP2_VARIANT=soa", is);
  near(is, should, 2 * N);
}

/* ---- budgets ---- */

/* One that holds not even the beginning: nothing is kept from there on, and the end says what is needed. */
LIBRARY_TEST(steps_go_on_where_nothing_fits) {
  struct ring r = ring_declare();
  op_tape_facts_t facts;
  ring_say_adjoints();
  op_tape tape = op_tape_begin(1, &r.u, 1);
  for (int s = 0; s < 2; s++) {
    ring_step(&r);
    works(op_tape_step());
    works(op_tape_facts(tape, &facts));
    assert_int_equal(facts.checkpoints, 0);
    assert_int_equal(facts.steps, s + 1);
  }
  fails(OP_ERR_SIZE, op_tape_end(tape));
  /* It is of no use, but its old values are the mesh's until it goes. */
  fails(OP_ERR_STATE, op_renumber(r.ends));
  fails(OP_ERR_STATE, op_free_dat(r.u));
  works(op_tape_free(tape));
  works(op_renumber(r.ends));
}

/* ---- what fails on the way back leaves data as they were ---- */

LIBRARY_TEST(nothing_runs_back_while_a_dat_is_acquired) {
  static double array[N];
  double ones[N], bar[N], should[N], difference;
  for (int i = 0; i < N; i++) {
    array[i] = 0.5 + 0.125 * i;
    ones[i] = 1;
    should[i] = 4 * array[i] * array[i] * array[i];
  }
  op_set s = op_decl_set(N, "s");
  op_dat x = op_decl_dat_view(s, 1, "double", array, "x");
  op_tape tape = op_tape_begin(1, &x, 0);
  for (int i = 0; i < 2; i++)
    works(op_par_loop("static void squared(double *x) { *x = *x * *x; }", "squared", s,
                      direct(x, 1, "double", OP_RW)));
  works(op_tape_end(tape));
  for (int twice = 0; twice < 2; twice++) {
    works(op_put_data(op_bar(x), ones));
    assert_non_null(op_acquire(x, OP_READ));
    fails(OP_ERR_STATE, op_tape_reverse(tape, 0));
    fails(OP_ERR_STATE, op_tape_check(tape, 1, &difference));
    works(op_release(x));
    works(op_fetch_data(op_bar(x), bar));
    assert_memory_equal(bar, ones, sizeof bar);
    works(op_tape_reverse(tape, twice));
    works(op_fetch_data(op_bar(x), bar));
    near(bar, should, N);
  }
}

LIBRARY_TEST(data_come_back_when_steps_fail) {
  start_again("OP2_ADJOINT=check");
  ring_say_adjoints();
  works(op_kernel_adjoint(ring_update, "update",
                          "static void wrong(const double *f, double *f_b, const double *du, double *du_b, "
                          "const double *u, double *u_b) { *u_b += *f * *u; }",
                          "wrong"));
  struct ring r = ring_declare();
  double ones[NODES], before[NODES], after[NODES];
  for (int n = 0; n < NODES; n++)
    ones[n] = 1;
  const op_dat inputs[] = {r.a, r.u};
  op_tape tape = op_tape_begin(2, inputs, 16 * NODES * sizeof(double));
  for (int s = 0; s < 12; s++) {
    works(op_tape_step());
    ring_step(&r);
  }
  works(op_tape_end(tape));
  works(op_fetch_data(r.u, before));
  works(op_put_data(op_bar(r.u), ones));
  fails(OP_ERR_VIOLATION, op_tape_reverse(tape, 0));
  works(op_fetch_data(r.u, after));
  assert_memory_equal(before, after, sizeof before);
  works(op_tape_free(tape));
}

/* ---- what is said of a kernel counts from then on ---- */

static const char square_b[] = "static void square_b(const double *x, double *x_b, double *y_b) {"
                               "  *x_b += 10 * *y_b; *y_b = 0; }"; /* which it is not */

/* The first call counts as it is, the second one not, and the third one as the adjoint by hand says. */
LIBRARY_TEST(a_kernel_is_frozen_between_its_calls) {
  double x0[N], ones[N], bar[N], should[N];
  for (int i = 0; i < N; i++) {
    x0[i] = 0.3 + 0.1 * i;
    ones[i] = 1;
    should[i] = 2 * x0[i] + 10;
  }
  op_set s = op_decl_set(N, "s");
  op_dat x = op_decl_dat(s, 1, "double", x0, "x"), y = op_decl_dat(s, 1, "double", NULL, "y");
  op_dat z = op_decl_dat(s, 1, "double", NULL, "z");
  const char *sum = "static void sum(const double *y, double *z) { *z += *y; }";
  op_tape tape = op_tape_begin(1, &x, 0);
  for (int i = 0; i < 3; i++) {
    if (i == 1)
      works(op_freeze_kernel(square, "square"));
    if (i == 2)
      works(op_kernel_adjoint(square, "square", square_b, "square_b"));
    works(
        op_par_loop(square, "square", s, direct(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
    works(op_par_loop(sum, "sum", s, direct(y, 1, "double", OP_READ), direct(z, 1, "double", OP_INC)));
  }
  works(op_tape_end(tape));
  works(op_put_data(op_bar(z), ones));
  works(op_tape_reverse(tape, 1));
  works(op_tape_free(tape));
  works(op_fetch_data(op_bar(x), bar));
  near(bar, should, N);
}

LIBRARY_TEST(a_kernel_is_frozen_between_tangents) {
  double x0[N], ones[N], moves[N], should[N], zeros[N] = {0};
  for (int i = 0; i < N; i++) {
    x0[i] = 0.3 + 0.1 * i;
    ones[i] = 1;
    should[i] = 2 * x0[i];
  }
  op_set s = op_decl_set(N, "s");
  op_dat x = op_decl_dat(s, 1, "double", x0, "x"), y = op_decl_dat(s, 1, "double", NULL, "y");
  works(op_tangent(1));
  works(op_put_data(op_dot(x), ones));
  for (int i = 0; i < 2; i++) {
    works(
        op_par_loop(square, "square", s, direct(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
    works(op_fetch_data(op_dot(y), moves));
    near(moves, i ? zeros : should, N);
    works(op_freeze_kernel(square, "square"));
  }
}

/* The adjoint of one loop, without a tape. */
LIBRARY_TEST(an_adjoint_by_hand_comes_behind_one_that_was_made) {
  double x0[N], bar[N], ones[N], should[N];
  for (int i = 0; i < N; i++) {
    x0[i] = 0.3 + 0.1 * i;
    ones[i] = 1;
    should[i] = 2 * x0[i];
  }
  op_set s = op_decl_set(N, "s");
  op_dat x = op_decl_dat(s, 1, "double", x0, "x"), y = op_decl_dat(s, 1, "double", NULL, "y");
  const op_arg args[] = {direct(x, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)};
  for (int i = 0; i < 2; i++) {
    works(op_put_data(op_bar(y), ones));
    works(op_adjoint_loop_array(square, "square", s, 2, args, __FILE__, __LINE__));
    works(op_fetch_data(op_bar(x), bar));
    near(bar, should, N);
    works(op_kernel_adjoint(square, "square", square_b, "square_b"));
    for (int k = 0; k < N; k++)
      should[k] += 10;
  }
}

/* ---- structs that only the kernel's text defines ---- */

struct state {
  double rho, u[2];
  int kind;
  struct {
    float left, right;
  } limit;
};
#define STATE                                                                                                \
  "enum { WIDTH = 2 };\ntypedef struct { float left, right; } limits;\n"                                     \
  "struct state { double rho, u[WIDTH]; int kind; limits limit; };\n"

static op_arg record(op_dat dat, op_access access) {
  return direct(dat, 1, "struct state", access);
}

static void halve(op_set s, op_dat x, op_dat y) {
  works(op_par_loop(STATE "static void halve(const struct state *x, struct state *y) {"
                          "  y->rho = 0.5 * y->rho + x->rho * x->u[0]; y->u[1] = 0.5 * y->u[1] + x->u[1]; }",
                    "halve", s, record(x, OP_READ), record(y, OP_RW)));
}

LIBRARY_TEST(structs_of_a_text) {
  works(OP_TYPE(struct state, rho, u, kind, limit.left, limit.right));
  struct state first[N], zeros[N], bars[N];
  double difference, one = 1;
  memset(zeros, 0, sizeof zeros);
  for (int i = 0; i < N; i++)
    first[i] = (struct state){1 + i, {2, 3 + i}, i, {1, 2}};
  const int here = op_is_root() ? N : 0, twice[] = {0, 1, 2, 3, 4, 5, 6, 6};
  op_set s = op_decl_set(here, "s");
  op_set some = op_decl_subset_range(s, 0, here / 2, "some");
  op_map map = op_decl_map(s, s, 1, twice, "map");
  op_dat x = op_decl_dat(s, 1, "struct state", first, "x"), y = op_decl_dat(s, 1, "struct state", zeros, "y");
  op_gbl sum = op_decl_gbl(1, "double", NULL, "sum");
  static const char still[] = STATE "static void still(struct state *y) { y->rho = 5; }";
  static const char square[] =
      STATE "static void square(const struct state *y, double *sum) { *sum += y->rho * y->rho + y->u[1]; }";
  works(op_freeze_kernel(still, "still"));
  for (int fixed = 0; fixed < 2; fixed++) {
    works(op_put_data(y, zeros));
    works(op_put_data(op_bar(x), zeros));
    op_tape tape = op_tape_begin(1, &x, 0);
    if (fixed)
      works(op_tape_fixed_begin(1e-14, 100));
    for (int i = 0; i < 50; i++) {
      if (fixed)
        works(op_tape_round());
      halve(s, x, y);
    }
    if (fixed)
      works(op_tape_fixed_end());
    else
      works(op_par_loop(still, "still", some, record(y, OP_RW)));
    works(op_par_loop(square, "square", s, record(y, OP_READ), op_arg_global(sum, OP_INC)));
    works(op_tape_end(tape));
    works(op_tape_check(tape, 1, &difference));
    assert_true(difference < 1e-12);
    works(op_put_gbl(op_bar_gbl(sum), &one));
    works(op_tape_reverse(tape, 1));
    works(op_fetch_data(op_bar(x), bars));
    works(op_tape_free(tape));
    for (int i = 0; op_is_root() && i < N; i++) { /* y is 2 x.rho x.u[0] */
      const double rho = fixed || i >= N / 2 ? 2 * 2 * (1 + i) * 2 : 0;
      const double is[] = {bars[i].rho / 1000, bars[i].u[0] / 1000, bars[i].u[1]};
      near(is, (double[]){4 * rho / 1000, 2 * (1 + i) * rho / 1000, fixed || i >= N / 2 ? 2 : 0}, 3);
    }
  }
  op_tape tape = op_tape_begin(1, &x, 0);
  works(op_par_loop(square, "square", s, op_arg_dat(x, 0, map, 1, "struct state", OP_READ),
                    op_arg_global(sum, OP_INC)));
  works(op_tape_end(tape));
  works(op_put_gbl(op_bar_gbl(sum), &one));
  fails(OP_ERR_ACCESS, op_tape_reverse(tape, 1)); /* where elements meet structs cannot be added up */
  works(op_tape_free(tape));
}
