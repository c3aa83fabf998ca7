/* Layouts of dats on the GPU: declared or forced. The program sees the same rows whatever they are. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "backend/cuda/cuda.h"
#include "kernels-cache/store.h"
#include "mesh/mesh.h"

#define works(call)                                                                                          \
  do {                                                                                                       \
    if ((call) != OP_OK)                                                                                     \
      fail_msg("%s: %s", #call, op_last_error()->message);                                                   \
  } while (0)

/* Rows are converted where components lie apart: when they are declared and when they are fetched. */
TEST(forced_layouts) {
  enum { N = 37 };
  static const struct {
    const char *variant, *type;
    bool converts;
  } cases[] = {{"OP2_VARIANT=soa", "double", true},
               {"OP2_VARIANT=aos", "double:soa", false},
               {"OP2_VARIANT=soa", "double:soa", true},
               {"OP2_VARIANT=aos", "double", false},
               {"OP2_VARIANT=soa=d", "double", true},
               {"OP2_VARIANT=soa/aos=d/64", "double", false},
               {"OP2_VARIANT=soa=other/aos=e", "double", false},
               {"OP2_VARIANT=", "double:soa", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double rows[N * 3];
    for (int k = 0; k < 3 * N; k++)
      rows[k] = k;
    char *argv[] = {"test", "OP2_BACKEND=cuda", "OP2_CACHE=off", "OP2_TUNE=off",
                    (char *)(uintptr_t)cases[i].variant};
    works(op_init(5, argv, 0));
    op_set set = op_decl_set(N, "set");
    const long long before = op_counters()->bytes_converted;
    op_dat d = op_decl_dat(set, 3, cases[i].type, rows, "d");
    works(op_par_loop("void k(double *d) { d[0] += 1; d[1] *= 2; d[2] = d[0] + d[1]; }", "k", set,
                      op_arg_dat(d, -1, OP_ID, 3, "double", OP_RW)));
    assert_int_equal(op_counters()->bytes_converted > before, cases[i].converts);
    works(op_fetch_data(d, rows));
    for (int e = 0; e < N; e++) {
      assert_true(rows[3 * e] == 3 * e + 1);
      assert_true(rows[3 * e + 1] == 2 * (3 * e + 1));
      assert_true(rows[3 * e + 2] == rows[3 * e] + rows[3 * e + 1]);
    }
    works(op_exit());
  }
}

/* ---- short runs ---- */
enum { EDGES = 200, CELLS = 60, STEPS = 500 };

struct flow {
  op_set edges, cells;
  op_map map;
  op_dat q, res, area;
  int table[2 * EDGES];
};

static const char gather_source[] = "void gather(const double *a, const double *b, double *r, double *s) {\n"
                                    "  for (int c = 0; c < 4; c++) { r[c] += a[c] - b[c]; s[c] -= 1; }\n"
                                    "}\n",
                  advance_source[] =
                      "void advance(double *q, double *r, const double *area, double *sum) {\n"
                      "  for (int c = 0; c < 4; c++) { q[c] = 20 - q[c] + *area; *sum += r[c]; r[c] = 0; }\n"
                      "}\n";

static void make_flow(struct flow *f) {
  double q[4 * CELLS];
  for (int i = 0; i < 4 * CELLS; i++)
    q[i] = i % 16;
  for (int e = 0; e < EDGES; e++) {
    f->table[2 * e] = e % CELLS;
    f->table[2 * e + 1] = (11 * e + 1) % CELLS;
  }
  f->edges = op_decl_set(EDGES, "edges");
  f->cells = op_decl_set(CELLS, "cells");
  f->map = op_decl_map(f->edges, f->cells, 2, f->table, "map");
  f->q = op_decl_dat(f->cells, 4, "double", q, "q");
  f->res = op_decl_dat(f->cells, 4, "double:soa", NULL, "res");
  f->area = op_decl_dat(f->cells, 1, "double", NULL, "area");
}

static void run_steps(struct flow *f, int steps, double *sum) {
  for (int step = 0; step < steps; step++) {
    works(op_par_loop(gather_source, "gather", f->edges, op_arg_dat(f->q, 0, f->map, 4, "double", OP_READ),
                      op_arg_dat(f->q, 1, f->map, 4, "double", OP_READ),
                      op_arg_dat(f->res, 0, f->map, 4, "double", OP_INC),
                      op_arg_dat(f->res, 1, f->map, 4, "double", OP_INC)));
    works(op_par_loop(advance_source, "advance", f->cells, op_arg_dat(f->q, -1, OP_ID, 4, "double", OP_RW),
                      op_arg_dat(f->res, -1, OP_ID, 4, "double", OP_RW),
                      op_arg_dat(f->area, -1, OP_ID, 1, "double", OP_READ),
                      op_arg_gbl(sum, 1, "double", OP_INC)));
  }
}

/* The same on the host. All values are whole numbers, so that any order of sums is right. */
static void expect(int steps, double *q, double *sum) {
  double r[4 * CELLS] = {0};
  for (int i = 0; i < 4 * CELLS; i++)
    q[i] = i % 16;
  *sum = 0;
  for (int step = 0; step < steps; step++) {
    for (int e = 0; e < EDGES; e++)
      for (int c = 0; c < 4; c++) {
        const int from = e % CELLS, to = (11 * e + 1) % CELLS;
        r[4 * from + c] += q[4 * from + c] - q[4 * to + c];
        r[4 * to + c] -= 1;
      }
    for (int i = 0; i < 4 * CELLS; i++) {
      q[i] = 20 - q[i];
      *sum += r[i];
      r[i] = 0;
    }
  }
}

static void one_run(const char *cache, const char *tune, int steps, long long *moved) {
  char *argv[] = {"test", "OP2_BACKEND=cuda", (char *)(uintptr_t)cache, (char *)(uintptr_t)tune};
  double q[4 * CELLS], expected[4 * CELLS], sum = 0, expected_sum;
  struct flow f;
  works(op_init(4, argv, 0));
  make_flow(&f);
  run_steps(&f, 1, &sum);
  *moved = op_counters()->bytes_to_device;
  run_steps(&f, steps - 1, &sum);
  *moved = op_counters()->bytes_to_device - *moved;
  works(op_fetch_data(f.q, q));
  expect(steps, expected, &expected_sum);
  assert_memory_equal(q, expected, sizeof q);
  assert_true(sum == expected_sum);
}

static int measured(const char *loop, bool *settled) {
  const struct store_tuning_filter filter = {.loop = loop};
  struct store_tuning *rows = NULL;
  const int count = store_get_tunings(api_context()->store, &filter, &rows);
  *settled = false;
  for (int r = 0; r < count; r++) {
    assert_true(rows[r].baseline > 0);
    *settled |= rows[r].chosen;
  }
  store_tunings_free(rows, count);
  return count;
}

/* No run is long enough to try everything, but each goes on where the one before ended, until a variant is chosen. */
TEST(short_runs_add_up) {
  enum { CALLS = 20, MANY = 60 };
  char folder[] = "/tmp/op2jit-layout-XXXXXX", cache[64], command[64];
  int programs = 0, known = 0;
  long long moved;
  assert_non_null(mkdtemp(folder));
  snprintf(cache, sizeof cache, "OP2_CACHE=%s/kernels.db", folder);
  for (bool settled = false; !settled; programs++) {
    assert_true(programs < MANY);
    one_run(cache, "OP2_TUNE=force", CALLS, &moved);
    const int before = measured("advance", &settled);
    assert_true(before >= known);
    known = before;
    works(op_exit());
  }
  assert_true(programs > 1 && known > 2);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  if (!getenv("OP2_CUDA_DRIVER")) {
    puts("skipped: OP2_CUDA_DRIVER names no stand-in");
    return 77;
  }
  setenv("STANDIN_QUIET", "1", 1);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  return run_these(NULL, NULL);
}
