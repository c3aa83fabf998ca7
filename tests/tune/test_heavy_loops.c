/* Loops over few elements whose calls are long: after some calls they run on all threads, with the same answers;
 * others stay as they are. */
#include "../api/support.h"

#include <math.h>

#include "../fault/memory.h"
#include "api/api.h"
#include "backend/code.h"
#include "backend/cpu/cpu_loop.h"
#include "context/context.h"
#include "kernels-cache/store.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/record.h"

enum { ELEMENTS = 300, ROUNDS = 4000, MANY_ROUNDS = 40000, CALLS = 40, THREADS = 3, VALUES = 13 };

/* Operations each of which waits for the one before: no machine does 4000 for 300 elements in 20 microseconds, nor
 * 40000 for two. The first 60 or so decide what comes out. */
static int rounds = ROUNDS;

static const char cook[] = OP_KERNEL(void cook(const int *rounds, const double *in, double *out) {
  double x = *in;
  for (int i = 0; i < *rounds; i++)
    x = 0.5 * x + *in;
  *out = x;
});

static const char taste[] =
    OP_KERNEL(void taste(const int *rounds, const double *in, double *sum, double *most) {
      double x = *in;
      for (int i = 0; i < *rounds; i++)
        x = 0.5 * x + *in;
      *sum += x;
      if (x > *most)
        *most = x;
    });

static const char serve[] =
    OP_KERNEL(void serve(const int *rounds, const double *in, double *left, double *right) {
      double x = *in;
      for (int i = 0; i < *rounds; i++)
        x = 0.5 * x + *in;
      *left += x;
      *right -= 3 * x;
    });

static const char scale[] = OP_KERNEL(void scale(const double *in, double *out) { *out = 2 * *in; });

static const char *folder;

struct table {
  op_set cooks, guests;
  op_map places;
  op_dat in, out, plate;
  int size, nguests;
};

static void open_library(const char *tune, const char *cache, const char *variant, int threads) {
  char words[4][300], program[] = "program", backend[] = "OP2_BACKEND=openmp", jit[] = "OP2_JIT=on";
  char *argv[] = {program, backend, jit, words[0], words[1], words[2], words[3], NULL};
  snprintf(words[0], sizeof words[0], "OP2_TUNE=%s", tune);
  snprintf(words[1], sizeof words[1], "OP2_CACHE=%s%s%s", cache ? folder : "", cache ? "/" : "off",
           cache ? cache : "");
  snprintf(words[2], sizeof words[2], "OP2_THREADS=%d", threads);
  snprintf(words[3], sizeof words[3], "OP2_VARIANT=%s", variant ? variant : "");
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(variant ? 7 : 6, argv, 0));
}

/* Places far apart, so that blocks meet in several colours. */
static int place(const struct table *t, int element, int side) {
  return (element * 7 + side * (element % 5 + 1)) % t->nguests;
}

static double value(int element) {
  return 1 + element % VALUES;
}

static struct table declare(int size) {
  struct table t = {.size = size, .nguests = size / 2 + 1};
  int *places = malloc(2 * (size_t)size * sizeof *places);
  double *in = malloc((size_t)size * sizeof *in);
  assert_non_null(places);
  assert_non_null(in);
  for (int e = 0; e < size; e++) {
    places[2 * e] = place(&t, e, 0);
    places[2 * e + 1] = place(&t, e, 1);
    in[e] = value(e);
  }
  t.cooks = op_decl_set(size, "cooks");
  t.guests = op_decl_set(t.nguests, "guests");
  t.places = op_decl_map(t.cooks, t.guests, 2, places, "places");
  t.in = op_decl_dat(t.cooks, 1, "double", in, "in");
  t.out = op_decl_dat(t.cooks, 1, "double", NULL, "out");
  t.plate = op_decl_dat(t.guests, 1, "double", NULL, "plate");
  free(places);
  free(in);
  return t;
}

/* Halving is exact, so that this is too, however the compiler orders it. */
static double cooked(int element) {
  static double known[VALUES];
  double *x = &known[element % VALUES];
  if (*x > 0)
    return *x;
  *x = value(element);
  for (int i = 0; i < ROUNDS; i++)
    *x = 0.5 * *x + value(element);
  return *x;
}

static void cook_once(const struct table *t) {
  works(op_par_loop(cook, "cook", t->cooks, op_arg_gbl(&rounds, 1, "int", OP_READ),
                    direct(t->in, 1, "double", OP_READ), direct(t->out, 1, "double", OP_WRITE)));
}

