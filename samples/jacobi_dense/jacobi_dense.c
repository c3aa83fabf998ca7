/* Jacobi iteration for a dense system A x = b. A row of the matrix is one row of a dat as wide as the matrix; the
 * whole of x is the one row of a set of one element, to which a map leads from all rows. b is made from a known
 * solution. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

static double solution_at(int i) {
  return 1 + sin(0.1 * i);
}

struct dense_system {
  int n;
  double *a; /* n x n, row by row */
  double *b;
};

/* Numbers from 0 to 1 beside the diagonal, and on it `dominance` times their sum. */
static struct dense_system make_system(int n, double dominance) {
  struct dense_system made = {n, array((long long)n * n, sizeof(double)), array(n, sizeof(double))};
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

static struct solver declare(const struct dense_system *system) {
  int n = system->n, *zeros = array(n, sizeof *zeros);
  for (int i = 0; i < n; i++)
    zeros[i] = 0;
  struct solver made;
  made.rows = op_decl_set(here(n), "rows");
  made.one = op_decl_set(here(1), "one");
  made.all = op_decl_map(made.rows, made.one, 1, zeros, "all");
  made.a = op_decl_dat(made.rows, n, "double", system->a, "a");
  made.b = op_decl_dat(made.rows, 1, "double", system->b, "b");
  made.x = op_decl_dat(made.one, n, "double", NULL, "x");
  made.next = op_decl_dat(made.rows, 1, "double", NULL, "next");
  op_partition("block", "", made.rows, NULL, NULL);
  free(zeros);
  return made;
}

static int iterate(const struct solver *s, double tolerance, int most, double *x) {
  double change = INFINITY;
  int done = 0;
  while (sqrt(change) > tolerance && done < most) {
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

/* The larger of the two; a NaN stays, which fmax would drop. */
static double larger(double a, double b) {
  return isnan(a) || b <= a ? a : b;
}

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

int main(int argc, char **argv) {
  int n = 1000, most = 100000;
  double tolerance = 1e-8, dominance = 1.1, worst = 0, largest_b = 0;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--tolerance"))
      tolerance = atof(value);
    else if (!strcmp(argv[a], "--dominance"))
      dominance = atof(value);
    else if (!strcmp(argv[a], "--most"))
      most = atoi(value);
    else
      n = 0;
    a++;
  }
  if (n < 1 || n > 40000 || most < 1 || !(tolerance >= 0) || !(dominance > 1)) {
    fprintf(
        stderr,
        "usage: jacobi_dense [--n UNKNOWNS] [--tolerance X] [--dominance MORE-THAN-1] [--most ITERATIONS]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  order = n;
  op_decl_const("order", 1, "int", &order);
  struct dense_system system = make_system(n, dominance);
  struct solver solver = declare(&system);
  double *x = array(n, sizeof *x);
  const int done = iterate(&solver, tolerance, most, x);
  op_printf("%d unknowns, tolerance %g: %d iterations\n", n, tolerance, done);
  for (int i = 0; op_is_root() && i < n; i++) {
    worst = larger(worst, fabs(x[i] - solution_at(i)));
    largest_b = fmax(largest_b, fabs(system.b[i]));
  }
  /* Each iteration shrinks the error by 1 / dominance at least. */
  const double limit = done < most ? tolerance / (dominance - 1) + 1e-12 : 2, left = largest_defect(&solver);
  expect("x against the solution", worst, limit);
  expect("b - A x, relative to b", op_is_root() ? left / largest_b : 0, 2 * limit);
  free(system.a);
  free(system.b);
  free(x);
  op_printf("jacobi_dense: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
