/* The program of docs/adjoint.md: heat spreads along a ring for a hundred steps. What does the sum of squares at the end owe to
 * each temperature at the beginning? The gradient is compared with a difference. Then square roots by Newton's rounds, and
 * second derivatives. */
#include <math.h>

#include <op2jit_adjoint.h>

enum { COUNT = 12 };

static op_set nodes, edges;
static op_map ends;
static op_dat x, flow;
static op_gbl sum;

static const char *spread =
    OP_KERNEL(void spread(const double *a, const double *b, double *to_a, double *to_b) {
      const double heat = (*b - *a) * *a; /* what is warm conducts better */
      *to_a += heat;
      *to_b -= heat;
    });
static const char *settle = OP_KERNEL(void settle(double *flow, double *x) {
  *x += 0.1 * *flow;
  *flow = 0;
});
static const char *square = OP_KERNEL(void square(const double *x, double *sum) { *sum += *x * *x; });

static void step(void) {
  op_par_loop(spread, "spread", edges, op_arg_dat(x, 0, ends, 1, "double", OP_READ),
              op_arg_dat(x, 1, ends, 1, "double", OP_READ), op_arg_dat(flow, 0, ends, 1, "double", OP_INC),
              op_arg_dat(flow, 1, ends, 1, "double", OP_INC));
  op_par_loop(settle, "settle", nodes, op_arg_dat(flow, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
}

static void add_up(void) {
  op_par_loop(square, "square", nodes, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_global(sum, OP_INC));
}

/* Without a tape, with one temperature moved. */
static double result_with(const double *start, int node, double by) {
  double values[COUNT], result = 0;
  for (int i = 0; i < COUNT; i++)
    values[i] = start[i] + (i == node ? by : 0);
  op_put_data(x, values);
  op_put_gbl(sum, &result);
  for (int i = 0; i < 100; i++)
    step();
  add_up();
  op_get_gbl(sum, &result);
  return result;
}

/* ---- rounds that converge: u becomes the square root of p ---- */

static op_dat p, u;
static const char *newton = OP_KERNEL(void newton(const double *p, double *u) { *u = 0.5 * (*u + *p / *u); });

static void improve(void) {
  op_par_loop(newton, "newton", nodes, op_arg_dat(p, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(u, -1, OP_ID, 1, "double", OP_RW));
}

static int check_roots(const double *start) {
  double ones[COUNT], bars[COUNT] = {0};
  int good = 1;
  for (int i = 0; i < COUNT; i++)
    ones[i] = 1;
  p = op_decl_dat(nodes, 1, "double", start, "p");
  u = op_decl_dat(nodes, 1, "double", ones, "u");
  const op_dat inputs[] = {p};
  op_tape tape = op_tape_begin(1, inputs, 0);
  /* clang-format off */
  op_tape_fixed_begin(1e-10, 500);
  for (int i = 0; i < 40; i++) {
    op_tape_round(); /* a round begins */
    improve();
  }
  op_tape_fixed_end();
  /* clang-format on */
  op_tape_end(tape);
  op_put_data(op_bar(u), ones);
  op_tape_reverse(tape, 1);
  op_fetch_data(op_bar(p), bars);
  op_tape_free(tape);
  for (int i = 0; op_is_root() && i < COUNT; i++) /* who declared all has all */
    good &= fabs(bars[i] - 0.5 / sqrt(start[i])) < 1e-12;
  return good;
}

/* ---- second derivatives, of one step ---- */

static void start_from(const double *start, const double *line, double by) {
  const double zeros[COUNT] = {0};
  double values[COUNT];
  for (int i = 0; i < COUNT; i++)
    values[i] = start[i] + by * line[i];
  op_put_data(x, values);
  op_put_gbl(sum, zeros);
  op_put_data(op_bar(x), zeros);
}

static void find_gradient(const double *start, const double *line, double by, double *gradient) {
  const double one = 1;
  start_from(start, line, by);
  op_tape tape = op_tape_begin(1, &x, 0);
  step();
  add_up();
  op_tape_end(tape);
  op_put_gbl(op_bar_gbl(sum), &one);
  op_tape_reverse(tape, 1);
  op_fetch_data(op_bar(x), gradient);
  op_tape_free(tape);
}

static int check_curvature(const double *start) {
  const double one = 1, by = 1e-5;
  double line[COUNT], curvature[COUNT] = {0}, gradient[COUNT] = {0}, there[2][COUNT] = {{0}};
  int good = 1;
  for (int i = 0; i < COUNT; i++)
    line[i] = i % 3 - 0.7;
  find_gradient(start, line, by, there[1]);
  find_gradient(start, line, -by, there[0]);
  start_from(start, line, 0);
  /* clang-format off */
  op_tangent(1);
  op_put_data(op_dot(x), line);
  const op_dat both[] = {x, op_dot(x)};
  op_tape second = op_tape_begin(2, both, 0);
  step();
  add_up();
  op_tape_end(second);
  op_tangent(0);

  op_put_gbl(op_bar_gbl(op_dot_gbl(sum)), &one);
  op_tape_reverse(second, 1);
  op_fetch_data(op_bar(x), curvature);        /* the Hessian times the line */
  op_fetch_data(op_bar(op_dot(x)), gradient); /* and this once more */
  op_tape_free(second);
  /* clang-format on */
  for (int i = 0; op_is_root() && i < COUNT; i++)
    good &= fabs(curvature[i] - (there[1][i] - there[0][i]) / (2 * by)) < 1e-8 &&
            fabs(gradient[i] - (there[1][i] + there[0][i]) / 2) < 1e-8;
  return good;
}

int main(int argc, char **argv) {
  int pairs[2 * COUNT];
  double start[COUNT], gradient[COUNT] = {0};
  const double nothing = 0;
  for (int i = 0; i < COUNT; i++) {
    pairs[2 * i] = i;
    pairs[2 * i + 1] = (i + 1) % COUNT;
    start[i] = 1 + 0.5 * sin(i);
  }
  op_init(argc, argv, 0);
  const int count = op_is_root() ? COUNT : 0;
  nodes = op_decl_set(count, "nodes");
  edges = op_decl_set(count, "edges");
  ends = op_decl_map(edges, nodes, 2, pairs, "ends");
  x = op_decl_dat(nodes, 1, "double", start, "x");
  flow = op_decl_dat(nodes, 1, "double", NULL, "flow");
  sum = op_decl_gbl(1, "double", &nothing, "sum");

  /* clang-format off */
  const op_dat inputs[] = {x};
  op_tape tape = op_tape_begin(1, inputs, 0); /* record from here */
  for (int i = 0; i < 100; i++) {
    op_tape_step(); /* a step begins */
    step();         /* loops, as ever */
  }
  add_up();
  op_tape_end(tape);

  const double one = 1;
  op_put_gbl(op_bar_gbl(sum), &one); /* the output counts once */
  op_tape_reverse(tape, 1);          /* 1: for the last time, memory is freed */
  op_fetch_data(op_bar(x), gradient);
  op_tape_free(tape);
  /* clang-format on */

  const int node = 5;
  const double by = 1e-5,
               difference = (result_with(start, node, by) - result_with(start, node, -by)) / (2 * by);
  const int close = !op_is_root() || fabs(gradient[node] - difference) < 1e-8 * fabs(difference);
  const int good = check_roots(start) & check_curvature(start) & close; /* on all ranks */
  op_printf("gradient %.9f, difference %.9f\n", gradient[node], difference);
  return op_exit() || !good;
}