static void taste_once(const struct table *t) {
  double sum = 0, most = 0, expected = 0, largest = 0;
  works(op_par_loop(taste, "taste", t->cooks, op_arg_gbl(&rounds, 1, "int", OP_READ),
                    direct(t->in, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
                    op_arg_gbl(&most, 1, "double", OP_MAX)));
  for (int e = 0; e < t->size; e++) {
    expected += cooked(e);
    largest = fmax(largest, cooked(e));
  }
  assert_true(fabs(sum - expected) <= 1e-12 * expected);
  assert_true(most == largest);
}

static void serve_once(const struct table *t) {
  works(op_par_loop(serve, "serve", t->cooks, op_arg_gbl(&rounds, 1, "int", OP_READ),
                    direct(t->in, 1, "double", OP_READ),
                    op_arg_dat(t->plate, 0, t->places, 1, "double", OP_INC),
                    op_arg_dat(t->plate, 1, t->places, 1, "double", OP_INC)));
}

static void scale_once(const struct table *t) {
  works(op_par_loop(scale, "scale", t->cooks, direct(t->in, 1, "double", OP_READ),
                    direct(t->out, 1, "double", OP_WRITE)));
}

static void check_out(const struct table *t) {
  double *out = malloc((size_t)t->size * sizeof *out);
  assert_non_null(out);
  works(op_fetch_data(t->out, out));
  for (int e = 0; e < t->size; e++)
    assert_true(out[e] == cooked(e));
  free(out);
}

static void check_plates(const struct table *t, int calls) {
  double *plate = malloc((size_t)t->nguests * sizeof *plate),
         *expected = calloc((size_t)t->nguests, sizeof *expected);
  assert_non_null(plate);
  assert_non_null(expected);
  works(op_fetch_data(t->plate, plate));
  for (int e = 0; e < t->size; e++) {
    expected[place(t, e, 0)] += calls * cooked(e);
    expected[place(t, e, 1)] -= calls * 3 * cooked(e);
  }
  for (int g = 0; g < t->nguests; g++)
    assert_true(fabs(plate[g] - expected[g]) <= 1e-9 * (1 + fabs(expected[g])));
  free(plate);
  free(expected);
}

static struct loop *record(const char *name) {
  struct loop **records = loop_records(api_context()), *found = NULL;
  assert_non_null(records);
  for (size_t i = 0; i < api_context()->loops->count; i++)
    if (strcmp(records[i]->name, name) == 0)
      found = records[i];
  free(records);
  assert_non_null(found);
  return found;
}

/* How the last call ran. */
struct way {
  int threads, pieces, used; /* may use; pieces of the widest phase; the smaller of them */
  const char *variant;
};

static struct way way_of(const char *name) {
  const struct loop *loop = record(name);
  const struct cpu_loop *cpu = loop->ready.backend_state;
  const struct cpu_part *part = &cpu->variants[loop->ready.variant].parts[0];
  struct way way = {.threads = part->threads, .variant = loop->stats.variant};
  for (int p = 0; p < part->schedule->nphases; p++)
    if (part->schedule->phases[p].count > way.pieces)
      way.pieces = part->schedule->phases[p].count;
  way.used = way.threads < way.pieces ? way.threads : way.pieces;
  return way;
}

static void expect_all_threads(const char *name) {
  const struct way way = way_of(name);
  char words[32];
  snprintf(words, sizeof words, "/threads%d", THREADS);
  assert_int_equal(way.used, THREADS);
  assert_true(way.pieces > THREADS);
  assert_non_null(strstr(way.variant, words));
  assert_true(record(name)->ready.heavy);
}

static void expect_one_thread(const char *name) {
  assert_int_equal(way_of(name).used, 1);
  assert_null(strstr(way_of(name).variant, "threads"));
  assert_false(record(name)->ready.heavy);
}

static void run_all(const struct table *t, int calls) {
  for (int i = 0; i < calls; i++) {
    cook_once(t);
    taste_once(t);
    serve_once(t);
  }
}

/* `use` tries nothing, so that what runs is the first guess. */
TEST(run_on_all_threads) {
  open_library("use", NULL, NULL, THREADS);
  const struct table t = declare(ELEMENTS);
  run_all(&t, 1);
  expect_one_thread("cook");
  expect_one_thread("taste");
  expect_one_thread("serve");
  run_all(&t, HEAVY_ENOUGH);
  expect_all_threads("cook");
  expect_all_threads("taste");
  expect_all_threads("serve");
  run_all(&t, CALLS);
  expect_all_threads("serve");
  check_out(&t);
  check_plates(&t, 1 + HEAVY_ENOUGH + CALLS);
  assert_int_equal(op_counters()->compiles, 3);
  assert_int_equal(op_counters()->trials, 0);
  works(op_plan_check(2));
  works(op_exit());
}

TEST(light_loops_stay) {
  open_library("auto", NULL, NULL, THREADS);
  const struct table t = declare(ELEMENTS);
  for (int i = 0; i < 1000; i++)
    scale_once(&t);
  expect_one_thread("scale");
  assert_true(record("scale")->ready.long_calls < HEAVY_ENOUGH);
  works(op_exit());
}

/* Not where someone has said how loops run; and one thread is one thread. */
TEST(stay_where_that_is_asked_for) {
  static const struct {
    const char *tune, *variant;
    int threads;
  } rows[] = {{"off", NULL, THREADS},
              {"use", "chunks", THREADS},
              {"auto", "cook:chunks", THREADS},
              {"auto", NULL, 1}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    open_library(rows[r].tune, NULL, rows[r].variant, rows[r].threads);
    const struct table t = declare(ELEMENTS);
    for (int i = 0; i < 2 * HEAVY_ENOUGH; i++)
      cook_once(&t);
    expect_one_thread("cook");
    check_out(&t);
    assert_int_equal(op_counters()->trials, 0);
    works(op_exit());
  }
  open_library("use", NULL, "cook:chunks", THREADS);
  const struct table t = declare(ELEMENTS);
  run_all(&t, 2 * HEAVY_ENOUGH);
  expect_one_thread("cook");
  expect_all_threads("taste");
  works(op_exit());
}

/* Every thread that can have an element has one. */
TEST(share_a_few_elements) {
  static const int sizes[] = {1, 2, 3, 5, 11, 40};
  rounds = MANY_ROUNDS;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    open_library("use", NULL, NULL, THREADS);
    const struct table t = declare(sizes[s]);
    for (int i = 0; i < 20; i++) {
      cook_once(&t);
      taste_once(&t);
    }
    assert_int_equal(way_of("cook").used, sizes[s] < THREADS ? sizes[s] : THREADS);
    assert_int_equal(way_of("taste").used, sizes[s] < THREADS ? sizes[s] : THREADS);
    check_out(&t);
    works(op_exit());
  }
  rounds = ROUNDS;
}

