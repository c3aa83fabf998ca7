/* One process up to the end of its first loop, for ./dev bench jit.
 *   jit_start         starts itself and prints one JSON object; times are from before the start of that process
 *   jit_start -       that process */
#include <op2jit.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* All that the process measures; written through a pipe. */
struct moments {
  double main, ready, ran;           /* CLOCK_MONOTONIC, seconds */
  long rss_main, rss_ready, rss_ran; /* kB */
  long private_main, private_ran;    /* kB that no other process shares */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line of a file in /proc that begins with `key`, in kB; 0: not there. */
static long kilobytes(const char *path, const char *key) {
  char line[256];
  long value = 0;
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, key, strlen(key)) == 0)
      value = strtol(line + strlen(key), NULL, 10);
  if (file)
    fclose(file);
  return value;
}

static long resident(void) {
  return kilobytes("/proc/self/status", "VmRSS:");
}

static long private_memory(void) {
  return kilobytes("/proc/self/smaps_rollup", "Private_Dirty:") +
         kilobytes("/proc/self/smaps_rollup", "Private_Clean:");
}

OP_KERNEL_DEF(
    add, void add(const double *a, const double *b, double *c) { *c = *a + *b; })

static int run(int argc, char **argv) {
  struct moments m = {.main = now()};
  m.rss_main = resident();
  m.private_main = private_memory();
  if (op_init(argc, argv, 0) != OP_OK)
    return 1;
  op_set set = op_decl_set(1000, "elements");
  op_dat a = op_decl_dat(set, 1, "double", NULL, "a"), b = op_decl_dat(set, 1, "double", NULL, "b"),
         c = op_decl_dat(set, 1, "double", NULL, "c");
  m.rss_ready = resident();
  m.ready = now();
  if (op_par_loop(OP_KERNEL_OF(add), "add", set, op_arg_dat(a, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(b, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(c, -1, OP_ID, 1, "double", OP_WRITE)) != OP_OK)
    return 1;
  m.ran = now();
  m.rss_ran = resident();
  m.private_ran = private_memory();
  if (write(STDOUT_FILENO, &m, sizeof m) != (ssize_t)sizeof m)
    return 1;
  return op_exit();
}

static int measure(char *self) {
  int ends[2], status = 1;
  pid_t pid;
  struct moments m;
  posix_spawn_file_actions_t actions;
  if (pipe(ends) != 0 || posix_spawn_file_actions_init(&actions) != 0)
    return 1;
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  char word[] = "-", *arguments[] = {self, word, NULL};
  const double begin = now();
  if (posix_spawn(&pid, self, &actions, NULL, arguments, environ) != 0)
    return 1;
  close(ends[1]);
  const ssize_t got = read(ends[0], &m, sizeof m);
  if (waitpid(pid, &status, 0) != pid || status != 0 || got != (ssize_t)sizeof m)
    return 1;
  const double end = now();
  printf("{\"main_ms\": %.3f, \"first_loop_ms\": %.3f, \"loop_ms\": %.3f, \"whole_ms\": %.3f, "
         "\"rss_main_kb\": %ld, "
         "\"rss_ready_kb\": %ld, \"rss_ran_kb\": %ld, \"private_main_kb\": %ld, \"private_ran_kb\": %ld}\n",
         1e3 * (m.main - begin), 1e3 * (m.ran - begin), 1e3 * (m.ran - m.ready), 1e3 * (end - begin),
         m.rss_main, m.rss_ready, m.rss_ran, m.private_main, m.private_ran);
  posix_spawn_file_actions_destroy(&actions);
  return 0;
}

int main(int argc, char **argv) {
  return argc > 1 ? run(argc, argv) : measure(argv[0]);
}
