/* The three ways of floating point, and what is vectorised in each. */
#include "../unit.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "jit/load/load_machine.h"
#include "jit/target.h"
#include "plugin.h"

/* The plugin makes code for processors of its own kind. How many doubles a vector has, as remarks say it; the widest first. */
struct processor {
  const char *cpu, *features, *width;
};
#ifdef __aarch64__
static const char neon[] = "+neon", sve256[] = "+neon,+sve," COMPILE_SVE_BITS "256",
                  sve512[] = "+neon,+sve," COMPILE_SVE_BITS "512";
static const struct processor processors[] = {{"a64fx", sve512, "width: vscale x 2"},
                                              {"neoverse-v1", sve256, "width: vscale x 2"},
                                              {"neoverse-n1", neon, "width: 2"}};
#else
static const char avx2[] = "+avx,+avx2,+f16c,+fma,+sse,+sse2,+sse3,+sse4.1,+sse4.2,+ssse3";
static const char avx512[] = "+avx,+avx2,+avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl,+f16c,+fma,+sse,+"
                             "sse2,+sse3,+sse4.1,+sse4.2,+ssse3";
/* 512 bits where they are good, 256 where the processor slows down for more. */
static const struct processor processors[] = {
    {"znver4", avx512, "width: 8"},         {"haswell", avx2, "width: 4"},
    {"sapphirerapids", avx512, "width: 8"}, {"skylake-avx512", avx512, "width: 4"},
    {"znver4", avx2, "width: 4"},           {"x86-64", "+sse2", "width: 2"}};
#endif
enum { WIDEST, SECOND, PROCESSORS = sizeof processors / sizeof *processors };
static const char *const modes[] = {"strict", "contract", "fast"};

static struct compile_result compile_for(const struct processor *p, const char *fp, const char *text) {
  return trial_compile(
      &(struct trial){.fp = fp, .cpu = p->cpu, .features = p->features, .remarks = 1, .text = text});
}

static bool host_fuses(void) {
  struct text cpu = {0}, features = {0};
  target_host(&cpu, &features);
  const bool has = strstr(text_str(&features), "+fma") || strcmp(load_processor(), "aarch64") == 0;
  text_free(&cpu);
  text_free(&features);
  return has;
}

/* a * b + c with a rounding in between, or without. */
TEST(contraction) {
  if (!host_fuses())
    skip_since("this processor has no +fma");
  static const double a = 1 + 0x1p-30, b = 1 - 0x1p-30, c = -1;
  for (int m = 0; m < 3; m++) {
    struct code *code = trial_load(
        &(struct trial){.fp = modes[m],
                        .text = "void f(void *const *frame, const int *list, long begin, long end) {\n"
                                "  double *x = frame[0];\n  x[3] = x[0] * x[1] + x[2];\n"
                                "  double product = x[0] * x[1];\n  x[4] = product + x[2];\n}\n"});
    double x[5] = {a, b, c, 0, 0};
    range_of(code, "f")((void *[]){x}, NULL, 0, 1);
    const double fused = fma(a, b, c);
    assert_true(x[3] == (m == 0 ? 0 : fused));
    assert_true(x[4] == (m == 2 ? fused : 0)); /* across statements only when fast */
    code_free(code);
  }
}

/* A sum is taken in order unless it is fast. Vectors of aarch64 can add in order too. */
TEST(reassociation) {
  static const char text[] =
      "void f(void *const *frame, const int *list, long begin, long end) {\n"
      "  const double *x = frame[0];\n  double sum = 0;\n"
      "  for (long i = begin; i < end; i++)\n    sum += x[i];\n  *(double *)frame[1] = sum;\n}\n";
  enum { N = 203 };
  double x[N], want = 0;
  for (int i = 0; i < N; i++)
    want += x[i] = ldexp(1 + i % 7, i % 61);
  for (int m = 0; m < 3; m++) {
    struct trial trial = {.fp = modes[m], .remarks = 1, .text = text};
    struct compile_result result = trial_compile(&trial);
    assert_true(m < 2 || find_message(&result, COMPILE_REMARK, "vectorized loop"));
    plugin->release(&result);
    struct code *code = trial_load(&trial);
    double sum = 0;
    range_of(code, "f")((void *[]){x, &sum}, NULL, 0, N);
    assert_true((sum == want) == (m < 2));
    code_free(code);
  }
}

TEST(not_a_number_counts) {
  for (int m = 0; m < 2; m++) {
    struct code *code = trial_load(
        &(struct trial){.fp = modes[m],
                        .text = "void f(void *const *frame, const int *list, long begin, long end) {\n"
                                "  double *x = frame[0];\n  x[1] = x[0] != x[0];\n  x[2] = x[0] - x[0] == "
                                "0;\n  x[3] = isnan(x[0]);\n}\n"});
    double x[4] = {NAN, 0, 0, 0};
    range_of(code, "f")((void *[]){x}, NULL, 0, 1);
    assert_true(x[1] == 1 && x[2] == 0 && x[3] == 1);
    code_free(code);
  }
}

