/* Tuning in a running program: trials give the right answer, what was found is remembered, and candidates are compiled
 * behind the program. Nothing here depends on how long a run takes. */
#include "../api/support.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels-cache/store.h"

static const char *folder;

/* A ring of cells: each edge moves a third of the difference of its two cells' first values between them. */
enum { DIM = 3, SMALL = 8192, LARGE = 65536 };

static const char move[] = OP_KERNEL(void move(const double *a, const double *b, double *da, double *db) {
  for (int n = 0; n < 3; n++) {
    double flux = (a[n] - b[n]) / 4;
    da[n] -= flux;
    db[n] += flux;
  }
});

struct ring {
  int n;
  op_set cells, edges;
  op_map ends;
  op_dat value, change;
};

static void open_library(const char *tune, const char *cache) {
  char tuning[64], database[256], program[] = "program", threads[] = "OP2_THREADS=2", jit[] = "OP2_JIT=on";
  snprintf(tuning, sizeof tuning, "OP2_TUNE=%s", tune);
  snprintf(database, sizeof database, "OP2_CACHE=%s%s%s", cache ? folder : "", cache ? "/" : "off",
           cache ? cache : "");
  char *argv[] = {program, tuning, database, threads, jit, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(5, argv, 0));
}

static struct ring declare(int n) {
  struct ring r = {.n = n};
  int *table = malloc(2 * (size_t)n * sizeof *table);
  double *value = malloc(DIM * (size_t)n * sizeof *value);
  assert_non_null(table);
  assert_non_null(value);
  for (int i = 0; i < n; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % n;
    for (int c = 0; c < DIM; c++)
      value[DIM * i + c] = 4 * ((i * (c + 7)) % 64);
  }
  r.cells = op_decl_set(n, "cells");
  r.edges = op_decl_set(n, "edges");
  r.ends = op_decl_map(r.edges, r.cells, 2, table, "ends");
  r.value = op_decl_dat(r.cells, DIM, "double", value, "value");
  r.change = op_decl_dat(r.cells, DIM, "double", NULL, "change");
  free(table);
  free(value);
  return r;
}

static void move_once(const struct ring *r) {
  works(op_par_loop(move, "move", r->edges, op_arg_dat(r->value, 0, r->ends, DIM, "double", OP_READ),
                    op_arg_dat(r->value, 1, r->ends, DIM, "double", OP_READ),
                    op_arg_dat(r->change, 0, r->ends, DIM, "double", OP_INC),
                    op_arg_dat(r->change, 1, r->ends, DIM, "double", OP_INC)));
}

/* All values are small integers times a power of two: sums are exact in any order. */
static void check(const struct ring *r, int runs) {
  double *change = malloc(DIM * (size_t)r->n * sizeof *change);
  assert_non_null(change);
  works(op_fetch_data(r->change, change));
  for (int i = 0; i < r->n; i++)
    for (int c = 0; c < DIM; c++) {
      const int k = c + 7, here = (i * k) % 64, before = ((i + r->n - 1) % r->n * k) % 64,
                after = ((i + 1) % r->n * k) % 64;
      assert_true(change[DIM * i + c] == (double)runs * ((before - here) + (after - here)));
    }
  free(change);
}

static void starts_at_the_winner(const char *tune, const char *cache, int n) {
  enum { RUNS = 40 };
  open_library(tune, cache);
  struct ring r = declare(n);
  for (int i = 0; i < RUNS; i++)
    move_once(&r);
  check(&r, RUNS);
  assert_int_equal(op_counters()->compiles, 0);
  assert_int_equal(op_counters()->trials, 0);
  works(op_exit());
}

/* The words that a stream gets while something runs. */
struct capture {
  FILE *stream;
  int kept;
  char path[256];
};

static struct capture capture_begin(FILE *stream) {
  struct capture c = {.stream = stream};
  snprintf(c.path, sizeof c.path, "%s/said", folder);
  fflush(stream);
  c.kept = dup(fileno(stream));
  assert_non_null(freopen(c.path, "w", stream));
  return c;
}

