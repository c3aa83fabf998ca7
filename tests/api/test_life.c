/* Beginning and end, errors and handlers, clocks and counters. */
#include <fcntl.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

OP_KERNEL_DEF(
    bump, void bump(const int *x, int *sum) { *sum += *x; })

/* TEST_LIVES: fewer, where each is a context of a GPU and a compile. */
TEST(a_hundred_lives) {
  const char *fewer = getenv("TEST_LIVES");
  const int lives = fewer ? atoi(fewer) : 100;
  op_set old = NULL;
  op_dat old_dat = NULL;
  for (int life = 0; life < lives; life++) {
    int x[5] = {1, 2, 3, 4, life}, sum = 0;
    op_set_error_handler(OP_ERRORS_RETURN, NULL);
    works(op_init(0, NULL, 0));
    if (old) {
      assert_int_equal(op_get_size(old), -1);
      fails(OP_ERR_HANDLE, op_fetch_data(old_dat, x));
    }
    assert_int_equal(op_counters()->loops, 0);
    op_set set = op_decl_set(5, "s");
    op_map map = op_decl_map(set, set, 1, (int[]){4, 3, 2, 1, 0}, "m");
    op_dat dat = op_decl_dat(set, 1, life % 2 ? "int" : "int:soa", x, "x");
    for (int i = 0; i < 3; i++)
      works(op_par_loop(OP_KERNEL_OF(bump), "bump", set, op_arg_dat(dat, 0, map, 1, "int", OP_READ),
                        op_arg_gbl(&sum, 1, "int", OP_INC)));
    assert_int_equal(sum, 3 * (10 + life));
    assert_int_equal(op_counters()->loops, 3);
    assert_int_equal(op_counters()->records, 1);
    fails(OP_ERR_STATE, op_init(0, NULL, 0));
    works(op_exit());
    fails(OP_ERR_STATE, op_exit());
    old = set;
    old_dat = dat;
  }
}

TEST(op_init_may_be_tried_again) {
  char *wrong[] = {"program", "OP2_BACKEND=abacus", NULL},
       *right[] = {"program", "other", "OP2_LOG=warn", NULL};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  fails(OP_ERR_BACKEND, op_init(2, wrong, 0));
  assert_string_equal(wrong[1], "OP2_BACKEND=abacus"); /* argv is left as it is */
  fails(OP_ERR_STATE, op_exit());
  works(op_init(3, right, 0));
  assert_string_equal(right[2], "OP2_LOG=warn");
  works(op_exit());
}

LIBRARY_TEST(the_outcome_of_the_last_call_is_kept) {
  assert_non_null(op_last_error());
  assert_null(op_decl_set(-1, "s"));
  assert_int_equal(op_last_error()->code, OP_ERR_SIZE);
  assert_string_equal(op_last_error()->name, "OP_ERR_SIZE");
  assert_true(strlen(op_last_error()->message) > 20);
  assert_int_equal(op_last_error()->code, OP_ERR_SIZE); /* reading it is no call */
  assert_non_null(op_decl_set(1, "s"));
  assert_int_equal(op_last_error()->code, OP_OK);
  assert_string_equal(op_last_error()->name, "OP_OK");
  assert_non_null(op_last_error()->message);
}

static struct {
  int calls, code;
  void *user;
  char message[200];
} heard;

static void hear(const op_error *error, void *user) {
  heard.calls++;
  heard.code = error->code;
  heard.user = user;
  snprintf(heard.message, sizeof heard.message, "%s", error->message);
  assert_ptr_equal(op_last_error(), error);
}

TEST(a_handler_hears_each_error_once) {
  memset(&heard, 0, sizeof heard);
  op_set_error_handler(hear, &heard);
  fails(OP_ERR_STATE, op_exit()); /* set before op_init */
  assert_int_equal(heard.calls, 1);
  assert_int_equal(op_init(0, NULL, 0), OP_OK);
  assert_null(op_decl_set(-5, "five"));
  assert_int_equal(heard.calls, 2);
  assert_int_equal(heard.code, OP_ERR_SIZE);
  assert_ptr_equal(heard.user, &heard);
  assert_non_null(strstr(heard.message, "\"five\""));
  assert_non_null(op_decl_set(5, "five"));
  assert_int_equal(heard.calls, 2);
  works(op_exit());
  assert_null(op_decl_set(5, "five")); /* it stays in force */
  assert_int_equal(heard.calls, 3);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
}

