/* The team: both fills run each thread once, keep phases apart, survive fork and nesting. */
#include "../unit.h"
#include <stdatomic.h>

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/team.h"
#include "exec/team_place.h"

static const int counts[] = {1, 2, 3, 7, 16};
enum { ncounts = sizeof counts / sizeof *counts, rounds = 50, most = 16 };

static struct team *open_team(enum team_kind kind, int threads) {
  struct error err = {0};
  struct team *team = NULL;
  if (team_open(&team, kind, threads, &err))
    fail_msg("%s", error_message(&err));
  error_free(&err);
  return team;
}

struct visits {
  int by_thread[most], threads;
};

static void visit(void *argument, int thread, int threads) {
  struct visits *v = argument;
  v->by_thread[thread]++;
  if (thread == 0)
    v->threads = threads;
}

static void check_visits(struct team *team, int asked) {
  struct visits v = {0};
  team_run(team, asked, visit, &v);
  int expected = asked < team_threads(team) ? asked : team_threads(team);
  assert_int_equal(v.threads, expected);
  for (int t = 0; t < most; t++)
    assert_int_equal(v.by_thread[t], t < expected);
}

static void each_thread_once(enum team_kind kind) {
  for (int i = 0; i < ncounts; i++) {
    struct team *team = open_team(kind, counts[i]);
    assert_int_equal(team_threads(team), counts[i]);
    for (int round = 0; round < rounds; round++)
      check_visits(team, 1 + round % most);
    team_close(team);
  }
}

/* Every thread writes its cell, then reads its neighbour's: without a barrier that holds, rounds mix. */
struct ring {
  struct team *team;
  int cells[most];
  _Atomic int wrong;
};

static void go_round(void *argument, int thread, int threads) {
  struct ring *ring = argument;
  for (int round = 1; round <= rounds; round++) {
    ring->cells[thread] = round;
    team_barrier(ring->team);
    if (ring->cells[(thread + 1) % threads] != round)
      ring->wrong++;
    team_barrier(ring->team);
  }
}

static void barriers(enum team_kind kind) {
  for (int i = 1; i < ncounts; i++) {
    struct ring ring = {.team = open_team(kind, counts[i])};
    for (int repeat = 0; repeat < 4; repeat++)
      team_run(ring.team, counts[i] - repeat % 2, go_round, &ring);
    assert_int_equal(ring.wrong, 0);
    team_close(ring.team);
  }
}

struct inner {
  struct team *team;
  _Atomic int calls;
};
static void count_single(void *argument, int thread, int threads) {
  struct inner *inner = argument;
  if (thread == 0 && threads == 1)
    inner->calls++;
}
static void run_inside(void *argument, int thread, int threads) {
  struct inner *inner = argument;
  (void)threads;
  if (thread == 0)
    team_run(inner->team, most, count_single, inner);
}

static void task_inside_task(enum team_kind kind) {
  struct inner inner = {.team = open_team(kind, 3)};
  team_run(inner.team, 3, run_inside, &inner);
  assert_int_equal(inner.calls, 1);
  team_close(inner.team);
}

#if defined(__SANITIZE_THREAD__)
enum { child_threads = 0 }; /* this sanitizer cannot start threads in a forked child */
#else
enum { child_threads = 1 };
#endif

/* The child runs on as many threads as its parent, of its own, and may close the team, used or not. */
static void forked_child(enum team_kind kind) {
  for (int use = 0; use <= child_threads; use++) {
    struct team *team = open_team(kind, 3);
    check_visits(team, 3);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
      struct visits v = {0};
      alarm(20);
      for (int round = 0; use && round < rounds; round++)
        team_run(team, 3, visit, &v);
      bool right = !use || (v.threads == 3 && v.by_thread[0] == rounds && v.by_thread[2] == rounds &&
                            strcmp(team_name(team), "pthread") == 0);
      team_close(team);
      _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    check_visits(team, 3);
    team_close(team);
  }
}

