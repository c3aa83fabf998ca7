/* Writers that die or stop at the worst moment: what was committed is there for the next process, the file is good
 * or set aside, nobody waits for the dead. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "support.h"

/* Shared with the children: which rows the store said it has kept. */
static struct shared {
  volatile int kept[4096];
  volatile int count;
  char stage[64];
} * shared;

struct killer {
  int at, calls; /* stage number that kills */
};

static void kill_at_stage(void *user, const char *name) {
  struct killer *k = user;
  if (++k->calls == k->at) {
    snprintf(shared->stage, sizeof shared->stage, "%s", name);
    kill(getpid(), SIGKILL);
  }
}

static void put_counted(struct store *s, int number) {
  struct test_key k;
  test_key_make(&k, "res", number);
  if (store_lease(s, &k.key) == STORE_LEASE_MINE && test_put(s, "res", number))
    shared->kept[shared->count++] = number;
}

static int first_number;

static void write_some(void *argument) {
  struct killer *k = argument;
  struct store_options options = {
      .path = test_path("k.db"), .stage = kill_at_stage, .user = k, .lease_seconds = 5};
  struct store *s = test_open_with(&options);
  for (int i = 0; i < 3; i++)
    put_counted(s, first_number + i);
  struct test_key key;
  test_key_make(&key, "res", first_number);
  store_reject_binary(s, &key.key, "test");
  put_counted(s, first_number);
  store_gc(s, 0);
  store_close(s);
}

/* Every row that was said to be kept is there and right; nothing was set aside; no word of trouble. */
static void check_kept(void) {
  capture_begin();
  struct store *s = test_open(test_path("k.db"));
  int missing = 0;
  for (int i = 0; i < shared->count; i++)
    missing += !test_get(s, "res", shared->kept[i]);
  bool file = store_path(s) != NULL;
  store_close(s);
  capture_end();
  assert_true(file);
  assert_int_equal(capture_count("warning"), 0);
  assert_int_equal(missing, 0);
  check_integrity(test_path("k.db"));
  assert_false(exists(test_path("k.db.damaged-1")));
}

TEST(killed_at_each_stage) {
  int n = 0, status;
  char seen[40][64];
  int nseen = 0;
  test_remove("k.db");
  do {
    struct killer k = {(++n + 1) / 2, 0};
    if (n % 2) /* from nothing, and on top of what is there */
      test_remove("k.db");
    shared->count = 0;
    first_number = 10 * n;
    status = in_child(write_some, &k);
    if (WIFSIGNALED(status)) {
      assert_int_equal(WTERMSIG(status), SIGKILL);
      /* The child rejected its first row before it put it again: in between it is not there. */
      if (shared->count >= 3)
        shared->kept[0] = shared->kept[1];
      bool known = false;
      for (int i = 0; i < nseen; i++)
        known |= strcmp(seen[i], shared->stage) == 0;
      if (!known && nseen < 40)
        memcpy(seen[nseen++], shared->stage, sizeof seen[0]);
    } else
      assert_int_equal(status, 0);
    check_kept();
    /* The next process does not wait for the lease of the dead, and has its say. */
    struct killer none = {0, 0};
    int before = shared->count;
    first_number = 10 * n + 5;
    assert_int_equal(in_child(write_some, &none), 0);
    assert_int_equal(shared->count, before + 4);
  } while ((n < 4 || WIFSIGNALED(status)) && n < 200);
  assert_true(n > 40 && n < 200);
  printf("  killed at %d moments, stages:", n - 1);
  for (int i = 0; i < nseen; i++)
    printf(" \"%s\"", seen[i]);
  printf("\n");
  assert_true(nseen >= 10);
}

static void damage_then_write(void *argument) {
  struct killer *k = argument;
  struct store_options options = {.path = test_path("k.db"), .stage = kill_at_stage, .user = k};
  struct store *s = test_open_with(&options);
  for (int i = 0; i < 3; i++)
    test_put(s, "res", i);
  store_close(s);
}

