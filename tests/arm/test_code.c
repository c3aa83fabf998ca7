/* The differences of code for aarch64: vector functions, whole numbers of 128 bits and long doubles by functions, stores
 * past the caches, tables of switches. Compiled for the processor that this runs on. */
#include "../unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "jit/load/load.h"
#include "jit/plugin.h"
#include "jit/target.h"

enum { N = 67 };
static struct plugin plugin;
static struct text cpu, features;

struct made {
  struct code *code;
  struct compile_result object;
};

static struct made make(const char *text, const char *fp) {
  struct made made = {0};
  struct error err = {0};
  const struct compile_file file = {"text.c", text, strlen(text)};
  const struct compile_request request = {
      .files = &file, .nfiles = 1, .cpu = text_str(&cpu), .features = text_str(&features), .fp = fp};
  plugin.compiler->compile(&request, &made.object);
  if (made.object.status)
    fail_msg("%s", made.object.nmessages ? made.object.messages[0].text : "no message");
  if (code_load(&made.code, made.object.binary, made.object.size, "text", false, &err))
    fail_msg("%s", error_message(&err));
  return made;
}

static void release(struct made *made) {
  code_free(made->code);
  plugin.compiler->release(&made->object);
}

#define CALL(made, type, name) (*(__typeof__(type) *)(void *)&(void *){code_symbol((made).code, name)})

static bool has_text(const struct made *made, const char *text) {
  return memmem(made->object.binary, made->object.size, text, strlen(text)) != NULL;
}

/* Instructions that are `bits` under `mask`. */
static int count_words(const struct made *made, uint32_t mask, uint32_t bits) {
  int count = 0;
  for (size_t at = 0; at + 4 <= made->object.size; at += 4) {
    uint32_t word;
    memcpy(&word, (const char *)made->object.binary + at, sizeof word);
    count += (word & mask) == bits;
  }
  return count;
}

static int sve_bits(void) {
  const char *bits = strstr(text_str(&features), COMPILE_SVE_BITS);
  return bits ? atoi(bits + strlen(COMPILE_SVE_BITS)) : 0;
}

/* The names of NEON, and of SVE where its vectors are longer; those have a mask. */
TEST(vector_functions_when_fast) {
  static const char text[] =
      "double sin(double); double exp(double); double pow(double, double);\n"
      "void f(double *restrict y, const double *restrict x, int n) {\n"
      "  for (int i = 0; i < n; i++) y[i] = sin(x[i]) + exp(x[i]) + pow(x[i], 0.3);\n}\n";
  static const char *const of_neon[] = {"_ZGVnN2v_sin", "_ZGVnN2v_exp", "_ZGVnN2vv_pow"},
                           *const of_sve[] = {"_ZGVsMxv_sin", "_ZGVsMxv_exp", "_ZGVsMxvv_pow"};
  enum { NAMES = sizeof of_neon / sizeof *of_neon };
  const char *const *names = sve_bits() > 128 ? of_sve : of_neon;
  struct made fast = make(text, "fast"), strict = make(text, "contract");
  double x[N], y[N], z[N];
  for (int i = 0; i < N; i++)
    x[i] = 0.01 + 0.2 * i;
  CALL(fast, void (*)(double *, const double *, int), "f")(y, x, N);
  CALL(strict, void (*)(double *, const double *, int), "f")(z, x, N);
  for (int i = 0; i < N; i++) {
    const double want = sin(x[i]) + exp(x[i]) + pow(x[i], 0.3);
    assert_true(fabs(y[i] - want) <= 8e-16 * fabs(want) + 1e-15);
    assert_true(fabs(z[i] - want) <= 4e-16 * fabs(want));
  }
  for (int i = 0; i < NAMES; i++)
    assert_true(has_text(&fast, names[i]) && !has_text(&strict, names[i]));
  release(&fast);
  release(&strict);
}

