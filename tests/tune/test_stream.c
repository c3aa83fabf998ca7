/* Loops whose strips store past the caches: what they write is what they would write otherwise, whatever the
 * types, rows, layouts and the places where ranges begin, and everybody sees it; and loops take them by the size
 * of their data. */
#include "../api/support.h"

#include "api/api.h"
#include "backend/cpu/cpu_loop.h"
#include "context/context.h"
#include "exec/caches.h"
#include "exec/team.h"
#include "jit/jit.h"
#include "record/record.h"

enum { THREADS = 3 };

static void open_library(const char *backend, const char *variant) {
  char words[128], forced[128], program[] = "program", cache[] = "OP2_CACHE=off", tune[] = "OP2_TUNE=off",
                                threads[] = "OP2_THREADS=3", jit[] = "OP2_JIT=on";
  snprintf(words, sizeof words, "OP2_BACKEND=%s", backend);
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  char *argv[] = {program, words, cache, tune, threads, jit, forced, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(*variant ? 7 : 6, argv, 0));
}

/* The variant of the loop that was recorded as the number-th. */
static const char *variant_of(int number) {
  struct loop **records = loop_records(api_context());
  assert_non_null(records);
  const char *variant = records[number]->stats.variant;
  free(records);
  return variant;
}

static bool streams(int number) {
  return strstr(variant_of(number), "+stream") != NULL;
}

/* ---- every type, rows of many lengths ------------------------------------------------------------*/

enum { ROWS = 1003, ARGS = 7 };
static const int dims[ARGS] = {1, 2, 3, 4, 8, 12, 24};

/* Each value is small enough for a char, and of its own place. For bools: whether it is odd. */
static int value_at(int row, int arg, int component) {
  return (row * 7 + arg * 5 + component * 3) % 100;
}

#define WRITE_ALL(type, name, value)                                                                         \
  {                                                                                                          \
    type, name,                                                                                              \
        "void " name "(const int *i, " type " *a, " type " *b, " type " *c, " type " *d, " type " *e, " type \
        " *f, " type " *g) { " type                                                                          \
        " *all[7] = {a, b, c, d, e, f, g}; const int dims[7] = {1, 2, 3, 4, 8, 12, 24};"                     \
        "for (int n = 0; n < 7; n++) for (int k = 0; k < dims[n]; k++) { int v = (*i * 7 + n * 5 + k * 3) "  \
        "% 100; all[n][k] = (" type ")(" value "); } }"                                                      \
  }

static const struct kind {
  const char *type, *name, *text;
} kinds[] = {
    WRITE_ALL("double", "doubles", "v"),  WRITE_ALL("float", "floats", "v"),
    WRITE_ALL("int", "ints", "v"),        WRITE_ALL("unsigned int", "uints", "v"),
    WRITE_ALL("long long", "longs", "v"), WRITE_ALL("unsigned long long", "ulongs", "v"),
    WRITE_ALL("_Bool", "bools", "v & 1"), WRITE_ALL("char", "chars", "v"),
    WRITE_ALL("short", "shorts", "v"),
};

static bool is_right(const char *type, const void *data, size_t i, int v) {
#define IS(name, t)                                                                                          \
  if (strcmp(type, name) == 0)                                                                               \
    return ((const t *)data)[i] == (t)v;
  IS("float", float)
  IS("int", int)
  IS("unsigned int", unsigned int)
  IS("long long", long long)
  IS("unsigned long long", unsigned long long)
  IS("char", char)
  IS("short", short)
#undef IS
  return strcmp(type, "_Bool") == 0 ? ((const bool *)data)[i] == (v & 1) : ((const double *)data)[i] == v;
}

static void check_kind(const struct kind *k, int number, bool soa) {
  static double out[ROWS * 24];
  const char *type = strcmp(k->type, "_Bool") == 0 ? "bool" : k->type;
  char declared[40];
  op_set set = op_decl_set(ROWS, "rows");
  op_dat dats[ARGS];
  op_arg args[ARGS + 1] = {op_arg_idx(-1, OP_ID)};
  snprintf(declared, sizeof declared, "%s%s", type, soa ? ":soa" : "");
  for (int a = 0; a < ARGS; a++) {
    assert_non_null(dats[a] = op_decl_dat(set, dims[a], declared, NULL, "dat"));
    args[1 + a] = op_arg_dat(dats[a], -1, OP_ID, dims[a], type, OP_WRITE);
  }
  works(op_par_loop_array(k->text, k->name, set, ARGS + 1, args, __FILE__, __LINE__));
  /* Values of one or two bytes stay where they are: they are no vectors. */
  assert_int_equal(streams(number),
                   strcmp(type, "bool") != 0 && strcmp(type, "char") != 0 && strcmp(type, "short") != 0);
  for (int a = 0; a < ARGS; a++) {
    works(op_fetch_data(dats[a], (void *)out));
    for (int i = 0; i < ROWS * dims[a]; i++)
      if (!is_right(k->type, out, (size_t)i, value_at(i / dims[a], a, i % dims[a])))
        fail_msg("%s, %s: row %d of %d is wrong", variant_of(number), declared, i / dims[a], dims[a]);
  }
}

TEST(writes_all_types_and_rows) {
  static const struct {
    const char *backend, *variant;
    bool soa;
    size_t step; /* from one type to the next */
  } ways[] = {{"seq", "strip8+stream", false, 1},
              {"openmp", "strip4+stream/37", false, 4},
              {"openmp", "strip16+stream/64", true, 5}};
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    open_library(ways[w].backend, ways[w].variant);
    for (size_t k = w; k < sizeof kinds / sizeof *kinds; k += ways[w].step)
      check_kind(&kinds[k], (int)((k - w) / ways[w].step), ways[w].soa);
    works(op_exit());
  }
}