/* While a damaged file is being set aside. */
TEST(killed_while_renaming) {
  int status, n = 0;
  do {
    test_remove("k.db");
    test_remove("k.db.damaged-1");
    ruin(test_path("k.db"), "w");
    struct killer k = {++n, 0};
    capture_begin();
    status = in_child(damage_then_write, &k);
    struct store *s = test_open(test_path("k.db"));
    for (int i = 0; i < 3; i++)
      if (!test_get(s, "res", i))
        test_put(s, "res", i);
    store_close(s);
    capture_end();
    s = test_open(test_path("k.db"));
    for (int i = 0; i < 3; i++)
      assert_true(test_get(s, "res", i));
    store_close(s);
    check_integrity(test_path("k.db"));
    assert_true(exists(test_path("k.db.damaged-1")));
  } while (WIFSIGNALED(status) && n < 100);
  test_remove("k.db.damaged-1");
  assert_true(n > 5 && n < 100);
}

static void write_for_ever(void *argument) {
  (void)argument;
  struct store_options options = {.path = test_path("k.db"), .cap = 2 << 20, .lease_seconds = 5};
  struct store *s = test_open_with(&options);
  for (int i = first_number;; i++) {
    if (i % 500 == 499) {
      store_close(s);
      s = test_open_with(&options);
    }
    put_counted(s, i);
    for (int k = 0; k < 3; k++)
      test_get(s, "res", i - k);
  }
}

TEST(killed_at_random) {
  unsigned seed = 12345;
  long total = 0;
  test_remove("k.db");
  for (int round = 0; round < 200; round++) {
    seed = seed * 1664525u + 1013904223u;
    shared->count = 0;
    first_number = 100000 + 1000 * round;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
      write_for_ever(NULL);
      _exit(1);
    }
    /* So many rows first, however slow the machine is, and then a random moment. */
    for (int ms = 0; shared->count < round % 4 && ms < 10000; ms++)
      nanosleep(&(struct timespec){0, 1000000}, NULL);
    struct timespec t = {0, 100000 + (long)(seed >> 8) % 12000000};
    nanosleep(&t, NULL);
    kill(pid, SIGKILL);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    total += shared->count;
    if (shared->count > 30) { /* older ones may have been evicted by the cap; the newest cannot be */
      for (int i = 0; i < 30; i++)
        shared->kept[i] = shared->kept[shared->count - 30 + i];
      shared->count = 30;
    }
    check_kept();
  }
  printf("  %ld rows were kept by 200 writers that were killed\n", total);
  assert_true(total > 200);
}

/* ---- stopped, not dead -------------------------------------------------------------------------*/

static void hold_lock(void *argument) {
  sqlite3 *db;
  if (sqlite3_open(test_path("k.db"), &db) != SQLITE_OK ||
      sqlite3_exec(db, argument, NULL, NULL, NULL) != SQLITE_OK)
    _exit(1);
  raise(SIGSTOP);
}

static pid_t start_stopped(void (*run)(void *), void *argument) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    run(argument);
    _exit(0);
  }
  int status;
  assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
  assert_true(WIFSTOPPED(status));
  return pid;
}

static void end(pid_t pid) {
  int status;
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
}

TEST(stopped_lock_holder) {
  test_remove("k.db");
  struct store_options options = {.path = test_path("k.db"), .log = &test_log, .busy_ms = 50};
  struct store *s = test_open_with(&options);
  for (int i = 0; i < 5; i++)
    assert_true(test_put(s, "res", i));
  pid_t pid = start_stopped(hold_lock, (void *)(size_t) "BEGIN IMMEDIATE");
  capture_begin();
  int hits = 0, kept = 0;
  for (int i = 0; i < 40; i++) {
    hits += test_get(s, "res", i % 5); /* readers are not kept waiting */
    kept += test_put(s, "res", 10 + i);
  }
  struct test_key k;
  test_key_make(&k, "res", 77);
  enum store_lease lease = store_lease(s, &k.key);
  capture_end();
  assert_int_equal(hits, 40);
  assert_int_equal(kept, 0);
  assert_int_equal(lease, STORE_LEASE_ALONE);
  assert_int_equal(capture_count("warning"), 1);
  assert_int_equal(capture_count("holds the lock"), 1);
  end(pid);
  store_close(s);
  s = test_open_with(&options);
  assert_true(test_get(s, "res", 4));
  assert_true(test_put(s, "res", 5));
  store_close(s);
}

TEST(stopped_with_everything_locked) {
  test_remove("k.db");
  struct store_options options = {
      .path = test_path("k.db"), .log = &test_log, .busy_ms = 50, .file_system = "nfs"};
  struct store *s = test_open_with(&options);
  assert_true(test_put(s, "res", 0));
  store_close(s);
  pid_t pid = start_stopped(hold_lock, (void *)(size_t) "BEGIN EXCLUSIVE");
  capture_begin();
  s = test_open_with(&options);
  bool memory = store_path(s) == NULL;
  bool works = test_put(s, "res", 0) && test_get(s, "res", 0);
  store_close(s);
  capture_end();
  assert_true(memory && works);
  assert_int_equal(capture_count("warning"), 1);
  end(pid);
  s = test_open_with(&options);
  assert_true(test_get(s, "res", 0));
  store_close(s);
}

