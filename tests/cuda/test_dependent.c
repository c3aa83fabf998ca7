/* Launches that may begin before the kernel before them has ended, on the stand-in: which loops have them, that each kernel waits
 * (the stand-in's checker says so), and that nothing is launched so where it cannot be. */
#include <unistd.h>

#include "backend.h"
#include "record/record.h"

enum { N = 400, ROUNDS = 3 };

/* Launches cost all, and less where kernels wait; the same with kernels that take longer than a launch; launches that gain
 * nothing. */
static const struct gpu_rates
    short_loops = {.copy = 1e18, .sectors = 1e18, .red = 1, .launch = 1e-2, .node = 1e-2, .dependent = 1e-3},
    long_loops = {.copy = 1e3, .sectors = 1e18, .red = 1, .launch = 1e-2, .node = 1e-2, .dependent = 1e-3},
    no_gain = {.copy = 1e18, .sectors = 1e18, .red = 1, .launch = 1e-2, .node = 1e-2, .dependent = 9.5e-3};

static const char scale[] = "void scale(double *x, const double *by) { *x = *x * 0.75 + *by; }";
static const char scatter[] = "void scatter(const double *x, double *a, double *b, double *sum) { *a += *x; "
                              "*b += 2 * *x; *sum += *x; }";

static struct gpu *device(void) {
  return gpu_of(api_context(), space_of_device(0));
}

static void begin(const struct gpu_rates *rates, const char *dependent, const char *cache) {
  char words[2][300];
  char *argv[] = {"dependent", "OP2_BACKEND=cuda", "OP2_TUNE=auto", "OP2_LAZY=off", words[0], words[1]};
  snprintf(words[0], sizeof words[0], "OP2_DEPENDENT=%s", dependent);
  snprintf(words[1], sizeof words[1], "OP2_CACHE=%s", cache);
  works(op_init(6, argv, 0));
  if (rates)
    device()->rates = *rates;
}

/* Each loop needs what the one before it left. */
static void run(double out[2][N]) {
  int table[2 * N];
  double sum = 0;
  for (int i = 0; i < N; i++) {
    out[0][i] = i % 13, out[1][i] = 0;
    table[2 * i] = i, table[2 * i + 1] = (i + 1) % N;
  }
  op_set cells = op_decl_set(N, "cells");
  op_map next = op_decl_map(cells, cells, 2, table, "next");
  op_dat x = op_decl_dat(cells, 1, "double", out[0], "x"), y = op_decl_dat(cells, 1, "double", out[1], "y");
  for (int i = 0; i < ROUNDS; i++) {
    works(op_par_loop(scale, "scale", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW),
                      op_arg_dat(y, -1, OP_ID, 1, "double", OP_READ)));
    works(op_par_loop(scatter, "scatter", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                      op_arg_dat(y, 0, next, 1, "double", OP_INC),
                      op_arg_dat(y, 1, next, 1, "double", OP_INC), op_arg_gbl(&sum, 1, "double", OP_INC)));
  }
  works(op_fetch_data(x, out[0]));
  works(op_fetch_data(y, out[1]));
}

/* How many loops begin with such a variant. */
static int dependents(void) {
  struct loop **loops = loop_records(api_context());
  int count = 0;
  assert_non_null(loops);
  for (size_t i = 0; i < api_context()->loops->count; i++) {
    const struct gpu_loop *l = loops[i]->ready.backend_state;
    for (int v = 0; v < l->nvariants; v++)
      assert_int_equal(l->variants[v].shape.dependent, l->variants[0].shape.dependent);
    count += l->variants[0].shape.dependent;
    if (l->variants[0].shape.dependent)
      assert_non_null(strstr(l->variants[0].name, "/dependent"));
  }
  free(loops);
  return count;
}

TEST(short_loops_are_dependent) {
  static double found[2][N], expected[2][N];
  begin(&short_loops, "auto", "off");
  run(found);
  assert_int_equal(dependents(), 2);
  assert_true(op_counters()->dependent >= 2 * ROUNDS);
  assert_int_equal(op_counters()->dependent, op_counters()->launches);
  works(op_exit());
  begin(&short_loops, "off", "off");
  run(expected);
  assert_int_equal(dependents(), 0);
  assert_int_equal(op_counters()->dependent, 0);
  works(op_exit());
  assert_memory_equal(found, expected, sizeof found);
}

TEST(others_are_not) {
  static const struct gpu_rates *const rates[] = {&long_loops, &no_gain, NULL};
  static double found[2][N];
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    begin(rates[i], "auto", "off");
    run(found);
    assert_int_equal(dependents(), 0);
    assert_int_equal(op_counters()->dependent, 0);
    works(op_exit());
  }
}

/* Nothing is launched so; who asks for it is told why. */
TEST(older_devices_have_none) {
  static double found[2][N];
  setenv("STANDIN_CAPABILITY", "80", 1);
  begin(&short_loops, "auto", "off");
  assert_false(device()->device.dependents);
  run(found);
  assert_int_equal(dependents(), 0);
  works(op_exit());
  works(start("OP2_VARIANT=dependent", NULL));
  op_set cells = op_decl_set(N, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", NULL, "x"), y = op_decl_dat(cells, 1, "double", NULL, "y");
  assert_int_equal(op_par_loop(scale, "scale", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW),
                               op_arg_dat(y, -1, OP_ID, 1, "double", OP_READ)),
                   OP_ERR_ENV);
  says("compute capability 9.0");
  works(op_exit());
  unsetenv("STANDIN_CAPABILITY");
}

/* Measured beside the other launches, and kept. A driver that has the call, and refuses it, has none. */
TEST(it_is_measured_once) {
  char folder[] = "/tmp/dependent.XXXXXX", file[sizeof folder + 20];
  static double found[2][N];
  double first = 0;
  for (int run_ = 0; run_ < 3; run_++) {
    if (run_ != 1) {
      snprintf(folder, sizeof folder, "/tmp/dependent.XXXXXX");
      assert_non_null(mkdtemp(folder));
      snprintf(file, sizeof file, "%s/kernels.db", folder);
    }
    setenv("STANDIN_DEPENDENT", run_ < 2 ? "1" : "0", 1);
    begin(NULL, "auto", file);
    run(found);
    const struct gpu *c = device();
    assert_true(c->rates.dependent > 0);
    assert_int_equal(c->device.dependents, run_ < 2);
    if (run_ == 1)
      assert_true(c->rates.dependent == first);
    if (run_ == 2)
      assert_true(c->rates.dependent == c->rates.launch && op_counters()->dependent == 0);
    first = c->rates.dependent;
    works(op_exit());
    if (run_ > 0) {
      unlink(file);
      rmdir(folder);
    }
  }
}

int main(void) {
  begin_tests();
  if (!is_standin())
    return 77;
  setenv("STANDIN_MODE", "checked", 1);
  setenv("STANDIN_DEPENDENT", "1", 1);
  return run_these(NULL, NULL);
}