/* Code made anew for another mesh or constant is heavy from the start. */
TEST(stay_heavy_on_a_renumbered_mesh) {
  open_library("use", NULL, NULL, THREADS);
  const struct table t = declare(ELEMENTS);
  run_all(&t, 2 * HEAVY_ENOUGH);
  expect_all_threads("serve");
  works(op_renumber(t.places));
  run_all(&t, 1);
  expect_all_threads("serve");
  expect_all_threads("taste");
  check_out(&t);
  check_plates(&t, 2 * HEAVY_ENOUGH + 1);
  works(op_plan_check(2));
  works(op_exit());
}

/* A second backend computes the same, and watched kernels are left alone. */
TEST(agree_with_others) {
  setenv("OP2_SHADOW", "seq", 1);
  open_library("use", NULL, NULL, THREADS);
  struct table t = declare(ELEMENTS);
  run_all(&t, 2 * HEAVY_ENOUGH);
  expect_all_threads("serve");
  works(op_exit());
  unsetenv("OP2_SHADOW");
  setenv("OP2_CHECK", "on", 1);
  open_library("use", NULL, NULL, THREADS);
  t = declare(ELEMENTS);
  run_all(&t, HEAVY_ENOUGH);
  assert_string_equal(record("serve")->stats.variant, "checking form");
  check_plates(&t, HEAVY_ENOUGH);
  works(op_exit());
  unsetenv("OP2_CHECK");
}

/* ---- remembering ----------------------------------------------------------------------------------------*/

static void settle(const struct table *t) {
  int calls = 0;
  for (long long trials = -1; op_counters()->trials != trials || !record("serve")->ready.heavy;) {
    trials = op_counters()->trials;
    for (int i = 0; i < 40; i++, calls++)
      serve_once(t);
    assert_true(calls < 20000);
  }
  check_plates(t, calls);
}

