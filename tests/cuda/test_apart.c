/* Components that lie apart because steps are faster so, on the stand-in: what is known of the device is planted, so that counts
 * promise it, and so is the clock, which says whether it pays. */
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "loop/auto/layout.h"
#include "mesh/data.h"
#include "record/record.h"

enum { N = 200, DIM = 200, MOST = 250, LATE = 700 };

/* The cache decides: rows of 200 values are read value by value, and have no room in shared memory. */
static const struct gpu_rates rates = {
    .copy = 1e18, .sectors = 1e4, .red = 1, .launch = 1e-9, .node = 1e-9, .dependent = 1e-9};

static double now;
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out) {
  (void)clock;
  out->tv_sec = (time_t)now;
  out->tv_nsec = (long)(1e9 * (now - (double)out->tv_sec));
  return 0;
}

static char folder[] = "/tmp/apart.XXXXXX", cache[sizeof folder + 40];
static op_set cells;
static op_dat wide, result;
static double values[N * DIM];

static const char sum[] = "void sum(const double *w, double *r) { double s = 0; for (int i = 0; i < 200; "
                          "i++) s += w[i] * (i % 7); *r += s; }";
static const char change[] = "void change(double *w) { w[3] += 1; w[150] -= 2; }";

static struct dat *find(op_dat handle) {
  struct op_context *ctx = api_context();
  for (int i = 0; i < ctx->mesh->dats.count; i++)
    if (((struct dat *)ctx->mesh->dats.items[i])->handle == handle)
      return ctx->mesh->dats.items[i];
  fail_msg("no such dat");
  return NULL;
}

static void begin(const char *variant, const char *lazy) {
  char words[3][200];
  char *argv[] = {"apart", "OP2_BACKEND=cuda", "OP2_TUNE=auto", words[0], words[1], words[2]};
  snprintf(words[0], sizeof words[0], "OP2_VARIANT=%s", variant);
  snprintf(words[1], sizeof words[1], "OP2_LAZY=%s", lazy);
  snprintf(words[2], sizeof words[2], "OP2_CACHE=%s", cache);
  works(op_init(6, argv, 0));
  gpu_of(api_context(), space_of_device(0))->rates = rates;
  for (int i = 0; i < N * DIM; i++)
    values[i] = i % 11;
  cells = op_decl_set(N, "cells");
  wide = op_decl_dat(cells, DIM, "double", values, "wide");
  result = op_decl_dat(cells, 1, "double", NULL, "result");
}

static void step(void) {
  works(op_par_loop(change, "change", cells, op_arg_dat(wide, -1, OP_ID, DIM, "double", OP_RW)));
  works(op_par_loop(sum, "sum", cells, op_arg_dat(wide, -1, OP_ID, DIM, "double", OP_READ),
                    op_arg_dat(result, -1, OP_ID, 1, "double", OP_INC)));
}

/* So many steps, which take `apart` seconds with components apart and one second else; how often that changed. */
static int run(int steps, double apart) {
  const struct dat *d = find(wide);
  int changes = 0;
  for (int i = 0; i < steps; i++) {
    const bool before = d->soa;
    step();
    now += before ? apart : 1;
    changes += d->soa != before;
  }
  return changes;
}

static void compare(int steps) {
  double got[N];
  works(op_fetch_data(result, got));
  works(op_fetch_data(wide, values));
  for (int e = 0; e < N; e++) {
    double expected = 0;
    for (int s = 1; s <= steps; s++)
      for (int i = 0; i < DIM; i++)
        expected += ((e * DIM + i) % 11 + (i == 3 ? s : i == 150 ? -2 * s : 0)) * (i % 7);
    assert_true(got[e] == expected);
    assert_true(values[e * DIM + 3] == (e * DIM + 3) % 11 + steps &&
                values[e * DIM + 4] == (e * DIM + 4) % 11);
  }
}

static void new_cache(const char *name) {
  snprintf(cache, sizeof cache, "%s/%s.db", folder, name);
}

/* In rows, apart, in rows, apart: three changes, and it stays. The next run knows. */
TEST(it_stays_apart_where_that_is_faster) {
  static const char *const lazy[] = {"off", "auto", "on"};
  for (size_t i = 0; i < sizeof lazy / sizeof *lazy; i++) {
    const int most =
        strcmp(lazy[i], "on") == 0 ? LATE : MOST; /* nothing has run then when it is looked for first */
    new_cache(lazy[i]);
    begin("", lazy[i]);
    assert_int_equal(run(most, 0.5), 3);
    assert_true(find(wide)->soa);
    compare(most);
    works(op_exit());
    begin("", lazy[i]);
    assert_int_equal(run(most, 0.5), 1);
    assert_true(find(wide)->soa);
    compare(most);
    works(op_exit());
  }
}

TEST(it_is_given_back_where_it_is_not) {
  new_cache("back");
  begin("", "off");
  assert_int_equal(run(MOST, 0.99), 4);
  assert_false(find(wide)->soa);
  compare(MOST);
  works(op_exit());
  begin("", "off");
  assert_int_equal(run(MOST, 0.5), 0);
  works(op_exit());
}

/* What promises too little is not tried. */
TEST(counts_decide_what_is_tried) {
  new_cache("counts");
  begin("", "off");
  gpu_of(api_context(), space_of_device(0))->rates.sectors = 1e18;
  assert_int_equal(run(MOST, 0.5), 0);
  works(op_exit());
}

TEST(what_must_stay_in_rows_does) {
  new_cache("stays");
  begin("aos", "off");
  assert_int_equal(run(MOST, 0.5), 0); /* asked for */
  works(op_exit());
  begin("", "off");
  static double seen[N], array[N * DIM];
  op_dat other = op_decl_dat_view(cells, 1, "double", seen, "other");
  assert_non_null(op_acquire(other, OP_READ));
  assert_int_equal(run(MOST, 0.5), 0); /* the mesh's epoch must not change now */
  works(op_release(other));
  works(op_exit());
  begin("", "off");
  wide = op_decl_dat_view(cells, DIM, "double", array, "wide");
  assert_int_equal(run(MOST, 0.5), 0); /* the program's array */
  works(op_exit());
}

TEST(a_trial_ends_with_its_dat) {
  new_cache("middle");
  begin("", "off");
  for (int i = 0; i < MOST && !find(wide)->soa; i++)
    run(1, 0.5);
  assert_true(find(wide)->soa);
  works(op_free_dat(wide));
  wide = op_decl_dat(cells, DIM, "double", values, "wide");
  run(20, 0.5);
  works(op_exit());
}

TEST(it_pays_beyond_what_times_differ_by) {
  double seconds[LAYOUT_ROUNDS][LAYOUT_SIDES] = {{1, 0.9}, {1.1, 0.95}};
  assert_true(layout_pays(seconds));
  seconds[1][0] = 0.94;
  assert_false(layout_pays(seconds));
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  char command[80];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

int main(void) {
  begin_tests();
  if (!is_standin())
    return 77;
  return run_these(make_folder, remove_folder);
}
