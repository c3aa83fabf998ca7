/* Mistakes planted in generated kernels, by sed scripts that the stand-in for NVRTC runs over the text: each is
 * found by the stand-in's checker, in every order of threads that is tried, and the same kernels without a mistake
 * are right in all of them.
 *   test_cuda_mistakes [all]: without the word every second mistake */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "backend/gpu/gpu.h"
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
static int run(struct mesh_data *m, const char *variant, bool soa, const char *edit) {
  char forced[80];
  setenv("STANDIN_EDIT", edit, 1);
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  char *argv[] = {"test", "OP2_BACKEND=cuda", "OP2_CACHE=off", forced};
  int code = op_init(4, argv, 0);
  if (code)
    return code;
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

#define NO_COLOURS "s/op2_k < op2_ncolours/op2_k < 1/; s/op2_colour == op2_k/op2_on/"
#define COLOUR_OF_OTHER "s/op2_colours\\[op2_e\\]/op2_colours[op2_i + 1 < op2_end ? op2_i + 1 : op2_begin]/"
#define NO_COLOUR_BARRIER "/^    __syncthreads/d"
#define NO_ZERO_BARRIER "/ op2_loop_/,$ { /^  __syncthreads/d }"
#define NO_FLUSH_BARRIER "s/^    (__syncthreads)/    if (op2_k + 1 < op2_ncolours) \\1/"
#define BARRIER_INSIDE                                                                                       \
  "/op2_colour == op2_k/,/^    __syncthreads/ { s/^    }/      __syncthreads(); }/; /^    __syncthreads/d }"
#define NO_WAIT "s/^  op2_wait_for_before\\(\\);//"
#define WAIT_LAST "; / op2_loop_/,$ s/^}$/op2_wait_for_before(); }/"
static const struct {
  const char *mistake, *variant;
  bool soa;
  const char *edit;
} planted[] = {
    {"plain addition", "atomics/64", false, "s/op2_add\\(&(op2_d.*), (op2_a.*)\\);/\\1 += \\2;/"},
    {"rows of the other end", "atomics/64", false, "s/(op2_add_fours<.*)op2_m0_1/\\1op2_m0_0/"},
    {"lanes exchange values with those that have no element", "atomics/64", false,
     "s/, op2_whole\\)/, true)/"},
    {"all elements of a block at once", "staged/64", false, NO_COLOURS},
    {"all elements of a block at once", "blocks/64", false, NO_COLOURS},
    {"the colour of the next element", "staged/64", false, COLOUR_OF_OTHER},
    {"the colour of the next element", "blocks/64", false, COLOUR_OF_OTHER},
    {"no barrier between colours", "staged/64", false, NO_COLOUR_BARRIER},
    {"no barrier between colours", "blocks/64", true, NO_COLOUR_BARRIER},
    {"no barrier behind clearing shared memory", "staged/64", false, NO_ZERO_BARRIER},
    {"no barrier before writing back", "staged/64", false, NO_FLUSH_BARRIER},
    {"shared memory is not cleared", "staged/64", false, "/op2_h[01]\\[op2_c\\] = -0\\.0;/d"},
    {"a barrier that only threads with an element reach", "staged/64", false, BARRIER_INSIDE},
    {"a barrier that only threads with an element reach", "blocks/64", false, BARRIER_INSIDE},
    {"<= at the end of the set", "atomics/64", false,
     "s/op2_i < \\(unsigned\\)op2_end/op2_i <= (unsigned)op2_end/"},
    {"<= at the end of the set", "blocks/64", false, "s/op2_on = op2_i < op2_end/op2_on = op2_i <= op2_end/"},
    {"<= at the end of a block's targets", "staged/64", false,
     "/= -0\\.0;/! s/op2_c < op2_n/op2_c <= op2_n/"},
    {"the next column of a map", "atomics/64", false, "s/(op2_m0_1 = .*) \\+ 1\\]/\\1 + 2]/"},
    {"rows of the wrong width", "atomics/64", false, "/op2_(load|store)</ s/(op2_(e|m0_.)) \\* 2/\\1 * 3/"},
    {"components at the wrong distance", "atomics/64", true, "s/[01] \\* op2_s[0-9]/& * 2/g"},
    {"a vector load from the next value on", "atomics/64/vectors", false,
     "/op2_load</ s/ \\* 2\\)/ * 2 + 1)/"},
    {"blocks in another order than their colour's", "staged/32", false,
     "s/op2_blocks\\[op2_first \\+ [a-zA-Z0-9_.]+\\]/blockIdx.x/"},
    {"elements in another order than their colour's", "colours/64", false,
     "s/op2_list\\[op2_i\\]/(int)op2_i/"},
    {"shuffles name half of the warp", "atomics/64", false, "s/0xffffffffu/0xffffu/"},
    {"no barrier behind the warps' results", "atomics/64", false,
     "/ op2_finish\\(.*\\{/,/^}/ { /__syncthreads/d }"},
    {"all blocks write one result", "atomics/64", false, "s/op2_slot0 \\+ [a-zA-Z0-9_.]+;/op2_slot0;/"},
    {"two entries for one row", "apart/64", false, "s/op2_e \\* 2 \\+ 1\\) \\* 2/op2_e * 2 + 0) * 2/"},
    {"no meeting of the warp", "warps/64", false, "/^  __syncwarp/d"},
    {"no barrier of the block", "warps/64/joined", true, "/ op2_loop_/,$ { /^  __syncthreads/d }"},
    {"two warps in one memory", "warps/64", false,
     "s/op2_shared \\+ \\(\\(int\\)threadIdx.x . op2_width . op2_until2 \\+ /op2_shared + (/"},
    {"plain addition", "warps/64", false, "s/op2_add\\(&(op2_d.*), op2_sum\\);/\\1 += op2_sum;/"},
    {"the summands of the next warp", "warps/32", true, "s/op2_group \\* \\(2/(op2_group + 1) * (2/"},
    {"the last summand is left out", "warps/64", true, "s/op2_s\\+\\+ < op2_stop/op2_s++ < op2_stop - 1/"},
    {"a target too many", "warps/64", false, "s/op2_c < op2_n0/op2_c <= op2_n0/"},
    {"<= at the end of the set", "warps/64", false, "s/op2_on = op2_e < op2_end/op2_on = op2_e <= op2_end/"},
    {"no barrier of the block", "ordered/64", false, "/ op2_loop_/,$ { /^  __syncthreads/d }"},
    {"one row for two summands", "ordered/32", false, "s/~op2_target \\* 2/~op2_target \\/ 2 * 2/"},
    {"a summand is never added", "ordered/32", true,
     "s/place < first\\[i \\+ 1\\]/place < first[i + 1] - 1/"},
    {"elements in their own order", "ordered/32", false, "s/op2_begin \\+ op2_list\\[op2_i\\]/op2_i/"},
    {"no wait for the kernel before", "warps/64/dependent", false, NO_WAIT},
    {"no wait for the kernel before", "staged/64/dependent", true, NO_WAIT},
    {"a wait at the end", "atomics/64/dependent", false, NO_WAIT WAIT_LAST},
    {"a wait at the end", "ordered/64/dependent", false, NO_WAIT WAIT_LAST},
    {"two staged dats at one place", "staged/64", false, "s/op2_shared \\+ op2_o1/op2_shared + op2_o0/"},
};

static bool is_right(const struct mesh_data *want, const struct mesh_data *got) {
  return memcmp(want->a, got->a, sizeof want->a) == 0 && memcmp(want->b, got->b, sizeof want->b) == 0 &&
         memcmp(want->y, got->y, sizeof want->y) == 0 && want->sum == got->sum && want->most == got->most;
}

static bool all;
static struct device device; /* for the checker's own entries */

TEST(every_mistake_is_found) {
  char words[20000];
  struct mesh_data want;
  expected(&want);
  for (size_t i = 0; i < sizeof planted / sizeof *planted; i += all ? 1 : 2)
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
      struct mesh_data m;
      device.seed(seed);
      int code = run(&m, planted[i].variant, planted[i].soa, planted[i].edit),
          count = device.findings(words, sizeof words);
      /* A mistake that the checker cannot see shows in the results. */
      bool wrong = !code && !is_right(&want, &m);
      if (!wrong && (code != OP_ERR_DEVICE || !count))
        fail_msg("%s in %s, seed %llu: code %d (%s), %d findings", planted[i].mistake, planted[i].variant,
                 seed, code, op_last_error()->message, count);
      if (seed == 0)
        print_message("%s in %s: %.*s\n", planted[i].mistake, planted[i].variant,
                      count ? (int)strcspn(words, "\n") : 13, count ? words : "wrong results");
    }
}

