/* Files that are not what they should be. Each case ends in the right answers, one warning with the reason, and a
 * file that is good or set aside. */
#include "support.h"

#include <fcntl.h>
#include <grp.h>

#include "kernels-cache/inner.h"

#define ROWS 12

static void fill(const char *path) {
  struct store *s = test_open(path);
  for (int i = 0; i < ROWS; i++)
    assert_true(test_put(s, "res", i));
  store_close(s);
}

static void clean(void) {
  test_remove("t.db");
  for (int i = 1; i <= 5; i++) {
    char name[32];
    snprintf(name, sizeof name, "t.db.damaged-%d", i);
    test_remove(name);
  }
}

/* Every row is right or a miss, what was missed can be put again, and after that all is there. Returns the hits. */
static int use(const char *path, const char *expected_word, int expected_warnings) {
  capture_begin();
  struct store *s = test_open(path);
  int hits = 0, hits_after = 0;
  for (int i = 0; i < ROWS; i++) {
    bool hit = test_get(s, "res", i);
    hits += hit;
    if (!hit)
      test_put(s, "res", i);
  }
  for (int i = 0; i < ROWS; i++)
    hits_after += test_get(s, "res", i);
  store_close(s);
  const char *text = capture_end();
  if (capture_count("warning") != expected_warnings || (expected_word && !strstr(text, expected_word)))
    fprintf(stderr, "expected %d warnings with \"%s\", got:\n%s", expected_warnings, expected_word, text);
  assert_int_equal(capture_count("warning"), expected_warnings);
  assert_true(!expected_word || strstr(text, expected_word));
  assert_int_equal(hits_after, ROWS);
  return hits;
}

/* A second process finds everything, without a word. */
static void use_again(const char *path) {
  assert_int_equal(use(path, NULL, 0), ROWS);
  check_integrity(path);
}

static void write_bytes(const char *path, long at, const void *bytes, size_t n) {
  FILE *f = fopen(path, "r+b");
  assert_non_null(f);
  assert_int_equal(fseek(f, at, SEEK_SET), 0);
  assert_int_equal(fwrite(bytes, 1, n, f), n);
  fclose(f);
}

