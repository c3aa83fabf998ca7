/* Airfoil with and without chains, in turns (chains.py); by hand it is measured by ./dev bench samples. With SHUFFLED
 * on a mesh whose numbering nobody took care of: nothing of it can be cut. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/airfoil/airfoil.c"
#undef main

const double turns_limit = 1e-10;
const char *const turns_word = NULL;
static struct airfoil flow;
static double *start;

#ifdef SHUFFLED
/* A new number of each of `count` things, by chance; the same in each process. */
static int *draw_numbers(int count) {
  int *number = room(count, sizeof *number);
  unsigned long long state = 88172645463325252ULL;
  for (int i = 0; i < count; i++)
    number[i] = i;
  for (int i = count - 1; i > 0; i--) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const int other = (int)(state % (unsigned)(i + 1)), kept = number[i];
    number[i] = number[other];
    number[other] = kept;
  }
  return number;
}

static void renumber(int *table, int count, const int *number) {
  for (int i = 0; i < count; i++)
    table[i] = number[table[i]];
}

/* Cells change places; other sets keep theirs. */
static void shuffle(struct airfoil_mesh *mesh) {
  int *number = draw_numbers(mesh->cells), *nodes = room(4LL * mesh->cells, sizeof *nodes);
  memcpy(nodes, mesh->cell_nodes, 4 * (size_t)mesh->cells * sizeof *nodes);
  for (int cell = 0; cell < mesh->cells; cell++)
    memcpy(mesh->cell_nodes + 4 * (size_t)number[cell], nodes + 4 * (size_t)cell, 4 * sizeof *nodes);
  renumber(mesh->edge_cells, 2 * mesh->edges, number);
  renumber(mesh->boundary_cell, mesh->boundary_edges, number);
  free(number);
  free(nodes);
}
#endif

long long turns_prepare(int size, int library) {
  struct airfoil_mesh mesh = {0};
  (void)library;
  mesh_generate(&mesh, size);
#ifdef SHUFFLED
  shuffle(&mesh);
#endif
  declare_constants();
  flow = declare_mesh(&mesh);
  mesh_free(&mesh);
  const long long values = 4LL * flow.cell_count;
  start = room(values, sizeof *start);
  op_fetch_data(flow.q, start);
  return values;
}

double turns_library(int steps, double *answer) {
  op_put_data(flow.q, start);
  iterate(&flow, NULL);
  op_barrier(); /* runs what waits */
  const double begin = turns_seconds();
  for (int i = 0; i < steps; i++)
    iterate(&flow, NULL);
  op_barrier();
  const double seconds = (turns_seconds() - begin) / steps;
  op_fetch_data(flow.q, answer);
  return seconds;
}
