/* Mistakes planted in generated kernels: each is found by the stand-in's checker, in every order of threads that is
 * tried, and the same kernels without a mistake are right in all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "backend/cuda/cuda.h"
#include "device.h"
#include "op2jit.h"

enum { EDGES = 333, CELLS = 60, SEEDS = 3 };

static const char kernel[] =
    "void flux(const double *x, const double *q0, const double *q1, double *a0, double *a1,\n"
    "          double *b1, double *y, double *sum, int *most) {\n"
    "  a0[0] += x[0] + q0[0];\n"
    "  a0[1] += x[1] - q1[1];\n"
    "  a1[0] -= x[0];\n"
    "  a1[1] += 2 * x[1] + q1[0];\n"
    "  b1[0] += x[0] * x[1];\n"
    "  y[0] = x[0] + 1; y[1] = x[1] + 2;\n"
    "  *sum += x[0];\n"
    "  if ((int)x[1] > *most) *most = (int)x[1];\n"
    "}\n";

struct mesh_data {
  int table[EDGES * 2];
  double x[EDGES * 2], q[CELLS * 2], a[CELLS * 2], b[CELLS], y[EDGES * 2], sum;
  int most;
};

static void fill(struct mesh_data *m) {
  unsigned r = 12345;
  memset(m, 0, sizeof *m);
  for (int e = 0; e < EDGES; e++)
    for (int k = 0; k < 2; k++) {
      r = r * 1103515245u + 12345u;
      m->table[2 * e + k] = (int)((r >> 16) % CELLS);
      m->x[2 * e + k] = (int)(r >> 20) % 17;
    }
  for (int c = 0; c < 2 * CELLS; c++)
    m->q[c] = c % 7;
}

static void expected(struct mesh_data *m) {
  fill(m);
  for (int e = 0; e < EDGES; e++) {
    const double *x = &m->x[2 * e], *q0 = &m->q[2 * m->table[2 * e]], *q1 = &m->q[2 * m->table[2 * e + 1]];
    double *a0 = &m->a[2 * m->table[2 * e]], *a1 = &m->a[2 * m->table[2 * e + 1]];
    a0[0] += x[0] + q0[0];
    a0[1] += x[1] - q1[1];
    a1[0] -= x[0];
    a1[1] += 2 * x[1] + q1[0];
    m->b[m->table[2 * e + 1]] += x[0] * x[1];
    m->y[2 * e] = x[0] + 1;
    m->y[2 * e + 1] = x[1] + 2;
    m->sum += x[0];
    m->most = (int)x[1] > m->most ? (int)x[1] : m->most;
  }
}

/* The code of the loop, or of what comes first; the results in `m`. */
static int run(struct mesh_data *m, const char *variant, bool soa, enum cuda_mistake mistake) {
  char forced[80];
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  char *argv[] = {"test", "OP2_BACKEND=cuda", "OP2_CACHE=off", forced};
  int code = op_init(4, argv, 0);
  if (code)
    return code;
  cuda_of(api_context())->mistake = mistake;
  fill(m);
  op_set edges = op_decl_set(EDGES, "edges"), cells = op_decl_set(CELLS, "cells");
  op_map ecell = op_decl_map(edges, cells, 2, m->table, "ecell");
  const char *type = soa ? "double:soa" : "double";
  op_dat x = op_decl_dat(edges, 2, type, m->x, "x"), q = op_decl_dat(cells, 2, type, m->q, "q"),
         a = op_decl_dat(cells, 2, type, m->a, "a"), b = op_decl_dat(cells, 1, "double", m->b, "b"),
         y = op_decl_dat(edges, 2, type, m->y, "y");
  code = op_par_loop(
      kernel, "flux", edges, op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ),
      op_arg_dat(q, 0, ecell, 2, "double", OP_READ), op_arg_dat(q, 1, ecell, 2, "double", OP_READ),
      op_arg_dat(a, 0, ecell, 2, "double", OP_INC), op_arg_dat(a, 1, ecell, 2, "double", OP_INC),
      op_arg_dat(b, 1, ecell, 1, "double", OP_INC), op_arg_dat(y, -1, OP_ID, 2, "double", OP_WRITE),
      op_arg_gbl(&m->sum, 1, "double", OP_INC), op_arg_gbl(&m->most, 1, "int", OP_MAX));
  if (!code)
    code = op_fetch_data(a, m->a);
  if (!code)
    code = op_fetch_data(b, m->b);
  if (!code)
    code = op_fetch_data(y, m->y);
  op_exit();
  return code;
}

