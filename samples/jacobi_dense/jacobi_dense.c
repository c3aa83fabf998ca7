/* Jacobi iteration for a dense system A x = b. A row of the matrix is one row of a dat as wide as the matrix; the
 * whole of x is the one row of a set of one element, to which a map leads from all rows. b is made from a known
 * solution. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

static int order;

/* Eight sums side by side, so that compilers may use vectors without changing the order of additions. */
OP_KERNEL_DEF(
    improve, void improve(const double *row, const double *b, const double *x, const int *i, double *next,
                          double *change) {
      double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
      double others = 0;
      double step;
      int j = 0;
      for (; j + 8 <= order; j += 8)
        for (int k = 0; k < 8; k++)
          lane[k] += row[j + k] * x[j + k];
      for (; j < order; j++)
        others += row[j] * x[j];
      for (int k = 0; k < 8; k++)
        others += lane[k];
      others -= row[*i] * x[*i];
      *next = (*b - others) / row[*i];
      step = *next - x[*i];
      *change += step * step;
    })

OP_KERNEL_DEF(
    defect, void defect(const double *row, const double *b, const double *x, double *largest) {
      double difference = *b;
      for (int j = 0; j < order; j++)
        difference -= row[j] * x[j];
      *largest = fmax(*largest, fabs(difference));
    })

static double solution_at(int i) {
  return 1 + sin(0.1 * i);
}

/* Numbers from 0 to 1 beside the diagonal, and on it `dominance` times their sum. */
static struct dense_system make_system(int n, double dominance) {
  struct dense_system made = {n, room((long long)n * n, sizeof(double)), room(n, sizeof(double))};
  for (int i = 0; i < n; i++) {
    double *row = made.a + (size_t)i * (size_t)n, sum = 0, b = 0;
    unsigned state = 12345u + 7919u * (unsigned)i;
    for (int j = 0; j < n; j++) {
      state = state * 1664525u + 1013904223u;
      row[j] = i == j ? 0 : (state >> 8) / 16777216.0;
      sum += row[j];
    }
    row[i] = n > 1 ? dominance * sum : 1;
    for (int j = 0; j < n; j++)
      b += row[j] * solution_at(j);
    made.b[i] = b;
  }
  return made;
}

struct solver {
  op_set rows, one;
  op_map all;
  op_dat a, b, x, next;
};

static int iterate(const struct solver *s, double tolerance, int most, double *x, double *seconds) {
  double change = INFINITY, start = clock_seconds();
  int done = 0;
  while (sqrt(change) > tolerance && done < most) {
    if (done == 1)
      start = clock_seconds();
    change = 0;
    op_par_loop(
        OP_KERNEL_OF(improve), "improve", s->rows, op_arg_dat(s->a, -1, OP_ID, order, "double", OP_READ),
        op_arg_dat(s->b, -1, OP_ID, 1, "double", OP_READ),
        op_arg_dat(s->x, 0, s->all, order, "double", OP_READ), op_arg_idx(-1, OP_ID),
        op_arg_dat(s->next, -1, OP_ID, 1, "double", OP_WRITE), op_arg_gbl(&change, 1, "double", OP_INC));
    op_fetch_data(s->next, x);
    op_put_data(s->x, x);
    done++;
  }
  *seconds = (clock_seconds() - start) / (done > 1 ? done - 1 : 1);
  return done;
}

