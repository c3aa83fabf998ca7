/* A test whose program is broken on purpose: it must fail, crash or hang. */
#ifndef OP2JIT_TESTS_MUTANT_H
#define OP2JIT_TESTS_MUTANT_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Processor time of all its threads. */
static inline double seconds_of(pid_t child) {
  clockid_t clock;
  struct timespec t = {0};
  return clock_getcpuclockid(child, &clock) == 0 && clock_gettime(clock, &t) == 0
             ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
             : 0;
}

/* Until it ends or hangs: it does nothing for two seconds. */
static inline bool wait_for_child(pid_t child, int *status) {
  enum { LOOKS = 20 };
  const struct timespec between = {.tv_nsec = 100000000};
  double last = -1;
  for (int still = 0; still < LOOKS;) {
    const pid_t ended = waitpid(child, status, WNOHANG);
    if (ended != 0)
      return ended == child;
    const double now = seconds_of(child);
    still = now > last + 1e-3 ? 0 : still + 1;
    last = now > last + 1e-3 ? now : last;
    nanosleep(&between, NULL);
  }
  kill(child, SIGKILL);
  return waitpid(child, status, 0) == child;
}

/* In a child, for at most 20 seconds. Returns 0 if the fault was found. */
static inline int run_mutant(int (*tests)(void)) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
      _exit(0);
    alarm(20);
    _exit(tests() != 0);
  }
  if (child < 0 || !wait_for_child(child, &status))
    return 1;
  const bool found = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  printf("%s\n", found ? "found" : "no test found it");
  return !found;
}

#endif
