/* A checked run has the results of a plain one, bit for bit: when constants change, when a C variable is not the
 * constant, when sums round. And sums that only round are no violation, while what really depends on the order is. */
#include "../api/support.h"

#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "../property/random.h"

enum { ELEMENTS = 1000, CHANGES = 40 };

static void begin(const char *check) {
  char *argv[] = {"same", (char *)(uintptr_t)check, "OP2_TUNE=off"};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(3, argv, 0));
}

static bool is_native(void) {
  const char *backend = getenv("OP2_BACKEND");
  return !backend || strcmp(backend, "native") == 0;
}

static struct {
  FILE *file;
  int kept;
} ear = {NULL, -1};

static void listen_to_stderr(void) {
  ear.file = tmpfile();
  assert_non_null(ear.file);
  fflush(stderr);
  ear.kept = dup(STDERR_FILENO);
  dup2(fileno(ear.file), STDERR_FILENO);
}

/* Also what a test that failed while it listened leaves to be done. */
FIXTURE(loud_again) {
  fflush(stderr);
  if (ear.kept >= 0)
    dup2(ear.kept, STDERR_FILENO);
  close(ear.kept);
  ear.kept = -1;
  return 0;
}

static void heard(char *said, size_t size) {
  loud_again(NULL);
  rewind(ear.file);
  said[fread(said, 1, size - 1, ear.file)] = '\0';
  fclose(ear.file);
}

/* ---- constants ---- */

static double factor;
OP_KERNEL_DEF(
    take_factor, void take_factor(double *a) { a[0] = factor; })

static void changes_often(const char *kernel, const char *name) {
  double a[ELEMENTS];
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat dat = op_decl_dat(set, 1, "double", NULL, "a");
  for (int change = 0; change < CHANGES; change++) {
    factor = change + 0.5;
    works(op_update_const("factor", &factor));
    for (int call = 0; call < 1 + change % 3; call++)
      works(op_par_loop(kernel, name, set, direct(dat, 1, "double", OP_WRITE)));
    works(op_fetch_data(dat, a));
    for (int e = 0; e < ELEMENTS; e++)
      if (a[e] != factor)
        fail_msg("change %d: element %d of %s has %g, and the constant is %g", change, e, name, a[e], factor);
  }
}

#define LISTENING_TEST(name) TEST_BETWEEN(name, NULL, loud_again)

/* Nor is there anything to warn of. */
LISTENING_TEST(a_constant_that_changes_often) {
  char said[2000];
  listen_to_stderr();
  begin("OP2_CHECK=on");
  works(op_decl_const("factor", 1, "double", &factor));
  changes_often(OP_KERNEL_OF(take_factor), "take_factor");
  if (!is_native())
    changes_often("void takes(double *a) { a[0] = factor; }", "takes");
  works(op_exit());
  heard(said, sizeof said);
  assert_string_equal(said, "");
}

static double rate = 2;
static int steps = 3;
OP_KERNEL_DEF(
    decay, void decay(const double *x, double *a, int *n) {
      *a += rate * *x;
      *n += steps;
    })

static double decayed[2][ELEMENTS];
static int counted[2];

static void run_decay(int check) {
  double x[ELEMENTS];
  const double declared = 0.5;
  for (int e = 0; e < ELEMENTS; e++)
    x[e] = e + 1;
  begin(check ? "OP2_CHECK=on" : "OP2_CHECK=off");
  works(op_decl_const("rate", 1, "double", &declared));
  works(op_decl_const("steps", 1, "int", &steps));
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat dx = op_decl_dat(set, 1, "double", x, "x"), a = op_decl_dat(set, 1, "double", NULL, "a");
  counted[check] = 0;
  for (int call = 0; call < 4; call++)
    works(op_par_loop(OP_KERNEL_OF(decay), "decay", set, direct(dx, 1, "double", OP_READ),
                      direct(a, 1, "double", OP_INC), op_arg_gbl(&counted[check], 1, "int", OP_INC)));
  works(op_fetch_data(a, decayed[check]));
  works(op_exit());
}

LISTENING_TEST(a_variable_that_is_not_the_constant) {
  char said[4000];
  run_decay(0);
  listen_to_stderr();
  run_decay(1);
  heard(said, sizeof said);
  assert_memory_equal(decayed[0], decayed[1], sizeof decayed[0]);
  assert_int_equal(counted[0], counted[1]);
  assert_true(decayed[1][1] == 4 * 2 * (is_native() ? rate : 0.5));
  assert_string_equal(said, "");
}

/* ---- sums ---- */

enum { LOOPS = 500, MOST = 6000, TARGETS = 50 };

OP_KERNEL_DEF(
    add_products, void add_products(const float *x, float *near, float *far, float *sum) {
      *near += x[0] * x[1];
      *far += x[0] * x[1] - x[1] * x[2];
      *sum += x[0] * x[1] + x[2];
    })
OP_KERNEL_DEF(
    add_apart, void add_apart(const float *x, float *near, float *far, float *sum) {
      *near -= x[0] / 3;
      *far += x[0] - x[1];
      *far -= x[2];
      *sum += x[0];
      *sum -= x[1];
    })
OP_KERNEL_DEF(
    add_functions, void add_functions(const float *x, float *near, float *far, float *sum) {
      *near += sqrtf(fabsf(x[0])) * x[1];
      *far += x[2] / (1 + x[1] * x[1]);
      *sum += 1.1f;
    })

