/* How long a run of a graph would take on other machines, as samples print it. */
#ifndef SAMPLES_SIMULATED_H
#define SAMPLES_SIMULATED_H

#include <op2jit_tasks.h>

/* On so many threads of one process, or of each of `ranks` (0: one process) with a network of 2 microseconds and 10 GB/s. */
static void say_simulated(op_graph graph, int ranks, int threads) {
  const op_graph_network_t many = {.ranks = ranks,
                                   .threads = threads,
                                   .latency = 2e-6,
                                   .bytes_per_second = 1e10},
                           one = {.ranks = 1, .threads = 1, .latency = 2e-6, .bytes_per_second = 1e10};
  const double seconds = ranks ? op_graph_simulate_ranks(graph, &many) : op_graph_simulate(graph, threads);
  const double alone = ranks ? op_graph_simulate_ranks(graph, &one) : op_graph_simulate(graph, 1);
  if (ranks)
    op_printf("%d ranks, ", ranks);
  op_printf("simulated: %.3f ms a run on %d threads, %.0f%% of the ideal\n", 1e3 * seconds, threads,
            100 * alone / threads / (ranks ? ranks : 1) / seconds);
}

#endif
