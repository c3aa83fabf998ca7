/* Components that lie apart because steps are faster so, on the stand-in: what is known of the device is planted, so that counts
 * promise it, and so is the clock, which says whether it pays. */
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "loop/chain/layout.h"
#include "mesh/data.h"
#include "op2jit_adjoint.h"
#include "op2jit_bridge.h"
#include "op2jit_tasks.h"
#include "record/record.h"

enum { N = 200, DIM = 200, MOST = 250, LATE = 700, LOOKED = 180 /* dats were looked at once */ };

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
static int done; /* steps since begin() */

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

/* The last one of two that name the same variable wins. */
static void begin_with(const char *word, const char *lazy) {
  char words[3][200];
  char *argv[] = {"apart", "OP2_BACKEND=cuda", "OP2_TUNE=auto", words[0], words[1], words[2]};
  snprintf(words[0], sizeof words[0], "OP2_LAZY=%s", lazy);
  snprintf(words[1], sizeof words[1], "OP2_CACHE=%s", cache);
  snprintf(words[2], sizeof words[2], "%s", word);
  works(op_init(6, argv, 0));
  gpu_of(api_context(), space_of_device(0))->rates = rates;
  for (int i = 0; i < N * DIM; i++)
    values[i] = i % 11;
  cells = op_decl_set(N, "cells");
  wide = op_decl_dat(cells, DIM, "double", values, "wide");
  result = op_decl_dat(cells, 1, "double", NULL, "result");
  done = 0;
}

static void begin(const char *variant, const char *lazy) {
  char word[200];
  snprintf(word, sizeof word, "OP2_VARIANT=%s", variant);
  begin_with(word, lazy);
}

static void step(void) {
  works(op_par_loop(change, "change", cells, op_arg_dat(wide, -1, OP_ID, DIM, "double", OP_RW)));
  works(op_par_loop(sum, "sum", cells, op_arg_dat(wide, -1, OP_ID, DIM, "double", OP_READ),
                    op_arg_dat(result, -1, OP_ID, 1, "double", OP_INC)));
  done++;
}

/* So many steps, which take `apart` seconds with components apart and one second else; how often that changed. */
static int run(int steps, double apart) {
  const struct dat *d = find(wide);
  int changes = 0;
  for (int i = 0; i < steps; i++) {
    const bool before = d->apart;
    step();
    assert_false(d->soa); /* it is the device's matter */
    now += before ? apart : 1;
    changes += d->apart != before;
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
    assert_true(find(wide)->apart);
    compare(most);
    works(op_exit());
    begin("", lazy[i]);
    assert_int_equal(run(most, 0.5), 1);
    assert_true(find(wide)->apart);
    compare(most);
    works(op_exit());
  }
}

TEST(it_is_given_back_where_it_is_not) {
  new_cache("back");
  begin("", "off");
  assert_int_equal(run(MOST, 0.99), 4);
  assert_false(find(wide)->apart);
  compare(MOST);
  works(op_exit());
  begin("", "off");
  assert_int_equal(run(MOST, 0.5), 0);
  works(op_exit());
}

/* A variant that promises too little is not tried. */
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
  static double seen[N];
  op_dat other = op_decl_dat_view(cells, 1, "double", seen, "other");
  assert_non_null(op_acquire(other, OP_READ));
  assert_int_equal(run(MOST, 0.5), 0); /* the mesh's epoch must not change now */
  works(op_release(other));
  works(op_exit());
}

/* The library works in its array as before, and the program finds its rows there. */
TEST(a_view_is_apart_on_the_device_alone) {
  static double array[N * DIM];
  new_cache("view");
  begin("", "off");
  memcpy(array, values, sizeof array);
  wide = op_decl_dat_view(cells, DIM, "double", array, "wide");
  assert_int_equal(run(MOST, 0.5), 3);
  assert_true(find(wide)->apart && find(wide)->view->in_place);
  const double *rows = op_acquire(wide, OP_RW);
  assert_true(rows == array);
  for (int e = 0; e < N; e++)
    assert_true(rows[e * DIM + 3] == (e * DIM + 3) % 11 + MOST && rows[e * DIM + 4] == (e * DIM + 4) % 11);
  array[4] += 5;
  works(op_release(wide));
  run(3, 0.5);
  works(op_fetch_data(wide, values));
  assert_true(values[4] == 4 + 5 && values[3] == 3 + MOST + 3);
  works(op_exit());
}

/* ---- what the program does between the steps of a trial ---- */

