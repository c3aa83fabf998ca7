/* usage: test_placed scotch|none  A chain of resources that are added in no order of it: where PT-Scotch finds who owns them,
 * few tasks of neighbours lie on two ranks, in runs and in simulations; by the order in which they were added most do. */
#include "check.h"
#include "op2jit_tasks.h"

enum { UNITS = 96, APART = 37, BYTES = 1000, SIMULATED = 4 };

static void meet(op_running *running, void *data) {
  (void)data;
  for (int i = 0; i < 2; i++)
    ++*(long long *)op_running_memory(running, i);
}

static op_graph make_chain(void) {
  op_resource units[UNITS];
  op_graph graph = op_decl_graph("chain");
  check(op_graph_ranks(graph, OP_GRAPH_WHOLE) == OP_OK);
  const op_task_type type = op_graph_type(graph, "meet", meet);
  for (int i = 0; i < UNITS; i++) {
    check(units[i] = op_graph_resource(graph, 0, NULL));
    check(op_graph_memory(graph, units[i], NULL, BYTES) == OP_OK);
  }
  for (int i = 0; i + 1 < UNITS; i++) {
    const op_task task = op_graph_task(graph, type, NULL, 0, 1);
    check(op_graph_lock(graph, task, units[i * APART % UNITS]) == OP_OK);
    check(op_graph_lock(graph, task, units[(i + 1) * APART % UNITS]) == OP_OK);
  }
  return graph;
}

int main(int argc, char **argv) {
  /* The network is slow, so that it takes as many seconds as a rank sends messages of one resource. */
  const op_graph_network_t network = {.ranks = SIMULATED, .threads = 1, .bytes_per_second = BYTES};
  op_graph_facts_t facts;
  check(argc > 1);
  const int scotch = !strcmp(argv[1], "scotch");
  check(op_init(argc, argv, 0) == OP_OK);
  op_graph graph = make_chain();
  check(op_graph_run(graph) == OP_OK);
  check(op_graph_facts(graph, &facts) == OP_OK);
  const double seconds = op_graph_simulate_ranks(graph, &network);
  printf("%s: rank %d sent %lld messages; %d ranks would take %.1f s\n", argv[1], op_rank(), facts.messages,
         SIMULATED, seconds);
  check(scotch ? facts.messages <= 12 : facts.messages >= 24);
  check(scotch ? seconds <= 8 : seconds >= 16);
  check(op_exit() == OP_OK);
  return 0;
}
