/* The library's words, when asked, on where a loop's code came from and how it runs; and why it was compiled, in
 * the program's own names, at the miss and from the cache's rows afterwards. */
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels-cache/store.h"

static char folder[] = "/tmp/op2jit-explain-XXXXXX", cache[64], said[16384];

static const char *const flux = OP_KERNEL(void flux(const double *q, double *res, double *largest) {
  res[0] += gam * q[0];
  if (q[0] > *largest)
    *largest = q[0];
});

/* How the program of a run differs from the first. */
struct program {
  double gam;
  const char *res_type;
  int access, idx;
  const char *variable;
};
static const struct program usual = {1.4, "double", OP_INC, 0, "OP2_LOG=debug"};

static void flux_once(const struct program *p) {
  int table[] = {0, 1, 1, 2, 2, 0};
  double largest = 0;
  op_set edges = op_decl_set(3, "edges"), cells = op_decl_set(3, "cells");
  op_map ecell = op_decl_map(edges, cells, 2, table, "ecell");
  op_dat q = op_decl_dat(cells, 1, "double", NULL, "q"),
         res = op_decl_dat(edges, 2, p->res_type, NULL, "res");
  works(op_decl_const("gam", 1, "double", &p->gam));
  works(op_par_loop(flux, "flux", edges, op_arg_dat(q, p->idx, ecell, 1, "double", OP_READ),
                    direct(res, 2, "double", (op_access)p->access),
                    op_arg_gbl(&largest, 1, "double", OP_MAX)));
}

/* Run the program on the cache; what it says goes to `said`. Returns the compiles. */
static long long run(const struct program *p) {
  char argument[80], log[80];
  snprintf(argument, sizeof argument, "OP2_CACHE=%s", cache);
  snprintf(log, sizeof log, "%s/said", folder);
  char program[] = "program", debug[32];
  snprintf(debug, sizeof debug, "%s", p->variable);
  char *argv[] = {program, argument, debug, NULL};
  fflush(stderr);
  int before = dup(STDERR_FILENO), file = open(log, O_RDWR | O_CREAT | O_TRUNC, 0600);
  assert_true(before >= 0 && file >= 0 && dup2(file, STDERR_FILENO) >= 0);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  int code = op_init(3, argv, 0);
  if (code == OP_OK)
    flux_once(p);
  long long compiles = op_counters()->compiles;
  op_exit();
  fflush(stderr);
  dup2(before, STDERR_FILENO);
  ssize_t length = pread(file, said, sizeof said - 1, 0);
  said[length > 0 ? length : 0] = '\0';
  close(before);
  close(file);
  assert_int_equal(code, OP_OK);
  return compiles;
}

static void expect(const char *words) {
  if (!strstr(said, words))
    fail_msg("\"%s\" is not in:\n%s", words, said);
}

FIXTURE(fresh) {
  static const char *const tails[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    char path[80];
    snprintf(path, sizeof path, "%s%s", cache, tails[i]);
    unlink(path);
  }
  return 0;
}

#define FRESH_TEST(name) TEST_BETWEEN(name, fresh, NULL)

FRESH_TEST(a_cold_run) {
  assert_int_equal(run(&usual), 1);
  expect("first time that a loop named flux is compiled for this cache");
}

/* Each loop: where its code came from, which plan, which variant and why. */
FRESH_TEST(a_warm_run) {
  char row[96];
  run(&usual);
  assert_int_equal(run(&usual), 0);
  snprintf(row, sizeof row, "row 1 of %s, compiled ", cache);
  expect(row);
  expect(" ms, ");
  expect(" bytes for ");
  expect("op2jit: plan: loop flux: ");
  expect("for 3 elements of edges");
  expect("op2jit: tune: loop flux ");
}

FRESH_TEST(a_forced_variant) {
  setenv("OP2_VARIANT", "whole/scalar", 1);
  run(&usual);
  unsetenv("OP2_VARIANT");
  expect("loop flux runs as whole/scalar: OP2_VARIANT asks for it");
  assert_null(strstr(said, "what of it fits"));
}

