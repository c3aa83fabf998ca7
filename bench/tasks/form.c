/* usage: tasks_SAMPLE graph|openmp THREADS SIZE  Says "ready". For each line that it reads it runs once, and prints the
 * milliseconds of the clock, those of processors, and the answer. "simulate N" prints what a run on N threads would take, in
 * milliseconds, and that on one; "facts": tasks, busy and idle milliseconds, and the longest way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <op2jit.h>

#include "form.h"

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void run_once(int graph, int threads) {
  form_refresh();
  const double start = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  if (graph)
    form_by_graph();
  else
    form_by_openmp(threads);
  printf("%.9g %.9g %.17g\n", 1e3 * (seconds_of(CLOCK_MONOTONIC) - start),
         1e3 * (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used), form_answer());
}

static void say_facts(void) {
  op_graph_facts_t f;
  op_graph_facts(form_graph(), &f);
  printf("%lld %.9g %.9g %.9g %.9g\n", f.executed, 1e3 * f.seconds, 1e3 * f.busy, 1e3 * f.idle,
         1e3 * f.critical);
}

int main(int argc, char **argv) {
  char line[32], word[32];
  if (argc != 4) {
    fprintf(stderr, "usage: %s graph|openmp THREADS SIZE\n", argv[0]);
    return 2;
  }
  const int graph = !strcmp(argv[1], "graph"), threads = atoi(argv[2]);
  snprintf(word, sizeof word, "OP2_THREADS=%d", threads);
  char *words[] = {argv[0], word, "OP2_BACKEND=native", NULL};
  if (op_init(3, words, 0))
    return 1;
  form_prepare(atoi(argv[3]));
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (!strncmp(line, "simulate ", 9))
      printf("%.9g %.9g\n", 1e3 * op_graph_simulate(form_graph(), atoi(line + 9)),
             1e3 * op_graph_simulate(form_graph(), 1));
    else if (!strncmp(line, "facts", 5))
      say_facts();
    else
      run_once(graph, threads);
    fflush(stdout);
  }
  return op_exit();
}