static void until(bool apart) {
  const struct dat *d = find(wide);
  for (int i = 0; i < MOST && d->apart != apart; i++)
    run(1, 0.5);
  assert_int_equal(d->apart, apart);
}

/* All rows, some of them, and rows from the program: each time as if they were whole. */
static void host_looks(void) {
  static double some[3 * DIM];
  compare(done);
  works(op_fetch_data_idx(wide, some, 5, 7));
  assert_memory_equal(some, &values[5 * DIM], sizeof some);
  works(op_put_data(wide, values));
}

/* Memory of rows, to read and to write: the host's has them whatever the device's has. It has no trial behind that. */
static void is_lent(void) {
  op_lent_t lent;
  const bool apart = find(wide)->apart;
  works(op_lend(wide, OP_RW, &lent));
  double *rows = lent.memory;
  assert_int_equal(find(wide)->apart, apart);
  for (int e = 0; e < N; e++)
    assert_true(rows[e * DIM + 3] == (e * DIM + 3) % 11 + done && rows[e * DIM + 4] == (e * DIM + 4) % 11);
  rows[7 * DIM + 4] = -rows[7 * DIM + 4];
  rows[7 * DIM + 4] = -rows[7 * DIM + 4];
  works(op_lend_end(wide));
  works(op_lend_device(wide, OP_RW, &lent));
  assert_false(find(wide)->apart);
  works(op_lend_end(wide));
}

/* It works in the program's memory, and has its own values again then. */
static void is_placed(void) {
  static double memory[N * DIM];
  const int before = done;
  compare(done);
  memcpy(memory, values, sizeof memory);
  works(op_place(wide, memory, N, OP_RW));
  for (int i = 0; i < 3; i++)
    works(op_par_loop(change, "change", cells, op_arg_dat(wide, -1, OP_ID, DIM, "double", OP_RW)));
  works(op_place_end(wide));
  for (int e = 0; e < N; e++)
    assert_true(memory[e * DIM + 3] == (e * DIM + 3) % 11 + before + 3);
  compare(done);
}

/* The program has another dat's array meanwhile. */
static void another_is_acquired(void) {
  static double seen[N];
  op_dat other = op_decl_dat_view(cells, 1, "double", seen, "other");
  assert_non_null(op_acquire(other, OP_RW));
  const bool apart = find(wide)->apart;
  assert_int_equal(run(30, 0.5), 0);
  assert_int_equal(find(wide)->apart, apart);
  works(op_release(other));
  works(op_free_dat(other));
}

/* A recorded loop keeps its layout, and has the right derivative: of each step the kernel's factors. */
static void is_recorded(void) {
  enum { STEPS_ON_TAPE = 12 };
  const op_dat inputs[] = {wide};
  static double bars[N * DIM];
  op_tape tape = op_tape_begin(1, inputs, 0);
  assert_non_null(tape);
  assert_int_equal(run(STEPS_ON_TAPE, 0.5), 0);
  works(op_tape_end(tape));
#ifdef DERIVES
  double ones[N];
  for (int e = 0; e < N; e++)
    ones[e] = 1;
  works(op_put_data(op_bar(result), ones));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(wide), bars));
  for (int i = 0; i < N * DIM; i++)
    assert_true(bars[i] == STEPS_ON_TAPE * (i % DIM % 7));
#else
  (void)bars;
#endif
  works(op_tape_free(tape));
}

/* A loop that comes now wants rows whole, behind a ragged map. */
static void a_ragged_loop_comes(void) {
  enum { LISTS = 50, EACH = 3, WAITS = 340 };
  static long long offsets[LISTS + 1];
  static int targets[LISTS * EACH];
  static double sums[LISTS];
  op_set lists = op_decl_set(LISTS, "lists");
  for (int i = 0; i <= LISTS; i++)
    offsets[i] = (long long)i * EACH;
  for (int i = 0; i < LISTS * EACH; i++)
    targets[i] = (7 * i) % N;
  op_map map = op_decl_map_ragged(lists, cells, offsets, targets, "map");
  op_dat sum_of = op_decl_dat(lists, 1, "double", NULL, "sum_of");
  for (int round = 0; round < 3; round++) {
    works(op_par_loop("void add_up(int n, const double **x, double *s) { *s = 0; for (int k = 0; k < n; k++) "
                      "*s += OP_ROW(x, k)[3]; }",
                      "add_up", lists, op_arg_dat(wide, OP_ALL, map, DIM, "double", OP_READ),
                      op_arg_dat(sum_of, -1, OP_ID, 1, "double", OP_WRITE)));
    works(op_fetch_data(sum_of, sums));
    for (int i = 0; i < LISTS; i++) {
      double expected = 0;
      for (int k = 0; k < EACH; k++)
        expected += (targets[i * EACH + k] * DIM + 3) % 11 + done;
      assert_true(sums[i] == expected);
    }
    run(round ? 20 : WAITS, 0.5); /* beyond the end of a side: the loop is on trial at first */
    assert_false(find(wide)->apart);
  }
}

