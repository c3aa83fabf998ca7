#include "support.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include "base/sha256.h"

struct log test_log = {.level = LOG_WARN, .rank = -1};

void test_key_hash(struct test_key *k) {
  struct sha256 s;
  unsigned char digest[32];
  sha256_begin(&s);
  for (int i = 0; i < k->key.ncolumns; i++) {
    sha256_add(&s, k->columns[i].name, strlen(k->columns[i].name) + 1);
    sha256_add(&s, &k->columns[i].length, sizeof k->columns[i].length);
    sha256_add(&s, k->columns[i].value, k->columns[i].length);
  }
  sha256_end(&s, digest);
  sha256_hex(digest, k->hash);
}

static void column(struct test_key *k, int i, const char *name, const char *value) {
  k->columns[i] = (struct store_column){name, value, strlen(value)};
}

void test_key_make(struct test_key *k, const char *loop, int number) {
  *k = (struct test_key){0};
  snprintf(k->loop, sizeof k->loop, "%s", loop);
  snprintf(k->text, sizeof k->text,
           "void %s(const double *a, double *b) {\n  double t = a[0] * gam;\n  *b += t;\n}\n", loop);
  snprintf(k->values[1], sizeof k->values[1], "%d", number);
  snprintf(k->values[2], sizeof k->values[2], "1.%d", 4 + number);
  column(k, 0, "kernel text", k->text);
  column(k, 1, "number", k->values[1]);
  column(k, 2, "constant gam", k->values[2]);
  column(k, 3, "LLVM", "19.1.6");
  column(k, 4, "CPU features", "+avx2,+fma");
  column(k, 5, "shape", "strip8");
  k->key = (struct store_key){.hash = k->hash,
                              .loop = k->loop,
                              .names = "dat 1 q\n",
                              .columns = k->columns,
                              .ncolumns = TEST_COLUMNS};
  test_key_hash(k);
}

size_t test_binary(int number, unsigned char bytes[TEST_BINARY_MOST]) {
  size_t size = 3000 + (size_t)(number % 17) * 100;
  unsigned state = (unsigned)number * 2654435761u + 1;
  for (size_t i = 0; i < size; i++) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = i % 3 ? (unsigned char)(i / 64) : (unsigned char)(state >> 24);
  }
  return size;
}

bool test_put(struct store *store, const char *loop, int number) {
  struct test_key k;
  unsigned char bytes[TEST_BINARY_MOST];
  test_key_make(&k, loop, number);
  size_t size = test_binary(number, bytes);
  struct store_new_binary binary = {bytes, size, k.text, strlen(k.text), 0.05, NULL};
  bool kept = store_put_binary(store, &k.key, &binary);
  return kept;
}

bool test_get(struct store *store, const char *loop, int number) {
  struct test_key k;
  struct store_blob blob;
  unsigned char bytes[TEST_BINARY_MOST];
  test_key_make(&k, loop, number);
  if (!store_get_binary(store, &k.key, &blob))
    return false;
  size_t size = test_binary(number, bytes);
  if (blob.size != size || memcmp(blob.data, bytes, size) != 0) {
    fprintf(stderr, "WRONG BYTES for %s %d\n", loop, number);
    abort();
  }
  store_blob_free(&blob);
  return true;
}

/* ---- files -------------------------------------------------------------------------------------*/

static char directory[256];
static pid_t owner;

static void remove_directory(void) {
  if (getpid() != owner)
    return;
  char command[300];
  snprintf(command, sizeof command, "rm -rf '%s'", directory);
  if (system(command) != 0)
    fprintf(stderr, "cannot remove %s\n", directory);
}

const char *test_directory(void) {
  if (!directory[0]) {
    const char *base = getenv("TMPDIR");
    if (!base) /* in memory where possible: the tests open and close some thousand files */
      base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(directory, sizeof directory, "%s/op2jit-cache-XXXXXX", base);
    if (!mkdtemp(directory))
      abort();
    owner = getpid();
    atexit(remove_directory);
  }
  return directory;
}

const char *test_path(const char *name) {
  static char *paths[64];
  char path[400];
  snprintf(path, sizeof path, "%s/%s", test_directory(), name);
  for (int i = 0; i < 64; i++) {
    if (!paths[i])
      paths[i] = strdup(path);
    if (strcmp(paths[i], path) == 0)
      return paths[i];
  }
  abort(); /* more names than a test needs */
}

void test_remove(const char *name) {
  static const char *const suffixes[] = {"", "-wal", "-shm", "-journal", ".lock"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char full[420];
    snprintf(full, sizeof full, "%s%s", test_path(name), suffixes[i]);
    unlink(full);
  }
}

bool exists(const char *path) {
  return access(path, F_OK) == 0;
}

struct store *test_open_with(const struct store_options *options) {
  struct store *store = NULL;
  struct error err = {0};
  assert_int_equal(store_open(&store, options, &err), OP_OK);
  error_free(&err);
  return store;
}

struct store *test_open(const char *path) {
  struct store_options options = {.path = path, .log = &test_log};
  return test_open_with(&options);
}

void copy_file(const char *from, const char *to) {
  char command[1000];
  snprintf(command, sizeof command, "cp -p '%s' '%s'", from, to);
  assert_int_equal(system(command), 0);
}

void ruin(const char *path, const char *mode) {
  static const char application[] = "op2j";
  FILE *f = fopen(path, mode);
  assert_non_null(f);
  for (int i = 0; i < 3000; i++)
    fputs("garbage ", f);
  assert_int_equal(fseek(f, 68, SEEK_SET), 0);
  fputs(application, f);
  assert_int_equal(fclose(f), 0);
}

static sqlite3 *open_sql(const char *path) {
  sqlite3 *db = NULL;
  assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
  sqlite3_busy_timeout(db, 2000);
  return db;
}

void check_integrity(const char *path) {
  sqlite3 *db = open_sql(path);
  sqlite3_stmt *st = NULL;
  assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(st), SQLITE_ROW);
  assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
  sqlite3_finalize(st);
  sqlite3_close(db);
}

long long query_number(const char *path, const char *sql) {
  sqlite3 *db = open_sql(path);
  sqlite3_stmt *st = NULL;
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_step(st), SQLITE_ROW);
  long long value = sqlite3_column_int64(st, 0);
  sqlite3_finalize(st);
  sqlite3_close(db);
  return value;
}

void execute_sql(const char *path, const char *sql) {
  sqlite3 *db = open_sql(path);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

/* ---- stderr ------------------------------------------------------------------------------------*/

static int saved = -1;
static char captured[65536], capture_file[300];

void capture_begin(void) {
  fflush(stderr);
  saved = dup(2);
  snprintf(capture_file, sizeof capture_file, "%s/stderr-%ld", test_directory(), (long)getpid());
  int fd = open(capture_file, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0)
    abort();
  dup2(fd, 2);
  close(fd);
}

const char *capture_end(void) {
  fflush(stderr);
  int fd = open(capture_file, O_RDONLY);
  ssize_t got = read(fd, captured, sizeof captured - 1);
  captured[got > 0 ? got : 0] = '\0';
  close(fd);
  dup2(saved, 2);
  close(saved);
  return captured;
}

int capture_count(const char *word) {
  int count = 0;
  for (const char *p = captured; (p = strstr(p, word)); p++)
    count++;
  return count;
}

int in_child(void (*run)(void *), void *argument) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    run(argument);
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

void skip_all(const char *why) {
  printf("skipped: %s\n", why);
  exit(77);
}
