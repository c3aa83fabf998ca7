/* Results of loops on the stand-ins and on PoCL: the last block combines them in one order whatever its size, and they come to
 * the host by the loop's kernel alone. Also the order in which blocks run, of which results know nothing. */
#include "../api/support.h"
#include <stdbool.h>

enum { N = 70001, COMBINING = 256, MOST = 1024, COLOURED = 999, SIZE_OF_ONE = 320 };

static const char sum[] = OP_KERNEL(void sum(const double *x, double *s) { *s += *x; });
static const char spread[] = OP_KERNEL(void spread(const double *x, double *a, double *b, double *s) {
  *a += *x;
  *b -= *x;
  *s += *x;
});

static int lanes;             /* 0: a block is one tree, as in OpenCL */
static bool copied, combined; /* results are copied, also by a second kernel */
static double values[N], small[COLOURED], parts[N / 32 + 1];

static void begin(const char *variant) {
  char program[] = "results", tune[] = "OP2_TUNE=off", words[64];
  char *argv[] = {program, tune, words, NULL};
  snprintf(words, sizeof words, "OP2_VARIANT=%s", variant);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(3, argv, 0));
}

/* The value of lane 0 behind the shuffles. */
static double warp_sum(double *lane) {
  for (int down = lanes / 2; down > 0; down /= 2)
    for (int i = 0; i < down; i++)
      lane[i] += lane[i + down];
  return lane[0];
}

/* The value of thread 0 of a group: by one tree, or warps by trees, then one behind the other. */
static double group_sum(double *thread, int threads) {
  int down = 1;
  while (!lanes && 2 * down < threads)
    down *= 2;
  for (; !lanes && down > 0; down /= 2)
    for (int i = 0; i < down && i + down < threads; i++)
      thread[i] += thread[i + down];
  if (!lanes)
    return thread[0];
  double all = warp_sum(thread);
  for (int w = lanes; w < threads; w += lanes)
    all += warp_sum(thread + w);
  return all;
}

/* The order that docs/gpu.md says: of threads in a block, and of blocks. */
static double expected(int block) {
  double threads[MOST];
  int count = 0;
  for (int first = 0; first < N; first += block) {
    for (int t = 0; t < block; t++)
      threads[t] = first + t < N ? values[first + t] : -0.0;
    parts[count++] = group_sum(threads, block);
  }
  for (int t = 0; t < COMBINING; t++) {
    threads[t] = t < count ? parts[t] : -0.0;
    for (int i = t + COMBINING; i < count; i += COMBINING)
      threads[t] += parts[i];
  }
  return group_sum(threads, COMBINING);
}

static double add_up(op_set set, op_dat x) {
  double total = 0;
  works(
      op_par_loop(sum, "sum", set, direct(x, 1, "double", OP_READ), op_arg_gbl(&total, 1, "double", OP_INC)));
  return total;
}

TEST(the_order_is_the_same_for_every_size) {
  static const int blocks[] = {SIZE_OF_ONE, 64, 128, 192, 256, 512, 1024};
  const size_t few = lanes ? sizeof blocks / sizeof *blocks : 1; /* PoCL needs longer to compile */
  for (size_t b = 0; b < few; b++) {
    char variant[32];
    snprintf(variant, sizeof variant, "direct/%d", blocks[b]);
    begin(variant);
    op_set set = op_decl_set(N, "set");
    op_dat x = op_decl_dat(set, 1, "double", values, "x");
    for (int round = 0; round < 3; round++)
      assert_true(add_up(set, x) == expected(blocks[b]));
    op_gbl kept = op_decl_gbl(1, "double", NULL, "kept");
    double got;
    works(op_par_loop(sum, "sum", set, direct(x, 1, "double", OP_READ), op_arg_global(kept, OP_INC)));
    works(op_get_gbl(kept, &got));
    assert_true(got == 0.0 + expected(blocks[b]));
    works(op_exit());
  }
}

/* The blocks of all colours count. */
TEST(launches_of_a_loop_have_one_result) {
  static int table[2 * COLOURED];
  static const char *const variants[] = {"colours/64", "blocks/64", "apart/128", "atomics/64", "warps/64"};
  double all = 0;
  for (int i = 0; i < COLOURED; i++) {
    table[2 * i] = i * 7 % COLOURED;
    table[2 * i + 1] = (i + 1) % COLOURED;
    small[i] = i % 11;
    all += small[i];
  }
  for (size_t v = 0; v < (lanes ? sizeof variants / sizeof *variants : 1); v++) {
    begin(variants[v]);
    op_set set = op_decl_set(COLOURED, "set");
    op_map map = op_decl_map(set, set, 2, table, "map");
    op_dat x = op_decl_dat(set, 1, "double", small, "x"), y = op_decl_dat(set, 1, "double", NULL, "y");
    for (int round = 0; round < 3; round++) {
      double total = 1;
      works(op_par_loop(spread, "spread", set, direct(x, 1, "double", OP_READ),
                        op_arg_dat(y, 0, map, 1, "double", OP_INC),
                        op_arg_dat(y, 1, map, 1, "double", OP_INC), op_arg_gbl(&total, 1, "double", OP_INC)));
      assert_true(total == 1 + all);
    }
    works(op_exit());
  }
}

