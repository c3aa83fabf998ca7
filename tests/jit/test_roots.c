/* Roots that strips compute by estimate and refinement are those of the divider, to the last bit. The numbers: those
 * whose root lies nearest to the middle of two doubles, which decide whether rounding is right; those beside powers of
 * two; those that the refinement does not take, alone in a strip and among others; and any. Quotients by a constant,
 * too. Numbers are computed on this processor: without AVX-512 it has the divider only, and `estimates`, which takes code
 * for another one apart, is all that tells something. */
#include "../unit.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "jit/jit.h"

enum { TIMES = 8, MOST = 1 << 19, ANY = 400000, FARTHEST = 256 };

static struct {
  double *in, *out;
  int count;
} numbers;

static void add(double x) {
  assert_true(numbers.count < MOST);
  for (int i = 0; i < TIMES; i++)
    numbers.in[numbers.count * TIMES + i] = x;
  numbers.count++;
}

/* ---- nearest to the middle of two doubles ---------------------------------------------------------*/

/* m with m m + m + t a multiple of 2^64, of the two the one that is odd or even as `m` is; t even. */
static uint64_t solve(int64_t t, uint64_t m) {
  for (int step = 0; step < 7; step++) { /* each doubles the bits */
    uint64_t inverse = 2 * m + 1;
    for (int i = 0; i < 6; i++)
      inverse *= 2 - (2 * m + 1) * inverse;
    m -= (m * m + m + (uint64_t)t) * inverse;
  }
  return m;
}

/* The middle is m + 1/2, its square m m + m + 1/4: the number is within `t` of that, and has 53 bits. No root lies
 * nearer to a middle than those of small t, and what refinement misses by is far below FARTHEST. */
static void add_hard_ones(void) {
  for (int64_t t = -FARTHEST; t <= FARTHEST; t += 2)
    for (uint64_t odd = 0; odd < 2; odd++)
      for (int bits = 52; bits <= 53; bits++) {
        const uint64_t root = (solve(t, odd) & ((UINT64_C(1) << bits) - 1)) | UINT64_C(1) << 52;
        const double m = (double)root, square = m * m, low = fma(m, m, -square);
        const double x = square + (low + m + (double)t);
        if (x >= ldexp(1, 104) && x < ldexp(1, 106) && fmod(x, ldexp(1, bits)) == 0) {
          add(x);
          add(ldexp(x, -106));
        }
      }
}

/* ---- others ------------------------------------------------------------------------------------*/

static void add_ends(void) {
  for (int e = -512; e < 512; e++)
    for (int i = -3; i <= 3; i++) {
      const double x = ldexp(1, e);
      add(i < 0 ? x * (1 + i * DBL_EPSILON / 2) : x * (1 + i * DBL_EPSILON));
    }
}

static uint64_t next_bits(void) {
  static uint64_t seed = 1;
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return seed ^ seed >> 29;
}

static void add_any(int count) {
  for (int i = 0; i < count; i++)
    add(ldexp(1 + (double)(next_bits() >> 12) * (DBL_EPSILON), (int)(next_bits() % 64) - 32));
}

static void add_strange_ones(void) {
  static const double strange[] = {0,       -0.0,        INFINITY,     -INFINITY, NAN,    -1,     DBL_MIN,
                                   DBL_MAX, DBL_MIN / 3, DBL_TRUE_MIN, -DBL_MIN,  1e-160, 1e-300, 1e300};
  enum { STRANGE = sizeof strange / sizeof *strange };
  for (int i = 0; i < STRANGE; i++) {
    while (numbers.count % 8)
      add(2);
    for (int lane = 0; lane < 8; lane++)
      add(strange[i]);
    add(strange[i]);
    add_any(6);
    add(strange[(i + 1) % STRANGE]);
  }
}

/* ---- the loops ---------------------------------------------------------------------------------*/

#define DIVISOR 3.7

static double root_of(double x) {
  return sqrt(x);
}

static double quotient_of(double x) {
  return x / DIVISOR;
}

static const struct function {
  const char *name, *text;
  double (*wanted)(double);
} functions[] = {
    {"roots", "void roots(const double *a, double *b) { for (int i = 0; i < 8; i++) b[i] = sqrt(a[i]); }",
     root_of},
    {"parts", "void parts(const double *a, double *b) { for (int i = 0; i < 8; i++) b[i] = a[i] / 3.7; }",
     quotient_of},
};

static struct desc loop_of(const struct function *f, const char *fp) {
  struct desc d = build_loop(f->name, f->text);
  free(d.fp);
  d.fp = strdup(fp);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, TIMES, 0, false), -1, -1, OP_READ);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, TIMES, 0, false), -1, -1, OP_WRITE);
  return d;
}

static void compile(struct jit *jit, const struct desc *d, const char *shape_name, struct jit_code *code) {
  struct error err = {0};
  struct shape shape;
  assert_true(shape_parse(shape_name, &shape));
  if (jit_code(jit, d, &shape, code, &err) != OP_OK)
    fail_msg("%s", error_message(&err));
}