TEST(right_ones_pass) {
  static const char *const variants[] = {
      "atomics/64",         "atomics/32/vectors", "staged/64",       "staged/64/sorted/vectors",
      "blocks/64",          "blocks/32/sorted",   "colours/64",      "apart/64/vectors",
      "warps/64",           "warps/32/vectors",   "warps/96/joined", "ordered/64",
      "ordered/32/vectors", "warps/64/dependent"};
  char words[4000];
  struct mesh_data want, got;
  expected(&want);
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
      device.seed(seed);
      int code = run(&got, variants[i], seed == 1, ""), count = device.findings(words, sizeof words);
      if (code || count)
        fail_msg("%s, seed %llu: code %d (%s), findings: %s", variants[i], seed, code,
                 op_last_error()->message, words);
      if (!is_right(&want, &got))
        fail_msg("%s, seed %llu: wrong results", variants[i], seed);
    }
}

TEST(a_variant_has_one_block_size) {
  struct mesh_data got;
  assert_int_equal(run(&got, "blocks/64/128", false, ""), OP_ERR_ENV);
}

int main(int argc, char **argv) {
  all = argc > 1 && strcmp(argv[1], "all") == 0;
  if (!getenv("STANDIN_LOUD"))
    setenv("STANDIN_QUIET", "1", 1);
  setenv("STANDIN_DEPENDENT", "1", 1);
  device_open(&device, "checked");
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  int failed = run_these(NULL, NULL);
  device_close(&device);
  return failed;
}
