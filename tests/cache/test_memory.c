/* Every allocation on the store's paths is made to fail in turn, ours (by the linker's --wrap) and SQLite's (by its own
 * table): once, and from then on. */
#include <sqlite3.h>

#include "../fault/memory.h"
#include "scenario.h"

static sqlite3_mem_methods usual;
static long step, first;

static void *failing_malloc(int n) {
  return memory_refuses() ? NULL : usual.xMalloc(n);
}
static void *failing_realloc(void *p, int n) {
  return memory_refuses() ? NULL : usual.xRealloc(p, n);
}

static void replace_allocator(void) {
  assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual), SQLITE_OK);
  sqlite3_mem_methods failing = usual;
  failing.xMalloc = failing_malloc;
  failing.xRealloc = failing_realloc;
  assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
  assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0),
                   SQLITE_OK); /* no allocation without being asked for */
  assert_int_equal(sqlite3_initialize(), SQLITE_OK);
}

static void fail_in_turn(bool for_good, long step) {
  const char *path = test_path("m.db"), *start = test_path("start.db");
  struct store_options options = {.path = path, .busy_ms = 1, .layers = test_path("layer.db")};
  long rounds = 0, failed, asked;
  for (long n = first;; n += step) {
    test_remove("m.db");
    copy_file(start, path);
    sqlite3_int64 before = sqlite3_memory_used();
    memory_fail(for_good ? FAIL_FROM : FAIL_ONCE, n - 1);
    scenario_run(&options);
    failed = memory_refused();
    asked = memory_asked();
    memory_fail(FAIL_NEVER, 0);
    assert_int_equal(sqlite3_memory_used(), before);
    /* Want of memory is no reason to throw anything away. */
    assert_false(exists(test_path("m.db.damaged-1")));
    int again = scenario_check(path);
    if (again)
      fprintf(stderr, "after allocation %ld failed %s, %d rows were lost\n", n,
              for_good ? "for good" : "once", again);
    assert_int_equal(again, 0);
    rounds++;
    if (failed == 0)
      break;
    assert_true(n < 100000);
  }
  assert_true(rounds > 100 || first > 1);
  printf("  %ld of %ld allocations failed %s\n", rounds - 1, asked, for_good ? "from then on" : "once");
}

TEST(once) {
  fail_in_turn(false, step);
}
TEST(for_good) {
  fail_in_turn(true, step);
}

/* A list that is told to be whole is whole. */
TEST(all_rows) {
  long refused = 1;
  for (long n = 0; refused; n++) {
    struct store *s = test_open(test_path("start.db"));
    struct text report = {0};
    struct error err = {0};
    long long checked = 0, rows = 0;
    memory_fail(FAIL_ONCE, n);
    const int findings = store_verify(s, &report, &checked);
    const int code = store_export(s, test_path("export.db"), NULL, 0, &rows, &err);
    refused = memory_refused();
    memory_fail(FAIL_NEVER, 0);
    store_close(s);
    text_free(&report);
    error_free(&err);
    test_remove("export.db");
    if (!findings)
      assert_int_equal(checked, SCENARIO_ROWS);
    if (!code)
      assert_int_equal(rows, SCENARIO_ROWS);
  }
}

int main(int argc, char **argv) {
  step = argc > 1 ? atol(argv[1]) : 13;
  first = argc > 2 ? atol(argv[2]) : 1;
  replace_allocator();
  scenario_fill(test_path("start.db"));
  struct store *s = test_open(test_path("start.db"));
  struct error err = {0};
  long long rows;
  assert_int_equal(store_export(s, test_path("layer.db"), NULL, 0, &rows, &err), OP_OK);
  store_close(s);
  return run_these(NULL, NULL);
}
