/* Rows of many values in shared memory (the word `near`): answers of loops that read, change, make and add to such rows, of
 * every length and type, beside short ones; and what a warp then asks of memory. The backend is that of OP2_BACKEND. */
#include "../api/support.h"

#include <dlfcn.h>
#include <stdbool.h>

enum { CELLS = 333, EDGES = 1003, MOST = 41, SHORT = 3 };

static const struct {
  const char *name;
  bool single_precision;
} types[] = {{"double", false}, {"float", true}};

/* By hand, in whole numbers: sums are exact in any order. */
static double q[CELLS * MOST], own[EDGES * MOST], res[CELLS * MOST], changed[EDGES * MOST],
    made[EDGES * MOST], got[1024 * MOST];
static double count[CELLS * SHORT];
static float narrow[EDGES * MOST];
static int ends[2 * EDGES];

static int end_of(int edge, int side) {
  return side ? (edge * 7 + 5) % CELLS : edge / 4 % CELLS;
}

static void expect(int dim) {
  memset(res, 0, sizeof res);
  memset(count, 0, sizeof count);
  for (int e = 0; e < EDGES; e++)
    for (int i = 0; i < dim; i++) {
      const int a = end_of(e, 0) * dim + i, b = end_of(e, 1) * dim + i, at = e * dim + i;
      res[a] += q[a] + own[at];
      res[b] -= q[b] - i;
      made[at] = 2 * own[at] + q[a];
      changed[at] = own[at] + 3 + q[b];
      if (i < SHORT) {
        count[end_of(e, 0) * SHORT + i] += 1;
        count[end_of(e, 1) * SHORT + i] += i;
      }
    }
}

static void begin(const char *variant) {
  char program[] = "near", tune[] = "OP2_TUNE=off", cache[] = "OP2_CACHE=off", words[80];
  char *argv[] = {program, tune, cache, words, NULL};
  snprintf(words, sizeof words, "OP2_VARIANT=%s", variant);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(4, argv, 0));
}

static op_dat declare(op_set set, int dim, int type, const double *values, const char *name) {
  const int n = op_get_size(set) * dim;
  for (int i = 0; values && i < n; i++)
    narrow[i] = (float)values[i];
  return op_decl_dat(set, dim, types[type].name,
                     !values                        ? NULL
                     : types[type].single_precision ? (const void *)narrow
                                                    : (const void *)values,
                     name);
}

static void compare(op_dat dat, int rows, int dim, int type, const double *wanted, const char *what) {
  const int n = rows * dim;
  works(op_fetch_data(dat, types[type].single_precision ? (void *)narrow : (void *)got));
  for (int i = 0; i < n; i++) {
    const double value = types[type].single_precision ? (double)narrow[i] : got[i];
    if (value != wanted[i])
      fail_msg("%s, %d values of type %s: value %d is %g, expected %g", what, dim, types[type].name, i, value,
               wanted[i]);
  }
}

static void fill(int dim) {
  for (int i = 0; i < CELLS * dim; i++)
    q[i] = i % 23 - 11;
  for (int i = 0; i < EDGES * dim; i++)
    own[i] = i % 17 - 5;
  for (int e = 0; e < EDGES; e++)
    for (int side = 0; side < 2; side++)
      ends[2 * e + side] = end_of(e, side);
}

/* `r`, `q`: two rows each, or pointers to them. */
static void print_kernel(char *out, size_t size, int dim, const char *type, bool vector) {
  static const char *const parameters[] = {
      "const %s *q0, const %s *q1, const %s *own, %s *r0, %s *r1, %s *n, %s *m, %s *changed, %s *made",
      "const %s **q, const %s *own, %s **r, %s *n, %s *m, %s *changed, %s *made"};
  char list[300] = "";
  size_t at = 0;
  for (const char *p = parameters[vector]; *p; p += 1 + (*p == '%'))
    at += (size_t)snprintf(list + at, sizeof list - at, "%.*s", *p == '%' ? (int)strlen(type) : 1,
                           *p == '%' ? type : p);
  snprintf(out, size,
           "void meet(%s, double *s) {\n%s"
           "  for (int i = 0; i < %d; i++) {\n"
           "    r0[i] += q0[i] + own[i]; r1[i] -= q1[i] - i;\n"
           "    made[i] = 2 * own[i] + q0[i]; changed[i] += 3 + q1[i]; *s += own[i];\n"
           "  }\n  for (int i = 0; i < 3; i++) { n[i] += 1; m[i] += i; }\n}\n",
           list,
           !vector          ? ""
           : type[0] == 'd' ? "  const double *q0 = q[0], *q1 = q[1]; double *r0 = r[0], *r1 = r[1];\n"
                            : "  const float *q0 = q[0], *q1 = q[1]; float *r0 = r[0], *r1 = r[1];\n",
           dim);
}