static jmp_buf outside;

static void leap(const op_error *error, void *user) {
  (void)user;
  longjmp(outside, error->code);
}

LIBRARY_TEST(a_handler_may_leave) {
  op_set_error_handler(leap, NULL);
  int code = setjmp(outside);
  if (code == 0) {
    op_decl_set(-1, "s");
    fail_msg("the handler was not called");
  }
  assert_int_equal(code, OP_ERR_SIZE);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  assert_non_null(op_decl_set(3, "s")); /* and the library is not busy */
}

LIBRARY_TEST(one_process_is_rank_zero) {
  assert_int_equal(op_rank(), 0);
  assert_int_equal(op_rank_count(), 1);
  assert_int_equal(op_is_root(), 1);
  op_barrier();
  assert_int_equal(op_last_error()->code, OP_OK);
}

LIBRARY_TEST(clocks_run_forward) {
  double before = op_wtime(), cpu = -1, wall = -1;
  op_timers(&cpu, &wall);
  op_timers(NULL, NULL);
  assert_true(cpu >= 0 && wall >= before && op_wtime() >= wall);
}

LIBRARY_TEST(counters_count) {
  int x[3] = {1, 2, 3}, y[3], pairs[6] = {0}, sum = 0;
  op_set set = op_decl_set(3, "s"), none = op_decl_set(0, "none");
  op_dat first = op_decl_dat(set, 1, "int", x, "first"), second = op_decl_dat(set, 1, "int:soa", x, "second");
  op_dat empty = op_decl_dat(none, 1, "int", NULL, "empty"),
         apart = op_decl_dat(set, 2, "int:soa", pairs, "apart");
  const op_counters_t *c = op_counters();
  /* One call site, three loops. */
  for (int i = 0; i < 30; i++) {
    op_dat dat = i % 3 == 0 ? first : i % 3 == 1 ? second : empty;
    works(op_par_loop(OP_KERNEL_OF(bump), "bump", i % 3 == 2 ? none : set, direct(dat, 1, "int", OP_READ),
                      op_arg_gbl(&sum, 1, "int", OP_INC)));
    assert_int_equal(c->loops, i + 1);
    assert_int_equal(c->records, i < 3 ? i + 1 : 3);
  }
  assert_int_equal(sum, 20 * 6);
  /* Globals may be elsewhere in each call. */
  int other = 0;
  works(op_par_loop(OP_KERNEL_OF(bump), "bump", set, direct(first, 1, "int", OP_READ),
                    op_arg_gbl(&other, 1, "int", OP_INC)));
  assert_int_equal(other, 6);
  assert_int_equal(c->records, 3);
  long long flushes = c->flushes, converted = c->bytes_converted;
  works(op_fetch_data(first, y));
  assert_true(c->flushes > flushes && c->bytes_converted == converted); /* rows in the user's order already */
  works(op_fetch_data(apart, pairs));
  assert_int_equal(c->bytes_converted, converted + (long long)sizeof pairs);
  assert_ptr_equal(op_counters(), c);
}

LIBRARY_TEST(plans_can_be_checked) {
  int sum = 0, x[4] = {1, 2, 3, 4};
  op_set set = op_decl_set(4, "s");
  op_map map = op_decl_map(set, set, 2, (int[]){0, 1, 1, 2, 2, 3, 3, 0}, "m");
  op_dat dat = op_decl_dat(set, 1, "int", x, "x");
  works(op_par_loop(OP_KERNEL_OF(bump), "bump", set, op_arg_dat(dat, 1, map, 1, "int", OP_READ),
                    op_arg_gbl(&sum, 1, "int", OP_INC)));
  for (int level = 0; level <= 2; level++)
    works(op_plan_check(level));
}

