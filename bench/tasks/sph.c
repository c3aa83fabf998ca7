#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "../../samples/sph/sph.c"
#undef main

#include "form.h"

static op_graph graph;
static char *bricks; /* what tasks depend on */

void form_prepare(int size) {
  if (!make_gas(size ? size : 400, 0) || !(bricks = calloc((size_t)box.bricks, 1)))
    exit(1);
  make_memory();
  graph = make_graph(&sph_step);
  op_graph_run(graph); /* it makes the particles */
  box.begun = 1;
  box.step = 0.02 * gas.h;
}

void form_refresh(void) {
}

void form_by_graph(void) {
  op_graph_run(graph);
}

static void make_each(op_task_function *function) {
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(inout : bricks[b])
    function(NULL, &(struct bricks){b, b});
  }
}

static void make_pairs(op_task_function *function) {
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(mutexinoutset : bricks[b])
    function(NULL, &(struct bricks){b, b});
    for (int n = NEAR + 1; n < AROUND; n++) {
      const int c = beside(b, n, box.edge).cell;
#pragma omp task depend(mutexinoutset : bricks[b]) depend(mutexinoutset : bricks[c])
      function(NULL, &(struct bricks){b, c});
    }
  }
}

void form_by_openmp(int threads) {
  (void)threads;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    make_each(run_begin);
#pragma omp taskwait
    make_each(arrive);
    make_pairs(run_density);
    make_each(run_ghost);
    make_pairs(run_force);
    make_each(run_end);
  }
}

double form_answer(void) {
  return sum_up().energy;
}

op_graph form_graph(void) {
  return graph;
}