/* Whether the driver that the variable names is a stand-in, or one in front of a driver. */
static int is_test(const char *variable) {
  const char *driver = getenv(variable);
  return driver && (strstr(driver, "standin") || strstr(driver, "wrapper"));
}

/* A copy to the host, or a second launch, would fail. */
TEST(they_need_no_kernel_and_no_copy_of_their_own) {
  static const char *const calls[2][2] = {{"cuMemcpyDtoHAsync_v2:1:1", "cuLaunchKernel:2:1"},
                                          {"clEnqueueReadBuffer:1:-5", "clEnqueueNDRangeKernel:2:-5"}};
  const bool opencl = strcmp(getenv("OP2_BACKEND"), "opencl") == 0;
  const char *const variable = opencl ? "WRAPPER_FAIL" : "STANDIN_FAIL";
  if (strcmp(getenv("OP2_BACKEND"), "hip") == 0 || !is_test(opencl ? "OP2_OPENCL" : "OP2_CUDA_DRIVER"))
    skip_since(
        "only the stand-in for CUDA, and what is in front of PoCL, fail in the calls that are named here");
  for (size_t i = combined ? 2 : copied; i < 2; i++) {
    setenv(variable, calls[opencl][i], 1);
    begin("direct/320");
    op_set set = op_decl_set(COLOURED, "set");
    op_dat x = op_decl_dat(set, 1, "double", small, "x");
    double all = 0;
    for (int e = 0; e < COLOURED; e++)
      all += small[e];
    const long long waits = op_counters()->waits, bytes = op_counters()->bytes_from_device;
    assert_true(add_up(set, x) == all);
    assert_int_equal(op_counters()->waits, waits + 1);
    assert_int_equal(op_counters()->bytes_from_device, bytes + 16);
    works(op_exit());
  }
  unsetenv(variable);
}

/* Blocks run in the order of their numbers here, so that a sum by atomic additions shows it. */
TEST(every_second_loop_runs_backwards) {
  enum { BLOCK = 64 };
  static int table[N];
  double forwards = 0, backwards = 0;
  if (!lanes || !is_test(strcmp(getenv("OP2_BACKEND"), "hip") == 0 ? "OP2_HIP" : "OP2_CUDA_DRIVER"))
    skip_since("on a real device blocks run in no order");
  begin("atomics/64");
  for (int i = 0; i < COLOURED; i++)
    forwards += values[i];
  for (int b = (COLOURED - 1) / BLOCK; b >= 0; b--)
    for (int i = b * BLOCK; i < COLOURED && i < (b + 1) * BLOCK; i++)
      backwards += values[i];
  assert_true(forwards != backwards);
  op_set set = op_decl_set(COLOURED, "set"), one = op_decl_set(1, "one"),
         other = op_decl_set(COLOURED, "other");
  op_map map = op_decl_map(set, one, 1, table, "map"), map2 = op_decl_map(other, one, 1, table, "map2");
  op_dat x = op_decl_dat(set, 1, "double", values, "x"), x2 = op_decl_dat(other, 1, "double", values, "x2");
  for (int round = 0; round < 4; round++) {
    double got[2];
    op_dat y = op_decl_dat(one, 1, "double", NULL, "y"), y2 = op_decl_dat(one, 1, "double", NULL, "y2");
    works(op_par_loop(sum, "sum", set, direct(x, 1, "double", OP_READ),
                      op_arg_dat(y, 0, map, 1, "double", OP_INC)));
    works(op_par_loop(sum, "sum", other, direct(x2, 1, "double", OP_READ),
                      op_arg_dat(y2, 0, map2, 1, "double", OP_INC)));
    works(op_fetch_data(y, &got[0]));
    works(op_fetch_data(y2, &got[1]));
    for (int i = 0; i < 2; i++) /* each set takes its turns */
      assert_true(got[i] == (round % 2 ? backwards : forwards));
    works(op_free_dat(y));
    works(op_free_dat(y2));
  }
  works(op_exit());
}

int main(int argc, char **argv) {
  lanes = argc > 1 ? atoi(argv[1]) : 32;
  combined = argc > 2 && strcmp(argv[2], "combined") == 0;
  copied = combined || (argc > 2 && strcmp(argv[2], "copied") == 0);
  for (int i = 0; i < N; i++)
    values[i] = 1.0 / (double)(1 + i * 7919L % 104729) - (i % 3 ? 0.0 : 1e-3);
  return run_these(NULL, NULL);
}