/* Events of loops whose record is gone, here with a temporary dat, keep their names. */
TEST(a_trace_outlives_records) {
  char path[] = "/tmp/op2jit-trace-XXXXXX", timing[64], text[4096] = "";
  const int made = mkstemp(path);
  assert_int_equal(close(made), 0);
  snprintf(timing, sizeof timing, "OP2_TIMING=trace:%s", path);
  char *argv[] = {"life", timing};
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  works(op_init(2, argv, 0));
  int x[5] = {1, 2, 3, 4, 5}, sum = 0;
  op_set set = op_decl_set(5, "s");
  for (int i = 0; i < 3; i++) {
    op_dat dat = op_decl_dat_temp(set, 1, "int", x, "x");
    works(op_par_loop(OP_KERNEL_OF(bump), "bump", set, direct(dat, 1, "int", OP_READ),
                      op_arg_gbl(&sum, 1, "int", OP_INC)));
    works(op_free_dat_temp(dat));
  }
  works(op_exit());
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  remove(path);
  int events = 0;
  for (const char *at = text; (at = strstr(at, "{\"name\":\"bump\",\"cat\":\"loop\",")); at++)
    events++;
  assert_int_equal(events, 3);
}

TEST(reports_are_tried_at_the_start) {
  char folder[] = "/tmp/op2jit-report-XXXXXX", timing[3][128];
  assert_non_null(mkdtemp(folder));
  snprintf(timing[0], sizeof timing[0], "OP2_TIMING=json:%s/none/x.json", folder);
  snprintf(timing[1], sizeof timing[1], "OP2_TIMING=trace:%s", folder);
  snprintf(timing[2], sizeof timing[2], "OP2_TIMING=json:%s/x.json", folder);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  for (int i = 0; i < 2; i++) {
    fails(OP_ERR_FILE, op_init(2, (char *[]){"life", timing[i]}, 0));
    assert_non_null(strstr(op_last_error()->message, "OP2_TIMING"));
    assert_non_null(strstr(op_last_error()->message, i ? "Is a directory" : "No such file"));
  }
  /* To try leaves nothing: the folder can be removed while the program runs. */
  works(op_init(2, (char *[]){"life", timing[2]}, 0));
  assert_int_equal(rmdir(folder), 0);
  fails(OP_ERR_FILE, op_exit());
}

/* The words of a child of this process at its end: it begins, and ends in one of these ways. */
enum ending { FORGETS, FORGETS_WITHOUT_REPORT, ENDS_WELL, FORKS_ONLY, FAILS_AND_LEAVES, FAILS_FATALLY };

static void live(enum ending ending) {
  /* Not a GPU: a driver that this process has used does not work in its children. */
  char *argv[] = {"life", ending == FORGETS_WITHOUT_REPORT ? "OP2_LOG=warn" : "OP2_TIMING=text",
                  "OP2_BACKEND=seq"};
  if (ending != FAILS_FATALLY)
    op_set_error_handler(OP_ERRORS_RETURN, NULL);
  op_init(3, argv, 0);
  if (ending == FORKS_ONLY) {
    const pid_t child = fork();
    if (child == 0)
      exit(0);
    waitpid(child, NULL, 0);
  }
  if (ending == FAILS_AND_LEAVES || ending == FAILS_FATALLY)
    op_decl_set(-1, "s");
  if (ending == ENDS_WELL || ending == FORKS_ONLY)
    op_exit();
  exit(0);
}

static int warnings_of(enum ending ending) {
  char said[4096] = "";
  int ends[2], count = 0;
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    live(ending);
  }
  close(ends[1]);
  size_t length = 0;
  for (ssize_t n;
       length < sizeof said - 1 && (n = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
    length += (size_t)n;
  close(ends[0]);
  assert_int_equal(waitpid(child, NULL, 0), child);
  for (const char *at = said;
       (at = strstr(at, "ended without op_exit, which writes the report of OP2_TIMING=text\n")); at++)
    count++;
  return count;
}

TEST(a_forgotten_op_exit_is_said) {
  assert_int_equal(warnings_of(FORGETS), 1);
  assert_int_equal(warnings_of(FORGETS_WITHOUT_REPORT), 0); /* nothing is lost */
  assert_int_equal(warnings_of(ENDS_WELL), 0);
  assert_int_equal(warnings_of(FORKS_ONLY), 0); /* what the child leaves is the parent's */
  assert_int_equal(warnings_of(FAILS_AND_LEAVES), 0);
  assert_int_equal(warnings_of(FAILS_FATALLY), 0);
}
