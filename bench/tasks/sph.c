#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "../../samples/sph/sph.c"
#undef main

#include "form.h"

static op_graph graph;
static char *bricks; /* what tasks depend on */

void form_prepare(int size) {
  if (!make_gas(size ? size : 400) || !(bricks = calloc((size_t)gas.bricks, 1)))
    exit(1);
  graph = make_graph();
  gas.step = 0.02 * gas.h;
}

void form_refresh(void) {
  sort_into_cells();
}

void form_by_graph(void) {
  op_graph_run(graph);
}

static void make_pairs(both *act) {
  for (int b = 0; b < gas.bricks; b++)
    for (int c = b; c < gas.bricks; c++)
      if (c == b) {
#pragma omp task depend(mutexinoutset : bricks[b])
        act_bricks(&(struct bricks){b, b}, act);
      } else if (touch(b, c) || touch(c, b)) {
#pragma omp task depend(mutexinoutset : bricks[b]) depend(mutexinoutset : bricks[c])
        act_bricks(&(struct bricks){b, c}, act);
      }
}

static void make_each(void (*what)(struct particle *)) {
  for (int b = 0; b < gas.bricks; b++) {
#pragma omp task depend(inout : bricks[b])
    each(b, what);
  }
}

void form_by_openmp(int threads) {
  (void)threads;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    make_each(begin_one);
    make_pairs(add_density);
    make_each(find_pressure);
    make_pairs(add_force);
    make_each(push);
  }
}

double form_answer(void) {
  return sum_up().energy;
}

op_graph form_graph(void) {
  return graph;
}
