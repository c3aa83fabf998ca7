/* A run that is only thought of: so many threads, each task as long as it was measured to take. Ready tasks lie in one
 * heap, as if stealing cost nothing; locks are those of a run. */
#include <float.h>
#include <stdlib.h>

#include "base/size.h"
#include "tasks/inner.h"

/* Running tasks, a heap by when they end, the first at its root. */
struct end {
  double at;
  struct task *task;
};
struct machine {
  struct task_graph *graph;
  struct ready ready;
  struct end *ends;
  int nrunning;
  int *waits;       /* of each task */
  double now, step; /* what a thread needs for itself between two tasks */
};

static void add_end(struct machine *m, struct end e) {
  int i = m->nrunning++;
  for (; i > 0 && m->ends[(i - 1) / 2].at > e.at; i = (i - 1) / 2)
    m->ends[i] = m->ends[(i - 1) / 2];
  m->ends[i] = e;
}

static struct end first_end(struct machine *m) {
  const struct end first = m->ends[0], e = m->ends[--m->nrunning];
  int i = 0;
  for (int child = 1; child < m->nrunning; child = 2 * i + 1) {
    if (child + 1 < m->nrunning && m->ends[child + 1].at < m->ends[child].at)
      child++;
    if (m->ends[child].at >= e.at)
      break;
    m->ends[i] = m->ends[child];
    i = child;
  }
  m->ends[i] = e;
  return first;
}

static bool readies(struct machine *m, struct task *task) {
  return ready_put(&m->ready, task, m->graph->types[task->type].function ? (double)task->weight : DBL_MAX);
}

static bool begins(struct machine *m, int threads) {
  long long refused = 0;
  bool disturbed = false;
  while (m->nrunning < threads) {
    struct task *task = ready_take(&m->ready, m->graph, true, &refused, &disturbed);
    if (!task)
      break;
    const bool works = m->graph->types[task->type].function;
    add_end(m, (struct end){m->now + m->step + (works ? (double)task->cost : 0), task});
  }
  return m->nrunning > 0;
}

static bool simulates(struct machine *m, int threads) {
  const struct task_graph *g = m->graph;
  bool whole = true;
  for (int t = 0; t < g->ntasks; t++)
    m->waits[t] = g->tasks[t].before;
  for (int i = 0; whole && i < g->nroots; i++)
    whole = readies(m, &g->tasks[g->order[i]]);
  while (whole && begins(m, threads)) {
    const struct end e = first_end(m);
    m->now = e.at;
    locks_give(g, task_locks(g, e.task));
    for (struct row row = relation_row(&g->after, (size_t)(e.task - g->tasks)); whole && row.begin < row.end;
         row.begin++)
      if (--m->waits[*row.begin] == 0)
        whole = readies(m, &g->tasks[*row.begin]);
  }
  while (m->nrunning > 0) /* no memory */
    locks_give(g, task_locks(g, first_end(m).task));
  return whole;
}

double tasks_simulate(struct task_graph *g, int threads, struct error *err) {
  if (threads < 1) {
    error_set(err, OP_ERR_ARGUMENT, "graph \"%s\" cannot run on %d threads; give 1 or more", g->name,
              threads);
    return -1;
  }
  if (g->ranks) {
    error_set(err, OP_ERR_STATE,
              "graph \"%s\" is of all ranks; call op_graph_simulate_ranks for it, which may be of one rank",
              g->name);
    return -1;
  }
  if (g->runs == 0 && g->device.runs > 0) {
    error_set(err, OP_ERR_STATE,
              "graph \"%s\" ran on a device, which does not say what single tasks take; run the program with "
              "OP2_BACKEND=openmp for it",
              g->name);
    return -1;
  }
  if (g->runs == 0 || !g->sorted) {
    error_set(
        err, OP_ERR_STATE,
        "graph \"%s\" has not run since it was changed, so nobody knows what its tasks cost; run it first",
        g->name);
    return -1;
  }
  const double between = g->spans - g->busy - g->idle;
  struct machine m = {.graph = g, .step = g->executed && between > 0 ? between / (double)g->executed : 0};
  m.ends = array_new((size_t)threads, sizeof *m.ends);
  m.waits = array_new((size_t)g->ntasks, sizeof *m.waits);
  pthread_mutex_init(&m.ready.mutex, NULL);
  tasks_weigh(g);
  const bool whole = m.ends && m.waits && simulates(&m, threads);
  if (!whole)
    error_memory_of(err, "the simulation of graph", g->name, (size_t)g->ntasks * sizeof *m.waits);
  pthread_mutex_destroy(&m.ready.mutex);
  free(m.ready.heap);
  free(m.ends);
  free(m.waits);
  return whole ? m.now : -1;
}
