/* A test whose program is broken on purpose: it must fail, crash or hang. */
#ifndef OP2JIT_TESTS_MUTANT_H
#define OP2JIT_TESTS_MUTANT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

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
  if (child < 0 || waitpid(child, &status, 0) != child)
    return 1;
  const bool found = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  printf("%s\n", found ? "found" : "no test found it");
  return !found;
}

#endif