static void cells_are_renumbered(void) {
  static int next[2 * N];
  for (int e = 0; e < N; e++) {
    next[2 * e] = e * 77 % N;
    next[2 * e + 1] = (e + 1) * 77 % N;
  }
  op_map map = op_decl_map(cells, cells, 2, next, "next");
  works(op_renumber(map));
}

/* In each the dat lies apart for a trial, and then in rows again. Answers are right, whatever becomes of the trial. */
TEST(the_program_may_do_anything_between) {
  static void (*const things[])(void) = {host_looks,          is_lent,     is_placed,
                                         another_is_acquired, is_recorded, a_ragged_loop_comes,
                                         cells_are_renumbered};
  for (size_t i = 0; i < sizeof things / sizeof *things; i++)
    for (int in_rows = 0; in_rows < 2; in_rows++) {
      char name[16];
      snprintf(name, sizeof name, "thing%zu%d", i, in_rows);
      new_cache(name);
      begin("", "off");
      until(true);
      if (in_rows)
        until(false);
      things[i]();
      run(60, 0.5);
      things[i == 0 ? 0 : 3]();
      compare(done);
      works(op_exit());
    }
}

/* It is looked at all the time, and goes back to rows. */
TEST(it_is_given_back_while_the_program_looks) {
  new_cache("looks");
  begin("", "off");
  for (int i = 0; i < MOST; i++) {
    run(1, find(wide)->apart ? 2 : 0.5);
    if (i % 5 == 0)
      host_looks();
  }
  assert_false(find(wide)->apart);
  compare(done);
  works(op_exit());
}

/* Nothing is tried with any of these, from the beginning on. */
TEST(what_looks_from_outside_leaves_rows) {
  static const char *const words[] = {"OP2_TUNE=off",   "OP2_CHECK=on",  "OP2_SHADOW=cuda",
                                      "OP2_LAZY=check", "OP2_CACHE=off", "OP2_TUNE=use"};
  new_cache("inside");
  begin("", "off");
  assert_true(run(LOOKED, 0.5) > 0); /* without them there is a trial by now */
  works(op_exit());
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    new_cache("outside");
    begin_with(words[i], "off");
    assert_int_equal(run(LOOKED, 0.5), 0);
    compare(LOOKED);
    works(op_exit());
  }
}

TEST(temporaries_and_graphs_of_tasks_leave_rows) {
  new_cache("leave");
  begin("", "off");
  wide = op_decl_dat_temp(cells, DIM, "double", values, "wide");
  assert_int_equal(run(LOOKED, 0.5), 0);
  compare(LOOKED);
  works(op_exit());
  begin("", "off");
  assert_non_null(op_decl_graph("tasks"));
  assert_int_equal(run(LOOKED, 0.5), 0);
  compare(LOOKED);
  works(op_exit());
}

TEST(a_trial_ends_with_its_dat) {
  new_cache("middle");
  begin("", "off");
  for (int i = 0; i < MOST && !find(wide)->apart; i++)
    run(1, 0.5);
  assert_true(find(wide)->apart);
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

FIXTURE(make_folder) {
  return mkdtemp(folder) ? 0 : -1;
}

FIXTURE(remove_folder) {
  char command[80];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

/* Ranks would have to agree. Each declares as many cells. */
static int on_ranks(void) {
  void *state = NULL;
  if (make_folder(&state))
    return 1;
  new_cache("ranks");
  begin("", "off");
  const int changes = run(MOST, 0.5);
  works(op_fetch_data(wide, values));
  int wrong = changes;
  for (int e = 0; e < N; e++)
    wrong += values[e * DIM + 3] != (e * DIM + 3) % 11 + MOST || values[e * DIM + 4] != (e * DIM + 4) % 11;
  works(op_exit());
  return remove_folder(&state) || wrong;
}

int main(int argc, char **argv) {
  begin_tests();
  if (!is_standin())
    return 77;
  if (argc > 1 && strcmp(argv[1], "ranks") == 0)
    return on_ranks();
  return run_these(make_folder, remove_folder);
}
