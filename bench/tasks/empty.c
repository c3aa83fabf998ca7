/* What a task costs that does nothing: in a chain, side by side, and with two locks each; in time of
 * processors, on one thread and on all. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <op2jit.h>
#include <op2jit_tasks.h>

enum { TASKS = 200000, ROUNDS = 7, RESOURCES = 1000 };

static void nothing(op_running *running, void *data) {
  (void)running, (void)data;
}

static op_graph make(int chained, int locks) {
  op_graph graph = op_decl_graph("empty");
  const op_task_type type = op_graph_type(graph, "nothing", nothing);
  op_resource resources[RESOURCES];
  op_task last = 0;
  for (int r = 0; r < RESOURCES; r++)
    resources[r] = op_graph_resource(graph, 0, NULL);
  for (int t = 0; t < TASKS; t++) {
    const op_task task = op_graph_task(graph, type, NULL, 0, 1);
    if (chained && last)
      op_graph_depend(graph, task, last);
    for (int l = 0; l < locks; l++)
      op_graph_lock(graph, task, resources[(t * 7 + l * 501) % RESOURCES]);
    last = task;
  }
  return graph;
}

/* Of processors: another program's turn is no cost of a task. */
static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *name, int chained, int locks) {
  op_graph graph = make(chained, locks);
  double ns[ROUNDS];
  op_graph_run(graph);
  for (int i = 0; i < ROUNDS; i++) {
    const double start = seconds();
    op_graph_run(graph);
    ns[i] = 1e9 * (seconds() - start) / TASKS;
  }
  qsort(ns, ROUNDS, sizeof *ns, by_value);
  op_graph_facts_t f;
  op_graph_facts(graph, &f);
  printf("%-24s %2lld threads %8.0f ns a task (%.0f .. %.0f)\n", name, f.threads, ns[ROUNDS / 2], ns[0],
         ns[ROUNDS - 1]);
  op_free_graph(graph);
}

int main(void) {
  char one[] = "OP2_THREADS=1", native[] = "OP2_BACKEND=native", *words[] = {native, one, NULL};
  for (int all = 0; all < 2; all++) {
    if (op_init(all ? 1 : 2, words, 0))
      return 1;
    measure("in a chain", 1, 0);
    measure("side by side", 0, 0);
    measure("with two locks each", 0, 2);
    op_exit();
  }
  return 0;
}
