/* Loops get the crew that is faster, also where nothing is tried, and have the same bits on any. They are not tried again where
 * their winners are known. The times are planted: the library says how long a
 * run took, and the function below tells it what it is to be. */
#include "../api/support.h"

#include <unistd.h>

#include "api/api.h"
#include "backend/backend.h"
#include "context/context.h"
#include "loop/choose.h"
#include "loop/tune_memory.h"
#include "record/launch.h"

enum { FACES = 2592, MANY_FACES = 40000, CELLS = 4001, THREADS = 2, CALLS = 60 };

static double on_one, on_many;

void __real_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);

void __wrap_tune_ran(struct op_context *ctx, const struct launch *launch, double seconds) {
  const struct loop *loop = launch->loop;
  const bool one = loop->ready.crew == 1;
  (void)seconds;
  __real_tune_ran(ctx, launch, one ? on_one : on_many);
}

static const char flow[] = OP_KERNEL(void flow(const double *w, const double *q, double *r, double *sum) {
  *r += *w * *q;
  *sum += *w * *q;
});

struct result {
  double r[CELLS], sum;
};

static const struct loop *the_loop(void) {
  struct loop **loops = loop_records(api_context());
  assert_non_null(loops);
  const struct loop *loop = loops[0];
  free(loops);
  return loop;
}

static int nfaces = FACES;

/* Faces are far apart, and nothing is exact: another order would be another sum. */
static void run(const char *tune, const char *more, int threads, int calls, struct result *out) {
  static int table[MANY_FACES];
  static double w[MANY_FACES], q[CELLS];
  char tuning[32], team[32], cache[] = "OP2_CACHE=off", lazy[] = "OP2_LAZY=off", program[] = "p", added[128];
  snprintf(tuning, sizeof tuning, "OP2_TUNE=%s", tune);
  snprintf(team, sizeof team, "OP2_THREADS=%d", threads);
  snprintf(added, sizeof added, "%s", more);
  char *argv[] = {program, tuning, team, cache, lazy, added, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(*more ? 6 : 5, argv, 0));
  for (int f = 0; f < nfaces; f++) {
    table[f] = (int)(f * 7919L % (CELLS / 2));
    w[f] = 1 / (1.0 + f);
  }
  for (int c = 0; c < CELLS; c++)
    q[c] = 1 + c / 3.0;
  const op_set faces = op_decl_set(nfaces, "faces"), cells = op_decl_set(CELLS, "cells");
  const op_map cell = op_decl_map(faces, cells, 1, table, "cell");
  const op_dat weight = op_decl_dat(faces, 1, "double", w, "w"),
               value = op_decl_dat(cells, 1, "double", q, "q"),
               change = op_decl_dat(cells, 1, "double", NULL, "r");
  out->sum = 0;
  for (int i = 0; i < calls; i++)
    works(op_par_loop(flow, "flow", faces, direct(weight, 1, "double", OP_READ),
                      op_arg_dat(value, 0, cell, 1, "double", OP_READ),
                      op_arg_dat(change, 0, cell, 1, "double", OP_INC),
                      op_arg_gbl(&out->sum, 1, "double", OP_INC)));
  works(op_fetch_data(change, out->r));
}

static void expect_crew(int crew, bool compared) {
  const struct loop *loop = the_loop();
  assert_int_equal(loop->ready.crew, crew);
  assert_int_equal(loop->ready.tuning->crew.comparisons > 0, compared);
  assert_int_equal(op_counters()->trials, 0);
  works(op_exit());
}

TEST(have_the_faster_crew_and_the_same_bits) {
  static const char *const tunes[] = {"off", "use", "auto"};
  static struct result alone, now;
  run("off", "", 1, CALLS, &alone);
  expect_crew(0, false);
  for (size_t t = 0; t < sizeof tunes / sizeof *tunes; t++)
    for (int one_wins = 0; one_wins < 2; one_wins++) {
      on_one = one_wins ? 2e-6 : 20e-6;
      on_many = one_wins ? 34e-6 : 10e-6;
      run(tunes[t], "", THREADS, CALLS, &now);
      assert_memory_equal(&now, &alone, sizeof now);
      expect_crew(one_wins ? 1 : THREADS, true);
    }
}

/* The first call has the model's guess: so few elements with so little to do are not worth waking anybody. */
TEST(begin_with_a_guess) {
  static struct result now;
  on_one = on_many = 10e-6;
  run("off", "OP2_VARIANT=64", 8, 1, &now); /* in small blocks: each colour has a barrier */
  expect_crew(1, false);
}

TEST(obey) {
  static struct result now;
  on_one = 2e-6;
  on_many = 34e-6;
  run("off", "OP2_VARIANT=threads2", THREADS, CALLS, &now);
  expect_crew(0, false);
  run("off", "OP2_BACKEND=seq", THREADS, CALLS, &now);
  expect_crew(0, false);
}

static char folder[] = "/tmp/op2jit-small-XXXXXX";

/* A run with a cache; how many trials it made. */
static long long trials_of(const char *tune, const char *cache, int calls) {
  static struct result now;
  char database[96];
  snprintf(database, sizeof database, "OP2_CACHE=%s/%s", folder, cache);
  run(tune, database, THREADS, calls, &now);
  const long long trials = op_counters()->trials;
  works(op_exit());
  return trials;
}

/* The variant is remembered, whichever crew is faster; and large loops have all threads until a look is cheap. */
TEST(known_winners_are_not_tried_again) {
  static struct result now;
  nfaces = MANY_FACES;
  on_many = 1e-3;
  for (int one_wins = 0; one_wins < 2; one_wins++) {
    const char *const cache = one_wins ? "one.db" : "many.db";
    on_one = one_wins ? 0.3e-3 : 3e-3;
    assert_true(trials_of("force", cache, 500) > 10);
    for (int again = 0; again < 2; again++)
      assert_int_equal(trials_of("1000", cache, 100), 0);
    run("off", "", THREADS, 90, &now);
    expect_crew(THREADS, false);
    run("off", "", THREADS, 300, &now);
    expect_crew(one_wins ? 1 : THREADS, true);
  }
  nfaces = FACES;
}

int main(void) {
  if (!mkdtemp(folder))
    return 1;
  setenv("OP2_BACKEND", "openmp", 0);
  char command[64];
  const int failed = run_these(NULL, NULL);
  snprintf(command, sizeof command, "rm -r %s", folder);
  return failed || system(command);
}