/* As many floats as a vector has are of one call, and as many lanes as generated code has. */
TEST(vector_functions_of_lanes) {
  struct made made = make("float expf(float); double exp(double);\n"
                          "void f(float *restrict y, const float *restrict x, long n) {\n"
                          "  for (long i = 0; i < n; i++) y[i] = expf(x[i]);\n}\n"
                          "void g(double *y) { for (int i = 0; i < 8; i++) y[i] = exp(y[i]); }\n",
                          "fast");
  float x[N], y[N];
  double lanes[8];
  for (int i = 0; i < N; i++)
    x[i] = 0.05f * (float)i;
  for (int i = 0; i < 8; i++)
    lanes[i] = 0.3 * i;
  CALL(made, void (*)(float *, const float *, long), "f")(y, x, N);
  CALL(made, void (*)(double *), "g")(lanes);
  for (int i = 0; i < N; i++)
    assert_true(fabsf(y[i] - expf(x[i])) <= 5e-7f * expf(x[i]));
  for (int i = 0; i < 8; i++)
    assert_true(fabs(lanes[i] - exp(0.3 * i)) <= 1e-15 * exp(0.3 * i));
  assert_true(has_text(&made, sve_bits() > 128 ? "_ZGVsMxv_expf" : "_ZGVnN4v_expf"));
  assert_true(has_text(&made, sve_bits() > 128 ? "_ZGVsMxv_exp" : "_ZGVnN2v_exp"));
  release(&made);
}

TEST(functions_of_the_compiler) {
  struct made made =
      make("typedef __int128 wide; unsigned long f(unsigned long a, unsigned long b, unsigned long c) {\n"
           "  return (unsigned long)(((unsigned __int128)a << 64 | b) / c); }\n"
           "double g(double x, int n) { long double y = x; while (n-- > 0) y = (y + 1.5L) / 3 - 2 * y;\n"
           "  return y > 0 ? (double)y : (double)(float)-y + (double)(long)y; }\n",
           "strict");
  assert_true(CALL(made, unsigned long (*)(unsigned long, unsigned long, unsigned long), "f")(1, 0, 3) ==
              0x5555555555555555);
  long double y = 2.25L;
  for (int n = 0; n < 3; n++)
    y = (y + 1.5L) / 3 - 2 * y;
  const double want = y > 0 ? (double)y : (double)(float)-y + (double)(long)y;
  const double got = CALL(made, double (*)(double, int), "g")(2.25, 3);
  assert_memory_equal(&got, &want, sizeof got);
  release(&made);
}

/* Vectors of the text are two registers of NEON, which one instruction stores, or one of SVE. */
TEST(stores_past_the_caches) {
  struct made made = make("typedef double v4 __attribute__((vector_size(32))); typedef double v8 "
                          "__attribute__((vector_size(64)));\n"
                          "void f(v4 *to, const v4 *from) { __builtin_nontemporal_store(*from * 2, to); }\n"
                          "void g(v8 *to, const v8 *from) { __builtin_nontemporal_store(*from * 2, to); }\n",
                          "strict");
  double from[8] __attribute__((aligned(64))) = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] __attribute__((aligned(64)));
  CALL(made, void (*)(double *, const double *), "f")(to, from);
  assert_true(to[0] == 2 && to[3] == 8);
  CALL(made, void (*)(double *, const double *), "g")(to, from);
  assert_true(to[0] == 2 && to[7] == 16);
  if (!sve_bits())
    assert_true(count_words(&made, 0xffc00000, 0xac000000) >= 3); /* stnp q, q */
  release(&made);
}

TEST(sve_of_its_length) {
  struct made made = make("void f(double *restrict y, const double *restrict x, long n) {\n"
                          "  for (long i = 0; i < n; i++) y[i] += 3 * x[i];\n}\n",
                          "contract");
  double x[N], y[N];
  for (int i = 0; i < N; i++)
    x[i] = i, y[i] = 1;
  CALL(made, void (*)(double *, const double *, long), "f")(y, x, N);
  for (int i = 0; i < N; i++)
    assert_true(y[i] == 1 + 3.0 * i);
  /* ld1d; vectors of 128 bits are NEON's, with SVE too */
  const int sve = count_words(&made, 0xffe0e000, 0xa5e04000) + count_words(&made, 0xfff0e000, 0xa5e0a000);
  assert_int_equal(sve > 0, sve_bits() > 128);
  release(&made);
}

int main(void) {
  struct error err = {0};
  target_host(&cpu, &features);
  print_message("%s, %s\n", text_str(&cpu), text_str(&features));
  if (plugin_find(&plugin, NULL, &err) || plugin_open(&plugin, &err)) {
    print_message("%s\n", error_message(&err));
    return 1;
  }
  const int failures = run_these(NULL, NULL);
  plugin_free(&plugin);
  text_free(&cpu);
  text_free(&features);
  return failures;
}
