/* matmul against hand-written loops. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "common/touch.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/matmul/matmul.c"
#undef main

#define MATMUL_PANEL
#include "twin.h"

static void multiply_library(const struct pieces *e) {
  double last[PANEL];
  multiply_all(e);
  wait_for(e->c, last);
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
  double *a = left_factor(n), *given = right_factor(m);
  double *b = touched_copy(given, (long long)(m + PANEL - 1) / PANEL * PANEL * inner, sizeof *b, compare);
  double *c = room((long long)n * m, sizeof *c), *mine = room((long long)n * m, sizeof *c);
  double scale = (double)inner * inner * inner / 3 + inner;
  struct product product = {n, m, inner, a, b, c};
  op_decl_const("inner", 1, "int", &inner);
  struct pieces pieces = declare(n, m, a, b);
  free(given);
  multiply_library(&pieces);
  fetch_product(&pieces, n, m, mine);
  struct check check = {0};
  if (op_is_root()) {
    matmul_serial(&product);
    check_at_most(&check, "entries against the hand-written loops",
                  largest_difference(mine, c, (long long)n * m) / scale, 1e-13);
  }
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
