/* A matrix product, to show a kernel with a helper function: the set is that of pieces of C, 32 entries of a row, with maps to
 * the row of A and to the 32 columns of B that meet there. What belongs to 32 columns of B is one row of a dat, so that entries
 * beside one another are made together. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "common/touch.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

static int inner;

/* 32: see PANEL. */
OP_KERNEL_DEF(
    multiply,
    void add_scaled(double factor, const double *x, double *sum) {
      for (int j = 0; j < 32; j++)
        sum[j] += factor * x[j];
    }

    static void multiply(const double *row, const double *panel, double *c) {
      double sum[32];
      for (int j = 0; j < 32; j++)
        sum[j] = 0;
      for (int k = 0; k < inner; k++)
        add_scaled(row[k], panel + 32 * k, sum);
      for (int j = 0; j < 32; j++)
        c[j] = sum[j];
    })

struct pieces {
  int across; /* panels beside one another */
  op_set rows, panels, all;
  op_map row, panel;
  op_dat a, b, c;
};

static struct pieces declare(const struct product *p) {
  struct pieces e = {.across = product_panels(p)};
  long long count = (long long)p->rows * e.across;
  int *row = room(count, sizeof *row), *panel = room(count, sizeof *panel);
  for (long long k = 0; k < count; k++) {
    row[k] = (int)(k / e.across);
    panel[k] = (int)(k % e.across);
  }
  e.rows = op_decl_set(declared(p->rows), "rows");
  e.panels = op_decl_set(declared(e.across), "panels");
  e.all = op_decl_set(declared((int)count), "pieces");
  e.row = op_decl_map(e.all, e.rows, 1, row, "row");
  e.panel = op_decl_map(e.all, e.panels, 1, panel, "panel");
  e.a = op_decl_dat(e.rows, p->inner, "double", p->a, "a");
  e.b = op_decl_dat(e.panels, PANEL * p->inner, "double", p->b, "b");
  e.c = op_decl_dat(e.all, PANEL, "double", NULL, "c");
  free(row);
  free(panel);
  share_out(e.all);
  return e;
}

/* The product, row by row. */
static void fetch_product(const struct pieces *e, int n, int m, double *c) {
  double *pieces = room((long long)PANEL * n * e->across, sizeof *pieces);
  op_fetch_data(e->c, pieces);
  for (int i = 0; op_is_root() && i < n; i++)
    for (int j = 0; j < m; j++)
      c[(size_t)i * (size_t)m + (size_t)j] = pieces[(size_t)i * PANEL * (size_t)e->across + (size_t)j];
  free(pieces);
}

static void multiply_library(const struct pieces *e) {
  double last[PANEL];
  op_par_loop(OP_KERNEL_OF(multiply), "multiply", e->all,
              op_arg_dat(e->a, 0, e->row, inner, "double", OP_READ),
              op_arg_dat(e->b, 0, e->panel, PANEL * inner, "double", OP_READ),
              op_arg_dat(e->c, -1, OP_ID, PANEL, "double", OP_WRITE));
  wait_for(e->c, last);
}

/* a_ik = sin(i) + k, b_kj = cos(j) - k: their product is known in closed form. */
static double exact(int i, int j, int n) {
  double sum = n * (n - 1) / 2.0, squares = sum * (2 * n - 1) / 3.0;
  return n * sin(i) * cos(j) + sum * (cos(j) - sin(i)) - squares;
}

static double time_of(void (*twin)(const struct product *), const struct product *product,
                      const struct pieces *pieces) {
  enum { REPEATS = 5 };
  double times[REPEATS];
  for (int r = 0; r < REPEATS; r++) {
    double start = clock_seconds();
    if (twin)
      twin(product);
    else
      multiply_library(pieces);
    times[r] = clock_seconds() - start;
  }
  return median(times, REPEATS);
}

static int run(int n, int m, int compare) {
  struct product product = {n, m, inner, NULL, NULL, NULL};
  double *a = room((long long)n * inner, sizeof *a),
         *b = touched_zeros((long long)product_panels(&product) * PANEL * inner, sizeof *b, compare);
  double *c = room((long long)n * m, sizeof *c), *mine = room((long long)n * m, sizeof *c), worst = 0;
  double scale = (double)inner * inner * inner / 3 + inner;
  for (int k = 0; k < inner; k++) {
    for (int i = 0; i < n; i++)
      a[(size_t)i * (size_t)inner + (size_t)k] = sin(i) + k;
    for (int j = 0; j < m; j++)
      b[(size_t)(j / PANEL * PANEL) * (size_t)inner + (size_t)(PANEL * k + j % PANEL)] = cos(j) - k;
  }
  product.a = a;
  product.b = b;
  product.c = c;
  op_decl_const("inner", 1, "int", &inner);
  struct pieces pieces = declare(&product);
  multiply_library(&pieces);
  fetch_product(&pieces, n, m, mine);
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
      compare_row("hand-written, serial", time_of(matmul_serial, &product, &pieces), bytes, &base);
      for (long long k = 0; k < (long long)n * m; k++)
        c[k] = NAN;
      compare_row("hand-written, OpenMP", time_of(matmul_openmp, &product, &pieces), bytes, &base);
      check_at_most(&check, "entries, hand-written with OpenMP",
                    largest_difference(mine, c, (long long)n * m) / scale, 1e-13);
    }
    compare_row("op2jit", time_of(NULL, &product, &pieces), bytes, &base);
  }
  free(a);
  touched_free(b);
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
    return outcome;
  op_init(argc, argv, 1);
  int status = run(n, m, compare);
  op_exit();
  return status;
}