/* In a child: does the team run on threads of its own, here and in a child of this child? */
static bool runs_in_generations(struct team *team, int generations) {
  struct visits v = {0};
  team_run(team, 3, visit, &v);
  team_run(team, 3, visit, &v);
  if (v.threads != 3 || v.by_thread[0] != 2 || v.by_thread[1] != 2 || v.by_thread[2] != 2)
    return false;
  if (generations == 0)
    return true;
  const pid_t child = fork();
  if (child == 0) {
    bool right = runs_in_generations(team, generations - 1);
    team_close(team);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct forking {
  struct team *team;
  int status;
};

static void *fork_in_thread(void *forking) {
  struct forking *f = forking;
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool right = runs_in_generations(f->team, 1);
    team_close(f->team);
    _exit(right ? 0 : 1);
  }
  if (child < 0 || waitpid(child, &f->status, 0) != child)
    f->status = -1;
  return NULL;
}

/* Not the thread that opened the team is what lives on in the child, and children have children. */
TEST(fork_of_another_thread) {
  if (!child_threads)
    skip_since("the thread sanitizer cannot start threads in a forked child");
  struct forking forking = {.team = open_team(TEAM_PTHREAD, 3), .status = -1};
  pthread_t thread;
  check_visits(forking.team, 3);
  assert_int_equal(pthread_create(&thread, NULL, fork_in_thread, &forking), 0);
  pthread_join(thread, NULL);
  assert_true(WIFEXITED(forking.status));
  assert_int_equal(WEXITSTATUS(forking.status), 0);
  check_visits(forking.team, 3);
  team_close(forking.team);
}

TEST(pthread_each_thread_once) {
  each_thread_once(TEAM_PTHREAD);
}
TEST(pthread_barriers) {
  barriers(TEAM_PTHREAD);
}
TEST(pthread_nested) {
  task_inside_task(TEAM_PTHREAD);
}
TEST(pthread_fork) {
  forked_child(TEAM_PTHREAD);
}

/* Idle workers sleep: while the caller is away for 40 ms after each of 10 runs, they use less than a quarter of
 * that. */
TEST(pthread_sleeps) {
  struct rusage before, after;
  struct team *team = open_team(TEAM_PTHREAD, 2);
  check_visits(team, 2);
  getrusage(RUSAGE_SELF, &before);
  for (int i = 0; i < 10; i++) {
    check_visits(team, 2);
    usleep(40000);
  }
  getrusage(RUSAGE_SELF, &after);
  long us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000L + after.ru_utime.tv_usec -
            before.ru_utime.tv_usec;
  assert_true(us < 100000);
  team_close(team);
}

TEST(refusals) {
  struct error err = {0};
  struct team *team;
  assert_int_equal(team_open(&team, TEAM_DEFAULT, -1, &err), OP_ERR_ARGUMENT);
  assert_null(team);
#ifndef OP2JIT_OPENMP
  assert_int_equal(team_open(&team, TEAM_OPENMP, 2, &err), OP_ERR_NOT_BUILT);
#endif
  error_free(&err);
  team = open_team(TEAM_DEFAULT, 0);
  assert_true(team_threads(team) >= 1);
  team_close(team);
  team_close(NULL);
}

TEST(memory_is_cleared) {
  static const size_t sizes[] = {0, 1, 1000, 1 << 20, (1 << 20) + 13};
  for (int threads = 1; threads <= 3; threads++) {
    struct team *team = open_team(TEAM_PTHREAD, threads);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      unsigned char *memory = malloc(sizes[i] + 1);
      memset(memory, 0xab, sizes[i] + 1);
      team_clear(i == 3 ? NULL : team, memory, sizes[i], threads == 3 ? sizes[i] / 7 : 0);
      for (size_t b = 0; b < sizes[i]; b++)
        if (memory[b])
          fail_msg("byte %zu of %zu is not zero", b, sizes[i]);
      assert_int_equal(memory[sizes[i]], 0xab);
      free(memory);
    }
    team_close(team);
  }
}

/* The CPUs that the process may use are what counts, not those of the machine. */
TEST(pthread_affinity) {
  cpu_set_t all, one;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  CPU_ZERO(&one);
  for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++)
    if (CPU_ISSET(cpu, &all))
      CPU_SET(cpu, &one);
  struct team *team = open_team(TEAM_PTHREAD, 0);
  assert_int_equal(team_threads(team), CPU_COUNT(&all));
  team_close(team);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
  team = open_team(TEAM_PTHREAD, 0);
  assert_int_equal(team_threads(team), 1);
  team_close(team);
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void bind_to(size_t cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

/* One claim for each CPU and run. Bound to it, a thread stays on a CPU that another has. */
TEST(places_are_claimed) {
  cpu_set_t all;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  struct places *places = places_open();
  assert_non_null(places);
  bind_to((size_t)sched_getcpu());
  assert_true(place_claim(places, 1));
  assert_false(place_claim(places, 1));
  assert_false(place_leave(places, 1));
  assert_true(place_claim(places, 2));
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  places_close(places);
}

/* Allowed elsewhere it goes, and may then run where it might before; unless others have all, or had them a run
 * before. */
CASE(places_are_left) {
  cpu_set_t all, now;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  struct places *places = places_open();
  assert_non_null(places);
  assert_true(place_claim(places, 1));
  assert_true(place_leave(places, 1)); /* nobody has the others yet */
  assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
  assert_true(CPU_EQUAL(&now, &all));
  for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all)) {
      bind_to(cpu);
      assert_true(place_claim(places, 3));
    }
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  assert_false(place_leave(places, 3));
  assert_false(place_leave(places, 4));
  assert_true(place_leave(places, 5));
  places_close(places);
}

