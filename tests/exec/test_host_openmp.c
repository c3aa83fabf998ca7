/* A host program with OpenMP regions of its own: one pool of threads, no deadlock, no second team inside a region. */
#include "../unit.h"
#include <stdatomic.h>

#include <dirent.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/team.h"

enum { threads = 3, rounds = 200 };

static struct team *open_team(enum team_kind kind) {
  struct error err = {0};
  struct team *team = NULL;
  if (team_open(&team, kind, threads, &err))
    fail_msg("%s", error_message(&err));
  error_free(&err);
  return team;
}

static int threads_of_process(void) {
  int n = 0;
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent *entry; (entry = readdir(tasks));)
    n += entry->d_name[0] != '.';
  closedir(tasks);
  return n;
}

/* A thread that was joined may still be leaving. */
static void expect_threads(int expected) {
  for (int i = 0; i < 2000 && threads_of_process() != expected; i++)
    usleep(1000);
  assert_int_equal(threads_of_process(), expected);
}

static void add(void *argument, int thread, int n) {
  _Atomic int *sum = argument;
  (void)thread;
  (void)n;
  (*sum)++;
}

/* The team does not look for threads of the host before each run. */
static void wait_until_it_looks(void) {
  usleep(1000);
}

static void host_region(_Atomic int *sum) {
#pragma omp parallel num_threads(threads)
  (*sum)++;
}

static void *wait_for_end(void *end) {
  pthread_mutex_lock(end);
  pthread_mutex_unlock(end);
  return NULL;
}

/* The thread that compiles behind the program says nothing of the host; nor does its end. Before the first region. */
TEST(the_librarys_own_threads_do_not_count) {
  _Atomic int sum = 0;
  pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
  pthread_t own;
  int owns = 0;
  struct team *team = open_team(TEAM_DEFAULT);
  team_discount(team, &owns);
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&end);
    assert_int_equal(pthread_create(&own, NULL, wait_for_end, &end), 0);
    owns = 1;
    wait_until_it_looks();
    team_run(team, threads, add, (void *)&sum);
    pthread_mutex_unlock(&end);
    pthread_join(own, NULL);
    wait_until_it_looks();
    team_run(team, threads, add, (void *)&sum);
    owns = 0;
    wait_until_it_looks();
    team_run(team, threads, add, (void *)&sum);
    assert_string_equal(team_name(team), "pthread");
  }
  assert_int_equal(sum, 9 * threads);
  team_close(team);
}

/* The host has a runtime, but no region has run. Then one does, and the library moves over. */
TEST(moves_to_the_hosts_runtime) {
  _Atomic int sum = 0;
  struct team *team = open_team(TEAM_DEFAULT);
  team_run(team, threads, add, (void *)&sum);
  assert_string_equal(team_name(team), "pthread");
  expect_threads(threads);
  host_region(&sum);
  expect_threads(2 * threads - 1);
  wait_until_it_looks();
  for (int i = 2; i < rounds; i++)
    team_run(team, threads, add, (void *)&sum);
  assert_string_equal(team_name(team), "openmp");
  assert_int_equal(sum, rounds * threads);
  expect_threads(threads);
  team_close(team);
  team = open_team(TEAM_DEFAULT);
  assert_string_equal(team_name(team), "openmp");
  team_close(team);
}

TEST(one_pool) {
  _Atomic int host = 0, library = 0;
  struct team *team = open_team(TEAM_DEFAULT);
  host_region(&host);
  int before = threads_of_process();
  assert_int_equal(before, threads);
  for (int i = 1; i < rounds; i++) {
    team_run(team, threads, add, (void *)&library);
    host_region(&host);
  }
  team_run(team, threads, add, (void *)&library);
  assert_int_equal(host, rounds * threads);
  assert_int_equal(library, rounds * threads);
  expect_threads(before);
  team_close(team);
}

/* Smaller runs leave the pool as it is. */
TEST(smaller_runs) {
  _Atomic int sum = 0;
  struct team *team = open_team(TEAM_DEFAULT);
  team_run(team, threads, add, (void *)&sum);
  int before = threads_of_process();
  team_run(team, 2, add, (void *)&sum);
  assert_int_equal(sum, threads + 2);
  expect_threads(before);
  team_close(team);
}

TEST(inside_a_region) {
  struct team *team = open_team(TEAM_DEFAULT);
  for (int i = 0; i < rounds; i++) {
    _Atomic int sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    team_run(team, threads, add, (void *)&sum);
    assert_int_equal(sum, 1);
  }
  team_close(team);
}

TEST(forked_child) {
  _Atomic int sum = 0;
  struct team *team = open_team(TEAM_DEFAULT);
  host_region(&sum);
  team_run(team, threads, add, (void *)&sum);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(20);
    sum = 0;
    for (int i = 0; i < rounds; i++)
      team_run(team, threads, add, (void *)&sum);
    bool right = sum == rounds * threads && strcmp(team_name(team), "pthread") == 0;
    team_close(team);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  team_close(team);
}

TEST(number_of_threads) {
  struct error err = {0};
  struct team *team = NULL;
  omp_set_num_threads(5);
  assert_int_equal(team_open(&team, TEAM_DEFAULT, 0, &err), OP_OK);
  assert_int_equal(team_threads(team), 5);
  team_close(team);
  error_free(&err);
}

int main(void) {
  omp_set_dynamic(0);
  return run_these(NULL, NULL);
}
