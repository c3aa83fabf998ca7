/* Calls that SQLite makes to the system are made to fail in turn: once, and from then on; as an input/output
 * error and as a full disk.
 *   test_cache_faults [all]: every call in each way; without the word every second one, in four ways */
#include <sqlite3.h>

#include "fault_vfs.h"
#include "scenario.h"

static long step = 2;

static void clean(void) {
  test_remove("f.db");
  for (int i = 1; i <= 5; i++) {
    char name[32];
    snprintf(name, sizeof name, "f.db.damaged-%d", i);
    test_remove(name);
  }
}

static void fail_in_turn(bool filled, const char *file_system, bool for_good, bool full) {
  const char *path = test_path("f.db"), *start = test_path("start.db");
  struct store_options options = {
      .path = path, .log = &test_log, .vfs = FAULT_VFS, .file_system = file_system, .busy_ms = 1};
  long n = 1 - step;
  int lost = 0;
  do {
    clean();
    if (filled)
      copy_file(start, path);
    fault_plan = (struct fault_plan){.at = n += step, .for_good = for_good, .full = full};
    sqlite3_int64 before = sqlite3_memory_used();
    capture_begin();
    scenario_run(&options);
    capture_end();
    /* One for the forged key, and one if the check of the whole file met the error: then it is set aside. */
    assert_true(capture_count("warning") <= 1 + capture_count("set aside as"));
    assert_int_equal(sqlite3_memory_used(), before); /* nothing is left open */
    long failed = fault_plan.failed;
    fault_plan = (struct fault_plan){0};
    int again = scenario_check(path);
    lost += again > 0 && !exists(test_path("f.db.damaged-1"));
    if (failed == 0)
      break;
  } while (n < 5000);
  assert_true(n > 50 && n < 5000);
  assert_int_equal(lost, filled ? 0 : lost); /* what was committed before stays, whatever fails */
  printf("  %ld calls, one in %ld failed %s as %s\n", n - 1, step, for_good ? "from then on" : "once",
         full ? "full disk" : "I/O error");
}

CASE(wal_once) {
  fail_in_turn(true, "ext4", false, false);
}
CASE(wal_for_good) {
  fail_in_turn(true, "ext4", true, false);
}
CASE(wal_full) {
  fail_in_turn(true, "ext4", true, true);
}
CASE(rollback_once) {
  fail_in_turn(true, "nfs", false, false);
}
CASE(rollback_full) {
  fail_in_turn(true, "nfs", true, true);
}
CASE(creation_once) {
  fail_in_turn(false, "ext4", false, false);
}
CASE(creation_for_good) {
  fail_in_turn(false, "nfs", true, false);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wal_once),          cmocka_unit_test(rollback_once), cmocka_unit_test(creation_once),
      cmocka_unit_test(wal_full),          cmocka_unit_test(wal_for_good),  cmocka_unit_test(rollback_full),
      cmocka_unit_test(creation_for_good),
  };
  fault_vfs_register();
  scenario_fill(test_path("start.db"));
  if (argc > 1 && strcmp(argv[1], "all") == 0) {
    step = 1;
    return cmocka_run_group_tests_name("cache faults", tests, NULL, NULL);
  }
  const struct CMUnitTest once[] = {tests[0], tests[1], tests[2], tests[3]};
  return cmocka_run_group_tests_name("cache faults, once", once, NULL, NULL);
}