/* ---- leases of the dead, the stopped and the unknown -------------------------------------------*/

/* Their addresses say: stay alive and do nothing; work for longer than an idle owner is given, and keep the result. */
static int hangs, works;

static void take_lease(void *argument) {
  struct store *s = test_open(test_path("k.db"));
  struct test_key k;
  test_key_make(&k, "res", 1);
  if (store_lease(s, &k.key) != STORE_LEASE_MINE)
    _exit(1);
  if (argument == &hangs)
    pause();
  else if (argument == &works) {
    for (clock_t begin = clock(); clock() - begin < 3 * CLOCKS_PER_SEC / 2;)
      ;
    test_put(s, "res", 1);
  } else if (argument)
    raise(SIGSTOP);
  _exit(0); /* without ending it */
}

static enum store_lease lease_now(const struct store_options *options) {
  struct store *s = test_open_with(options);
  struct test_key k;
  test_key_make(&k, "res", 1);
  enum store_lease lease = store_lease(s, &k.key);
  store_close(s);
  return lease;
}

/* Another process while the owner does this. Compiles are known to take a quarter of an hour, so that
 * only what the owner does can end the wait before the test is stopped. */
static enum store_lease lease_beside(void *argument, const struct store_options *options) {
  test_remove("k.db");
  struct store *slow = test_open(test_path("k.db"));
  assert_true(test_put(slow, "other", 1));
  store_close(slow);
  execute_sql(test_path("k.db"), "UPDATE history SET seconds = 900");
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0)
    take_lease(argument);
  while (query_number(test_path("k.db"), "SELECT count(*) FROM lease") == 0)
    usleep(2000);
  enum store_lease lease = lease_now(options);
  end(pid);
  return lease;
}

static long long fake_now;
static long long fake_clock(void *user) {
  (void)user;
  return fake_now;
}

TEST(leases) {
  struct store_options options = {.path = test_path("k.db"), .log = &test_log, .lease_seconds = 600};
  test_remove("k.db");
  assert_int_equal(in_child(take_lease, NULL), 0);
  assert_int_equal(query_number(test_path("k.db"), "SELECT count(*) FROM lease"), 1);
  assert_int_equal(lease_now(&options), STORE_LEASE_MINE); /* the owner is dead */
  test_remove("k.db");
  pid_t pid = start_stopped(take_lease, &options);
  assert_int_equal(lease_now(&options), STORE_LEASE_MINE); /* the owner is stopped */
  end(pid);

  assert_int_equal(lease_beside(&hangs, &options), STORE_LEASE_ALONE);
  assert_int_equal(lease_beside(&works, &options), STORE_LEASE_READY);

  /* An owner on another host is given its time, by the clock; one from the future is not believed. */
  test_remove("k.db");
  assert_int_equal(in_child(take_lease, NULL), 0);
  fake_now = (long long)time(NULL);
  options.clock = fake_clock;
  options.lease_seconds = 1;
  execute_sql(test_path("k.db"), "UPDATE lease SET host = 'elsewhere'");
  assert_int_equal(lease_now(&options), STORE_LEASE_ALONE);
  fake_now += 1000;
  assert_int_equal(lease_now(&options), STORE_LEASE_MINE);
  execute_sql(test_path("k.db"), "UPDATE lease SET host = 'elsewhere'");
  fake_now -= 100000;
  assert_int_equal(lease_now(&options), STORE_LEASE_MINE);

  /* Ended, or overtaken by a result. */
  struct store *s = test_open(test_path("k.db"));
  struct test_key k;
  test_key_make(&k, "res", 2);
  assert_int_equal(store_lease(s, &k.key), STORE_LEASE_MINE);
  store_lease_end(s, &k.key);
  assert_int_equal(store_lease(s, &k.key), STORE_LEASE_MINE);
  assert_true(test_put(s, "res", 2));
  assert_int_equal(store_lease(s, &k.key), STORE_LEASE_READY);
  store_close(s);
}

int main(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  test_directory();
  return run_these(NULL, NULL);
}
