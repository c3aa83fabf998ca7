/* Generated code takes its values from the frame, in every shape: constants folded and not, absent arguments, globals of all
 * accesses, rows longer than lanes hold. */
#include "../unit.h"
#include <stdio.h>

#include "build.h"
#include "jit/emit/generate.h"
#include "jit/jit.h"

enum { N = 53, SLACK = 16 };

static struct jit *jit;
static const char *const shapes[] = {"scalar", "strip8", "scalar+list", "strip4+list"};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static range_function code_of(const struct desc *d, int shape) {
  struct shape s;
  struct jit_code code;
  struct error err = {0};
  assert_true(shape_parse(shapes[shape], &s));
  if (jit_code(jit, d, &s, &code, &err) != OP_OK)
    fail_msg("%s: %s", shapes[shape], error_message(&err));
  return code.run;
}

static void run(const struct desc *d, int shape, void *const *frame) {
  int list[N];
  for (int i = 0; i < N; i++)
    list[i] = (i * 17) % N;
  code_of(d, shape)(frame, shape >= 2 ? list : NULL, 0, N);
}

static void expect(double got, double wanted) {
  if (got < wanted || got > wanted)
    fail_msg("wanted %.17g, got %.17g", wanted, got);
}

/* ---- constants ---------------------------------------------------------------------------------*/

static const char constants_text[] =
    "static double from_helper(void) { return gam + qinf[1] + (double)n; }\n"
    "void k(double *x) { x[0] = from_helper(); { float qinf = 2; x[1] = qinf; }\n"
    "  x[2] = u + b + c + s; x[3] = (double)big - 5e9; }\n";

static const double gam = 1.5, qinf[3] = {1, -0.0, 8};
static const int n_value = -7;
static const unsigned u = 4000000000u;
static const bool b = true;
static const char c = (char)-3;
static const short s = -300;
static const long long big = 5000000001LL;

static void check_constants(const double *x, double first) {
  for (int i = 0; i < N; i++) {
    expect(x[4 * i], first + -0.0 + n_value);
    expect(x[4 * i + 1], 2);
    expect(x[4 * i + 2], 4000000000.0 + 1 + c - 300); /* a char may have no sign */
    expect(x[4 * i + 3], 1);
  }
}

TEST(constants) {
  static const struct {
    const char *name;
    enum type_code type;
    int dim;
    const void *value;
  } all[] = {{"gam", TYPE_DOUBLE, 1, &gam}, {"qinf", TYPE_DOUBLE, 3, qinf}, {"n", TYPE_INT, 1, &n_value},
             {"u", TYPE_UINT, 1, &u},       {"b", TYPE_BOOL, 1, &b},        {"c", TYPE_CHAR, 1, &c},
             {"s", TYPE_SHORT, 1, &s},      {"big", TYPE_LONGLONG, 1, &big}};
  enum { ALL = sizeof all / sizeof *all };
  for (int folded = 0; folded < 2; folded++) {
    struct desc d = build_loop("k", constants_text);
    build_arg(&d, build_dat(&d, TYPE_DOUBLE, 4, 0, false), -1, -1, OP_WRITE);
    for (int i = 0; i < ALL; i++)
      build_const(&d, all[i].name, all[i].type, all[i].dim, folded ? all[i].value : NULL);
    double x[4 * (N + SLACK)], other = 2.5;
    void *frame[64] = {x};
    assert_true(desc_slots(&d) <= 64);
    for (int i = 0; i < ALL; i++)
      frame[desc_slot_const(&d, i)] = folded ? NULL : (void *)(size_t)all[i].value;
    for (int shape = 0; shape < SHAPES; shape++) {
      memset(x, 0, sizeof x);
      run(&d, shape, frame);
      check_constants(x, gam);
      if (folded)
        continue;
      frame[desc_slot_const(&d, 0)] = &other; /* the same code, another value */
      run(&d, shape, frame);
      check_constants(x, other);
      frame[desc_slot_const(&d, 0)] = (void *)(size_t)&gam;
    }
    desc_free(&d);
  }
}

/* ---- absent arguments ----------------------------------------------------------------------------*/

TEST(absent) {
  struct desc d = build_loop(
      "k", "void k(const double *a, double *x, const double *v[3], double *w[3], int *n, float *g) {"
           "  x[0] = a[0]; if (x[0] < -1) { *n = 1; w[1][0] = v[2][1] + g[0]; } }");
  int map = build_map(&d, 3, 1);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_WRITE);
  for (int i = 2; i < 6; i++) {
    int arg = build_gbl(&d,
                        i < 4    ? TYPE_DOUBLE
                        : i == 4 ? TYPE_INT
                                 : TYPE_FLOAT,
                        2, i == 2 || i == 5 ? OP_READ : OP_INC);
    d.args[arg].present = false;
    if (i < 4) {
      d.args[arg].form = DESC_DAT;
      d.args[arg].map = map;
      d.args[arg].idx = -3;
    }
  }
  double a[N + SLACK], x[N + SLACK];
  void *frame[64] = {a, x};
  for (int i = 0; i < N + SLACK; i++)
    a[i] = i;
  for (int shape = 0; shape < SHAPES; shape++) {
    memset(x, 0, sizeof x);
    run(&d, shape, frame);
    for (int i = 0; i < N; i++)
      expect(x[i], i);
  }
  desc_free(&d);
}