/* One thread has no blocks, and maps of one arity nothing to sort by. */
FRESH_TEST(words_that_do_not_fit) {
  setenv("OP2_VARIANT", "512/sorted/whole/scalar", 1);
  run(&usual);
  unsetenv("OP2_VARIANT");
  expect(
      "op2jit: tune: loop flux: OP2_VARIANT asks for whole/scalar/sorted/512; what of it fits this loop is "
      "whole/scalar");
}

/* Nothing of it is said unless asked for. */
FRESH_TEST(silence) {
  struct program quiet = usual;
  quiet.variable = "OP2_LOG=warn";
  run(&quiet);
  assert_string_equal(said, "");
}

struct last {
  char reason[256];
};

static void note_first(void *user, const struct store_event *event) {
  struct last *last = user;
  if (!last->reason[0] && strcmp(event->event, "compiled") == 0)
    snprintf(last->reason, sizeof last->reason, "%s", event->reason);
}

/* As `op2jit cache why` reads it. */
static void expect_row(const char *reason) {
  struct store *store = NULL;
  struct error err = {0};
  struct last last = {{0}};
  struct store_options options = {.path = cache, .read_only = true};
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  store_history(store, "flux", 0, note_first, &last);
  store_close(store);
  assert_string_equal(last.reason, reason);
}

FRESH_TEST(a_changed_program) {
  struct program p = usual;
  const struct {
    struct program program;
    const char *said;
  } changes[] = {
      {{1.41, "double", OP_INC, 0, usual.variable}, "constant gam 1.4 -> 1.41"},
      {{1.4, "double", OP_RW, 0, usual.variable}, "argument 2 (res) access OP_INC -> OP_RW"},
      {{1.4, "double", OP_INC, 1, usual.variable}, "argument 1 (q) index 0 -> 1"},
      {{1.4, "double:soa", OP_INC, 0, usual.variable}, "dat res is kept by components (soa) now"},
  };
  run(&p);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    assert_int_equal(run(&changes[i].program), 1);
    expect(changes[i].said);
    expect_row(changes[i].said);
  }
}

static void count_reasons(void *user, const struct store_event *event) {
  int *counts = user;
  counts[0] += strcmp(event->reason, "the checking form of the kernel, for OP2_CHECK") == 0;
  counts[1] +=
      strcmp(event->reason, "the checking form of the kernel, for OP2_CHECK: constant gam 1.4 -> 1.41") == 0;
  counts[2] += strstr(event->reason, "is gone") || strstr(event->reason, "shape");
  counts[3] += strcmp(event->reason, "constant gam 1.4 -> 1.41") == 0;
}

/* OP2_CHECK compiles another kernel, not a change of the program's; nor is the program's own one a change
 * of that. */
FRESH_TEST(the_checking_form) {
  struct program checked = usual;
  int counts[4] = {0};
  struct store *store = NULL;
  struct error err = {0};
  struct store_options options = {.path = cache, .read_only = true};
  checked.variable = "OP2_CHECK=on";
  run(&usual);
  assert_true(run(&checked) > 0);
  checked.gam = 1.41;
  assert_true(run(&checked) > 0);
  assert_int_equal(store_open(&store, &options, &err), OP_OK);
  store_history(store, "flux", 0, count_reasons, counts);
  store_close(store);
  assert_int_equal(counts[0], 1);
  assert_int_equal(counts[1], 1);
  assert_int_equal(counts[2], 0);
  assert_int_equal(counts[3], 1);
}

static int finish(void **state) {
  char log[80];
  fresh(state);
  snprintf(log, sizeof log, "%s/said", folder);
  unlink(log);
  return rmdir(folder);
}

int main(void) {
  if (!mkdtemp(folder))
    return 2;
  snprintf(cache, sizeof cache, "%s/kernels.db", folder);
  return run_these(NULL, finish);
}