/* Starts below what any row gives, so that none having been looked at shows. */
static double largest_defect(const struct solver *s) {
  double largest = -INFINITY;
  op_par_loop(OP_KERNEL_OF(defect), "defect", s->rows, op_arg_dat(s->a, -1, OP_ID, order, "double", OP_READ),
              op_arg_dat(s->b, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(s->x, 0, s->all, order, "double", OP_READ),
              op_arg_gbl(&largest, 1, "double", OP_MAX));
  return largest;
}

struct settings {
  int n, most, compare;
  double tolerance, dominance;
};

static struct solver declare(const struct dense_system *system) {
  int n = system->n, *zeros = room(n, sizeof *zeros);
  for (int i = 0; i < n; i++)
    zeros[i] = 0;
  struct solver made;
  made.rows = op_decl_set(declared(n), "rows");
  made.one = op_decl_set(declared(1), "one");
  made.all = op_decl_map(made.rows, made.one, 1, zeros, "all");
  made.a = op_decl_dat(made.rows, n, "double", system->a, "a");
  made.b = op_decl_dat(made.rows, 1, "double", system->b, "b");
  made.x = op_decl_dat(made.one, n, "double", NULL, "x");
  made.next = op_decl_dat(made.rows, 1, "double", NULL, "next");
  share_out(made.rows);
  free(zeros);
  return made;
}

/* What is checked and compared at the first rank. Returns the program's status. */
static int check_all(const struct settings *s, const struct dense_system *system, const double *x, int done,
                     double largest_defect, double library_seconds) {
  double *by_hand = room(s->n, sizeof *by_hand), *exact = room(s->n, sizeof *exact);
  double twin_seconds, base = 0, bytes = 8.0 * s->n * s->n, largest_b = 0;
  for (int i = 0; i < s->n; i++) {
    exact[i] = solution_at(i);
    largest_b = fmax(largest_b, fabs(system->b[i]));
  }
  struct check check = {0};
  int twin_done = dense_twin(system, s->tolerance, s->most, 0, by_hand, &twin_seconds);
  check_equal(&check, "iterations, against the hand-written loop", done, twin_done);
  check_at_most(&check, "x against the hand-written loop", largest_difference(x, by_hand, s->n), 1e-12);
  /* Each iteration shrinks the error by 1 / dominance at least. */
  double limit = s->tolerance / (s->dominance - 1) + 1e-12;
  if (done < s->most) {
    check_at_most(&check, "x against the solution", largest_difference(x, exact, s->n), limit);
    check_between(&check, "b - A x, relative to b", largest_defect / largest_b, 0, 2 * limit);
  }
  compare_header("one iteration");
  compare_row("hand-written, serial", twin_seconds, bytes, &base);
  if (s->compare) {
    twin_done = dense_twin(system, s->tolerance, s->most, 1, by_hand, &twin_seconds);
    check_equal(&check, "iterations, hand-written with OpenMP", twin_done, done);
    check_at_most(&check, "x, hand-written with OpenMP", largest_difference(by_hand, x, s->n), 1e-12);
    compare_row("hand-written, OpenMP", twin_seconds, bytes, &base);
  }
  compare_row("op2jit", library_seconds, bytes, &base);
  free(by_hand);
  free(exact);
  return check_end(&check, "jacobi_dense");
}

static int run(const struct settings *s) {
  struct dense_system system = make_system(s->n, s->dominance);
  double *x = room(s->n, sizeof *x), seconds;
  int status = EXIT_SUCCESS;
  order = s->n;
  op_decl_const("order", 1, "int", &order);
  struct solver solver = declare(&system);
  int done = iterate(&solver, s->tolerance, s->most, x, &seconds);
  op_printf("%d unknowns, tolerance %g: %d iterations\n", s->n, s->tolerance, done);
  double defect = largest_defect(&solver);
  if (op_is_root())
    status = check_all(s, &system, x, done, defect, seconds);
  free(system.a);
  free(system.b);
  free(x);
  return status;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 4096, .most = 100000, .tolerance = 1e-8, .dominance = 1.1};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 1, 40000, "unknowns"},
      {"tolerance", OPTION_REAL, &s.tolerance, 0, 1, "stop when the change is at most this"},
      {"dominance", OPTION_REAL, &s.dominance, 1.0001, 1e6, "diagonal over the sum of its row"},
      {"most", OPTION_INT, &s.most, 1, 1e9, "largest number of iterations"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loop with OpenMP too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "Jacobi iteration for a dense linear system",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  int status = run(&s);
  op_exit();
  return status;
}
