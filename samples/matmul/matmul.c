/* A matrix product, to show a kernel with a helper function: the set is that of the entries of C, with maps
 * to the row of A and the column of B that meet there. This is no fast way to multiply matrices; it is one
 * where every element reads two long rows through maps. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

static int inner;

/* Eight sums side by side, so that compilers may use vectors without changing the order of additions. */
OP_KERNEL_DEF(
    multiply,
    double dot_product(const double *a, const double *b) {
      double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
      double sum = 0;
      int k = 0;
      for (; k + 8 <= inner; k += 8)
        for (int l = 0; l < 8; l++)
          lane[l] += a[k + l] * b[k + l];
      for (; k < inner; k++)
        sum += a[k] * b[k];
      for (int l = 0; l < 8; l++)
        sum += lane[l];
      return sum;
    }

    static void multiply(const double *row, const double *column, double *c) {
      *c = dot_product(row, column);
    })

struct entries {
  op_set rows, columns, all;
  op_map row, column;
  op_dat a, b, c;
};

static struct entries declare(const struct product *p) {
  struct entries e;
  long long count = (long long)p->rows * p->columns;
  int *row = room(count, sizeof *row), *column = room(count, sizeof *column);
  for (long long k = 0; k < count; k++) {
    row[k] = (int)(k / p->columns);
    column[k] = (int)(k % p->columns);
  }
  e.rows = op_decl_set(declared(p->rows), "rows");
  e.columns = op_decl_set(declared(p->columns), "columns");
  e.all = op_decl_set(declared((int)count), "entries");
  e.row = op_decl_map(e.all, e.rows, 1, row, "row");
  e.column = op_decl_map(e.all, e.columns, 1, column, "column");
  e.a = op_decl_dat(e.rows, p->inner, "double", p->a, "a");
  e.b = op_decl_dat(e.columns, p->inner, "double", p->b, "b");
  e.c = op_decl_dat(e.all, 1, "double", NULL, "c");
  free(row);
  free(column);
  share_out(e.all);
  return e;
}

static void multiply_library(const struct entries *e) {
  double last;
  op_par_loop(OP_KERNEL_OF(multiply), "multiply", e->all,
              op_arg_dat(e->a, 0, e->row, inner, "double", OP_READ),
              op_arg_dat(e->b, 0, e->column, inner, "double", OP_READ),
              op_arg_dat(e->c, -1, OP_ID, 1, "double", OP_WRITE));
  wait_for(e->c, &last);
}

/* a_ik = sin(i) + k, b_kj = cos(j) - k: their product is known in closed form. */
static double exact(int i, int j, int n) {
  double sum = n * (n - 1) / 2.0, squares = sum * (2 * n - 1) / 3.0;
  return n * sin(i) * cos(j) + sum * (cos(j) - sin(i)) - squares;
}

static double time_of(void (*twin)(const struct product *), const struct product *product,
                      const struct entries *entries) {
  enum { REPEATS = 5 };
  double times[REPEATS];
  for (int r = 0; r < REPEATS; r++) {
    double start = clock_seconds();
    if (twin)
      twin(product);
    else
      multiply_library(entries);
    times[r] = clock_seconds() - start;
  }
  return median(times, REPEATS);
}

static int run(int n, int m, int compare) {
  double *a = room((long long)n * inner, sizeof *a), *b = room((long long)m * inner, sizeof *b);
  double *c = room((long long)n * m, sizeof *c), *mine = room((long long)n * m, sizeof *c), worst = 0;
  double scale = (double)inner * inner * inner / 3 + inner;
  for (int k = 0; k < inner; k++) {
    for (int i = 0; i < n; i++)
      a[(size_t)i * (size_t)inner + (size_t)k] = sin(i) + k;
    for (int j = 0; j < m; j++)
      b[(size_t)j * (size_t)inner + (size_t)k] = cos(j) - k;
  }
  struct product product = {n, m, inner, a, b, c};
  op_decl_const("inner", 1, "int", &inner);
  struct entries entries = declare(&product);
  multiply_library(&entries);
  op_fetch_data(entries.c, mine);
  if (op_is_root())
    matmul_serial(&product);

  struct check check = {0};
  for (long long k = 0; op_is_root() && k < (long long)n * m; k++)
    worst = worse_of(worst, fabs(mine[k] - exact((int)(k / m), (int)(k % m), inner)) / scale);
  op_printf("%d x %d times %d x %d\n", n, inner, inner, m);
  check_at_most(&check, "entries against the closed form", worst, 1e-13);
  if (op_is_root())
    check_at_most(&check, "entries against the hand-written loops",
                  largest_difference(mine, c, (long long)n * m) / scale, 1e-13);
  if (compare) {
    double base = 0, bytes = 8.0 * ((double)n * inner + (double)m * inner + (double)n * m);
    compare_header("one product");
    if (op_is_root()) {
      compare_row("hand-written, serial", time_of(matmul_serial, &product, NULL), bytes, &base);
      compare_row("hand-written, OpenMP", time_of(matmul_openmp, &product, NULL), bytes, &base);
    }
    compare_row("op2jit", time_of(NULL, &product, &entries), bytes, &base);
  }
  free(a);
  free(b);
  free(c);
  free(mine);
  return check_end(&check, "matmul");
}

int main(int argc, char **argv) {
  int n = 400, m = 300, compare = 0;
  inner = 200;
  const struct option_entry list[] = {
      {"rows", OPTION_INT, &n, 1, 20000, "rows of A and C"},
      {"columns", OPTION_INT, &m, 1, 20000, "columns of B and C"},
      {"inner", OPTION_INT, &inner, 1, 20000, "columns of A, rows of B"},
      {"compare", OPTION_FLAG, &compare, 0, 0, "time it, and the hand-written loops"},
  };
  enum options_outcome outcome = options_read(argc, argv, "a matrix product by a kernel with a helper",
                                              sizeof list / sizeof *list, list);
  if (outcome != OPTIONS_RUN)
    return outcome == OPTIONS_STOP ? EXIT_SUCCESS : 2;
  op_init(argc, argv, 1);
  int status = run(n, m, compare);
  op_exit();
  return status;
}
