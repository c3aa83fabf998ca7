/* The tuner's tries on a device of OpenCL: the three forms that promise most, by what was measured of the device; all of them
 * where nothing is known of it. */
#include "../api/support.h"

#include <unistd.h>

#include "api/api.h"
#include "backend/gpu/gpu.h"

enum { N = 4000 };

static char cache[200];

static const char spread[] = OP_KERNEL(void spread(const double *x, double *a, double *b) {
  for (int i = 0; i < 4; i++) {
    a[i] += x[i];
    b[i] -= x[i];
  }
});

/* The variants of a loop that adds through a map: the first guess is one of them. */
static int variants(struct gpu_rates *rates) {
  static int table[2 * N];
  char program[] = "ranked", tune[] = "OP2_TUNE=auto";
  char *argv[] = {program, tune, cache, NULL};
  for (int i = 0; i < N; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % N;
  }
  works(op_init(3, argv, 0));
  op_set cells = op_decl_set(N, "cells");
  op_map next = op_decl_map(cells, cells, 2, table, "next");
  op_dat x = op_decl_dat(cells, 4, "double", NULL, "x"), y = op_decl_dat(cells, 4, "double", NULL, "y");
  works(op_par_loop(spread, "spread", cells, op_arg_dat(x, -1, OP_ID, 4, "double", OP_READ),
                    op_arg_dat(y, 0, next, 4, "double", OP_INC),
                    op_arg_dat(y, 1, next, 4, "double", OP_INC)));
  struct loop **loops = loop_records(api_context());
  assert_non_null(loops);
  const struct gpu_loop *l = loops[0]->ready.backend_state;
  const int count = l->nvariants;
  *rates = gpu_of(api_context(), space_of_device(0))->rates;
  free(loops);
  works(op_exit());
  return count;
}

TEST(three_are_tried_where_the_device_is_known) {
  struct gpu_rates r = {0}, again = {0};
  char folder[] = "/tmp/ranked.XXXXXX", file[sizeof folder + 20];
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/kernels.db", folder);
  snprintf(cache, sizeof cache, "OP2_CACHE=%s", file);
  assert_int_equal(variants(&r), 4);
  assert_true(r.copy > 0 && r.sectors > 0 && r.red > 0 && r.launch > 0);
  assert_int_equal(variants(&again), 4);
  assert_memory_equal(&r, &again, sizeof r);
  unlink(file);
  rmdir(folder);
}

TEST(all_are_tried_where_it_is_not) {
  struct gpu_rates r = {0};
  snprintf(cache, sizeof cache, "OP2_CACHE=off");
  assert_true(variants(&r) > 6);
  assert_true(r.copy < 0);
}
