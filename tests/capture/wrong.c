/* wrong CASE [OP2_NAME=VALUE...]: a loop over many elements that goes wrong at one of them; for OP2_CAPTURE.
 *   text      the C function does what its text does not, as a program has it that was changed and not compiled
 *   promise   the kernel assigns what it promises to add to
 *   dies      a division by zero, which ends the process
 *   fast      a test for NaN, which OP2_FP=fast may leave out
 *   sums      the same in a sum, which nothing but a global shows
 *   freed     nothing is wrong: sets, maps and dats are freed and declared again between the loops
 *   puts      a global gets another value between two loops */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "op2jit.h"

enum { EDGES = 5000, NODES = 3001, SPECIAL = 3217 };

static const char *const twice = OP_KERNEL(void twice(const double *x, double *y, double *z) {
  *y += 2 * *x;
  *z = *x + 1;
});
static void twice_and_more(const double *x, double *y, double *z) {
  *y += *x == 7 ? 3 * *x : 2 * *x;
  *z = *x + 1;
}
static const char *const assigns =
    OP_KERNEL(void assigns(const double *more, const double *x, double *y, double *z) {
      double t = *x + 1;
      t *= 2;
      *z = t + *more;
      double *p = y;
      if (*x == 7)
        *p = 3 * *y;
      *y += *x;
    });
static const char *const tests =
    OP_KERNEL(void tests(const double *more, const double *x, double *y, double *z) {
      double t = *x * 2 + *more;
      double u = sqrt(t);
      *z = t;
      *y += u == u ? u : 4;
    });

static const char *const divides =
    OP_KERNEL(void divides(const double *more, const double *x, double *y, double *z) {
      *z = *more;
      *y += 100 / (int)(7 - *x);
    });

static const char *const moves = OP_KERNEL(void moves(const double *y, double *x) { *x += *y; });
static const char *const rows = OP_KERNEL(void rows(int n, const double **y, const double **w, double *x) {
  for (int k = 0; k < n; k++)
    *x += OP_ROW(y, k)[0] * OP_ROW(w, k)[0];
});

static int freed(void) {
  enum { HERE = 20, STEPS = 4 };
  static double x[HERE], y[3 * HERE];
  int table[HERE], targets[3 * HERE], code = OP_OK;
  long long first[HERE + 1] = {0};
  op_set here = op_decl_set(HERE, "here");
  op_dat dx = op_decl_dat(here, 1, "double", x, "x");
  for (int s = 0; s < STEPS && !code; s++) {
    const int size = HERE + s;
    for (int i = 0; i < 3 * HERE; i++)
      y[i] = i * s + 1;
    for (int i = 0; i < HERE; i++) {
      table[i] = (i * (s + 1) + s) % size;
      first[i + 1] = first[i] + (i + s) % 3;
      for (long long k = first[i]; k < first[i + 1]; k++)
        targets[k] = (int)((k * 7 + s) % size);
    }
    op_set there = op_decl_set(size, "there");
    op_map map = op_decl_map(here, there, 1, table, "map"),
           ragged = op_decl_map_ragged(here, there, first, targets, "ragged");
    op_dat dy = op_decl_dat(there, 1, "double", y, "y"),
           dw = op_decl_dat(op_map_entries(ragged), 1, "double", y, "w");
    code = op_par_loop(moves, "moves", here, op_arg_dat(dy, 0, map, 1, "double", OP_READ),
                       op_arg_dat(dx, -1, OP_ID, 1, "double", OP_RW));
    if (!code)
      code = op_par_loop(rows, "rows", here, op_arg_dat(dy, OP_ALL, ragged, 1, "double", OP_READ),
                         op_arg_dat(dw, OP_ALL, ragged, 1, "double", OP_READ),
                         op_arg_dat(dx, -1, OP_ID, 1, "double", OP_RW));
    if (op_free_dat(dw) || op_free_map(ragged) || op_free_map(map) || op_free_dat(dy) || op_free_set(there))
      return 3;
  }
  return code;
}

static const char *const counts = OP_KERNEL(void counts(const double *x, double *all) { *all += *x + 1; });

static const char *const sums = OP_KERNEL(void sums(const double *x, double *all) {
  double u = sqrt(*x);
  *all += u == u ? u : 4;
});

static int only_sum(const double *x) {
  double value = 0;
  op_set edges = op_decl_set(EDGES, "edges");
  op_dat dx = op_decl_dat(edges, 1, "double", x, "x");
  return op_par_loop(sums, "sums", edges, op_arg_dat(dx, -1, OP_ID, 1, "double", OP_READ),
                     op_arg_gbl(&value, 1, "double", OP_INC));
}

static int puts_global(void) {
  static const double other = 100;
  op_set here = op_decl_set(EDGES, "here");
  op_dat dx = op_decl_dat(here, 1, "double", NULL, "x");
  op_gbl all = op_decl_gbl(1, "double", NULL, "all");
  for (int s = 0; s < 2; s++)
    if (op_par_loop(counts, "counts", here, op_arg_dat(dx, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_global(all, OP_INC)) ||
        op_put_gbl(all, &other))
      return 3;
  return 0;
}

int main(int argc, char **argv) {
  static double x[EDGES], y[NODES];
  static int table[EDGES];
  for (int e = 0; e < EDGES; e++) {
    x[e] = e % 5;
    table[e] = e % NODES;
  }
  const char *which = argc > 1 ? argv[1] : "";
  const bool sum = strcmp(which, "sums") == 0;
  const double special = sum || strcmp(which, "fast") == 0 ? -100 : 7;
  x[SPECIAL] = special;
  y[SPECIAL % NODES] = -0.0;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(argc, argv, 0))
    return 2;
  if (strcmp(which, "freed") == 0)
    return freed() || op_exit();
  if (sum)
    return only_sum(x) || op_exit();
  if (strcmp(which, "puts") == 0)
    return puts_global() || op_exit();
  op_kernel_native(twice, (op_kernel_function)twice_and_more);
  op_set edges = op_decl_set(EDGES, "edges"), nodes = op_decl_set(NODES, "nodes");
  op_map map = op_decl_map(edges, nodes, 1, table, "map");
  op_dat dx = op_decl_dat(edges, 1, "double", x, "x"), dy = op_decl_dat(nodes, 1, "double", y, "y"),
         dz = op_decl_dat(edges, 1, "double", NULL, "z"), dm = op_decl_dat(edges, 1, "double", NULL, "more");
  int code;
  if (strcmp(which, "text") == 0)
    code = op_par_loop(twice, "twice", edges, op_arg_dat(dx, -1, OP_ID, 1, "double", OP_READ),
                       op_arg_dat(dy, 0, map, 1, "double", OP_INC),
                       op_arg_dat(dz, -1, OP_ID, 1, "double", OP_WRITE));
  else {
    const bool promise = which[0] == 'p', dies = which[0] == 'd';
    code = op_par_loop(promise ? assigns
                       : dies  ? divides
                               : tests,
                       promise ? "assigns"
                       : dies  ? "divides"
                               : "tests",
                       edges, op_arg_dat(dm, -1, OP_ID, 1, "double", OP_READ),
                       op_arg_dat(dx, -1, OP_ID, 1, "double", OP_READ),
                       op_arg_dat(dy, 0, map, 1, "double", OP_INC),
                       op_arg_dat(dz, -1, OP_ID, 1, "double", OP_WRITE));
  }
  op_exit();
  return code != OP_OK;
}
