/* What the compiler plugin costs: opening it, and compiling loops of three sizes for the first time and again.
 * One line each; milliseconds. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/whereami.h"
#include "jit/compiler.h"
#include "jit/kernel/prelude.h"
#include "jit/target.h"

static const char vadd[] = "void op2_range(void *const *frame, const int *list, long begin, long end) {\n"
                           "  const double *restrict a = frame[0], *restrict b = frame[1];\n"
                           "  double *restrict c = frame[2];\n"
                           "  for (long i = begin; i < end; i++) c[i] = a[i] + b[i];\n"
                           "}\n";

/* The flux of airfoil, as a loop over edges with the cells' data reached through a map. */
static const char flux[] =
    "static const double gm1 = 0.4, eps = 0.05;\n"
    "static inline void kernel(const double *x1, const double *x2, const double *q1, const double *q2,\n"
    "                          const double *adt1, const double *adt2, double *res1, double *res2) {\n"
    "  double dx = x1[0] - x2[0], dy = x1[1] - x2[1];\n"
    "  double r1 = 1.0 / q1[0], p1 = gm1 * (q1[3] - 0.5 * r1 * (q1[1] * q1[1] + q1[2] * q1[2]));\n"
    "  double vol1 = r1 * (q1[1] * dy - q1[2] * dx);\n"
    "  double r2 = 1.0 / q2[0], p2 = gm1 * (q2[3] - 0.5 * r2 * (q2[1] * q2[1] + q2[2] * q2[2]));\n"
    "  double vol2 = r2 * (q2[1] * dy - q2[2] * dx);\n"
    "  double mu = 0.5 * (*adt1 + *adt2) * eps, f;\n"
    "  f = 0.5 * (vol1 * q1[0] + vol2 * q2[0]) + mu * (q1[0] - q2[0]);\n"
    "  res1[0] += f; res2[0] -= f;\n"
    "  f = 0.5 * (vol1 * q1[1] + p1 * dy + vol2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);\n"
    "  res1[1] += f; res2[1] -= f;\n"
    "  f = 0.5 * (vol1 * q1[2] - p1 * dx + vol2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);\n"
    "  res1[2] += f; res2[2] -= f;\n"
    "  f = 0.5 * (vol1 * (q1[3] + p1) + vol2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);\n"
    "  res1[3] += f; res2[3] -= f;\n"
    "}\n"
    "void op2_range(void *const *frame, const int *list, long begin, long end) {\n"
    "  const double *x = frame[0], *q = frame[1], *adt = frame[2];\n"
    "  double *res = frame[3];\n"
    "  const int *nodes = frame[4], *cells = frame[5];\n"
    "  for (long n = begin; n < end; n++) {\n"
    "    const long i = STEP, a = nodes[2 * i], b = nodes[2 * i + 1], c = cells[2 * i], d = cells[2 * i + "
    "1];\n"
    "    kernel(x + 2 * a, x + 2 * b, q + 4 * c, q + 4 * d, adt + c, adt + d, res + 4 * c, res + 4 * d);\n"
    "  }\n"
    "}\n";

