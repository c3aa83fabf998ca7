/* A matrix product, to show a kernel with a helper function: the set is that of pieces of C, 32 entries of a row,
 * with maps to the row of A and to the 32 columns of B that meet there. What belongs to 32 columns of B is one row
 * of a dat, so that entries beside one another are made together. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int inner;

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

enum { PANEL = 32 }; /* columns of B that lie together */

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

struct pieces {
  int across; /* panels beside one another */
  op_set rows, panels, all;
  op_map row, panel;
  op_dat a, b, c;
};

/* a (n x inner) row by row; b in panels: of each the first row of its 32 columns, then the second, inner rows;
 * what is beyond the last column is zero. */
static struct pieces declare(int n, int m, const double *a, const double *b) {
  struct pieces e = {.across = (m + PANEL - 1) / PANEL};
  const long long count = (long long)n * e.across;
  int *row = array(count, sizeof *row), *panel = array(count, sizeof *panel);
  for (long long k = 0; k < count; k++) {
    row[k] = (int)(k / e.across);
    panel[k] = (int)(k % e.across);
  }
  e.rows = op_decl_set(here(n), "rows");
  e.panels = op_decl_set(here(e.across), "panels");
  e.all = op_decl_set(here((int)count), "pieces");
  e.row = op_decl_map(e.all, e.rows, 1, row, "row");
  e.panel = op_decl_map(e.all, e.panels, 1, panel, "panel");
  e.a = op_decl_dat(e.rows, inner, "double", a, "a");
  e.b = op_decl_dat(e.panels, PANEL * inner, "double", b, "b");
  e.c = op_decl_dat(e.all, PANEL, "double", NULL, "c");
  free(row);
  free(panel);
  op_partition("block", "", e.all, NULL, NULL);
  return e;
}

static void multiply_all(const struct pieces *e) {
  op_par_loop(OP_KERNEL_OF(multiply), "multiply", e->all,
              op_arg_dat(e->a, 0, e->row, inner, "double", OP_READ),
              op_arg_dat(e->b, 0, e->panel, PANEL * inner, "double", OP_READ),
              op_arg_dat(e->c, -1, OP_ID, PANEL, "double", OP_WRITE));
}

/* The product, row by row. */
static void fetch_product(const struct pieces *e, int n, int m, double *c) {
  double *pieces = array((long long)PANEL * n * e->across, sizeof *pieces);
  op_fetch_data(e->c, pieces);
  for (int i = 0; op_is_root() && i < n; i++)
    for (int j = 0; j < m; j++)
      c[(size_t)i * (size_t)m + (size_t)j] = pieces[(size_t)i * PANEL * (size_t)e->across + (size_t)j];
  free(pieces);
}

/* The factors: a_ik = sin(i) + k, b_kj = cos(j) - k. */
static double *left_factor(int n) {
  double *a = array((long long)n * inner, sizeof *a);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < inner; k++)
      a[(size_t)i * (size_t)inner + (size_t)k] = sin(i) + k;
  return a;
}

static double *right_factor(int m) {
  double *b = array((long long)((m + PANEL - 1) / PANEL) * PANEL * inner, sizeof *b);
  for (int j = 0; j < m; j++)
    for (int k = 0; k < inner; k++)
      b[(size_t)(j / PANEL * PANEL) * (size_t)inner + (size_t)(PANEL * k + j % PANEL)] = cos(j) - k;
  return b;
}

/* Their product in closed form. */
static double exact(int i, int j, int n) {
  double sum = n * (n - 1) / 2.0, squares = sum * (2 * n - 1) / 3.0;
  return n * sin(i) * cos(j) + sum * (cos(j) - sin(i)) - squares;
}

/* The larger of the two; a NaN stays, which fmax would drop. */
static double larger(double a, double b) {
  return isnan(a) || b <= a ? a : b;
}

int main(int argc, char **argv) {
  int n = 400, m = 300;
  double worst = 0;
  inner = 200;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--rows"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--columns"))
      m = atoi(value);
    else if (!strcmp(argv[a], "--inner"))
      inner = atoi(value);
    else
      n = 0;
    a++;
  }
  if (n < 1 || m < 1 || inner < 1) {
    fprintf(stderr, "usage: matmul [--rows N] [--columns N] [--inner N]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  op_decl_const("inner", 1, "int", &inner);
  double *a = left_factor(n), *b = right_factor(m), *c = array((long long)n * m, sizeof *c);
  struct pieces pieces = declare(n, m, a, b);
  multiply_all(&pieces);
  fetch_product(&pieces, n, m, c);
  const double scale = (double)inner * inner * inner / 3 + inner;
  for (long long k = 0; op_is_root() && k < (long long)n * m; k++)
    worst = larger(worst, fabs(c[k] - exact((int)(k / m), (int)(k % m), inner)) / scale);
  const int good = worst <= 1e-13;
  op_printf("%d x %d times %d x %d: largest error %.1e\nmatmul: %s\n", n, inner, inner, m, worst,
            good ? "PASSED" : "FAILED");
  free(a);
  free(b);
  free(c);
  return op_exit() || !good;
}