static long file_size(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

TEST(truncated) {
  const char *path = test_path("t.db");
  clean();
  fill(path);
  long size = file_size(path);
  for (int part = 1; part <= 9; part += 2) {
    clean();
    fill(path);
    assert_int_equal(truncate(path, size * part / 10), 0);
    use(path, "set aside as", 1);
    assert_true(exists(test_path("t.db.damaged-1")));
    use_again(path);
  }
  /* Cut to nothing it is an empty file, which is what a first use meets. */
  clean();
  fill(path);
  assert_int_equal(truncate(path, 0), 0);
  assert_int_equal(use(path, NULL, 0), 0);
  use_again(path);
}

static const struct {
  const char *text;
  bool header; /* with the header of a database before it, which is no cache's */
} no_caches[] = {{"hello", false}, {"SQLite format 2", false}, {"hello", true}};

static long write_no_cache(const char *path, int i) {
  static const char header[100] = "SQLite format 3";
  FILE *f = fopen(path, "w");
  if (no_caches[i].header)
    fwrite(header, 1, sizeof header, f);
  for (int k = 0; k < 300; k++)
    fputs(no_caches[i].text, f);
  fclose(f);
  return file_size(path);
}

/* Somebody named it by mistake. */
TEST(not_a_database) {
  const char *path = test_path("t.db");
  for (int i = 0; i < 3; i++) {
    clean();
    const long size = write_no_cache(path, i);
    assert_int_equal(use(path, "is no kernel cache", 1), 0);
    assert_int_equal(file_size(path), size);
    assert_false(exists(test_path("t.db.damaged-1")));
    assert_false(exists(test_path("t.db.lock")));
  }
  test_remove("t.db");
}

/* Nobody keeps files of his own under the library's name: there a cache is made whatever has become of the old one. */
TEST(not_a_database_in_its_own_place) {
  const char *path = test_path("t.db");
  const struct store_options options = {.path = path, .log = &test_log, .own = true};
  for (int i = 0; i < 3; i++) {
    clean();
    const long size = write_no_cache(path, i);
    capture_begin();
    struct store *s = test_open_with(&options);
    assert_true(test_put(s, "res", 1));
    store_close(s);
    assert_non_null(strstr(capture_end(), "set aside as"));
    assert_int_equal(file_size(test_path("t.db.damaged-1")), size);
    check_integrity(path);
  }
}

TEST(somebody_elses_database) {
  const char *path = test_path("t.db");
  clean();
  int fd = open(path, O_CREAT | O_RDWR, 0600);
  close(fd);
  execute_sql(path, "CREATE TABLE precious(x); INSERT INTO precious VALUES(42)");
  assert_int_equal(use(path, "database of another program", 1), 0);
  assert_int_equal(query_number(path, "SELECT x FROM precious"), 42);
  assert_false(exists(test_path("t.db.damaged-1")));
}

/* A byte of every page is turned, one file each; also each byte of the header that means something. */
TEST(flipped_bytes) {
  const char *path = test_path("t.db"), *good = test_path("good.db");
  clean();
  test_remove("good.db");
  fill(good);
  long size = file_size(good);
  int damaged = 0, rounds = 0;
  static const long header[] = {0,  5,  16, 18, 19, 20, 21, 24, 28, 31, 32, 36,
                                40, 44, 47, 52, 55, 56, 59, 63, 68, 71, 92, 96};
  int nheader = (int)(sizeof header / sizeof *header);
  for (long k = 0; k < nheader + size / 512; k++) {
    long at = k < nheader ? header[k] : (k - nheader) * 512 + (k * 37) % 512;
    clean();
    copy_file(good, path);
    unsigned char byte;
    FILE *f = fopen(path, "rb");
    fseek(f, at, SEEK_SET);
    assert_int_equal(fread(&byte, 1, 1, f), 1);
    fclose(f);
    byte = (unsigned char)(byte ^ 0x55);
    write_bytes(path, at, &byte, 1);
    capture_begin();
    struct store *s = test_open(path);
    for (int i = 0; i < ROWS; i++)
      if (!test_get(s, "res", i)) /* aborts on wrong bytes */
        test_put(s, "res", i);
    struct text report = {0};
    store_verify(s, &report, NULL);
    text_free(&report);
    store_close(s);
    capture_end();
    assert_true(capture_count("warning") <= 1 + capture_count("set aside as"));
    damaged += capture_count("warning") > 0;
    rounds++;
    capture_begin();
    s = test_open(path); /* after that the file is good, or is left to another version or program */
    int hits = 0;
    for (int i = 0; i < ROWS; i++)
      if (!test_get(s, "res", i))
        test_put(s, "res", i);
    for (int i = 0; i < ROWS; i++)
      hits += test_get(s, "res", i);
    store_close(s);
    capture_end();
    assert_int_equal(hits, ROWS);
  }
  assert_true(damaged > rounds / 4); /* most pages hold something that is checked */
}

TEST(flipped_blob_key_and_hash) {
  const char *path = test_path("t.db");
  static const struct {
    const char *sql, *word;
  } cases[] = {
      {"UPDATE binary SET data = CAST(substr(data, 1, 50) || x'ff' || substr(data, 52) AS BLOB) WHERE "
       "signature = 3",
       "is damaged"},
      {"UPDATE binary SET data = substr(data, 1, length(data) - 1) WHERE signature = 3", "is damaged"},
      {"UPDATE binary SET size = size + 1 WHERE signature = 3", "is damaged"},
      {"UPDATE binary SET data = x'', size = 0 WHERE signature = 3", "checksum"},
      {"UPDATE binary SET size = -1 WHERE signature = 3", "length"},
      {"UPDATE binary SET size = 1152921504606846976 WHERE signature = 3", "length"},
      {"UPDATE binary SET checksum = randomblob(32) WHERE signature = 3", "checksum"},
      {"UPDATE binary SET checksum = x'00' WHERE signature = 3", "checksum"},
      {"UPDATE component SET value = 'x' || value WHERE signature = 3 AND place = 0", "other columns"},
      {"UPDATE component SET name = 'x' WHERE signature = 3 AND place = 5", "other columns"},
      {"DELETE FROM component WHERE signature = 3 AND place = 2", "other columns"},
      {"INSERT INTO component VALUES(3, 99, 'more', '')", "other columns"},
      /* A binary under another key: its checksum covers the hash. */
      {"UPDATE binary SET data = (SELECT data FROM binary WHERE signature = 4), size = (SELECT size FROM "
       "binary WHERE "
       "signature = 4), checksum = (SELECT checksum FROM binary WHERE signature = 4) WHERE signature = 3",
       "checksum"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    clean();
    fill(path);
    execute_sql(path, cases[i].sql);
    assert_int_equal(use(path, cases[i].word, cases[i].word != NULL), ROWS - 1);
    use_again(path);
    if (cases[i].word)
      assert_int_equal(query_number(path, "SELECT count(*) FROM damaged"), 1);
  }
  /* A changed hash is a key that nobody asks for. */
  clean();
  fill(path);
  execute_sql(path, "UPDATE signature SET hash = 'x' || hash WHERE id = 3");
  assert_int_equal(use(path, NULL, 0), ROWS - 1);
  use_again(path);
}

/* Folders in a home folder are made, the home folder is not. */
TEST(home_that_is_not_there) {
  const char *home = test_path("home"), *path = test_path("home/.cache/op2jit/kernels.db");
  const struct store_options options = {.path = path, .log = &test_log, .own = true, .home = home};
  for (int there = 0; there < 2; there++) {
    if (there)
      assert_int_equal(mkdir(home, 0700), 0);
    capture_begin();
    struct store *s = test_open_with(&options);
    assert_true(test_put(s, "res", 1) && test_get(s, "res", 1));
    store_close(s);
    assert_int_equal(!strstr(capture_end(), "there is no home folder"), there);
    assert_int_equal(exists(home), there);
    assert_int_equal(exists(path), there);
  }
}

/* A row first, then the page where damaged rows are kept: that the whole file was renamed, and to what, is said in
 * the row's place. */
TEST(damaged_row_and_page) {
  const char *path = test_path("t.db");
  clean();
  fill(path);
  execute_sql(
      path,
      "UPDATE binary SET checksum = randomblob(32) WHERE signature = (SELECT min(signature) FROM binary)");
  const long page = (long)query_number(path, "SELECT rootpage FROM sqlite_schema WHERE name = 'damaged'");
  write_bytes(path, (page - 1) * (long)query_number(path, "PRAGMA page_size"), "garbage", 7);
  use(path, "set aside as", 1);
  assert_true(exists(test_path("t.db.damaged-1")));
  use_again(path);
}

TEST(missing_tables) {
  const char *path = test_path("t.db");
  static const char *const tables[] = {"binary", "component", "signature", "history"};
  for (int i = 0; i < 4; i++) {
    char sql[64];
    clean();
    fill(path);
    snprintf(sql, sizeof sql, "DROP TABLE %s", tables[i]);
    execute_sql(path, sql);
    use(path, i == 3 ? NULL : "set aside as", i != 3);
    use_again(path);
  }
}

TEST(other_schema_version) {
  const char *path = test_path("t.db");
  static const char *const versions[] = {"PRAGMA user_version = 99", "PRAGMA user_version = 0"};
  for (int i = 0; i < 2; i++) {
    clean();
    test_remove("t.v3.db");
    fill(path);
    execute_sql(path, versions[i]);
    long long before = query_number(path, "SELECT count(*) FROM binary");
    assert_int_equal(use(path, "another version of the library", 1), 0);
    assert_true(exists(test_path("t.v3.db")));
    assert_int_equal(query_number(path, "SELECT count(*) FROM binary"), before);
    assert_int_equal(use(path, NULL, 0), ROWS); /* the second time it is no news */
  }
  test_remove("t.v3.db");
}

TEST(moved_while_in_use) {
  const char *path = test_path("t.db");
  clean();
  capture_begin();
  struct store *s = test_open(path);
  assert_true(test_put(s, "res", 0));
  assert_int_equal(rename(path, test_path("elsewhere.db")), 0);
  for (int i = 1; i < ROWS; i++) {
    test_put(s, "res", i);
    test_get(s, "res", i);
  }
  store_close(s);
  capture_end();
  assert_true(capture_count("warning") <= 1);
  use(path, NULL, 0);
  use_again(path);
  test_remove("elsewhere.db");
}

/* ---- who may write -----------------------------------------------------------------------------*/

static void as_nobody(void) {
  if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
    _exit(70);
}

static void refused(const char *path, const char *word) {
  capture_begin();
  struct store *s = test_open(path);
  bool memory = store_path(s) == NULL;
  bool kept = test_put(s, "res", 0) && test_get(s, "res", 0);
  store_close(s);
  const char *text = capture_end();
  if (!memory || !kept || capture_count("warning") != 1 || !strstr(text, word)) {
    fprintf(stderr, "expected a refusal with \"%s\", got: %s", word, text);
    _exit(71);
  }
}

static void check_group_writable(void *directory) {
  as_nobody();
  char path[300];
  snprintf(path, sizeof path, "%s/k.db", (char *)directory);
  mkdir(directory, 0700);
  struct store *s = test_open(path);
  if (!store_path(s) || !test_put(s, "res", 0))
    _exit(72);
  store_close(s);
  chmod(path, 0660);
  refused(path, "can be written by its group");
  chmod(path, 0602);
  refused(path, "can be written by everybody");
  chmod(path, 0600);
  chmod(directory, 0770);
  refused(path, "can be written by its group: code from it is not run. Run: chmod go-w ");
  chmod(directory, 01777);
  refused(path,
          "can be written by everybody: code from it is not run. Name a folder in it that only you can");
  chmod(directory, 0700);
  chmod(path, 0644); /* others may read */
  s = test_open(path);
  if (!test_get(s, "res", 0))
    _exit(73);
  store_close(s);
}

static void check_owner(void *path) {
  as_nobody();
  refused(path, "belongs to user 4242, not to you");
}

static void check_read_only(void *directory) {
  as_nobody();
  char path[300];
  snprintf(path, sizeof path, "%s/ro/k.db", (char *)directory);
  refused(path, "Permission denied");
  snprintf(path, sizeof path, "%s/k.db", (char *)directory);
  refused(path, "Permission denied");
}

/* A file that may be read but not written is used as a layer is. */
static void check_readable(void *path) {
  as_nobody();
  capture_begin();
  struct store *s = test_open(path);
  bool found = test_get(s, "res", 3) && test_put(s, "res", 3);
  store_close(s);
  const char *text = capture_end();
  if (!found || capture_count("warning") != 1 || !strstr(text, "read-only")) {
    fprintf(stderr, "%s", text);
    _exit(74);
  }
}

TEST(owners_and_modes) {
  chmod(test_directory(), 0777);
  assert_int_equal(in_child(check_group_writable, (void *)(size_t)test_path("mine")), 0);
  if (getuid() == 0) {
    const char *path = test_path("other/k.db");
    fill(path);
    chmod(test_path("other"), 0755);
    assert_int_equal(chown(path, 4242, 4242), 0);
    assert_int_equal(in_child(check_owner, (void *)(size_t)path), 0);
    assert_int_equal(chown(path, 0, 0), 0);
    assert_int_equal(chmod(path, 0644), 0);
    struct error err = {0};
    long long rows;
    struct store *s = test_open(path);
    assert_int_equal(store_export(s, test_path("other/site.db"), NULL, 0, &rows, &err), OP_OK);
    store_close(s);
    assert_int_equal(chmod(test_path("other/site.db"), 0644), 0);
    assert_int_equal(in_child(check_readable, (void *)(size_t)test_path("other/site.db")), 0);
  } else
    printf("owners: not checked, only root can give files away\n");
  const char *ro = test_path("readonly");
  assert_int_equal(mkdir(ro, 0555), 0);
  assert_int_equal(in_child(check_read_only, (void *)(size_t)ro), 0);
  chmod(test_directory(), 0700);
}

/* ---- file systems ------------------------------------------------------------------------------*/

TEST(journal_by_file_system) {
  static const struct {
    const char *system, *journal;
  } cases[] = {{"ext4", "wal"},
               {"nfs", "truncate"},
               {"lustre", "truncate"},
               {"unheard-of", "truncate"},
               {"xfs", "wal"}};
  clean();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct store_options options = {
        .path = test_path("t.db"), .log = &test_log, .file_system = cases[i].system};
    struct store *s = test_open_with(&options); /* the same file changes its mode each time */
    assert_true(test_put(s, "res", (int)i));
    for (int k = 0; k <= (int)i; k++)
      assert_true(test_get(s, "res", k));
    struct store_stats stats;
    store_stats(s, &stats);
    assert_string_equal(stats.journal, cases[i].journal);
    assert_string_equal(stats.file_system, cases[i].system);
    assert_true(exists(test_path("t.db-shm")) == (strcmp(cases[i].journal, "wal") == 0));
    store_close(s);
  }
  check_integrity(test_path("t.db"));
}

/* ---- layers ------------------------------------------------------------------------------------*/

static struct store *with_layers(const char *layers) {
  struct store_options options = {.path = test_path("t.db"), .layers = layers, .log = &test_log};
  capture_begin();
  struct store *s = test_open_with(&options);
  capture_end();
  return s;
}

/* export.db, which a layer may be, of site.db, which is in WAL mode. */
static void make_layers(void) {
  clean();
  test_remove("site.db");
  test_remove("export.db");
  fill(test_path("site.db"));
  struct error err = {0};
  long long rows;
  struct store *s = test_open(test_path("site.db"));
  assert_int_equal(store_export(s, test_path("export.db"), NULL, 0, &rows, &err), OP_OK);
  store_close(s);
}

/* In WAL mode, missing, group-writable: refused, with the command that mends it. */
TEST(layers_refused) {
  make_layers();
  struct store *s = with_layers(test_path("site.db"));
  assert_int_equal(capture_count("op2jit cache export"), 1);
  assert_int_equal(capture_count("warning"), 1);
  assert_false(test_get(s, "res", 0));
  store_close(s);
  s = with_layers(test_path("nothing.db"));
  assert_int_equal(capture_count("No such file"), 1);
  store_close(s);
  char list[1800];
  snprintf(list, sizeof list, "%s:%s:/nothing/either.db", test_path("site.db"), test_path("nothing.db"));
  s = with_layers(list);
  assert_int_equal(capture_count("warning"), 3); /* each, not only the first */
  store_close(s);
  chmod(test_path("export.db"), 0664);
  s = with_layers(test_path("export.db"));
  assert_int_equal(capture_count("its group"), 1);
  assert_false(test_get(s, "res", 0));
  store_close(s);
}

/* Rows are found and nothing is written there. */
TEST(layers_read) {
  make_layers();
  char list[900];
  long before = file_size(test_path("export.db"));
  snprintf(list, sizeof list, ":%s::", test_path("export.db"));
  struct store *s = with_layers(list);
  assert_int_equal(capture_count("warning"), 0);
  struct test_key k;
  struct store_blob blob;
  test_key_make(&k, "res", 2);
  assert_true(store_get_binary(s, &k.key, &blob));
  assert_true(blob.from_layer);
  store_blob_free(&blob);
  assert_true(test_put(s, "res", ROWS + 1));
  assert_true(test_get(s, "res", ROWS + 1));
  store_close(s);
  assert_int_equal(file_size(test_path("export.db")), before);
  assert_false(exists(test_path("export.db-journal")) || exists(test_path("export.db-wal")));
  assert_int_equal(query_number(test_path("t.db"), "SELECT count(*) FROM binary"), 1);
}

/* A damaged row is passed over, a damaged file not used. */
TEST(layers_damaged) {
  make_layers();
  execute_sql(test_path("export.db"), "UPDATE binary SET checksum = x'00' WHERE signature = 3");
  struct store *s = with_layers(test_path("export.db"));
  capture_begin();
  int hits = 0;
  for (int i = 0; i < ROWS; i++)
    hits += test_get(s, "res", i);
  capture_end();
  assert_int_equal(hits, ROWS - 1);
  assert_int_equal(capture_count("passed over"), 1);
  store_close(s);
  write_bytes(test_path("export.db"), 4096, "garbagegarbagegarbage", 21);
  s = with_layers(test_path("export.db"));
  capture_begin();
  for (int i = 0; i < ROWS; i++)
    test_get(s, "res", i);
  capture_end();
  assert_true(test_put(s, "res", 0));
  assert_true(test_get(s, "res", 0));
  store_close(s);
  assert_false(exists(test_path("export.db.damaged-1"))); /* not ours to rename */
}
