/* Runs of one program with OP2_TUNE=force: its loops are called forty times, three times and once in each run. Measurements add
 * up until all that can be are tuned, nothing is lost on the way, and what is said of it is what the cache has. */
#include "../api/support.h"

#include <unistd.h>

#include "kernels-cache/store.h"
#include "report/tuning_report.h"

static const char *folder;

enum { CELLS = 8192, OFTEN = 40, SELDOM = 3, MANY = 80 };

static const char often[] = OP_KERNEL(void often(const double *a, const double *b, double *da, double *db) {
  *da += *a - *b;
  *db += *b - *a;
});
static const char seldom[] = OP_KERNEL(void seldom(const double *a, const double *b, double *da, double *db) {
  *da += 2 * *a - *b;
  *db += 2 * *b - *a;
});
static const char once[] = OP_KERNEL(void once(const double *a, const double *b, double *da, double *db) {
  *da += 3 * *a - *b;
  *db += 3 * *b - *a;
});

struct program {
  op_set edges;
  op_map ends;
  op_dat value, change;
};

static void open_library(const char *tune) {
  char tuning[64], database[256], program[] = "program", threads[] = "OP2_THREADS=2", jit[] = "OP2_JIT=on";
  snprintf(tuning, sizeof tuning, "OP2_TUNE=%s", tune);
  snprintf(database, sizeof database, "OP2_CACHE=%s/force.db", folder);
  char *argv[] = {program, tuning, database, threads, jit, NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(5, argv, 0));
}

static struct program declare(void) {
  static int table[2 * CELLS];
  struct program p = {0};
  for (int i = 0; i < CELLS; i++) {
    table[2 * i] = i;
    table[2 * i + 1] = (i + 1) % CELLS;
  }
  op_set cells = op_decl_set(CELLS, "cells");
  p.edges = op_decl_set(CELLS, "edges");
  p.ends = op_decl_map(p.edges, cells, 2, table, "ends");
  p.value = op_decl_dat(cells, 1, "double", NULL, "value");
  p.change = op_decl_dat(cells, 1, "double", NULL, "change");
  return p;
}

static void call(const struct program *p, const char *text, const char *name) {
  works(op_par_loop(text, name, p->edges, op_arg_dat(p->value, 0, p->ends, 1, "double", OP_READ),
                    op_arg_dat(p->value, 1, p->ends, 1, "double", OP_READ),
                    op_arg_dat(p->change, 0, p->ends, 1, "double", OP_INC),
                    op_arg_dat(p->change, 1, p->ends, 1, "double", OP_INC)));
}

/* One run of the program; what it says goes to `said`. Returns how many trials it made. */
static long long run(const char *tune, char *said, size_t size) {
  char path[256];
  snprintf(path, sizeof path, "%s/said", folder);
  fflush(stderr);
  const int kept = dup(fileno(stderr));
  assert_non_null(freopen(path, "w", stderr));
  open_library(tune);
  const struct program p = declare();
  call(&p, once, "once");
  for (int i = 0; i < SELDOM; i++)
    call(&p, seldom, "seldom");
  for (int i = 0; i < OFTEN; i++)
    call(&p, often, "often");
  const long long trials = op_counters()->trials;
  const int code = op_exit();
  fflush(stderr);
  dup2(kept, fileno(stderr));
  close(kept);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  said[fread(said, 1, size - 1, file)] = '\0';
  fclose(file);
  assert_int_equal(code, OP_OK);
  return trials;
}

/* What the cache has of a loop. */
struct kept {
  int variants, measurements, chosen;
  double medians;
};

static struct kept look(const char *loop, char *line, size_t size) {
  char path[256];
  struct error err = {0};
  struct log silent = {.level = LOG_ERROR};
  struct store *store = NULL;
  struct store_tuning *rows;
  struct text words = {0};
  struct kept kept = {0};
  const struct store_tuning_filter of_loop = {.loop = loop};
  snprintf(path, sizeof path, "%s/force.db", folder);
  const struct store_options options = {.path = path, .log = &silent, .read_only = true};
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  kept.variants = store_get_tunings(store, &of_loop, &rows);
  for (int i = 0; i < kept.variants; i++) {
    kept.measurements += rows[i].count;
    kept.chosen += rows[i].chosen;
    kept.medians += rows[i].median;
  }
  assert_true(store_get_fact(store, tuning_report_machine, tuning_report_name, 0, NULL, &words));
  snprintf(line, size, "%s", text_str(&words));
  text_free(&words);
  store_tunings_free(rows, kept.variants);
  store_close(store);
  return kept;
}