static void meet(const char *variant, int dim, int type, bool vector) {
  char kernel[900];
  const char *t = types[type].name;
  double sum = 0, expected = 0;
  print_kernel(kernel, sizeof kernel, dim, t, vector);
  begin(variant);
  fill(dim);
  expect(dim);
  for (int i = 0; i < EDGES * dim; i++)
    expected += own[i];
  op_set edges = op_decl_set(EDGES, "edges"), cells = op_decl_set(CELLS, "cells");
  op_map map = op_decl_map(edges, cells, 2, ends, "ends");
  op_dat dq = declare(cells, dim, type, q, "q"), down = declare(edges, dim, type, own, "own"),
         dr = declare(cells, dim, type, NULL, "res"), dn = declare(cells, SHORT, type, NULL, "count"),
         dc = declare(edges, dim, type, own, "changed"), dm = declare(edges, dim, type, NULL, "made");
  const op_arg n = op_arg_dat(dn, 0, map, SHORT, t, OP_INC), m = op_arg_dat(dn, 1, map, SHORT, t, OP_INC),
               o = op_arg_dat(down, -1, OP_ID, dim, t, OP_READ), c = op_arg_dat(dc, -1, OP_ID, dim, t, OP_RW),
               made_arg = op_arg_dat(dm, -1, OP_ID, dim, t, OP_WRITE),
               s = op_arg_gbl(&sum, 1, "double", OP_INC);
  if (vector)
    works(op_par_loop(kernel, "meet", edges, op_arg_dat(dq, -2, map, dim, t, OP_READ), o,
                      op_arg_dat(dr, -2, map, dim, t, OP_INC), n, m, c, made_arg, s));
  else
    works(op_par_loop(kernel, "meet", edges, op_arg_dat(dq, 0, map, dim, t, OP_READ),
                      op_arg_dat(dq, 1, map, dim, t, OP_READ), o, op_arg_dat(dr, 0, map, dim, t, OP_INC),
                      op_arg_dat(dr, 1, map, dim, t, OP_INC), n, m, c, made_arg, s));
  compare(dr, CELLS, dim, type, res, "added to");
  compare(dn, CELLS, SHORT, type, count, "short");
  compare(dm, EDGES, dim, type, made, "made");
  compare(dc, EDGES, dim, type, changed, "changed");
  assert_true(sum == expected);
  works(op_exit());
}

static int lanes = 32;

/* Blocks of one warp or two; `each` is left out where it means nothing. */
static const struct {
  const char *words;
  int warps;
} variants[] = {
    {"atomics/%d/near", 1}, {"warps/%d/near", 1}, {"warps/%d/joined/near", 2}, {"atomics/%d/near/each2", 2}};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* Seven rows of an element have to find room. */
static void meet_in(size_t which, int dim, int type, bool vector) {
  const int room = lanes == 64 ? 65536 : 99 * 1024, size = types[type].single_precision ? 4 : 8;
  char variant[60];
  if (7 * (dim + 3) * size * lanes > room)
    return;
  const int most = 7 * (dim + 3) * size * lanes * 2 > room ? 1 : variants[which].warps;
  snprintf(variant, sizeof variant, variants[which].words, most * lanes);
  meet(variant, dim, type, vector);
}

TEST(loops_of_every_length) {
  static const int dims[] = {15, 16, 17, 20, 22, 33, 40, 41};
  for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
    for (size_t type = 0; type < 2; type++)
      meet_in((i + type) % VARIANTS, dims[i], (int)type, (i + type) % 3 == 0);
}

TEST(every_form) {
  for (size_t v = 0; v < VARIANTS; v++)
    for (int vector = 0; vector < 2; vector++)
      meet_in(v, 20, (v + (size_t)vector) % 2 || lanes == 64, vector);
}

