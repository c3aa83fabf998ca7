/* Compiling ahead, with a compiler that waits until it is told to go on: nothing here depends on time. */
#include "../unit.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/job.h"

/* ---- a compiler ------------------------------------------------------------------------------------*/

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* held by the test: the compiler waits */
static struct {
  char text[64], fp[16];
  int priority, processors;
  bool blocked; /* SIGTERM, which is for the program's threads */
  int released;
} seen;

static void compile(void *self, const struct compile_request *request, struct compile_result *result) {
  (void)self;
  cpu_set_t mask;
  sigset_t signals;
  pthread_mutex_lock(&gate);
  strncpy(seen.text, request->files[1].text, sizeof seen.text - 1);
  strncpy(seen.fp, request->fp, sizeof seen.fp - 1);
  seen.priority = getpriority(PRIO_PROCESS, 0);
  seen.processors = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
  pthread_sigmask(SIG_SETMASK, NULL, &signals);
  seen.blocked = sigismember(&signals, SIGTERM) && !sigismember(&signals, SIGSEGV);
  result->binary = strdup(request->files[1].text);
  result->size = strlen(request->files[1].text);
  pthread_mutex_unlock(&gate);
}

static void release(void *self, struct compile_result *result) {
  (void)self;
  free(result->binary);
  seen.released++;
}

static const struct target fake = {.compile = compile, .release = release};

/* ---- asking it -------------------------------------------------------------------------------------*/

static bool begin(struct ahead *a, const char *hash, const char *text) {
  struct generated files = {.main_file = strdup("a.loop.c"),
                            .kernel_file = strdup("a.c"),
                            .prelude_file = strdup("p.h"),
                            .prelude = ""};
  char fp[] = "contract";
  const struct compile_request like = {.cpu = "x86-64", .features = "+sse2", .fp = fp};
  text_add(&files.kernel, text);
  bool begun = ahead_begin(a, &fake, NULL, hash, &files, &like);
  assert_true(begun == !files.main_file);
  generated_free(&files);
  memset(fp, '-', sizeof fp - 1); /* it has its own copy */
  return begun;
}

static void wait_for(const struct ahead *a) {
  while (ahead_is_busy(a))
    sched_yield();
}

TEST(compiles_behind) {
  struct ahead a = {0};
  struct compile_result result;
  double seconds = -1;
  ahead_open(&a, NULL);
  assert_false(ahead_is_busy(&a));
  pthread_mutex_lock(&gate);
  assert_true(begin(&a, "one", "first"));
  assert_true(ahead_is_busy(&a));
  assert_false(begin(&a, "two", "second"));
  assert_false(ahead_has(&a, "one"));
  assert_false(ahead_take(&a, "one", &result, &seconds));
  pthread_mutex_unlock(&gate);
  wait_for(&a);
  assert_true(ahead_has(&a, "one"));
  assert_false(ahead_take(&a, "two", &result, &seconds));
  assert_true(ahead_take(&a, "one", &result, &seconds));
  assert_true(seconds >= 0);
  assert_int_equal(result.size, 5);
  assert_memory_equal(result.binary, "first", 5);
  assert_string_equal(seen.text, "first");
  assert_string_equal(seen.fp, "contract");
  assert_false(ahead_has(&a, "one"));
  fake.release(NULL, &result);
  ahead_close(&a);
}

/* Code that nobody has taken yet is kept while other code is compiled. */
TEST(keeps_what_was_finished) {
  struct ahead a = {0};
  struct compile_result result;
  double seconds;
  seen.released = 0;
  ahead_open(&a, NULL);
  for (const char *const *hash = (const char *const[]){"one", "two", "three", NULL}; *hash; hash++) {
    assert_true(begin(&a, *hash, *hash));
    wait_for(&a);
  }
  assert_true(ahead_take(&a, "two", &result, &seconds));
  assert_memory_equal(result.binary, "two", 3);
  fake.release(NULL, &result);
  assert_true(ahead_has(&a, "one") && ahead_has(&a, "three") && !ahead_has(&a, "two"));
  ahead_close(&a);
  assert_int_equal(seen.released, 3);
}

/* A pinned thread's child would be pinned too. */
TEST(runs_everywhere_at_low_priority) {
  struct ahead a = {0};
  cpu_set_t before, one;
  ahead_open(&a, NULL);
  assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET((size_t)sched_getcpu(), &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  assert_true(begin(&a, "one", "first"));
  wait_for(&a);
  assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
  assert_int_equal(seen.processors, CPU_COUNT(&before));
  assert_int_equal(seen.priority, 9);
  assert_true(seen.blocked);
  assert_true(getpriority(PRIO_PROCESS, 0) < 9);
  ahead_close(&a);
}

/* Closing waits for the compiler, since its code must not go away below it. */
TEST(closes_while_it_compiles) {
  struct ahead a = {0};
  seen.released = 0;
  ahead_open(&a, NULL);
  assert_true(begin(&a, "one", "first"));
  ahead_close(&a);
  assert_int_equal(seen.released, 1);
  assert_false(ahead_is_busy(&a));
}

/* A forked child has no such thread: it does not wait for one, and may start its own. */
TEST(is_free_in_a_child) {
  struct ahead a = {0};
  ahead_open(&a, NULL);
  pthread_mutex_lock(&gate);
  assert_true(begin(&a, "one", "first"));
  pid_t child = fork();
  if (child == 0) {
    pthread_mutex_unlock(&gate);
    bool good = !ahead_is_busy(&a) && !ahead_has(&a, "one");
#ifndef __SANITIZE_THREAD__ /* takes the new thread for the one that was left behind */
    good = good && begin(&a, "two", "second");
    wait_for(&a);
    good = good && ahead_has(&a, "two");
#endif
    ahead_close(&a);
    _exit(good ? 0 : 1);
  }
  pthread_mutex_unlock(&gate);
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  wait_for(&a);
  assert_true(ahead_has(&a, "one"));
  ahead_close(&a);
}

#ifndef __SANITIZE_THREAD__ /* to which a thread that is not joined is a leak */
/* A program that ends without closing: exit() waits for the compiler, whose last word is the mark in the pipe. */
static int mark[2];

static void compile_and_mark(void *self, const struct compile_request *request,
                             struct compile_result *result) {
  usleep(20000);
  compile(self, request, result);
  if (write(mark[1], "x", 1) != 1)
    _exit(4);
}

TEST(exit_waits) {
  assert_int_equal(pipe(mark), 0);
  pid_t child = fork();
  if (child == 0) {
    static struct ahead a;
    static const struct target marking = {.compile = compile_and_mark, .release = release};
    struct generated files = {
        .main_file = strdup("a"), .kernel_file = strdup("b"), .prelude_file = strdup("c"), .prelude = ""};
    const struct compile_request like = {.cpu = "x86-64", .features = "", .fp = "strict"};
    text_add(&files.kernel, "late");
    ahead_open(&a, NULL);
    exit(ahead_begin(&a, &marking, NULL, "one", &files, &like) ? 0 : 3);
  }
  close(mark[1]);
  int status = -1;
  char seen_mark = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(read(mark[0], &seen_mark, 1), 1);
  assert_int_equal(seen_mark, 'x');
  close(mark[0]);
}
#endif