/* ---- absent, and read too ------------------------------------------------------------------------*/

static const char choose[] = OP_KERNEL(void choose(const double *x, double *a, double *b) { *b = *x + 1; });
static const char both[] = OP_KERNEL(void both(const double *x, double *a) { *a = *x * 2; });

TEST(leaves_others_alone) {
  static double x[ROWS], a[ROWS], b[ROWS];
  static const int table[ROWS];
  for (int i = 0; i < ROWS; i++) {
    x[i] = i;
    a[i] = -i;
  }
  open_library("openmp", "strip8+stream/40");
  op_set set = op_decl_set(ROWS, "rows"), one = op_decl_set(1, "one");
  op_map map = op_decl_map(set, one, 1, table, "map");
  op_dat dx = op_decl_dat(set, 1, "double", x, "x"), da = op_decl_dat(set, 1, "double", a, "a"),
         db = op_decl_dat(set, 1, "double", NULL, "b"), dc = op_decl_dat(one, 1, "double", x + 3, "c");
  works(op_par_loop(choose, "choose", set, op_arg_dat(dx, -1, OP_ID, 1, "double", OP_READ),
                    op_opt_arg_dat(0, da, -1, OP_ID, 1, "double", OP_WRITE),
                    op_arg_dat(db, -1, OP_ID, 1, "double", OP_WRITE)));
  assert_true(streams(0));
  /* Dats that are read and written are no business of these stores. */
  works(op_par_loop(both, "both", set, op_arg_dat(dc, 0, map, 1, "double", OP_READ),
                    op_arg_dat(da, -1, OP_ID, 1, "double", OP_RW)));
  assert_false(streams(1));
  works(op_fetch_data(db, b));
  works(op_fetch_data(da, x));
  for (int i = 0; i < ROWS; i++) {
    assert_true(b[i] == i + 1);
    assert_true(x[i] == 6);
  }
  works(op_exit());
}

/* ---- seen by the other threads ---------------------------------------------------------------------*/

enum { CELLS = 20011, STEPS = 60 };

static const char put[] = OP_KERNEL(void put(const int *step, const int *i, double *a, float *rows) {
  *a = *step + 3.0 * *i;
  for (int k = 0; k < 4; k++)
    rows[k] = (float)(*step + k + *i % 1000);
});
static const char look[] =
    OP_KERNEL(void look(const int *step, const int *other, const double *a, const float *rows, int *wrong) {
      if (*a != *step + 3.0 * *other)
        ++*wrong;
      for (int k = 0; k < 4; k++)
        if (rows[k] != (float)(*step + k + *other % 1000))
          ++*wrong;
    });

TEST(is_seen_by_other_threads) {
  static int table[CELLS];
  for (int i = 0; i < CELLS; i++)
    table[i] = (int)((long)i * 7919 % CELLS);
  open_library("openmp", "strip4+stream/100/threads3");
  op_set cells = op_decl_set(CELLS, "cells");
  op_map far_away = op_decl_map(cells, cells, 1, table, "far away");
  op_dat a = op_decl_dat(cells, 1, "double", NULL, "a"), rows = op_decl_dat(cells, 4, "float", NULL, "rows");
  int wrong = 0;
  for (int step = 0; step < STEPS; step++) {
    works(op_par_loop(put, "put", cells, op_arg_gbl(&step, 1, "int", OP_READ), op_arg_idx(-1, OP_ID),
                      op_arg_dat(a, -1, OP_ID, 1, "double", OP_WRITE),
                      op_arg_dat(rows, -1, OP_ID, 4, "float", OP_WRITE)));
    works(op_par_loop(look, "look", cells, op_arg_gbl(&step, 1, "int", OP_READ), op_arg_idx(0, far_away),
                      op_arg_dat(a, 0, far_away, 1, "double", OP_READ),
                      op_arg_dat(rows, 0, far_away, 4, "float", OP_READ),
                      op_arg_gbl(&wrong, 1, "int", OP_INC)));
  }
  assert_int_equal(wrong, 0);
  assert_int_equal(team_threads(api_context()->team), THREADS);
  assert_true(streams(0));
  works(op_exit());
}

/* ---- when it is taken ------------------------------------------------------------------------------*/

static const char twice[] = OP_KERNEL(void twice(const double *x, double *y) { *y = 2 * *x; });

static void double_of(int rows) {
  op_set set = op_decl_set(rows, "rows");
  op_dat x = op_decl_dat(set, 1, "double", NULL, "x"), y = op_decl_dat(set, 1, "double", NULL, "y");
  works(op_par_loop(twice, "twice", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE)));
}

/* From one and a half times the caches on; and a small loop of one thread before says nothing of what all threads
 * have. */
TEST(is_taken_by_the_size_of_the_data) {
  const double bytes = 2 * CELLS * sizeof(double);
  for (int large = 0; large < 2; large++) {
    open_library("openmp", "");
    struct op_context *ctx = api_context();
    double_of(8);
    assert_int_equal(ctx->cache_bytes, caches_bytes(ctx->env, THREADS));
    ctx->cache_bytes = (size_t)(bytes / 1.5 * (large ? 0.999 : 1.001));
    double_of(CELLS);
    assert_false(streams(0));
    assert_int_equal(streams(1), large && jit_vector_bytes(ctx->jit) >= 32);
    works(op_exit());
  }
}