/* Neither errno nor traps keep square roots and divisions, also conditional ones, out of vectors. Only strict says which
 * instruction takes the root: under contract it may be refined from an estimate. */
TEST(root_and_division_are_vectorised) {
  static const char text[] = "void f(double *restrict x, const double *y, const double *z, long n) {\n"
                             "  for (long i = 0; i < n; i++)\n"
                             "    x[i] = y[i] > 0 ? sqrt(y[i]) / z[i] : 1;\n"
                             "}\n";
  for (int m = 0; m < 3; m++) {
    struct compile_result widest = compile_for(&processors[WIDEST], modes[m], text);
    struct compile_result second = compile_for(&processors[SECOND], modes[m], text);
    assert_non_null(find_message(&widest, COMPILE_REMARK, processors[WIDEST].width));
    assert_non_null(find_message(&second, COMPILE_REMARK, processors[SECOND].width));
#ifndef __aarch64__
    static const unsigned char vsqrtpd_zmm[] = {0xfd, 0x48, 0x51}, vsqrtpd_ymm[] = {0xfd, 0x51};
    assert_true(m > 0 || count_bytes(&widest, vsqrtpd_zmm, 3) > 0);
    if (m < 2) {         /* fast may take another way to the quotient */
      int divisions = 0; /* under any mask */
      for (unsigned char mask = 0; mask < 8; mask++)
        divisions += count_bytes(&widest, (unsigned char[]){(unsigned char)(0x48 + mask), 0x5e}, 2);
      assert_true(divisions > 0);
      assert_true(count_bytes(&second, vsqrtpd_ymm, 2) > 0);
    }
#endif
    plugin->release(&widest);
    plugin->release(&second);
  }
}

TEST(width_follows_the_processor) {
  for (int i = 0; i < PROCESSORS; i++) {
    struct compile_result result = compile_for(&processors[i], "contract",
                                               "void f(double *restrict x, const double *y, long n) {\n"
                                               "  for (long i = 0; i < n; i++)\n    x[i] = y[i] * 2;\n}\n");
    assert_non_null(find_message(&result, COMPILE_REMARK, processors[i].width));
    plugin->release(&result);
  }
}

static struct compile_result compile_call(const char *function, const char *fp, const char *cpu,
                                          const char *features, const char *type) {
  struct text text = {0};
  text_addf(&text,
            "void f(void *const *frame, const int *list, long begin, long end) {\n"
            "  const %s *x = frame[0], *y = frame[1];\n  %s *z = frame[2];\n"
            "#pragma omp simd\n  for (long i = begin; i < end; i++)\n    z[i] = %s;\n}\n",
            type, type, function);
  struct compile_result result =
      trial_compile(&(struct trial){.text = text_str(&text), .fp = fp, .cpu = cpu, .features = features});
  assert_int_equal(result.status, 0);
  text_free(&text);
  return result;
}

TEST(vector_forms_by_width) {
  static const struct {
    const char *call, *fp, *cpu, *features, *type, *wants;
  } cases[] = {
#ifdef __aarch64__ /* only fast has them there: how close they are was not measured */
      {"pow(x[i], y[i])", "fast", "a64fx", sve512, "double", "_ZGVsMxvv_pow"},
      {"pow(x[i], y[i])", "fast", "neoverse-n1", neon, "double", "_ZGVnN2vv_pow"},
      {"sinf(x[i])", "fast", "neoverse-n1", neon, "float", "_ZGVnN4v_sinf"},
#else
      {"pow(x[i], y[i])", "contract", "znver4", avx512, "double", "_ZGVeN8vv_pow"},
      {"pow(x[i], y[i])", "contract", "haswell", avx2, "double", "_ZGVdN4vv_pow"},
      {"pow(x[i], y[i])", "contract", "x86-64", "+sse2", "double", "_ZGVbN2vv_pow"},
      {"pow(x[i], y[i])", "contract", "skylake-avx512", avx512, "double", "_ZGVdN4vv_pow"},
      {"powf(x[i], y[i])", "contract", "znver4", avx512, "float", "_ZGVeN16vv_powf"},
      {"exp2(x[i])", "contract", "znver4", avx512, "double", "_ZGVeN8v_exp2"},
      {"log(x[i])", "contract", "haswell", avx2, "double", "_ZGVdN4v_log"},
      {"exp(x[i])", "fast", "znver4", avx512, "double", "_ZGVeN8v_exp"},
      {"exp(x[i])", "fast", "haswell", avx2, "double", "_ZGVdN4v_exp"},
      {"sinf(x[i])", "contract", "haswell", avx2, "float", "_ZGVdN8v_sinf"},
      {"cbrt(x[i])", "fast", "znver4", avx512, "double", "_ZGVeN8v_cbrt"},
#endif
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct compile_result result =
        compile_call(cases[i].call, cases[i].fp, cases[i].cpu, cases[i].features, cases[i].type);
    if (!refers_to(&result, cases[i].wants))
      fail_msg("%s for %s in %s does not call %s", cases[i].call, cases[i].cpu, cases[i].fp, cases[i].wants);
    plugin->release(&result);
    result = compile_call(cases[i].call, "strict", cases[i].cpu, cases[i].features, cases[i].type);
    assert_false(refers_to(&result, "_ZGV"));
    plugin->release(&result);
  }
}

