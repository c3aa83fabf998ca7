/* A simulated run on the threads of one process. */
#include "tasks/inner.h"
#include "tasks/ranks.h"

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
  if (tasks_prepare(g, err)) /* the last run may have ended early */
    return -1;
  tasks_weigh(g);
  return simulate_parts(&g, &(op_graph_network_t){.ranks = 1, .threads = threads}, g, err);
}
