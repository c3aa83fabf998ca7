#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "../../samples/qr/qr.c"
#undef main

#include "form.h"

static op_graph graph;
static char *vectors; /* of a diagonal tile: what waits for these does not mind that its R changes */

void form_prepare(int size) {
  if (!make_matrix(size ? size : 2048, size && size < 1024 ? 32 : 128, 0) ||
      !(vectors = calloc((size_t)A.tiles, 1)))
    exit(1);
  fill_matrix();
  graph = make_graph();
}

void form_refresh(void) {
  fill_matrix();
}

void form_by_graph(void) {
  op_graph_run(graph);
}

static void make_tasks(void) {
  for (int k = 0; k < A.tiles; k++) {
    double *d = tile_at(k, k);
#pragma omp task depend(inout : *d) depend(out : vectors[k])
    geqrf(d);
    for (int j = k + 1; j < A.tiles; j++) {
      double *c = tile_at(k, j);
#pragma omp task depend(inout : *c) depend(in : vectors[k])
      larft(d, c, 0);
    }
    for (int i = k + 1; i < A.tiles; i++) {
      double *b = tile_at(i, k);
#pragma omp task depend(inout : *d) depend(inout : *b)
      tsqrf(d, b);
      for (int j = k + 1; j < A.tiles; j++) {
        double *top = tile_at(k, j), *c = tile_at(i, j);
#pragma omp task depend(in : *b) depend(inout : *top) depend(inout : *c)
        ssrft(b, top, c, 0);
      }
    }
  }
}

void form_by_openmp(int threads) {
  (void)threads;
#pragma omp parallel num_threads(threads)
#pragma omp single
  make_tasks();
}

double form_answer(void) {
  double sum = 0;
  for (int k = 0; k < A.tiles; k++)
    for (int r = 0; r < A.size; r++)
      sum += tile_at(k, k)[r * A.size + r];
  return sum;
}

op_graph form_graph(void) {
  return graph;
}