static void capture_end(struct capture *c, char *out, size_t size) {
  fflush(c->stream);
  dup2(c->kept, fileno(c->stream));
  close(c->kept);
  FILE *file = fopen(c->path, "r");
  assert_non_null(file);
  out[fread(out, 1, size - 1, file)] = '\0';
  fclose(file);
}

/* The log says what the start was taken from. */
static void says_where_it_starts(const char *tune, const char *cache, int n, const char *words) {
  char said[8192];
  setenv("OP2_LOG", "tune", 1);
  struct capture c = capture_begin(stderr);
  open_library(tune, cache);
  struct ring r = declare(n);
  move_once(&r);
  works(op_exit());
  capture_end(&c, said, sizeof said);
  unsetenv("OP2_LOG");
  if (!strstr(said, "loop move starts with ") || !strstr(said, words))
    fail_msg("\"%s\" is not in:\n%s", words, said);
}

/* The rows of measurements in a cache, to be freed; the caller closes the store. */
static int open_rows(const char *cache, bool read_only, struct store **store, struct store_tuning **rows) {
  char path[256];
  struct error err = {0};
  static struct log silent = {.level = LOG_ERROR};
  const struct store_tuning_filter all = {0};
  snprintf(path, sizeof path, "%s/%s", folder, cache);
  const struct store_options options = {.path = path, .log = &silent, .read_only = read_only};
  assert_int_equal(store_open(store, &options, &err), OP_OK);
  return store_get_tunings(*store, &all, rows);
}

/* Every candidate, and then runs that know the winner: on this mesh, whatever may be spent, and on a larger one. */
TEST(finds_and_remembers) {
  open_library("force", "force.db");
  struct ring r = declare(SMALL);
  int runs = 0;
  long long trials = -1;
  /* Settled: a hundred runs without a trial. */
  while (op_counters()->trials != trials) {
    trials = op_counters()->trials;
    for (int i = 0; i < 100; i++, runs++)
      move_once(&r);
    check(&r, runs);
    assert_true(runs < 100000);
  }
  assert_true(trials > 10);
  assert_true(op_counters()->compiles >= 3);
  works(op_exit());

  starts_at_the_winner("auto", "force.db", SMALL);
  starts_at_the_winner("1000", "force.db", SMALL);
  starts_at_the_winner("1000", "force.db", LARGE);
  starts_at_the_winner("use", "force.db", LARGE);
  says_where_it_starts("use", "force.db", SMALL, "tuned on this processor and class of mesh");
  says_where_it_starts("use", "force.db", LARGE,
                       "tuned on another class of mesh or processor of this family");
  says_where_it_starts("use", "none.db", SMALL, "the default ");
  says_where_it_starts("use", "none.db", SMALL, ": nothing is remembered");
}

/* A run that ends soon keeps the best it knows, once that is half of the variants; with force it says that it was
 * too short, and what is remembered of a whole one stays. */
TEST(short_runs_keep_the_best) {
  static const int calls[] = {8, 32, 20};
  for (int i = 0; i < 3; i++) {
    char said[8192];
    bool chosen = false, provisional = false;
    struct capture c = capture_begin(stderr);
    open_library("force", "short.db");
    struct ring r = declare(SMALL);
    for (int k = 0; k < calls[i]; k++)
      move_once(&r);
    check(&r, calls[i]);
    works(op_exit());
    capture_end(&c, said, sizeof said);
    const char *warning = strstr(said, "loop move (elements=2^13) is not tuned yet: ");
    struct store *store = NULL;
    struct store_tuning *rows;
    const int count = open_rows("short.db", true, &store, &rows);
    for (int row = 0; row < count; row++) {
      chosen |= rows[row].chosen;
      provisional |= rows[row].provisional;
    }
    store_tunings_free(rows, count);
    store_close(store);
    assert_non_null(warning);
    assert_int_equal(chosen, i > 0);
    assert_int_equal(provisional, i > 0);
  }
  starts_at_the_winner("auto", "short.db", SMALL);
}