/* ---- globals -----------------------------------------------------------------------------------*/

/* A sum with more components than are kept in lanes, and a global that is written. */
TEST(unusual_globals) {
  enum { LONG = 70 };
  struct desc d = build_loop("k", "void k(const double *a, double *sum, double *out) {"
                                  "  for (int i = 0; i < 70; i++) sum[i] += a[0] + i; *out = 5; }");
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_gbl(&d, TYPE_DOUBLE, LONG, OP_INC);
  build_gbl(&d, TYPE_DOUBLE, 1, OP_WRITE);
  double a[N + SLACK], sum[LONG], out;
  for (int i = 0; i < N + SLACK; i++)
    a[i] = i;
  for (int shape = 0; shape < SHAPES; shape++) {
    void *frame[64] = {a};
    frame[desc_slot_arg(&d, 1)] = sum;
    frame[desc_slot_arg(&d, 2)] = &out;
    memset(sum, 0, sizeof sum);
    out = 0;
    run(&d, shape, frame);
    for (int i = 0; i < LONG; i++)
      expect(sum[i], N * (N - 1) / 2.0 + N * i);
    expect(out, 5);
  }
  desc_free(&d);
}

/* NaN is never dropped from a maximum, and a sum keeps its order under strict. */
TEST(extrema_and_order) {
  struct desc d = build_loop("k", "void k(const double *a, double *most, double *sum) {"
                                  "  if (a[0] > *most || a[0] != a[0]) *most = a[0]; *sum += a[0] * 0.1; }");
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 0, false), -1, -1, OP_READ);
  build_gbl(&d, TYPE_DOUBLE, 1, OP_MAX);
  build_gbl(&d, TYPE_DOUBLE, 1, OP_INC);
  free(d.fp);
  d.fp = strdup("strict");
  double a[N + SLACK], wanted = 0;
  for (int i = 0; i < N + SLACK; i++)
    a[i] = 1.0 / (i + 1);
  for (int i = 0; i < N; i++)
    wanted += a[i] * 0.1;
  for (int with_nan = 0; with_nan < 2; with_nan++)
    for (int shape = 0; shape < 2; shape++) {
      double most = -1, sum = 0;
      void *frame[64] = {a};
      frame[desc_slot_arg(&d, 1)] = &most;
      frame[desc_slot_arg(&d, 2)] = &sum;
      a[17] = with_nan ? __builtin_nan("") : 1.0 / 18;
      run(&d, shape, frame);
      assert_int_equal(most != most, with_nan);
      if (!with_nan) {
        expect(most, 1);
        expect(sum, wanted);
      }
    }
  desc_free(&d);
}

/* ---- long rows ---------------------------------------------------------------------------------*/

TEST(long_rows) {
  static const int dims[] = {1, 2, 3, 5, 6, 7, 8, 9, 11, 16, 24, 40};
  for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
    enum { TARGETS = 19 };
    int dim = dims[i];
    char text[200];
    snprintf(
        text, sizeof text,
        "void k(const float *a, float *b, const int *e) { for (int i = 0; i < %d; i++) b[i] += a[i] + *e; }",
        dim);
    struct desc d = build_loop("k", text);
    int map = build_map(&d, 2, 1);
    build_arg(&d, build_dat(&d, TYPE_FLOAT, dim, 1, false), map, 0, OP_READ);
    build_arg(&d, build_dat(&d, TYPE_FLOAT, dim, 1, false), map, 1, OP_INC);
    build_idx(&d, -1, -1);
    float *rows = calloc((size_t)((TARGETS + SLACK) * dim), sizeof *rows);
    float *sums = calloc((size_t)((TARGETS + SLACK) * dim), sizeof *sums);
    float *wanted = calloc((size_t)((TARGETS + SLACK) * dim), sizeof *wanted);
    int table[2 * (N + SLACK)] = {0};
    for (int r = 0; r < TARGETS * dim; r++)
      rows[r] = (float)(r % 13);
    for (int e = 0; e < N; e++) {
      table[2 * e] = (e * 7) % TARGETS;
      table[2 * e + 1] = (e * 5 + 3) % TARGETS;
      for (int r = 0; r < dim; r++)
        wanted[table[2 * e + 1] * dim + r] += rows[table[2 * e] * dim + r] + (float)e;
    }
    for (int shape = 0; shape < SHAPES; shape++) {
      void *frame[64] = {rows, sums, table};
      memset(sums, 0, (size_t)((TARGETS + SLACK) * dim) * sizeof *sums);
      run(&d, shape, frame);
      assert_memory_equal(sums, wanted, (size_t)((TARGETS + SLACK) * dim) * sizeof *sums);
    }
    free(rows);
    free(sums);
    free(wanted);
    desc_free(&d);
  }
}

FIXTURE(open_jit) {
  struct error err = {0};
  struct jit_options options = {.mode = JIT_ON};
  return jit_open(&jit, &options, &err);
}

FIXTURE(close_jit) {
  jit_close(jit);
  return 0;
}

AROUND_ALL(open_jit, close_jit)
