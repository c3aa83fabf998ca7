/* OP2_JIT=load over a cache that was filled with other data: a loop runs in the shape that is there, says so, and
 * computes the same. And what a cache remembers of a kernel's promises. */
#include "../api/support.h"

#include <stdlib.h>
#include <unistd.h>

#include "api/api.h"
#include "context/context.h"
#include "jit/jit.h"
#include "record/record.h"

enum { CELLS = 4096 };

static char folder[] = "/tmp/op2jit-cached-XXXXXX";

static void open_library(const char *mode, const char *cache, const char *variant) {
  char program[] = "program", tune[] = "OP2_TUNE=off", backend[] = "OP2_BACKEND=seq", jit[32], file[128],
       forced[64];
  snprintf(jit, sizeof jit, "OP2_JIT=%s", mode);
  snprintf(file, sizeof file, "OP2_CACHE=%s/%s.db", folder, cache);
  snprintf(forced, sizeof forced, "OP2_VARIANT=%s", variant);
  char *argv[] = {program, tune, backend, jit, file, forced, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(6, argv, 0));
}

static const char twice[] = OP_KERNEL(void twice(const double *x, double *y) { *y = 2 * *x; });
static const char ends[] =
    OP_KERNEL(void ends(const double *a, const double *b, double *y) { *y = *a / (1 + *b); });

/* Data of which the loop is told that they are larger than the caches, or smaller. */
static int run_twice(bool large) {
  static double x[CELLS], y[CELLS];
  for (int i = 0; i < CELLS; i++)
    x[i] = i, y[i] = 0;
  api_context()->cache_bytes = large ? 1024 : 1 << 30;
  op_set cells = op_decl_set(CELLS, "cells");
  op_dat dx = op_decl_dat(cells, 1, "double", x, "x"), dy = op_decl_dat(cells, 1, "double", y, "y");
  const int code = op_par_loop(twice, "twice", cells, op_arg_dat(dx, -1, OP_ID, 1, "double", OP_READ),
                               op_arg_dat(dy, -1, OP_ID, 1, "double", OP_WRITE));
  if (code)
    return code;
  works(op_fetch_data(dy, y));
  for (int i = 0; i < CELLS; i++)
    assert_true(y[i] == 2.0 * i);
  return OP_OK;
}

/* Targets that follow one another, or do not. */
static int run_ends(bool straight) {
  static double x[CELLS + 1], y[CELLS];
  static int table[2 * CELLS];
  for (int i = 0; i < CELLS; i++) {
    const int from = straight ? i : (int)((long)i * 1103 % CELLS);
    table[2 * i] = from, table[2 * i + 1] = from + 1;
    x[i] = i;
  }
  x[CELLS] = CELLS;
  op_set cells = op_decl_set(CELLS, "cells"), nodes = op_decl_set(CELLS + 1, "nodes");
  op_map map = op_decl_map(cells, nodes, 2, table, "map");
  op_dat dx = op_decl_dat(nodes, 1, "double", x, "x"), dy = op_decl_dat(cells, 1, "double", NULL, "y");
  const int code = op_par_loop(ends, "ends", cells, op_arg_dat(dx, 0, map, 1, "double", OP_READ),
                               op_arg_dat(dx, 1, map, 1, "double", OP_READ),
                               op_arg_dat(dy, -1, OP_ID, 1, "double", OP_WRITE));
  if (code)
    return code;
  works(op_fetch_data(dy, y));
  for (int i = 0; i < CELLS; i++)
    assert_true(y[i] == table[2 * i] / (2.0 + table[2 * i]));
  return OP_OK;
}

static bool has_strips(void) {
  return jit_vector_bytes(api_context()->jit) >= 32;
}

/* Facts of the only loop. */
static bool runs_as(const char *mark) {
  struct loop **records = loop_records(api_context());
  assert_non_null(records);
  const bool found = strstr(records[0]->stats.variant, mark) != NULL;
  free(records);
  return found;
}

static void capture(int *kept, const char *path) {
  fflush(stderr);
  *kept = dup(STDERR_FILENO);
  assert_non_null(freopen(path, "w", stderr));
}

