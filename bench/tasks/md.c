#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "../../samples/md/md.c"
#undef main

#include "form.h"

static op_graph graph;
static char *bricks; /* what tasks depend on */

void form_prepare(int size) {
  if (!make_box(size ? size : 64, 2.5, 0) || !(bricks = calloc((size_t)box.bricks, 1)))
    exit(1);
  make_memory();
  graph = make_graph(&md_step);
  op_graph_run(graph); /* it makes the particles */
  box.begun = 1;
}

void form_refresh(void) {
}

void form_by_graph(void) {
  op_graph_run(graph);
}

static void make_tasks(void) {
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(out : bricks[b])
    move(NULL, &(struct bricks){b, b});
  }
#pragma omp taskwait
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(inout : bricks[b])
    arrive(NULL, &(struct bricks){b, b});
  }
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(mutexinoutset : bricks[b])
    find_forces(NULL, &(struct bricks){b, b});
    for (int i = NEAR + 1; i < AROUND; i++) {
      const int c = beside(b, i, box.edge).cell;
#pragma omp task depend(mutexinoutset : bricks[b]) depend(mutexinoutset : bricks[c])
      find_forces(NULL, &(struct bricks){b, c});
    }
  }
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(inout : bricks[b])
    finish(NULL, &(struct bricks){b, b});
  }
}

void form_by_openmp(int threads) {
  (void)threads;
#pragma omp parallel num_threads(threads)
#pragma omp single
  make_tasks();
}

double form_answer(void) {
  return sum_up().energy;
}

op_graph form_graph(void) {
  return graph;
}
