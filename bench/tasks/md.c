#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "../../samples/md/md.c"
#undef main

#include "form.h"

static op_graph graph;
static char *bricks; /* what tasks depend on */

void form_prepare(int size) {
  if (!make_box(size ? size : 64, 2.5) || !(bricks = calloc((size_t)box.bricks, 1)))
    exit(1);
  graph = make_graph("md", 1);
}

void form_refresh(void) {
  sort_into_cells();
}

void form_by_graph(void) {
  op_graph_run(graph);
}

static void make_tasks(void) {
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(out : bricks[b])
    begin(b, 1);
  }
  for (int b = 0; b < box.bricks; b++) {
#pragma omp task depend(mutexinoutset : bricks[b])
    force_self(NULL, &(struct bricks){b, b});
    for (int c = b + 1; c < box.bricks; c++)
      if (touch(b, c) || touch(c, b)) {
#pragma omp task depend(mutexinoutset : bricks[b]) depend(mutexinoutset : bricks[c])
        force_pair(NULL, &(struct bricks){b, c});
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
  return energy();
}

op_graph form_graph(void) {
  return graph;
}
