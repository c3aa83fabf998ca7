/* The life of a store in good times: what is put in comes out, and nothing else does. */
#include "support.h"

TEST(put_then_get) {
  const char *path = test_path("put.db");
  struct store *s = test_open(path);
  assert_string_equal(store_path(s), path);
  assert_string_equal(store_trouble(s), "");
  assert_false(test_get(s, "res_calc", 1));
  assert_true(test_put(s, "res_calc", 1));
  assert_true(test_get(s, "res_calc", 1));
  assert_false(test_get(s, "res_calc", 2));
  struct test_key k;
  test_key_make(&k, "res_calc", 1);
  assert_true(store_has_binary(s, &k.key));
  struct text source = {0};
  assert_true(store_get_source(s, k.hash, &source));
  assert_string_equal(text_str(&source), k.text);
  text_free(&source);
  store_close(s);

  s = test_open(path);
  assert_true(test_get(s, "res_calc", 1));
  store_close(s);
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
}

TEST(directories_are_private) {
  const char *path = test_path("deep/er/kernels.db");
  struct store *s = test_open(path);
  assert_true(test_put(s, "a", 1));
  store_close(s);
  struct stat st;
  assert_int_equal(stat(test_path("deep"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
  assert_int_equal(stat(test_path("deep/er"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
}

TEST(odd_paths) {
  const char *path = test_path("mit Leerzeichen/k\xc3\xa4se?100%#1.db");
  struct store *s = test_open(path);
  assert_true(test_put(s, "a", 1));
  store_close(s);
  assert_true(exists(path));
  struct error err = {0};
  const char *layer = test_path("mit Leerzeichen/lay er?%23.db");
  long long rows;
  s = test_open(path);
  assert_int_equal(store_export(s, layer, NULL, 0, &rows, &err), OP_OK);
  store_close(s);
  struct store_options options = {.layers = layer, .log = &test_log};
  s = test_open_with(&options);
  assert_true(test_get(s, "a", 1));
  store_close(s);
}

TEST(every_column_counts) {
  struct store *s = test_open(test_path("columns.db"));
  assert_true(test_put(s, "loop", 7));
  struct test_key right, k;
  struct store_blob blob;
  test_key_make(&right, "loop", 7);
  for (int i = 0; i < TEST_COLUMNS; i++) {
    /* another hash: a miss */
    test_key_make(&k, "loop", 7);
    k.columns[i].value = "another value";
    k.columns[i].length = strlen("another value");
    test_key_hash(&k);
    assert_false(store_get_binary(s, &k.key, &blob));
    /* the name of a column, and its length alone */
    test_key_make(&k, "loop", 7);
    k.columns[i].length--;
    test_key_hash(&k);
    assert_false(store_get_binary(s, &k.key, &blob));
    test_key_make(&k, "loop", 7);
    k.columns[i].name = "another name";
    test_key_hash(&k);
    assert_false(store_get_binary(s, &k.key, &blob));
  }
  assert_true(test_get(s, "loop", 7)); /* none of that disturbed it */
  store_close(s);
}

/* The same hash with other columns is never served, whichever column it is. */
TEST(hash_alone_is_not_enough) {
  struct test_key k;
  struct store_blob blob;
  for (int i = 0; i < TEST_COLUMNS; i++) {
    test_remove("collision.db");
    struct store *s = test_open(test_path("collision.db"));
    assert_true(test_put(s, "loop", 7));
    test_key_make(&k, "loop", 7);
    k.columns[i].value = "forged";
    k.columns[i].length = 6;
    capture_begin();
    assert_false(store_get_binary(s, &k.key, &blob));
    capture_end();
    assert_int_equal(capture_count("warning"), 1);
    assert_int_equal(capture_count("other columns"), 1);
    store_close(s);
  }
}

TEST(bytes_of_any_kind) {
  struct store *s = test_open(test_path("bytes.db"));
  struct store_column columns[2] = {{"value", "a\0b\xff\x80", 5}, {"empty", NULL, 0}};
  struct store_key key = {
      .hash = "00", .loop = "loop", .names = "dat 1 q\n", .columns = columns, .ncolumns = 2};
  struct store_new_binary nothing = {"", 0, NULL, 0, 0.0, "test"};
  struct store_blob blob;
  assert_true(store_put_binary(s, &key, &nothing));
  assert_true(store_get_binary(s, &key, &blob));
  assert_int_equal(blob.size, 0);
  store_blob_free(&blob);
  struct store_key back;
  assert_int_equal(store_find_key(s, "00", &back), 1);
  assert_int_equal(back.ncolumns, 2);
  assert_string_equal(back.names, "dat 1 q\n");
  assert_int_equal(back.columns[0].length, 5);
  assert_memory_equal(back.columns[0].value, "a\0b\xff\x80", 5);
  store_key_free(&back);
  columns[0].length = 1; /* "a": the same up to the NUL */
  columns[0].value = "a";
  capture_begin();
  assert_false(store_get_binary(s, &key, &blob));
  capture_end();
  store_close(s);
}

static long long now = 1000000000;
static long long test_clock(void *user) {
  (void)user;
  return now;
}

TEST(failures_are_noted) {
  struct store *s = test_open(test_path("failures.db"));
  struct test_key k;
  struct text why = {0};
  test_key_make(&k, "bad", 1);
  assert_int_equal(store_lease(s, &k.key), STORE_LEASE_MINE);
  store_note_failure(s, &k.key, "line 2: no such\nfunction");
  assert_int_equal(store_lease(s, &k.key), STORE_LEASE_MINE); /* it was given back */
  assert_false(store_has_binary(s, &k.key));
  store_why(s, &k.key, &why);
  assert_non_null(strstr(text_str(&why), "failed"));
  assert_non_null(strstr(text_str(&why), "line 2: no such function; first time"));
  text_free(&why);
  store_close(s);
}

TEST(tunings) {
  struct store *s = test_open(test_path("tunings.db"));
  struct store_tuning rows[] = {
      {"sig", "res", "cpu A", 4, "mesh 1", "blocks:64", 2e-3, 5, false, 0, 1e-3, false},
      {"sig", "res", "cpu A", 4, "mesh 1", "blocks:128", 1e-3, 5, true, 0, 1e-3, false},
      {"sig", "res", "cpu A", 4, "mesh 2", "owner", 3e-3, 7, true, 0, 1e-3, false},
      {"sig2", "upd", "cpu A", 2, "mesh 1", "chunks", -1.0, 1, false, 0, 1e-3, false},
  };
  assert_true(store_put_tunings(s, rows, 4));
  struct store_tuning *got;
  struct store_tuning_filter all = {0}, exact = {"sig", NULL, "cpu A", "mesh 1", 4, true};
  int n = store_get_tunings(s, &all, &got);
  assert_int_equal(n, 4);
  store_tunings_free(got, n);
  n = store_get_tunings(s, &exact, &got);
  assert_int_equal(n, 1);
  assert_string_equal(got[0].variant, "blocks:128");
  assert_true(got[0].median == 1e-3 && got[0].count == 5 && got[0].chosen && !got[0].provisional);
  store_tunings_free(got, n);
  rows[0].chosen = true; /* one is chosen at a place, not two */
  rows[0].median = 0.5e-3;
  rows[0].provisional = true;
  assert_true(store_put_tunings(s, rows, 1));
  n = store_get_tunings(s, &exact, &got);
  assert_int_equal(n, 1);
  assert_true(got[0].chosen && got[0].provisional);
  assert_string_equal(got[0].variant, "blocks:64");
  store_tunings_free(got, n);
  struct store_tuning_filter one = {.loop = "upd"};
  assert_int_equal(store_clear_tunings(s, &one), 1);
  n = store_get_tunings(s, &all, &got);
  assert_int_equal(n, 3);
  store_tunings_free(got, n);
  store_close(s);
}

TEST(verdicts_and_facts) {
  struct store_options options = {.path = test_path("facts.db"), .log = &test_log, .clock = test_clock};
  struct store *s = test_open_with(&options);
  struct text t = {0};
  double number = 0;
  assert_false(store_get_verdict(s, "k", &t));
  assert_true(store_put_verdict(s, "k", "reads only\nline 2"));
  assert_true(store_get_verdict(s, "k", &t));
  assert_string_equal(text_str(&t), "reads only\nline 2");
  text_clear(&t);
  assert_false(store_get_fact(s, "m", "triad", 0, &number, &t));
  assert_true(store_put_fact(s, "m", "triad", 12.5, "GB/s, 4 threads"));
  assert_true(store_get_fact(s, "m", "triad", 0, &number, &t));
  assert_true(number == 12.5);
  assert_string_equal(text_str(&t), "GB/s, 4 threads");
  assert_false(store_get_fact(s, "another", "triad", 0, &number, NULL));
  now += 1000;
  assert_true(store_get_fact(s, "m", "triad", 1001, NULL, NULL));
  assert_false(store_get_fact(s, "m", "triad", 1000, NULL, NULL));
  now -= 100000;
  assert_false(store_get_fact(s, "m", "triad", 1000, NULL, NULL));
  now += 99000;
  text_free(&t);
  store_close(s);
}

static const char *why(struct store *s, const struct store_key *key) {
  static struct text t;
  text_clear(&t);
  store_why(s, key, &t);
  return text_str(&t);
}

TEST(why_says_what_changed) {
  struct store *s = test_open(test_path("why.db"));
  struct test_key k;
  test_key_make(&k, "res", 0);
  assert_string_equal(why(s, &k.key), "first time that a loop named res is compiled for this cache");
  assert_true(test_put(s, "res", 0));
  k.columns[2].value = "1.41";
  k.columns[2].length = 4;
  assert_string_equal(why(s, &k.key), "constant gam");
  test_key_make(&k, "res", 0);
  k.columns[3].value = "19.1.7";
  assert_string_equal(why(s, &k.key), "LLVM");
  test_key_make(&k, "res", 0);
  strstr(k.text, "*b +=")[3] = '-';
  assert_string_equal(why(s, &k.key), "kernel text");
  test_key_make(&k, "res", 0);
  k.columns[5].name = "mode";
  assert_string_equal(why(s, &k.key), "mode");
  /* The nearest key is compared with, not the last one. */
  assert_true(test_put(s, "res", 5));
  test_key_make(&k, "res", 0);
  k.columns[3].value = "19.1.7";
  assert_string_equal(why(s, &k.key), "LLVM");
  store_clear(s, "res");
  test_key_make(&k, "res", 0);
  assert_non_null(strstr(why(s, &k.key), "nothing changed, but the binary is no longer here: compiled "));
  store_close(s);
}

struct seen {
  int count;
  char last[400];
};
static void see_event(void *user, const struct store_event *e) {
  struct seen *seen = user;
  if (seen->count++ == 0)
    snprintf(seen->last, sizeof seen->last, "%s %s: %s", e->event, e->loop, e->reason);
}

TEST(history_remembers_why) {
  struct store *s = test_open(test_path("history.db"));
  test_put(s, "a", 0);
  test_put(s, "a", 1);
  test_put(s, "b", 0);
  struct seen seen = {0};
  store_history(s, "a", 0, see_event, &seen);
  assert_int_equal(seen.count, 2);
  assert_string_equal(seen.last, "compiled a: number, constant gam");
  seen = (struct seen){0};
  store_history(s, NULL, 1, see_event, &seen);
  assert_int_equal(seen.count, 1);
  assert_string_equal(seen.last, "compiled b: first time that a loop named b is compiled for this cache");
  store_close(s);
}

TEST(rejected_is_compiled_again) {
  struct store *s = test_open(test_path("reject.db"));
  struct test_key k;
  test_put(s, "a", 0);
  test_key_make(&k, "a", 0);
  capture_begin();
  store_reject_binary(s, &k.key, "relocation 9 is unknown");
  capture_end();
  assert_int_equal(capture_count("relocation 9 is unknown"), 1);
  assert_false(test_get(s, "a", 0));
  struct store_stats stats;
  store_stats(s, &stats);
  assert_int_equal(stats.damaged, 1);
  assert_true(test_put(s, "a", 0));
  assert_true(test_get(s, "a", 0));
  store_close(s);
}

TEST(eviction_is_by_last_use) {
  long long cap = 1 << 20;
  struct store_options options = {
      .path = test_path("cap.db"), .log = &test_log, .cap = cap, .clock = test_clock};
  struct store *s = test_open_with(&options);
  for (int i = 0; i < 120; i++)
    test_put(s, "old", i);
  now += 2 * 86400;
  for (int i = 0; i < 20; i++)
    assert_true(test_get(s, "old", i)); /* used: stays longer */
  store_close(s);
  s = test_open_with(&options);
  int put = 0;
  struct store_stats stats;
  do {
    for (int i = 0; i < 20; i++)
      assert_true(test_put(s, "new", put++));
    store_stats(s, &stats);
    assert_true(stats.file_bytes - stats.free_bytes <= cap);
  } while (stats.binaries == 120 + put && put < 2000);
  assert_true(put < 2000);
  int used = 0, unused = 0;
  for (int i = 0; i < 120; i++)
    *(i < 20 ? &used : &unused) += test_get(s, "old", i);
  assert_int_equal(used, 20);
  assert_true(unused < 100);
  assert_true(test_get(s, "new", put - 1));
  assert_true(stats.file_bytes - stats.free_bytes < cap * 9 / 10); /* coarse */
  assert_true(store_gc(s, 200 << 10) > 0);
  store_stats(s, &stats);
  assert_true(stats.file_bytes <= 200 << 10);
  store_close(s);
  check_integrity(test_path("cap.db"));
  test_remove("cap.db");
}

/* Hits of the same day leave the file as it is. */
TEST(hits_do_not_write) {
  struct store *s = test_open(test_path("hits.db"));
  for (int i = 0; i < 5; i++)
    test_put(s, "a", i);
  long long before = query_number(test_path("hits.db"), "PRAGMA data_version");
  long long changes = query_number(test_path("hits.db"), "SELECT sum(used) FROM binary");
  for (int round = 0; round < 20; round++)
    for (int i = 0; i < 5; i++)
      assert_true(test_get(s, "a", i));
  assert_int_equal(query_number(test_path("hits.db"), "PRAGMA data_version"), before);
  store_close(s);
  assert_int_equal(query_number(test_path("hits.db"), "SELECT sum(used) FROM binary"), changes);
}

TEST(memory_only) {
  struct store_options none = {.log = &test_log}, off = {.path = "off", .log = &test_log},
                       nowhere = {.path = "", .log = &test_log};
  const struct store_options *all[] = {&none, &off, &nowhere};
  for (int i = 0; i < 3; i++) {
    capture_begin();
    struct store *s = test_open_with(all[i]);
    capture_end();
    assert_int_equal(capture_count("warning"), i == 2);
    assert_null(store_path(s));
    assert_true(test_put(s, "a", 1));
    assert_true(test_get(s, "a", 1));
    struct test_key k;
    test_key_make(&k, "a", 2);
    assert_int_equal(store_lease(s, &k.key), STORE_LEASE_MINE);
    store_close(s);
  }
  struct text path = {0};
  assert_false(store_default_path(&path, NULL, NULL));
  assert_false(store_default_path(&path, "relative", ""));
  assert_true(store_default_path(&path, NULL, "/home/x"));
  assert_string_equal(text_str(&path), "/home/x/.cache/op2jit/kernels.db");
  text_clear(&path);
  assert_true(store_default_path(&path, "/cache", "/home/x"));
  assert_string_equal(text_str(&path), "/cache/op2jit/kernels.db");
  text_free(&path);
}

TEST(no_store_is_a_store) {
  struct test_key k;
  struct store_blob blob;
  struct text t = {0};
  struct store_stats stats;
  struct store_new_binary b = {"x", 1, NULL, 0, 0, NULL};
  test_key_make(&k, "a", 1);
  assert_false(store_get_binary(NULL, &k.key, &blob));
  assert_false(store_put_binary(NULL, &k.key, &b));
  assert_int_equal(store_lease(NULL, &k.key), STORE_LEASE_ALONE);
  store_lease_end(NULL, &k.key);
  store_why(NULL, &k.key, &t);
  store_stats(NULL, &stats);
  assert_int_equal(store_gc(NULL, 0), 0);
  assert_null(store_path(NULL));
  store_close(NULL);
}