static void count_cpus(void *argument, int thread, int threads) {
  cpu_set_t mine;
  (void)threads;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0)
    ((int *)argument)[thread] = CPU_COUNT(&mine);
}

static void remember_cpu(void *argument, int thread, int threads) {
  (void)threads;
  ((int *)argument)[thread] = sched_getcpu();
}

static void come_to_first(void *argument, int thread, int threads) {
  cpu_set_t all;
  (void)threads;
  if (thread == 1 && sched_getaffinity(0, sizeof all, &all) == 0) {
    bind_to((size_t)((int *)argument)[0]);
    sched_setaffinity(0, sizeof all, &all);
  }
}

/* A worker that got onto the first thread's CPU does not stay there, and remains free to go everywhere. */
CASE(workers_keep_apart) {
  cpu_set_t all;
  assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
  struct team *team = open_team(TEAM_PTHREAD, 2);
  int cpu[2] = {0}, cpus[2] = {0};
  bind_to((size_t)sched_getcpu());
  for (int i = 0; i < 20; i++) {
    team_run(team, 1, remember_cpu, cpu);
    team_run(team, 2, come_to_first, cpu);
    for (int run = 0; run < 1000 && (run == 0 || cpu[0] == cpu[1]); run++) {
      team_run(team, 2, remember_cpu, cpu);
      usleep(100); /* a worker does not leave all the time */
    }
    assert_int_not_equal(cpu[0], cpu[1]);
  }
  team_run(team, 2, count_cpus, cpus);
  assert_int_equal(cpus[0], 1);
  assert_int_equal(cpus[1], CPU_COUNT(&all));
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
  team_close(team);
}

#ifdef OP2JIT_OPENMP
/* Run as "test-exec-team bound" with OMP_PLACES=threads, OMP_PROC_BIND=close and OMP_NUM_THREADS=2. */
CASE(openmp_bound) {
  int cpus[2] = {0};
  struct team *team = open_team(TEAM_OPENMP, 0);
  assert_int_equal(team_threads(team), 2);
  team_run(team, 2, count_cpus, cpus);
  assert_int_equal(cpus[0], 1);
  assert_int_equal(cpus[1], 1);
  team_close(team);
}

/* This program has no OpenMP runtime: none is loaded unless it is asked for, as the tests below do. */
TEST(default_without_runtime) {
  struct team *team = open_team(TEAM_DEFAULT, 2);
  assert_string_equal(team_name(team), "pthread");
  team_close(team);
}
TEST(openmp_each_thread_once) {
  each_thread_once(TEAM_OPENMP);
}
TEST(openmp_barriers) {
  barriers(TEAM_OPENMP);
}
TEST(openmp_nested) {
  task_inside_task(TEAM_OPENMP);
}
TEST(openmp_fork) {
  forked_child(TEAM_OPENMP);
}
#endif

/* Run as "test-exec-team apart". */
static int keep_apart(void) {
  enum { SKIPPED = 77 };
  const struct CMUnitTest apart[] = {cmocka_unit_test(places_are_left), cmocka_unit_test(workers_keep_apart)};
  if (team_cpus() < 2) {
    puts("skipped: one CPU, which all threads share");
    return SKIPPED;
  }
  return cmocka_run_group_tests(apart, NULL, NULL);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "apart") == 0)
    return keep_apart();
#ifdef OP2JIT_OPENMP
  if (argc == 2 && strcmp(argv[1], "bound") == 0) {
    const struct CMUnitTest bound[] = {cmocka_unit_test(openmp_bound)};
    return cmocka_run_group_tests(bound, NULL, NULL);
  }
#endif
  if (argc == 2) /* cases that are left out: what an emulator does not have */
    cmocka_set_skip_filter(argv[1]);
  return run_these(NULL, NULL);
}