struct sums {
  float near[MOST], far[TARGETS], sum;
};

/* Magnitudes lie far apart, or terms cancel, or all have one sign. */
static void fill(struct random *r, float *x, int n) {
  const int spread = random_below(r, 12), kind = random_below(r, 3);
  for (int k = 0; k < 3 * n; k++) {
    const double value = (random_below(r, 2000001) - 1000000) * 1e-6;
    if (kind == 0 && k >= 3 * (n / 2) && n % 2 == 0)
      x[k] = -x[k - 3 * (n / 2)];
    else if (kind == 1)
      x[k] = (float)(1 + value * 1e-3 * spread);
    else
      x[k] = (float)(value * pow(10, random_below(r, spread + 1) - 4));
  }
}

static void run_loop(struct random *r, int l, struct sums *out) {
  static float x[3 * MOST];
  static int table[MOST];
  static const char *const names[] = {"add_products", "add_apart", "add_functions"};
  const char *const kernels[] = {OP_KERNEL_OF(add_products), OP_KERNEL_OF(add_apart),
                                 OP_KERNEL_OF(add_functions)};
  const int n = l % 10 ? 1 + random_below(r, MOST / 10) : MOST, targets = 1 + random_below(r, TARGETS);
  fill(r, x, n);
  for (int e = 0; e < n; e++)
    table[e] = random_below(r, targets);
  op_set from = op_decl_set(n, "from"), to = op_decl_set(targets, "to");
  op_map map = op_decl_map(from, to, 1, table, "map");
  op_dat dx = op_decl_dat(from, 3, "float", x, "x"), near = op_decl_dat(from, 1, "float", NULL, "near"),
         far = op_decl_dat(to, 1, "float", NULL, "far");
  memset(out, 0, sizeof *out);
  out->sum = (float)random_below(r, 3);
  works(op_par_loop(kernels[l % 3], names[l % 3], from, direct(dx, 3, "float", OP_READ),
                    direct(near, 1, "float", OP_INC), op_arg_dat(far, 0, map, 1, "float", OP_INC),
                    op_arg_gbl(&out->sum, 1, "float", OP_INC)));
  works(op_fetch_data(near, out->near));
  works(op_fetch_data(far, out->far));
}

/* In one life each, so that code is compiled once. */
static void run_loops(const char *check, struct sums *all) {
  struct random r = {7};
  begin(check);
  for (int l = 0; l < LOOPS; l++)
    run_loop(&r, l, &all[l]);
  works(op_exit());
}

TEST(sums_of_float_that_round) {
  struct sums *plain = calloc(LOOPS, sizeof *plain), *checked = calloc(LOOPS, sizeof *checked);
  assert_true(plain && checked);
  run_loops("OP2_CHECK=off", plain);
  run_loops("OP2_CHECK=on", checked);
  for (int l = 0; l < LOOPS; l++)
    if (memcmp(&plain[l], &checked[l], sizeof plain[l]) != 0)
      fail_msg("loop %d has other bits when it is checked", l);
  free(plain);
  free(checked);
}

/* ---- what depends on the order ---- */

/* It adds a little of the element before, and the same when it is called for one element again. */
static const char remembers_text[] =
    "void remembers(const int *n, float *a, float *sum) { *a += *n; *sum += 1; }";
static void remembers(const int *n, float *a, float *sum) {
  static int now, before;
  if (*n != now) {
    before = now;
    now = *n;
  }
  *a += (float)*n;
  *sum += 1 + 1e-6F * (float)before;
}

/* Its sum is the same forwards and backwards. */
static const char numbers_text[] = "void numbers(const int *n, int *sum) { *sum += *n; }";
static void numbers(const int *n, int *sum) {
  static int now, before;
  if (*n != now) {
    before = now;
    now = *n;
  }
  *sum += *n == 0 || *n == ELEMENTS - 1 || (before < *n) == (*n < ELEMENTS / 2);
}

TEST(what_really_depends_on_the_order) {
  float total = 0;
  int sum = 0;
  begin("OP2_CHECK=on");
  op_set set = op_decl_set(ELEMENTS, "set");
  op_dat a = op_decl_dat(set, 1, "float", NULL, "a");
  assert_ptr_equal(op_kernel_native(remembers_text, (op_kernel_function)remembers), remembers_text);
  assert_ptr_equal(op_kernel_native(numbers_text, (op_kernel_function)numbers), numbers_text);
  fails(OP_ERR_VIOLATION, op_par_loop(remembers_text, "remembers", set, op_arg_idx(-1, OP_ID),
                                      direct(a, 1, "float", OP_INC), op_arg_gbl(&total, 1, "float", OP_INC)));
  const char *message = op_last_error()->message;
  if (!strstr(
          message,
          "loop remembers, argument 3: the result depends on the order of the elements: the global is ") ||
      !strstr(message, " forwards and "))
    fail_msg("another message: %s", message);
  assert_true(total == 0);
  fails(OP_ERR_VIOLATION,
        op_par_loop(numbers_text, "numbers", set, op_arg_idx(-1, OP_ID), op_arg_gbl(&sum, 1, "int", OP_INC)));
  if (!strstr(op_last_error()->message,
              "loop numbers, argument 2: what the kernel adds depends on the order of "
              "the elements, although its sum does not; "))
    fail_msg("another message: %s", op_last_error()->message);
  works(op_exit());
}