/* A run that ends before half of the variants are known keeps what it measured, and the next one goes on there. */
TEST(short_runs_add_up) {
  for (int runs = 0;; runs++) {
    assert_true(runs < 100);
    open_library("1000", "parts.db");
    struct ring r = declare(SMALL);
    for (int i = 0; i < 16; i++) {
      move_once(&r);
      usleep(1000); /* for the compiler */
    }
    works(op_exit());
    struct store *store = NULL;
    struct store_tuning *rows;
    bool chosen = false;
    const int count = open_rows("parts.db", true, &store, &rows);
    for (int row = 0; row < count; row++)
      chosen |= rows[row].chosen;
    store_tunings_free(rows, count);
    store_close(store);
    if (chosen)
      break;
    if (count > 1)
      says_where_it_starts("1000", "parts.db", SMALL, "goes on with the trials of an earlier run");
  }
  says_where_it_starts("use", "parts.db", SMALL, "tuned on this processor and class of mesh");
}

/* The report at the end, which goes to the standard output. */
static void report_to(char *out, size_t size) {
  struct capture c = capture_begin(stdout);
  op_timing_output();
  capture_end(&c, out, size);
}

/* Compiles for trials do not make a loop that came from the cache one that was compiled. */
TEST(tells_trials_from_loops) {
  char said[4096];
  open_library("off", "warm.db");
  struct ring r = declare(SMALL);
  move_once(&r);
  report_to(said, sizeof said);
  assert_non_null(strstr(said, "1 loop: 1 compiled, 0 from the kernel cache, 0 native; compiling"));
  works(op_exit());

  open_library("force", "warm.db");
  r = declare(SMALL);
  int runs = 0;
  while (op_counters()->compiles < 2) {
    move_once(&r);
    assert_true(++runs < 100000);
  }
  report_to(said, sizeof said);
  char expected[128];
  snprintf(expected, sizeof expected,
           "1 loop: 0 compiled, 1 from the kernel cache, 0 native; %lld variants compiled for trials; ",
           op_counters()->compiles);
  if (!strstr(said, expected))
    fail_msg("\"%s\" is not in:\n%s", expected, said);
  works(op_exit());
}

static const char scale[] = OP_KERNEL(void scale(const double *in, double *out) { *out = 2 * *in; });

static void scale_once(op_set set, op_dat in, op_dat out) {
  works(op_par_loop(scale, "scale", set, op_arg_dat(in, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_dat(out, -1, OP_ID, 1, "double", OP_WRITE)));
}

static long long calls_in(const char *report, const char *loop) {
  long long calls = -1;
  const char *row = strstr(report, loop);
  return row && sscanf(row + strlen(loop), " %*f %*s %*f%% %lld", &calls) == 1 ? calls : -1;
}

enum { TIMES = 3 };

/* The report of a loop over temporaries that come again and again, each ended so, and once over other dats. */
static void report_of_temporaries(int (*end)(op_dat), char *said, size_t size) {
  open_library("off", NULL);
  struct ring r = declare(SMALL);
  op_dat kept = op_decl_dat(r.cells, 1, "double", NULL, "kept"),
         twice = op_decl_dat(r.cells, 1, "double", NULL, "twice");
  for (int i = 0; i < TIMES; i++) {
    op_dat in = op_decl_dat_temp(r.cells, 1, "double", NULL, "in"),
           out = op_decl_dat_temp(r.cells, 1, "double", NULL, "out");
    scale_once(r.cells, in, out);
    scale_once(r.cells, in, out);
    works(end(in));
    works(end(out));
  }
  move_once(&r);
  scale_once(r.cells, kept, twice);
  report_to(said, size);
  works(op_exit());
}

/* Loops whose dats are gone stay in the report: one row for the calls of a kind. The next record of the kind goes on
 * with the row, also where it uses no temporaries. */
TEST(reports_what_is_gone) {
  char said[4096];
  report_of_temporaries(op_free_dat, said, sizeof said);
  if (calls_in(said, "\nscale") != 2 * TIMES + 1 || calls_in(said, "\nmove") != 1 ||
      !strstr(said, "2 loops: "))
    fail_msg("rows are missing or wrong:\n%s", said);
}

/* Temporaries that may come again keep their record: a row of its own. */
TEST(reports_what_may_come_again) {
  char said[4096];
  report_of_temporaries(op_free_dat_temp, said, sizeof said);
  const char *row = strstr(said, "\nscale");
  if (!row || !strstr(said, "3 loops: "))
    fail_msg("rows are missing or wrong:\n%s", said);
  const long long one = calls_in(row, "\nscale"), other = calls_in(row + 1, "\nscale");
  assert_int_equal(one + other, 2 * TIMES + 1);
  assert_true(one == 1 || other == 1);
}

/* Runs go on while candidates are compiled, and those are tried in the end. */
TEST(compiles_behind_the_program) {
  open_library("1000", NULL);
  struct ring r = declare(SMALL);
  int runs = 0;
  while (op_counters()->trials < 6 || op_counters()->compiles < 3) {
    move_once(&r);
    usleep(100); /* a busy machine is kinder to the compiler so */
    assert_true(++runs < 10000000);
  }
  check(&r, runs);
  works(op_exit());
}

/* The end does not pull the compiler's code away below it. */
TEST(ends_while_something_is_compiled) {
  for (int again = 0; again < 3; again++) {
    open_library("1000", NULL);
    struct ring r = declare(SMALL);
    for (int i = 0; i < 12; i++)
      move_once(&r);
    check(&r, 12);
    works(op_exit());
  }
}

static int threads_now(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks))
    count += e->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Run the loop until one more thread is there, the compiler's: a compile is under way. */