/* One row for each variant that was measured: all of heavy loops, for as many threads as they had. */
static int remembered(const char *cache, int threads, char *chosen, size_t room) {
  char path[256];
  struct error err = {0};
  struct log silent = {.level = LOG_ERROR};
  struct store *store = NULL;
  struct store_tuning *rows;
  const struct store_tuning_filter filter = {.threads = threads};
  snprintf(path, sizeof path, "%s/%s", folder, cache);
  const struct store_options options = {.path = path, .log = &silent, .read_only = true};
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  const int count = store_get_tunings(store, &filter, &rows);
  for (int i = 0; i < count; i++) {
    assert_non_null(strstr(rows[i].mesh, " heavy"));
    if (rows[i].chosen)
      snprintf(chosen, room, "%s", rows[i].variant);
  }
  store_tunings_free(rows, count);
  store_close(store);
  return count;
}

/* With as many threads only; and a loop must show again that it is heavy. */
TEST(are_tuned_and_remembered) {
  char chosen[64] = "", other[64] = "";
  open_library("force", "heavy.db", NULL, THREADS);
  struct table t = declare(ELEMENTS);
  settle(&t);
  assert_true(op_counters()->trials > 0);
  works(op_exit());
  assert_true(remembered("heavy.db", THREADS, chosen, sizeof chosen) > 3);
  assert_int_equal(remembered("heavy.db", THREADS - 1, other, sizeof other), 0);
  assert_int_equal(remembered("heavy.db", 1, other, sizeof other), 0);
  assert_true(strlen(chosen) > 0);

  open_library("use", "heavy.db", NULL, THREADS);
  t = declare(ELEMENTS);
  serve_once(&t);
  expect_one_thread("serve");
  for (int i = 0; i < CALLS; i++)
    serve_once(&t);
  assert_string_equal(way_of("serve").variant, chosen);
  check_plates(&t, CALLS + 1);
  works(op_exit());

  open_library("use", "heavy.db", NULL, THREADS - 1);
  t = declare(ELEMENTS);
  for (int i = 0; i < CALLS; i++)
    serve_once(&t);
  assert_int_equal(way_of("serve").threads, THREADS - 1);
  assert_string_equal(way_of("serve").variant + strlen(way_of("serve").variant) - strlen("/threads2"),
                      "/threads2");
  works(op_exit());
}

/* ---- no memory --------------------------------------------------------------------------------------------*/

/* A loop that has shown that it is heavy, just before it is cut finer. */
static struct table begin_heavy(void) {
  open_library("use", "memory.db", NULL, THREADS);
  const struct table t = declare(ELEMENTS);
  int calls = 0;
  do
    serve_once(&t);
  while (++calls < 100 && record("serve")->ready.long_calls < HEAVY_ENOUGH);
  expect_one_thread("serve");
  return t;
}

static int serve_code(const struct table *t) {
  return op_par_loop(serve, "serve", t->cooks, op_arg_gbl(&rounds, 1, "int", OP_READ),
                     direct(t->in, 1, "double", OP_READ),
                     op_arg_dat(t->plate, 0, t->places, 1, "double", OP_INC),
                     op_arg_dat(t->plate, 1, t->places, 1, "double", OP_INC));
}

static long long calls_of(const char *name) {
  return record(name)->stats.calls;
}

/* One allocation fails: the loop runs on as it was, if it could not be cut. All fail: the call says so, and works
 * when there is memory again. */
TEST(run_on_without_memory) {
  bool stayed = false, failed = false;
  for (long at = 0, refused = 1; refused > 0; at++)
    for (int all = 0; all < 2; all++) {
      struct table t = begin_heavy();
      memory_fail(all ? FAIL_FROM : FAIL_ONCE, at);
      const int code = serve_code(&t);
      refused = memory_refused();
      memory_fail(FAIL_NEVER, 0);
      assert_true(code == OP_OK || (all && code == OP_ERR_MEMORY));
      failed |= code != OP_OK;
      stayed |= !all && !record("serve")->ready.heavy;
      serve_once(&t);
      assert_true(way_of("serve").used == (record("serve")->ready.heavy ? THREADS : 1));
      check_plates(&t, (int)calls_of("serve") - (code != OP_OK));
      works(op_exit());
    }
  assert_true(stayed && failed);
}

int main(void) {
  char made[] = "/tmp/op2jit-heavy-XXXXXX", command[128];
  folder = mkdtemp(made);
  if (!folder)
    return 1;
  const int failed = run_these(NULL, NULL);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 ? failed : 1;
}
