/* Many processes and many threads on one file, and a fork in the middle. */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "support.h"

#define PROCESSES 64
#define THREADS 32
#define LOOPS 6

static struct shared {
  volatile int go;
  int compiles[LOOPS], alone, warnings, good;
} * shared;

static void add(int *counter) {
  __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

static void compile(struct store *s, int loop) {
  add(&shared->compiles[loop]);
  usleep(5000);
  test_put(s, "res", loop);
}

/* As the loop's façade does it. */
static void need(struct store *s, int loop) {
  struct test_key k;
  test_key_make(&k, "res", loop);
  if (test_get(s, "res", loop))
    return;
  switch (store_lease(s, &k.key)) {
  case STORE_LEASE_MINE: compile(s, loop); break;
  case STORE_LEASE_READY:
    if (!test_get(s, "res", loop))
      compile(s, loop);
    break;
  case STORE_LEASE_ALONE:
    add(&shared->alone);
    compile(s, loop);
    break;
  }
}

static void one_process(void) {
  while (!shared->go)
    usleep(100);
  struct store *s = test_open(test_path("p.db"));
  for (int i = 0; i < LOOPS; i++)
    need(s, i);
  int there = 0;
  for (int i = 0; i < LOOPS; i++)
    there += test_get(s, "res", i);
  if (store_trouble(s)[0]) {
    fprintf(stderr, "%s\n", store_trouble(s));
    add(&shared->warnings);
  }
  store_close(s);
  if (there == LOOPS)
    add(&shared->good);
}

static void start_together(void) {
  *shared = (struct shared){0};
  fflush(NULL);
  for (int i = 0; i < PROCESSES; i++)
    if (fork() == 0) {
      one_process();
      _exit(0);
    }
  shared->go = 1;
  int status, failed = 0;
  while (wait(&status) > 0)
    failed += status != 0;
  assert_int_equal(failed, 0);
  assert_int_equal(shared->good, PROCESSES);
}

static void check_compiles(int most) {
  int total = 0;
  for (int i = 0; i < LOOPS; i++)
    total += shared->compiles[i];
  printf("  %d compiles of %d loops, %d without a lease\n", total, LOOPS, shared->alone);
  assert_true(total <= most);
}

TEST(sixty_four_processes) {
  test_remove("p.db");
  start_together();
  assert_int_equal(shared->warnings, 0);
  check_compiles(LOOPS + 2); /* "about once": a lease that could not be written in time is no failure */
  check_integrity(test_path("p.db"));
  start_together(); /* warm */
  assert_int_equal(shared->warnings, 0);
  check_compiles(0);
}

/* All of them find the file damaged at the same moment. */
TEST(sixty_four_and_damage) {
  for (int round = 0; round < 3; round++) {
    ruin(test_path("p.db"), round ? "r+" : "w");
    int fd = dup(2), null = open("/dev/null", O_WRONLY);
    fflush(stderr);
    dup2(null, 2); /* each may say it */
    start_together();
    dup2(fd, 2);
    close(fd);
    close(null);
    check_compiles(PROCESSES * LOOPS);
    check_integrity(test_path("p.db"));
    start_together();
    assert_int_equal(shared->warnings, 0);
    check_compiles(LOOPS); /* whoever was first has kept them */
  }
}

/* ---- threads -----------------------------------------------------------------------------------*/

static struct store *one_store;

static void *one_thread(void *argument) {
  int number = *(int *)argument;
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < LOOPS; i++) {
      need(one_store, i);
      test_put(one_store, "own", number);
      assert_true(test_get(one_store, "own", number));
      struct text t = {0};
      struct test_key k;
      test_key_make(&k, "res", 1000 + number);
      store_why(one_store, &k.key, &t);
      assert_true(t.length > 0);
      text_free(&t);
    }
  add(&shared->good);
  return NULL;
}

TEST(thirty_two_threads) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  *shared = (struct shared){0};
  test_remove("t.db");
  one_store = test_open(test_path("t.db"));
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    assert_int_equal(pthread_create(&threads[i], NULL, one_thread, &numbers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_int_equal(shared->good, THREADS);
  assert_string_equal(store_trouble(one_store), "");
  store_close(one_store);
  for (int i = 0; i < LOOPS; i++)
    assert_int_equal(shared->compiles[i], 1);
  check_integrity(test_path("t.db"));
}

/* ---- fork --------------------------------------------------------------------------------------*/

static void use_in_child(void *argument) {
  struct store *s = argument;
  capture_begin();
  bool quiet = !test_get(s, "res", 0) && !test_put(s, "res", 50) && !test_get(s, "res", 50);
  struct test_key k;
  test_key_make(&k, "res", 0);
  quiet = quiet && store_lease(s, &k.key) == STORE_LEASE_ALONE;
  store_close(s);
  capture_end();
  if (!quiet || capture_count("forked") != 1 || capture_count("warning") != 1)
    _exit(1);
  s = test_open("off"); /* a store of its own works */
  if (!test_put(s, "res", 50) || !test_get(s, "res", 50))
    _exit(2);
  store_close(s);
}

TEST(fork_after_open) {
  test_remove("f.db");
  struct store *s = test_open(test_path("f.db"));
  assert_true(test_put(s, "res", 0));
  for (int i = 0; i < 5; i++) {
    assert_int_equal(in_child(use_in_child, s), 0);
    assert_true(test_get(s, "res", 0));
    assert_true(test_put(s, "res", 1 + i)); /* the parent does not notice */
  }
  assert_false(test_get(s, "res", 50));
  store_close(s);
  check_integrity(test_path("f.db"));
}

int main(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  test_directory();
  return run_these(NULL, NULL);
}
