#include "scenario.h"

void scenario_fill(const char *path) {
  struct store *s = test_open(path);
  for (int i = 0; i < SCENARIO_ROWS; i++)
    assert_true(test_put(s, "res", i));
  store_close(s);
}

static void tune(struct store *s) {
  struct store_tuning rows[] = {{"sig", "res", "cpu", 4, "mesh", "a", 1e-3, 5, false, 0, 1e-3, false},
                                {"sig", "res", "cpu", 4, "mesh", "b", 2e-3, 5, true, 0, 1e-3, false}};
  struct store_tuning_filter all = {0};
  struct store_tuning *got;
  store_put_tunings(s, rows, 2);
  int n = store_get_tunings(s, &all, &got);
  store_tunings_free(got, n);
}

static void remember(struct store *s) {
  struct test_key k;
  struct text t = {0};
  double number;
  test_key_make(&k, "bad", 1);
  store_note_failure(s, &k.key, "it does not compile");
  store_put_verdict(s, "key", "verdict");
  if (store_get_verdict(s, "key", &t)) /* true only with the whole text */
    assert_string_equal(text_str(&t), "verdict");
  store_put_fact(s, "machine", "triad", 3.5, "GB/s");
  if (store_get_fact(s, "machine", "triad", 0, &number, NULL))
    assert_true(number == 3.5);
  text_free(&t);
}

void scenario_run(const struct store_options *options) {
  struct store *s = NULL;
  struct error err = {0};
  store_open(&s, options, &err);
  error_free(&err);
  for (int i = 0; i < 2 * SCENARIO_ROWS; i++) {
    struct test_key k;
    test_key_make(&k, "res", i);
    if (!test_get(s, "res", i) && store_lease(s, &k.key) != STORE_LEASE_READY)
      test_put(s, "res", i);
  }
  tune(s);
  remember(s);
  struct test_key k;
  test_key_make(&k, "res", 2 * SCENARIO_ROWS - 1); /* one of the new ones: it will be set aside */
  struct store_blob blob;
  k.columns[0].value = "forged";
  k.columns[0].length = strlen("forged");
  if (store_get_binary(s, &k.key, &blob)) /* never, whatever failed: the columns are others */
    abort();
  store_gc(s, 0);
  struct text report = {0};
  store_verify(s, &report, NULL);
  text_free(&report);
  store_close(s);
}

int scenario_check(const char *path) {
  capture_begin();
  struct store *s = test_open(path);
  int again = 0, there = 0;
  for (int i = 0; i < 2 * SCENARIO_ROWS; i++)
    if (!test_get(s, "res", i)) {
      again += i < SCENARIO_ROWS;
      test_put(s, "res", i);
    }
  for (int i = 0; i < 2 * SCENARIO_ROWS; i++)
    there += test_get(s, "res", i);
  bool file = store_path(s) != NULL;
  store_close(s);
  capture_end();
  assert_int_equal(there, 2 * SCENARIO_ROWS);
  assert_true(file);
  assert_true(capture_count("warning") <= 1);
  check_integrity(path);
  return again;
}