static bool is_same(const struct kept *a, const struct kept *b) {
  return a->variants == b->variants && a->measurements == b->measurements && a->chosen == b->chosen &&
         !(a->medians < b->medians || a->medians > b->medians);
}

/* The warning of a loop that is not tuned yet has the numbers of the cache; one that is tuned has none. Returns where it is. */
static const char *check_warning(const char *said, const char *loop, const struct kept *kept) {
  char start[128];
  int begun = -1, variants = -1, measured = -1, wanted = -1, runs = -1;
  snprintf(start, sizeof start, "op2jit: warning: loop %s (elements=2^13) is not tuned yet: ", loop);
  const char *warning = strstr(said, start);
  if (kept->chosen) {
    assert_null(warning);
    return NULL;
  }
  assert_non_null(warning);
  assert_int_equal(sscanf(warning + strlen(start),
                          "%d of its %d variants are measured, with %d of %d measurements; run the program "
                          "again with OP2_TUNE=force, about %d time",
                          &begun, &variants, &measured, &wanted, &runs),
                   5);
  assert_int_equal(begun, kept->variants);
  assert_in_range(variants, begun, 100);
  assert_in_range(measured, begun, kept->measurements);
  assert_in_range(wanted, measured + 1, 2000);
  assert_in_range(runs, 1, MANY);
  return warning;
}

static void check_line(const char *line, int tuned) {
  char expected[256];
  const char *rest = "; called only once in a run, which is not worth tuning: once (elements=2^13)";
  if (tuned == 2)
    snprintf(expected, sizeof expected, "all 2 loops are tuned%s", rest);
  else
    snprintf(expected, sizeof expected, "%d of 2 loops are tuned%s", tuned, rest);
  assert_string_equal(line, expected);
}

TEST(runs_add_up_until_all_is_tuned) {
  static char said[1 << 16], line[1024];
  struct kept many = {0}, few = {0};
  for (int runs = 0; many.chosen + few.chosen < 2; runs++) {
    assert_true(runs < MANY);
    run("force", said, sizeof said);
    const struct kept many_now = look("often", line, sizeof line),
                      few_now = look("seldom", line, sizeof line);
    const char *of_often = check_warning(said, "often", &many_now),
               *of_seldom = check_warning(said, "seldom", &few_now);
    assert_true(!of_often || !of_seldom || of_seldom < of_often); /* in the order of the first calls */
    assert_null(strstr(said, "loop once"));
    check_line(line, many_now.chosen + few_now.chosen);
    assert_true(many_now.measurements > many.measurements || many.chosen);
    assert_true(few_now.measurements > few.measurements || few.chosen);
    assert_true(many_now.variants >= many.variants && few_now.variants >= few.variants);
    assert_true(many_now.chosen >= many.chosen && few_now.chosen >= few.chosen);
    many = many_now;
    few = few_now;
  }
  assert_int_equal(look("once", line, sizeof line).variants, 0);

  /* That is the end: once more changes nothing. */
  assert_int_equal(run("force", said, sizeof said), 0);
  assert_string_equal(said, "");
  const struct kept many_then = look("often", line, sizeof line),
                    few_then = look("seldom", line, sizeof line);
  assert_true(is_same(&many_then, &many) && is_same(&few_then, &few));
  check_line(line, 2);

  /* And the usual way of running starts there. */
  setenv("OP2_LOG", "tune", 1);
  run("auto", said, sizeof said);
  unsetenv("OP2_LOG");
  for (int i = 0; i < 2; i++) {
    const char *start = strstr(said, i ? "loop often starts with " : "loop seldom starts with ");
    assert_non_null(start);
    const char *words = strstr(start, "tuned on this processor and class of mesh");
    assert_true(words && words < strchr(start, '\n'));
  }
}

int main(void) {
  char made[] = "/tmp/op2jit-force-XXXXXX", command[128];
  folder = mkdtemp(made);
  if (!folder)
    return 1;
  int failed = run_these(NULL, NULL);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 ? failed : 1;
}
