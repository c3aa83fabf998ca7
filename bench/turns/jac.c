/* Edge-based Jacobi iteration with and without chains, in turns (chains.py). */
#include "turns.h"

#include "common/memory.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/jac/jac.c"
#undef main

const double turns_limit = 1e-12;
const char *const turns_word = NULL;
static struct mesh mesh;
static double *zeros;

long long turns_prepare(int size, int library) {
  struct graph graph = graph_make(size);
  const int nodes = graph.nodes;
  (void)library;
  mesh = mesh_declare(&graph);
  zeros = room(nodes, sizeof *zeros);
  memset(zeros, 0, (size_t)nodes * sizeof *zeros);
  graph_free(&graph);
  return nodes;
}

double turns_library(int steps, double *answer) {
  op_put_data(mesh.u, zeros);
  const double begin = turns_seconds();
  for (int k = 0; k < steps; k++)
    iterate(&mesh);
  op_barrier(); /* runs what waits */
  const double seconds = (turns_seconds() - begin) / steps;
  op_fetch_data(mesh.u, answer);
  return seconds;
}