/* The same in strips: gathered, computed in vectors, scattered one by one. */
static const char strips[] =
    "enum { STRIP = 16 };\n"
    "static void strip(const double *x, const double *q, const double *adt, double *res, const int *nodes,\n"
    "                  const int *cells, long from) {\n"
    "  double x1[2][STRIP], x2[2][STRIP], q1[4][STRIP], q2[4][STRIP], t1[STRIP], t2[STRIP], r1[4][STRIP], "
    "r2[4][STRIP];\n"
    "  for (int l = 0; l < STRIP; l++) {\n"
    "    for (int k = 0; k < 2; k++) x1[k][l] = x[2 * nodes[2 * (from + l)] + k], x2[k][l] = x[2 * nodes[2 * "
    "(from + l) + 1] + k];\n"
    "    for (int k = 0; k < 4; k++) q1[k][l] = q[4 * cells[2 * (from + l)] + k], q2[k][l] = q[4 * cells[2 * "
    "(from + l) + 1] + k];\n"
    "    t1[l] = adt[cells[2 * (from + l)]], t2[l] = adt[cells[2 * (from + l) + 1]];\n"
    "  }\n"
    "#pragma omp simd\n"
    "  for (int l = 0; l < STRIP; l++) {\n"
    "    double a[2] = {x1[0][l], x1[1][l]}, b[2] = {x2[0][l], x2[1][l]}, c[4] = {q1[0][l], q1[1][l], "
    "q1[2][l], q1[3][l]};\n"
    "    double d[4] = {q2[0][l], q2[1][l], q2[2][l], q2[3][l]}, e[4] = {0}, g[4] = {0};\n"
    "    kernel(a, b, c, d, &t1[l], &t2[l], e, g);\n"
    "    for (int k = 0; k < 4; k++) r1[k][l] = e[k], r2[k][l] = g[k];\n"
    "  }\n"
    "  for (int l = 0; l < STRIP; l++)\n"
    "    for (int k = 0; k < 4; k++)\n"
    "      res[4 * cells[2 * (from + l)] + k] += r1[k][l], res[4 * cells[2 * (from + l) + 1] + k] += "
    "r2[k][l];\n"
    "}\n"
    "void op2_strips(void *const *frame, const int *list, long begin, long end) {\n"
    "  for (long i = begin; i + STRIP <= end; i += STRIP)\n"
    "    strip(frame[0], frame[1], frame[2], frame[3], frame[4], frame[5], i);\n"
    "}\n";

static double milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

struct bench {
  const struct compiler *compiler;
  struct text cpu, features;
};

/* Total and the three phases of one compilation. */
static int compile(const struct bench *bench, const char *source, double times[4]) {
  const struct compile_file file = {"loop.c", source, strlen(source)};
  const struct compile_request request = {.files = &file,
                                          .nfiles = 1,
                                          .cpu = text_str(&bench->cpu),
                                          .features = text_str(&bench->features),
                                          .fp = "contract"};
  struct compile_result result;
  const double start = milliseconds();
  bench->compiler->compile(&request, &result);
  times[0] = milliseconds() - start;
  times[1] = result.seconds_front * 1e3;
  times[2] = result.seconds_middle * 1e3;
  times[3] = result.seconds_back * 1e3;
  const int status = result.status;
  if (status)
    fprintf(stderr, "%s:%d: %s\n", result.messages[0].file, result.messages[0].line, result.messages[0].text);
  bench->compiler->release(&result);
  return status;
}

static int measure(const struct bench *bench, const char *name, const char *body, const char *more) {
  enum { AGAIN = 10 };
  struct text source = {0};
  text_add(&source, jit_prelude());
  text_add(&source, "#define STEP n\n");
  text_add(&source, body);
  text_add(&source, more);
  double first[4], best[4] = {1e9, 0, 0, 0};
  int status = compile(bench, text_str(&source), first);
  for (int i = 0; i < AGAIN && status == 0; i++) {
    double times[4];
    status = compile(bench, text_str(&source), times);
    if (times[0] < best[0])
      memcpy(best, times, sizeof best);
  }
  if (status == 0)
    printf("%-10s first %7.2f   best of %d %7.2f = front %.2f + optimiser %.2f + code %.2f\n", name, first[0],
           AGAIN, best[0], best[1], best[2], best[3]);
  text_free(&source);
  return status;
}

int main(void) {
  struct error err = {0};
  struct text path = {0};
  if (plugin_path("op2jit-clang.so", NULL, &path, &err)) {
    fprintf(stderr, "%s\n", error_message(&err));
    return 77;
  }
  const double start = milliseconds();
  void *handle = dlopen(text_str(&path), RTLD_NOW | RTLD_LOCAL);
  void *entry = handle ? dlsym(handle, "op2jit_compiler") : NULL;
  if (!entry) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  compiler_entry *get;
  memcpy(&get, &entry, sizeof get);
  struct bench bench = {.compiler = get()};
  const double loaded = milliseconds() - start;
  target_host(&bench.cpu, &bench.features);
  printf("milliseconds; %s for %s\n", bench.compiler->version(), text_str(&bench.cpu));
  printf("%-10s %.2f\n", "open", loaded);
  int status = measure(&bench, "vadd", vadd, "");
  if (!status)
    status = measure(&bench, "res_calc", flux, "");
  if (!status)
    status = measure(&bench, "+ strips", flux, strips);
  text_free(&bench.cpu);
  text_free(&bench.features);
  text_free(&path);
  error_free(&err);
  return status;
}
