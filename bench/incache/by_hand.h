/* Loops of ./dev bench incache as somebody writes them who knows the processor: vectors of four, rows turned in
 * registers, increments row by row. */
#ifndef BENCH_INCACHE_BY_HAND_H
#define BENCH_INCACHE_BY_HAND_H

struct by_hand {
  int n;
  const int *map, *nodes; /* to the cells, or to corners; edges to nodes */
  double *const *values;  /* by dat */
};

void by_hand_res_calc(const struct by_hand *given);
void by_hand_multiply(const struct by_hand *given);

#endif
