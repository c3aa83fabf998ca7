/* Export, import, verify: all or nothing. */
#include <fcntl.h>

#include "base/log.h"
#include "support.h"

static void clean(void) {
  static const char *const names[] = {"a.db", "b.db", "c.db", "x.db"};
  for (int i = 0; i < 4; i++)
    test_remove(names[i]);
}

static struct store *filled(const char *path) {
  struct store *s = test_open(path);
  for (int i = 0; i < 5; i++) {
    assert_true(test_put(s, "res", i));
    assert_true(test_put(s, "upd", i));
  }
  struct store_tuning rows[] = {{"sig", "res", "cpu", 4, "mesh", "a", 1e-3, 5, true, 0, 1e-3, false},
                                {"sig2", "upd", "cpu", 4, "mesh", "b", 2e-3, 5, true, 0, 1e-3, false}};
  assert_true(store_put_tunings(s, rows, 2));
  assert_true(store_put_verdict(s, "k", "v"));
  return s;
}

TEST(there_and_back) {
  clean();
  struct error err = {0};
  long long rows = -1;
  struct store *s = filled(test_path("a.db"));
  assert_int_equal(store_export(s, test_path("x.db"), NULL, 0, &rows, &err), OP_OK);
  assert_int_equal(rows, 10);
  store_close(s);
  struct stat st;
  assert_int_equal(stat(test_path("x.db"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  unsigned char header[20];
  FILE *f = fopen(test_path("x.db"), "rb");
  assert_int_equal(fread(header, 1, 20, f), 20);
  fclose(f);
  assert_int_equal(header[18], 1); /* rollback mode */
  check_integrity(test_path("x.db"));

  s = test_open(test_path("b.db"));
  assert_int_equal(store_import(s, test_path("x.db"), NULL, 0, &rows, &err), OP_OK);
  assert_int_equal(rows, 10);
  for (int i = 0; i < 5; i++)
    assert_true(test_get(s, "res", i) && test_get(s, "upd", i));
  struct test_key key;
  struct store_key back;
  test_key_make(&key, "res", 1);
  assert_int_equal(store_find_key(s, key.hash, &back), 1);
  assert_string_equal(back.names, "dat 1 q\n");
  store_key_free(&back);
  struct store_stats stats;
  store_stats(s, &stats);
  assert_int_equal(stats.tunings, 2);
  assert_int_equal(stats.verdicts, 1);
  assert_int_equal(store_import(s, test_path("x.db"), NULL, 0, &rows, &err),
                   OP_OK); /* again: nothing doubles */
  store_stats(s, &stats);
  assert_int_equal(stats.binaries, 10);
  store_close(s);
  error_free(&err);
}

/* The newer measurement stays, and one variant is chosen. */
TEST(tunings_are_merged) {
  clean();
  struct error err = {0};
  long long rows;
  struct store_tuning a[] = {{"sig", "res", "cpu", 4, "mesh", "a", 1e-3, 5, true, 0, 1e-3, false},
                             {"sig", "res", "cpu", 4, "mesh", "b", 2e-3, 5, false, 0, 1e-3, false}};
  struct store_tuning b[] = {{"sig", "res", "cpu", 4, "mesh", "a", 3e-3, 9, false, 0, 1e-3, false},
                             {"sig", "res", "cpu", 4, "mesh", "b", 1e-3, 9, false, 0, 1e-3, false},
                             {"sig", "res", "cpu", 4, "mesh", "c", 1e-3, 9, true, 0, 1e-3, false}};
  struct store *s = test_open(test_path("a.db"));
  assert_true(store_put_tunings(s, a, 2));
  assert_int_equal(store_export(s, test_path("x.db"), NULL, 0, &rows, &err), OP_OK);
  store_close(s);
  static const int shifts[] = {-1000, 1000};
  for (int i = 0; i < 2; i++) {
    char sql[80];
    test_remove("b.db");
    s = test_open(test_path("b.db"));
    assert_true(store_put_tunings(s, b, 3));
    snprintf(sql, sizeof sql, "UPDATE tuning SET made = made + %d", shifts[i]);
    execute_sql(test_path("b.db"), sql);
    assert_int_equal(store_import(s, test_path("x.db"), NULL, 0, &rows, &err), OP_OK);
    struct store_tuning *got;
    struct store_tuning_filter chosen = {.chosen_only = true};
    int n = store_get_tunings(s, &chosen, &got);
    assert_int_equal(n, 1);
    assert_string_equal(got[0].variant, i == 0 ? "a" : "c");
    assert_int_equal(got[0].count, i == 0 ? 5 : 9);
    store_tunings_free(got, n);
    store_close(s);
  }
  error_free(&err);
}

TEST(named_loops) {
  clean();
  struct error err = {0};
  long long rows;
  struct store *s = filled(test_path("a.db"));
  const char *upd[] = {"upd"}, *wrong[] = {"res", "rse"};
  assert_int_equal(store_export(s, test_path("x.db"), wrong, 2, &rows, &err), OP_ERR_FILE);
  assert_non_null(strstr(error_message(&err), "no binary of a loop named rse"));
  assert_false(exists(test_path("x.db")));
  assert_int_equal(store_export(s, test_path("x.db"), upd, 1, &rows, &err), OP_OK);
  assert_int_equal(rows, 5);
  assert_int_equal(store_export(s, test_path("x.db"), upd, 1, &rows, &err),
                   OP_ERR_FILE); /* not overwritten */
  store_close(s);
  assert_int_equal(query_number(test_path("x.db"), "SELECT count(*) FROM tuning"), 1);
  s = test_open(test_path("b.db"));
  assert_int_equal(store_import(s, test_path("x.db"), wrong, 1, &rows, &err), OP_ERR_FILE);
  assert_int_equal(store_import(s, test_path("x.db"), upd, 1, &rows, &err), OP_OK);
  assert_true(test_get(s, "upd", 0));
  assert_false(test_get(s, "res", 0));
  store_close(s);
  error_free(&err);
}

TEST(damaged_import_changes_nothing) {
  clean();
  struct error err = {0};
  long long rows;
  struct store *s = filled(test_path("a.db"));
  assert_int_equal(store_export(s, test_path("x.db"), NULL, 0, &rows, &err), OP_OK);
  store_close(s);
  static const char *const damage[] = {
      "UPDATE binary SET data = zeroblob(length(data)) WHERE signature = (SELECT max(signature) FROM binary)",
      "PRAGMA user_version = 7", "PRAGMA application_id = 5", "PRAGMA journal_mode = WAL"};
  for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
    test_remove("b.db");
    test_remove("c.db");
    copy_file(test_path("x.db"), test_path("c.db"));
    execute_sql(test_path("c.db"), damage[i]);
    s = test_open(test_path("b.db"));
    assert_true(test_put(s, "own", 1));
    capture_begin();
    int code = store_import(s, test_path("c.db"), NULL, 0, &rows, &err);
    capture_end();
    assert_int_equal(code, OP_ERR_FILE);
    assert_non_null(strstr(error_message(&err), "c.db"));
    struct store_stats stats;
    store_stats(s, &stats);
    assert_int_equal(stats.binaries, 1);
    assert_int_equal(stats.tunings, 0);
    assert_true(test_get(s, "own", 1));
    store_close(s);
  }
  s = test_open(test_path("b.db"));
  assert_int_equal(store_import(s, test_path("nothing"), NULL, 0, &rows, &err), OP_ERR_FILE);
  store_close(s);
  error_free(&err);
}

TEST(export_leaves_nothing_behind) {
  clean();
  struct error err = {0};
  long long rows;
  struct store *s = filled(test_path("a.db"));
  capture_begin();
  int code = store_export(s, "/proc/nowhere/x.db", NULL, 0, &rows, &err);
  capture_end();
  assert_int_equal(code, OP_ERR_FILE);
  execute_sql(test_path("a.db"), "UPDATE binary SET data = zeroblob(9) WHERE signature = 7");
  assert_int_equal(store_export(s, test_path("x.db"), NULL, 0, &rows, &err), OP_ERR_FILE);
  assert_non_null(strstr(error_message(&err), "damaged"));
  assert_false(exists(test_path("x.db")));
  char command[400];
  snprintf(command, sizeof command, "ls '%s' | grep -q part", test_directory());
  assert_int_not_equal(system(command), 0);
  store_close(s);
  error_free(&err);
}

TEST(verify_finds_and_sets_aside) {
  clean();
  struct store *s = filled(test_path("a.db"));
  struct text report = {0};
  long long checked;
  assert_int_equal(store_verify(s, &report, &checked), 0);
  assert_int_equal(checked, 10);
  assert_int_equal(report.length, 0);
  execute_sql(test_path("a.db"), "UPDATE binary SET data = zeroblob(9) WHERE signature = 7;"
                                 "UPDATE binary SET size = 3 WHERE signature = 8");
  assert_int_equal(store_verify(s, &report, &checked), 2);
  assert_non_null(strstr(text_str(&report), "set aside"));
  text_clear(&report);
  assert_int_equal(store_verify(s, &report, &checked), 0);
  assert_int_equal(checked, 8);
  struct store_stats stats;
  store_stats(s, &stats);
  assert_int_equal(stats.damaged, 2);
  text_free(&report);
  store_close(s);
}

/* Looking does not change anything, and makes nothing. */
TEST(read_only) {
  clean();
  struct store_options options = {.path = test_path("a.db"), .log = &test_log, .read_only = true};
  capture_begin();
  struct store *s = test_open_with(&options);
  assert_null(store_path(s));
  store_close(s);
  capture_end();
  assert_int_equal(capture_count("warning"), 0);
  assert_false(exists(test_path("a.db")));
  store_close(filled(test_path("a.db")));
  s = test_open_with(&options);
  assert_true(test_get(s, "res", 1));
  assert_false(test_put(s, "res", 77));
  assert_int_equal(store_clear(s, NULL), 0);
  struct store_stats stats;
  store_stats(s, &stats);
  assert_int_equal(stats.binaries, 10);
  store_close(s);
}