static void give_back(int kept, const char *path, char *out, size_t size) {
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  out[fread(out, 1, size - 1, file)] = '\0';
  fclose(file);
}

/* Filled with one kind of data and loaded for the other: the shape of the first runs, and nothing is compiled. */
static void serves(int (*run)(bool), const char *cache, bool filled, const char *mark) {
  char path[64], said[2048];
  int kept;
  open_library("on", cache, "");
  works(run(filled));
  const bool strips = has_strips();
  assert_int_equal(runs_as(mark), strips && filled);
  assert_int_equal(op_counters()->compiles, 1);
  works(op_exit());
  snprintf(path, sizeof path, "%s/said", folder);
  capture(&kept, path);
  open_library("load", cache, "");
  const int code = run(!filled);
  const bool same = runs_as(mark) == (strips && filled);
  const long long compiles = op_counters()->compiles, hits = op_counters()->cache_hits;
  const int ended = op_exit();
  give_back(kept, path, said, sizeof said);
  assert_int_equal(code, OP_OK);
  assert_int_equal(ended, OP_OK);
  assert_true(same && compiles == 0 && hits == 1);
  const char *words =
      strstr(said, "would suit these data better, but it is not in the cache, and OP2_JIT=load forbids");
  assert_int_equal(words != NULL, strips);
  assert_int_equal(strstr(said, mark) != NULL, strips);
}

/* ---- what is proved ---- */

static const char few[] = OP_KERNEL(void few(const double *x, double *y) {
  if (most < 10)
    *y = *x;
});

/* A constant that has changed often is handed to the code when it runs, and is no part of its key. Another layout is
 * other code of the same kernel. */
static int run_few(double most, const char *type) {
  static double x[2 * CELLS];
  works(op_decl_const("most", 1, "double", &(double){0}));
  for (int change = 1; change <= 5; change++)
    works(op_update_const("most", &(double){change}));
  works(op_update_const("most", &most));
  op_set cells = op_decl_set(CELLS, "cells");
  op_dat dx = op_decl_dat(cells, 2, type, x, "x"), dy = op_decl_dat(cells, 1, "double", NULL, "y");
  return op_par_loop(few, "few", cells, op_arg_dat(dx, -1, OP_ID, 2, "double", OP_READ),
                     op_arg_dat(dy, -1, OP_ID, 1, "double", OP_WRITE));
}

/* With one value of a constant no run leaves y unwritten, with another one does: the first says nothing of that. */
TEST(what_no_run_showed_is_asked_again) {
  open_library("on", "few", "");
  works(run_few(5, "double"));
  works(op_exit());
  open_library("on", "few", "");
  assert_int_equal(run_few(50, "double:soa"), OP_ERR_VIOLATION);
  works(op_exit());
}

TEST(small_data_serve_large_ones) {
  serves(run_twice, "small", false, "+stream");
}

TEST(large_data_serve_small_ones) {
  serves(run_twice, "large", true, "+stream");
}

TEST(scattered_meshes_serve_straight_ones) {
  serves(run_ends, "scattered", false, "+straight");
}

TEST(straight_meshes_serve_scattered_ones) {
  serves(run_ends, "straight", true, "+straight");
}

/* Code that only OP2_VARIANT asked for serves too; what OP2_VARIANT asks for is not replaced; and without any there is
 * an error. */
TEST(only_what_nobody_forces_is_replaced) {
  open_library("on", "wide", "strip16");
  works(run_twice(false));
  works(op_exit());
  open_library("load", "wide", "");
  works(run_twice(false));
  assert_true(runs_as("strip16"));
  works(op_exit());
  open_library("load", "wide", "strip4");
  fails(OP_ERR_CACHE_MISS, run_twice(false));
  assert_non_null(strstr(op_last_error()->message, "(strip4) is not in the cache"));
  works(op_exit());
  open_library("load", "empty", "");
  fails(OP_ERR_CACHE_MISS, run_twice(true));
  if (has_strips())
    assert_non_null(strstr(op_last_error()->message, "+stream) is not in the cache"));
  works(op_exit());
}

FIXTURE(remove_folder) {
  char command[sizeof folder + 16];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

int main(void) {
  if (!mkdtemp(folder))
    return 1;
  return run_these(NULL, remove_folder);
}