static void run(const struct function *f, const char *fp, const char *shape_name) {
  struct jit *jit;
  struct error err = {0};
  struct jit_code code;
  void *frame[64] = {0};
  struct desc d = loop_of(f, fp);
  assert_int_equal(jit_open(&jit, &(struct jit_options){.mode = JIT_ON}, &err), OP_OK);
  compile(jit, &d, shape_name, &code);
  frame[desc_slot_dat(&d, 0)] = numbers.in;
  frame[desc_slot_dat(&d, 1)] = numbers.out;
  memset(numbers.out, 0xff, sizeof(double) * TIMES * (size_t)numbers.count);
  code.run(frame, NULL, 0, numbers.count);
  jit_close(jit);
  desc_free(&d);
}

/* Below 1e-290 the last bit may be another one, unless it is to be the same. */
static bool is_right(double in, double wanted, double got, bool same) {
  if (isnan(wanted))
    return isnan(got);
  if (memcmp(&wanted, &got, sizeof got) == 0)
    return true;
  return !same && fmin(fabs(in), fabs(wanted)) < 1e-290 && in != 0 &&
         fabs(got - wanted) <= nextafter(fabs(wanted), INFINITY) - fabs(wanted);
}

static void compare(const struct function *f, const char *fp, const char *shape) {
  int wrong = 0;
  for (int i = 0; i < numbers.count * TIMES; i++) {
    const double wanted = f->wanted(numbers.in[i]), got = numbers.out[i];
    if (!is_right(numbers.in[i], wanted, got, *fp == 'r') && wrong++ < 5)
      printf("%s, %s, %s: of %a it is %a, not %a\n", f->name, fp, shape, numbers.in[i], wanted, got);
  }
  assert_int_equal(wrong, 0);
}

TEST(last_bit) {
  static const char *const shapes[] = {"strip4", "strip8", "strip16"};
  static const char *const words[] = {"contract", "reproducible"};
  numbers.in = malloc(sizeof(double) * TIMES * MOST);
  numbers.out = malloc(sizeof(double) * TIMES * MOST);
  assert_true(numbers.in && numbers.out);
  add_hard_ones();
  assert_true(numbers.count > 2 * FARTHEST);
  printf("%d numbers with a root beside the middle of two doubles\n", numbers.count);
  add_ends();
  add_strange_ones();
  add_any(ANY);
  for (int f = 0; f < 2; f++)
    for (int s = 0; s < 3; s++)
      for (int same = 0; same < 2; same++) {
        run(&functions[f], words[same], shapes[s]);
        compare(&functions[f], words[same], shapes[s]);
      }
  free(numbers.in);
  free(numbers.out);
}

/* ---- the code ----------------------------------------------------------------------------------*/

static char folder[] = "/tmp/op2jit-roots-XXXXXX";

/* Lines of the machine code that have the word. */
static int count_lines(const char *loop, const char *hash, const char *word) {
  char command[300], answer[32] = "";
  snprintf(command, sizeof command, "objdump -d %s/%s-strip8-%.8s/%s.o | grep -c %s", folder, loop, hash,
           loop, word);
  FILE *lines = popen(command, "r");
  assert_non_null(lines);
  assert_non_null(fgets(answer, sizeof answer, lines));
  pclose(lines);
  return atoi(answer);
}

/* Some roots are estimated, others left to the divider; with OP2_FP=strict all are the divider's, and all quotients, which
 * are the divider's with OP2_REPRODUCIBLE as well. */
TEST(estimates) {
  struct jit *jit;
  struct error err = {0};
  const struct jit_options options = {
      .mode = JIT_ON,
      .dump = folder,
      .cpu = "znver4",
      .features = "+avx,+avx2,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+fma,+sse4.2,+bmi,+bmi2"};
  if (system("objdump --version > /dev/null 2>&1") != 0)
    skip_since("there is no objdump");
  assert_int_equal(jit_open(&jit, &options, &err), OP_OK);
  static const char *const words[] = {"contract", "reproducible", "reproducible strict", "strict"};
  for (int w = 0; w < 4; w++)
    for (int f = 0; f < 2; f++) {
      const bool strict = w > 1;
      struct desc d = loop_of(&functions[f], words[w]);
      struct jit_code code;
      compile(jit, &d, "strip8", &code);
      const int estimates = count_lines(d.kernel_name, code.hash, "'vrsqrt14pd.*zmm'"),
                divider = count_lines(d.kernel_name, code.hash, "'v\\(sqrt\\|div\\)pd.*zmm'");
      printf("%s, %s: %d estimated, %d by the divider\n", d.kernel_name, words[w], estimates, divider);
      assert_int_equal(estimates > 0, !strict && f == 0);
      assert_int_equal(divider > 0, w > 0 || f == 0);
      desc_free(&d);
    }
  jit_close(jit);
}

FIXTURE(make_folder) {
  return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

AROUND_ALL(make_folder, remove_folder)
