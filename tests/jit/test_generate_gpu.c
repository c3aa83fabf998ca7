/* Generated text of GPUs whose threads share elements, of OpenCL's rows in place, and of sums in the elements' order, as golden
 * files.  test_generate_gpu FOLDER [write] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden.h"
#include "build.h"
#include "jit/emit/gpu/gpu.h"

static int failures;

/* Where a word stands in the text, from `after` on. */
static struct row_range find(const struct desc *d, const char *word, int after) {
  const char *at = strstr(d->text + after, word);
  const int begin = at ? (int)(at - d->text) : 0;
  return (struct row_range){begin, begin + (at ? (int)strlen(word) : 0)};
}

static struct row_facts *no_facts(struct desc *d) {
  d->rows = calloc(1, sizeof *d->rows);
  if (!d->rows)
    exit(1);
  return d->rows;
}

/* The prover's finds. */
static void add_loop(struct desc *d) {
  struct row_facts *rows = no_facts(d);
  struct split_loop *l = &rows->loops[rows->nloops++];
  l->all = (struct row_range){find(d, "OP_ANY_ORDER", 0).begin, find(d, "\n  }", 0).end};
  l->zero = find(d, "0; k", 0);
  l->zero.end = l->zero.begin + 1;
  l->counter = find(d, "k = 0", 0);
  l->counter.end = l->counter.begin + 1;
  l->step = find(d, "k++", 0);
  l->results[l->nresults++] =
      (struct split_result){.name = {find(d, "y[0] +=", 0).begin, find(d, "y[0] +=", 0).begin + 1},
                            .kind = SPLIT_SUM,
                            .count = 2,
                            .address = true};
  l->results[l->nresults++] =
      (struct split_result){.name = find(d, "part", 0), .kind = SPLIT_MOST, .count = 1};
}

static void add_stay(struct desc *d, enum stay_kind kind, int arg, const char *word, int after) {
  struct stay *s = &d->rows->stays[d->rows->nstays++];
  *s = (struct stay){.at = find(d, word, after), .kind = (int)kind, .arg = arg};
  if (kind == STAY_DECLARES)
    s->at.end = s->at.begin;
  d->args[arg].stays |= kind == STAY_PARAMETER;
}

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
  add_loop(&d);
  return d;
}

/* The values for both ends of an edge, and for one of them apart. */
static struct desc ends(bool soa) {
  struct desc d = build_loop("ends", "void ends(const float *w, float *a, float *b, float *n) {\n"
                                     "  a[0] += w[0];\n"
                                     "  b[1] -= w[0];\n"
                                     "  *n += 1;\n"
                                     "}\n");
  const int map = build_map(&d, 2, 1), sums = build_dat(&d, TYPE_FLOAT, 2, 1, soa);
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 1, 0, false), -1, -1, OP_READ);
  build_arg(&d, sums, map, 0, OP_INC);
  build_arg(&d, sums, map, 1, OP_INC);
  build_arg(&d, build_dat(&d, TYPE_FLOAT, 1, 1, false), map, 0, OP_INC);
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
  no_facts(&d);
  const int head = find(&d, "(int n", 0).begin, body = find(&d, "for (", 0).begin;
  add_stay(&d, STAY_DECLARES, 0, "const double **a", head);
  add_stay(&d, STAY_PARAMETER, 0, "**a", head);
  add_stay(&d, STAY_DECLARES, 1, "double **x", head);
  add_stay(&d, STAY_PARAMETER, 1, "**x", head);
  add_stay(&d, STAY_DECLARES, 2, "long **count", head);
  add_stay(&d, STAY_PARAMETER, 2, "**count", head);
  add_stay(&d, STAY_DECLARES, 0, "const double *r", body);
  add_stay(&d, STAY_ROW, 0, "OP_ROW", body);
  add_stay(&d, STAY_ROW, 1, "OP_ROW", d.rows->stays[7].at.end);
  add_stay(&d, STAY_ROW, 2, "OP_ROW", find(&d, "OP_ROW(count", body).begin);
  return d;
}

static void expect(const struct desc *d, const struct gpu_shape *s, enum split_why expected) {
  enum split_why why;
  if (gpu_rows_can(d, s, &why) != !expected || why != expected) {
    fprintf(stderr, "several threads for an element: %d, not %d\n", why, expected);
    failures++;
  }
}

/* Arguments that a loop's threads cannot have together; and what nobody has looked at. */
static void check_arguments(void) {
  struct desc d = sums();
  struct gpu_shape s = {.dialect = GPU_DIALECT_CUDA, .strategy = GPU_ATOMICS, .rows = 8};
  expect(&d, &s, WHY_NOT_LOOKED_AT);
  d.args[0].access = OP_INC;
  expect(&d, &s, WHY_TARGETS);
  d.args[0].access = OP_READ;
  d.args[1].access = OP_MIN;
  expect(&d, &s, WHY_EXTREMA);
  d.args[1].access = OP_RW;
  d.args[1].dim = 33;
  expect(&d, &s, WHY_LONG_ROW);
  d.args[1].dim = 2;
  d.args[1].dat = d.args[0].dat;
  expect(&d, &s, WHY_TWICE);
  d.args[1].dat = 1;
  s.strategy = GPU_STAGED;
  expect(&d, &s, WHY_STRATEGY);
  s.strategy = GPU_WARPS;
  expect(&d, &s, WHY_STRATEGY);
  s.strategy = GPU_ORDERED;
  expect(&d, &s, WHY_STRATEGY);
  s = (struct gpu_shape){.dialect = GPU_DIALECT_OPENCL};
  expect(&d, &s, WHY_LANGUAGE);
  s.dialect = GPU_DIALECT_HIP;
  d.rows->nloops = 0;
  d.rows->why = WHY_ORDER;
  expect(&d, &s, WHY_ORDER);
  d.maps[0].ragged = false;
  expect(&d, &s, WHY_NO_MAP);
  desc_free(&d);
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
      (struct gpu_shape){
          .dialect = GPU_DIALECT_OPENCL, .strategy = GPU_COLOURS, .block = 128, .no_ticket = true},
      write);
  one(argv[1], "ends-ordered.cu", ends(false),
      (struct gpu_shape){.dialect = GPU_DIALECT_CUDA, .strategy = GPU_ORDERED, .block = 256, .vectors = true},
      write);
  one(argv[1], "ends-ordered-soa.cl", ends(true),
      (struct gpu_shape){.dialect = GPU_DIALECT_OPENCL, .strategy = GPU_ORDERED, .block = 64}, write);
  check_arguments();
  printf("%d wrong\n", failures);
  return failures != 0;
}