/* Increments that nobody else may meet, and rows of bytes. */
TEST(loops_over_own_rows) {
  enum { DIM = 24 };
  static char bytes[EDGES * DIM], after[EDGES * DIM];
  for (int i = 0; i < EDGES * DIM; i++)
    bytes[i] = (char)(i % 50);
  fill(DIM);
  begin(lanes == 64 ? "direct/128/near/each4" : "direct/96/near/each4");
  op_set edges = op_decl_set(EDGES, "edges");
  op_dat b = op_decl_dat(edges, DIM, "char", bytes, "b"), x = declare(edges, DIM, 0, own, "x");
  works(op_par_loop("void raise(double *x, char *b) {\n"
                    "  for (int i = 0; i < 24; i++) { x[i] += b[i]; b[i] = (char)(b[i] + i); }\n}\n",
                    "raise", edges, op_arg_dat(x, -1, OP_ID, DIM, "double", OP_INC),
                    op_arg_dat(b, -1, OP_ID, DIM, "char", OP_RW)));
  for (int i = 0; i < EDGES * DIM; i++)
    own[i] += bytes[i];
  compare(x, EDGES, DIM, 0, own, "raised");
  works(op_fetch_data(b, after));
  for (int i = 0; i < EDGES * DIM; i++)
    assert_int_equal(after[i], bytes[i] + i % DIM);
  works(op_exit());
}

/* ---- what a warp asks for ---- */
struct counts {
  long long stores, atomics, loads;
};
static void (*count_from)(int on);
static void (*counted)(struct counts *out);

/* Faces of a row of cells, one behind the other, as in a scheme whose cells have many values. */
static struct counts faces(const char *variant, int dim) {
  enum { FACES = 1024 };
  static int sides[2 * FACES];
  char kernel[300];
  struct counts sums = {0};
  snprintf(kernel, sizeof kernel,
           "void face(const double *a, const double *b, double *ra, double *rb) {\n"
           "  for (int i = 0; i < %d; i++) { const double f = a[i] - b[i]; ra[i] += f; rb[i] -= f; }\n}\n",
           dim);
  for (int f = 0; f < FACES; f++)
    sides[2 * f] = f, sides[2 * f + 1] = (f + 1) % FACES;
  begin(variant);
  op_set set = op_decl_set(FACES, "faces"), cells = op_decl_set(FACES, "cells");
  op_map map = op_decl_map(set, cells, 2, sides, "sides");
  op_dat u = op_decl_dat(cells, dim, "double", NULL, "u"), r = op_decl_dat(cells, dim, "double", NULL, "r");
  for (int round = 0; round < 2; round++) {
    count_from(round);
    works(op_par_loop(kernel, "face", set, op_arg_dat(u, 0, map, dim, "double", OP_READ),
                      op_arg_dat(u, 1, map, dim, "double", OP_READ),
                      op_arg_dat(r, 0, map, dim, "double", OP_INC),
                      op_arg_dat(r, 1, map, dim, "double", OP_INC)));
    works(op_fetch_data(r, got)); /* it has run */
  }
  counted(&sums);
  count_from(0);
  works(op_exit());
  const long long warps = FACES / 32;
  sums.loads /= warps, sums.atomics /= warps, sums.stores /= warps;
  print_message("%s, %d values: loads %lld, additions %lld, stores %lld\n", variant, dim, sums.loads,
                sums.atomics, sums.stores);
  return sums;
}

/* For 32 faces: 64 rows of five sectors, each as often as a face names it, or once where a warp adds it up; eight of the maps,
 * and what the plan has, here without a cache. */
TEST(whole_sectors) {
  if (!count_from)
    skip_since("the stand-in counts sectors of warps of 32 threads; wavefronts have 64");
  const struct counts plain = faces("atomics/64/scalars", 20), fours = faces("atomics/64", 20),
                      near = faces("atomics/64/near", 20), summed = faces("warps/64/near", 20);
  assert_true(plain.atomics == 1280 && plain.loads >= 640);
  assert_true(fours.atomics == 320);
  assert_true(near.atomics == 320 && near.loads <= 320 + 16);
  assert_true(summed.atomics <= 168 && summed.loads <= 320 + 128);
  const struct counts long_plain = faces("atomics/64", 40), long_near = faces("atomics/64/near", 40);
  assert_true(long_plain.atomics == 2560 && long_plain.loads >= 2560);
  assert_true(long_near.atomics == 640 && long_near.loads <= 640 + 16);
}

int main(int argc, char **argv) {
  lanes = argc > 1 ? atoi(argv[1]) : 32;
  setenv("STANDIN_MODE", "checked", 1);
  const char *file = getenv("OP2_CUDA_DRIVER");
  void *driver = file && strstr(file, "standin") ? dlopen(file, RTLD_NOW) : NULL; /* stays open */
  if (driver && lanes == 32) {
    *(void **)&count_from = dlsym(driver, "standin_count");
    *(void **)&counted = dlsym(driver, "standin_counted");
  }
  return run_these(NULL, NULL);
}