/* exp has no form in libmvec that is close enough, and is computed in line instead. */
TEST(exp_is_vectorised) {
  for (int i = WIDEST; i <= SECOND; i++) {
    struct compile_result result =
        compile_for(&processors[i], "contract",
                    "void f(double *restrict x, const double *y, long n) {\n"
                    "  for (long i = 0; i < n; i++)\n    x[i] = exp(y[i]) * 2;\n}\n");
    assert_non_null(find_message(&result, COMPILE_REMARK, processors[i].width));
    assert_false(refers_to(&result, "exp"));
    assert_false(refers_to(&result, "_ZGV"));
    plugin->release(&result);
  }
}

static double units_apart(double a, double b, bool is_float) {
  int exponent;
  if (a == b || (isnan(a) && isnan(b)))
    return 0;
  frexp(b, &exponent);
  return fabs(a - b) / ldexp(1, exponent - (is_float ? 24 : 53));
}

/* In contract every function stays within 2 units in the last place of libm, in strict it is libm's. */
TEST(close_to_libm) {
  static const struct {
    const char *call;
    double (*one)(double);
    double from, to;
  } cases[] = {{"exp", exp, -700, 700}, {"exp", exp, -1, 1},      {"exp2", exp2, -100, 100},
               {"log", log, 1e-3, 10},  {"log2", log2, 1e-3, 10}, {"sin", sin, -10, 10},
               {"cos", cos, -10, 10},   {"tanh", tanh, -2, 2},    {"acos", acos, -1, 1},
               {"cosh", cosh, -3, 3},   {"erf", erf, -3, 3},      {"cbrt", cbrt, 0, 100},
               {"sqrt", sqrt, 0, 100},  {"atanh", atanh, -1, 1},  {"log1p", log1p, -0.5, 5}};
  enum { N = 4096 };
  static double x[N], z[N];
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int m = 0; m < 2; m++) {
      struct text text = {0};
      text_addf(&text,
                "void f(void *const *frame, const int *list, long begin, long end) {\n"
                "  const double *x = frame[0];\n  double *z = frame[1];\n"
                "#pragma omp simd\n  for (long i = begin; i < end; i++)\n    z[i] = %s(x[i]);\n}\n",
                cases[i].call);
      struct code *code = trial_load(&(struct trial){.text = text_str(&text), .fp = modes[m]});
      uint64_t seed = 1;
      for (int k = 0; k < N; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[k] = cases[i].from + (cases[i].to - cases[i].from) * (double)(seed >> 11) * 0x1p-53;
      }
      range_of(code, "f")((void *[]){x, z}, NULL, 0, N);
      for (int k = 0; k < N; k++)
        if (units_apart(z[k], cases[i].one(x[k]), false) > (m == 0 ? 0 : 2))
          fail_msg("%s(%a) is %a in %s and %a in libm", cases[i].call, x[k], z[k], modes[m],
                   cases[i].one(x[k]));
      code_free(code);
      text_free(&text);
    }
}

/* At the ends of its range too. */
TEST(exp_at_the_ends) {
  static double x[] = {0,      -0.0,   INFINITY, -INFINITY, NAN,    709.78, 709.79, -745.1,
                       -745.2, -708.5, -740,     1e300,     -1e300, 5e-324, 1,      -1};
  enum { N = sizeof x / sizeof *x };
  double z[N];
  struct code *code = trial_load(
      &(struct trial){.text = "void f(void *const *frame, const int *list, long begin, long end) {\n"
                              "  const double *x = frame[0];\n  double *z = frame[1];\n"
                              "  for (long i = begin; i < end; i++)\n    z[i] = exp(x[i]);\n}\n"});
  range_of(code, "f")((void *[]){x, z}, NULL, 0, N);
  for (int i = 0; i < N; i++)
    assert_true(isnan(x[i]) ? isnan(z[i]) : z[i] == exp(x[i]) || units_apart(z[i], exp(x[i]), false) <= 1);
  code_free(code);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  plugin_open(argv[1]);
  return run_these(NULL, NULL);
}