static const struct {
  enum cuda_mistake mistake;
  const char *variant;
  bool soa;
} planted[] = {
    {CUDA_MISTAKE_PLAIN_ADD, "atomics/64", false},
    {CUDA_MISTAKE_NO_COLOURS, "staged/64", false},
    {CUDA_MISTAKE_NO_COLOURS, "blocks/64", false},
    {CUDA_MISTAKE_NO_COLOURS, "whole/64", false},
    {CUDA_MISTAKE_COLOUR_OF_OTHER, "staged/64", false},
    {CUDA_MISTAKE_COLOUR_OF_OTHER, "blocks/64", false},
    {CUDA_MISTAKE_NO_COLOUR_BARRIER, "staged/64", false},
    {CUDA_MISTAKE_NO_COLOUR_BARRIER, "blocks/64", true},
    {CUDA_MISTAKE_NO_COLOUR_BARRIER, "whole/64", false},
    {CUDA_MISTAKE_NO_ZERO_BARRIER, "staged/64", false},
    {CUDA_MISTAKE_NO_ZERO_BARRIER, "whole/64", false},
    {CUDA_MISTAKE_NO_FLUSH_BARRIER, "staged/64", false},
    {CUDA_MISTAKE_NO_FLUSH_BARRIER, "whole/64", true},
    {CUDA_MISTAKE_NO_ZERO, "staged/64", false},
    {CUDA_MISTAKE_BARRIER_INSIDE, "staged/64", false},
    {CUDA_MISTAKE_BARRIER_INSIDE, "blocks/64", false},
    {CUDA_MISTAKE_ONE_MORE_ELEMENT, "atomics/64", false},
    {CUDA_MISTAKE_ONE_MORE_ELEMENT, "blocks/64", false},
    {CUDA_MISTAKE_ONE_MORE_TARGET, "staged/64", false},
    {CUDA_MISTAKE_WRONG_COLUMN, "atomics/64", false},
    {CUDA_MISTAKE_WRONG_STRIDE, "atomics/64", false},
    {CUDA_MISTAKE_WRONG_STRIDE, "atomics/64", true},
    {CUDA_MISTAKE_SHIFTED_VECTOR, "atomics/64/vectors", false},
    {CUDA_MISTAKE_WRONG_BLOCK, "staged/32", false},
    {CUDA_MISTAKE_NO_LIST, "colours/64", false},
    {CUDA_MISTAKE_HALF_MASK, "atomics/64", false},
    {CUDA_MISTAKE_NO_SLOT_BARRIER, "atomics/64", false},
    {CUDA_MISTAKE_SAME_SLOT, "atomics/64", false},
    {CUDA_MISTAKE_ENTRY_OVERLAP, "apart/64", false},
    {CUDA_MISTAKE_SHARED_OVERLAP, "staged/64", false},
};

static bool is_right(const struct mesh_data *want, const struct mesh_data *got) {
  return memcmp(want->a, got->a, sizeof want->a) == 0 && memcmp(want->b, got->b, sizeof want->b) == 0 &&
         memcmp(want->y, got->y, sizeof want->y) == 0 && want->sum == got->sum && want->most == got->most;
}

static struct device device; /* for the checker's own entries */

static void every_mistake_is_found(void **state) {
  (void)state;
  bool kinds[CUDA_MISTAKES] = {false};
  char words[20000];
  struct mesh_data want;
  expected(&want);
  for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
      struct mesh_data m;
      device.seed(seed);
      int code = run(&m, planted[i].variant, planted[i].soa, planted[i].mistake),
          count = device.findings(words, sizeof words);
      /* What the checker has no reason to see shows in the results. */
      bool wrong = !code && !is_right(&want, &m);
      if (!wrong && (code != OP_ERR_DEVICE || !count))
        fail_msg("mistake %d in %s, seed %llu: code %d (%s), %d findings", planted[i].mistake,
                 planted[i].variant, seed, code, op_last_error()->message, count);
      if (seed == 0)
        print_message("%2d in %-20s %.*s\n", planted[i].mistake, planted[i].variant,
                      count ? (int)strcspn(words, "\n") : 13, count ? words : "wrong results");
      kinds[planted[i].mistake] = true;
    }
  for (int k = CUDA_MISTAKE_NONE + 1; k < CUDA_MISTAKES; k++)
    assert_true(kinds[k]);
}

static void right_ones_pass(void **state) {
  (void)state;
  static const char *const variants[] = {
      "atomics/64", "atomics/32/vectors", "staged/64",  "staged/64/sorted/vectors",
      "blocks/64",  "blocks/32/sorted",   "colours/64", "apart/64/vectors",
      "whole/64",   "whole/64/sorted"};
  char words[4000];
  struct mesh_data want, got;
  expected(&want);
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
      device.seed(seed);
      int code = run(&got, variants[i], seed == 1, CUDA_MISTAKE_NONE),
          count = device.findings(words, sizeof words);
      if (code || count)
        fail_msg("%s, seed %llu: code %d (%s), findings: %s", variants[i], seed, code,
                 op_last_error()->message, words);
      if (!is_right(&want, &got))
        fail_msg("%s, seed %llu: wrong results", variants[i], seed);
    }
}

static void a_variant_has_one_block_size(void **state) {
  (void)state;
  struct mesh_data got;
  assert_int_equal(run(&got, "blocks/64/128", false, CUDA_MISTAKE_NONE), OP_ERR_ENV);
}

int main(void) {
  if (!getenv("STANDIN_LOUD"))
    setenv("STANDIN_QUIET", "1", 1);
  device_open(&device, "checked");
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_variant_has_one_block_size),
                                     cmocka_unit_test(right_ones_pass),
                                     cmocka_unit_test(every_mistake_is_found)};
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  device_close(&device);
  return failed;
}