static void run_until_something_is_compiled(const struct ring *r) {
  move_once(r);
  move_once(r);
  const int usual = threads_now();
  for (int runs = 0; threads_now() <= usual; runs++) {
    move_once(r);
    assert_true(runs < 1000000);
  }
}

static long long binaries_in(const char *cache) {
  char path[256];
  struct error err = {0};
  struct store *store = NULL;
  struct store_stats stats;
  snprintf(path, sizeof path, "%s/%s", folder, cache);
  const struct store_options options = {.path = path, .read_only = true};
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  store_stats(store, &stats);
  store_close(store);
  return stats.binaries;
}

/* The program waits for that compile anyway: what comes of it is in the cache, one binary more than the program
 * has had, and the next run gets it from there. */
TEST(keeps_what_is_compiled_at_the_end) {
  open_library("1000", "end.db");
  struct ring r = declare(SMALL);
  run_until_something_is_compiled(&r);
  const long long had = op_counters()->compiles;
  assert_true(had >= 1);
  works(op_exit());
  const long long kept = binaries_in("end.db");
  assert_int_equal(kept, had + 1);

  open_library("1000", "end.db");
  r = declare(SMALL);
  for (int runs = 0; op_counters()->cache_hits < kept; runs++) {
    move_once(&r);
    usleep(100);
    assert_true(runs < 1000000);
  }
  works(op_exit());
}

/* A program that ends without op_exit: the compile is waited for, and the status is the program's. */
TEST(ends_without_the_library) {
  enum { STATUS = 7 };
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    open_library("1000", "left.db");
    struct ring r = declare(SMALL);
    run_until_something_is_compiled(&r);
    exit(STATUS);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), STATUS);
  assert_true(binaries_in("left.db") >= 1);
}

TEST(off_tries_nothing) {
  open_library("off", NULL);
  struct ring r = declare(SMALL);
  for (int i = 0; i < 500; i++)
    move_once(&r);
  check(&r, 500);
  assert_int_equal(op_counters()->trials, 0);
  assert_int_equal(op_counters()->compiles, 1);
  works(op_exit());
}

int main(int argc, char **argv) {
  char made[] = "/tmp/op2jit-tune-XXXXXX", command[128];
  (void)argc;
  (void)argv;
  folder = mkdtemp(made);
  if (!folder)
    return 1;
  int failed = run_these(NULL, NULL);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 ? failed : 1;
}
