/* Generated text of GPUs whose threads share elements, and of OpenCL's rows in place, as golden files.  test_generate_gpu FOLDER [write] */
#include <stdio.h>

#include "../golden.h"
#include "build.h"
#include "jit/generate/gpu/gpu.h"

static int failures;

/* Sums over targets: of the element's own row, of a row behind an ordinary map, and of all elements. */
static struct desc sums(void) {
  struct desc d =
      build_loop("sums", "void sums(int n, const double **a, double *y, double *to, float *all) {\n"
                         "  float part = 1;\n"
                         "  OP_ANY_ORDER\n"
                         "  for (int k = 0; k < n; k++) {\n"
                         "    y[0] += OP_ROW(a, k)[0];\n"
                         "    part = fmaxf(part, (float)OP_ROW(a, k)[1]);\n"
                         "  }\n"
                         "  *to += y[0];\n"
                         "  *all += part;\n"
                         "}\n");
  const int ragged = build_map(&d, 0, 1), pair = build_map(&d, 2, 2);
  d.maps[ragged].ragged = true;
  d.args[build_arg(&d, build_dat(&d, TYPE_DOUBLE, 2, 1, false), ragged, -1, OP_READ)].counted = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 2, 0, false), -1, -1, OP_RW);
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 2, false), pair, 1, OP_INC);
  build_gbl(&d, TYPE_FLOAT, 1, OP_INC);
  return d;
}

/* Rows of entries and targets in place, one by a pointer; those of the last argument are passed on, and are copies. */
static struct desc places(void) {
  struct desc d = build_loop("places", "double first(const double *row) { return row[0]; }\n"
                                       "void places(int n, const double **a, double **x,\n"
                                       "            long **count, const double **q) {\n"
                                       "  for (int k = 0; k < n; k++) {\n"
                                       "    const double *r = OP_ROW(a, k);\n"
                                       "    *OP_ROW(x, k) += r[0] * first(OP_ROW(q, k)) - r[1];\n"
                                       "    OP_ROW(count, k)[0]++;\n"
                                       "  }\n"
                                       "}\n");
  const int map = build_map(&d, 0, 1);
  d.maps[map].ragged = true;
  d.maps[map].most = 8;
  const int a = build_arg(&d, build_dat(&d, TYPE_DOUBLE, 2, 2, false), map, -1, OP_READ);
  d.args[a].entry = d.args[a].counted = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, -1, OP_INC);
  d.args[build_arg(&d, build_dat(&d, TYPE_LONGLONG, 1, 2, false), map, -1, OP_RW)].entry = true;
  build_arg(&d, build_dat(&d, TYPE_DOUBLE, 1, 1, false), map, -1, OP_READ);
  return d;
}

static void one(const char *folder, const char *name, struct desc d, struct gpu_shape shape, bool write) {
  struct generated files;
  struct error err = {0};
  struct text path = {0}, all = {0};
  if (generate_gpu(&d, &shape, &files, &err) != OP_OK) {
    fprintf(stderr, "%s: %s\n", name, error_message(&err));
    failures++;
  } else {
    text_addf(&path, "%s/%s", folder, name);
    text_addf(&all, "%s/* %s */\n%s", text_str(&files.main), files.kernel_file, text_str(&files.kernel));
    failures += !golden_matches(text_str(&path), write, name, text_str(&all));
    generated_free(&files);
  }
  text_free(&path);
  text_free(&all);
  desc_free(&d);
  error_free(&err);
}

int main(int argc, char **argv) {
  const bool write = argc > 2 && strcmp(argv[2], "write") == 0;
  if (argc < 2)
    return 2;
  one(argv[1], "sums-atomics-rows8.cu", sums(),
      (struct gpu_shape){
          .dialect = GPU_DIALECT_CUDA, .strategy = GPU_ATOMICS, .block = 128, .vectors = true, .rows = 8},
      write);
  one(argv[1], "sums-apart-rows64.hip", sums(),
      (struct gpu_shape){.dialect = GPU_DIALECT_HIP, .strategy = GPU_APART, .block = 64, .rows = 64}, write);
  one(argv[1], "places-colours.cl", places(),
      (struct gpu_shape){.dialect = GPU_DIALECT_OPENCL, .strategy = GPU_COLOURS, .block = 128}, write);
  printf("%d wrong\n", failures);
  return failures != 0;
}
