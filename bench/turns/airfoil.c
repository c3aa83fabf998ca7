/* Airfoil in turns. With SHUFFLED on a mesh whose numbering nobody took care of: nothing of it can be cut. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"
#include "compare/airfoil/twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/airfoil/airfoil.c"
#undef main

const double turns_limit = 1e-10;
const char *const turns_word = NULL;
static struct airfoil flow;
static struct airfoil_mesh mesh;
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
static void shuffle(struct airfoil_mesh *of) {
  int *number = draw_numbers(of->cells), *nodes = room(4LL * of->cells, sizeof *nodes);
  memcpy(nodes, of->cell_nodes, 4 * (size_t)of->cells * sizeof *nodes);
  for (int cell = 0; cell < of->cells; cell++)
    memcpy(of->cell_nodes + 4 * (size_t)number[cell], nodes + 4 * (size_t)cell, 4 * sizeof *nodes);
  renumber(of->edge_cells, 2 * of->edges, number);
  renumber(of->boundary_cell, of->boundary_edges, number);
  free(number);
  free(nodes);
}
#endif

long long turns_prepare(int size, int library) {
  mesh_generate(&mesh, size);
#ifdef SHUFFLED
  shuffle(&mesh);
#endif
  const long long values = 4LL * mesh.cells;
  turns_bytes = flow_bytes(&mesh, 0);
  if (library) {
    declare_constants();
    flow = declare_mesh(&mesh);
    mesh_free(&mesh);
    start = room(values, sizeof *start);
    op_fetch_data(flow.q, start);
  }
  return values;
}

/* As the library's: behind one that is not counted. */
static double by_hand(const struct flow_code *code, int steps, double *answer) {
  void *state = code->start(&mesh, flow_block(&mesh));
  code->iterate(state);
  const double begin = clock_seconds();
  for (int i = 0; i < steps; i++)
    code->iterate(state);
  const double seconds = (clock_seconds() - begin) / steps;
  code->finish(state, answer);
  return seconds;
}

static double by_colours(int steps, double *answer) {
  return by_hand(&twin_openmp_double, steps, answer);
}
static double by_owners(int steps, double *answer) {
  return by_hand(&twin_owners_double, steps, answer);
}
static double by_atomics(int steps, double *answer) {
  return by_hand(&twin_atomics_double, steps, answer);
}

const struct turns_form turns_forms[] = {
    {"colours", by_colours}, {"owners", by_owners}, {"atomics", by_atomics}, {NULL, NULL}};

double turns_library(int steps, double *answer) {
  op_put_data(flow.q, start);
  iterate(&flow, NULL);
  op_barrier(); /* runs what waits */
  const double begin = clock_seconds();
  for (int i = 0; i < steps; i++)
    iterate(&flow, NULL);
  op_barrier();
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(flow.q, answer);
  return seconds;
}
