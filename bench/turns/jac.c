/* Edge-based Jacobi iteration in turns. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"
#include "common/touch.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/jac/jac.c"
#undef main

const double turns_limit = 1e-12;
const char *const turns_word = NULL;
static struct graph graph;
static struct mesh mesh;
static double *zeros, *a, *r, *u, *du;
static int *ends;

/* ---- by hand ---- */

enum { STRIP = 8 }; /* edges whose products are made together, in vectors */

static void by_hand_range(int begin, int end) {
  int e = begin;
  for (; e + STRIP <= end; e += STRIP) {
    double part[STRIP];
#pragma omp simd
    for (int k = 0; k < STRIP; k++)
      part[k] = a[e + k] * u[ends[2 * (e + k) + 1]];
    for (int k = 0; k < STRIP; k++)
      du[ends[2 * (e + k)]] += part[k];
  }
  for (; e < end; e++)
    du[ends[2 * e]] += a[e] * u[ends[2 * e + 1]];
}

static void by_hand_atomic(int e) {
#pragma omp atomic
  du[ends[2 * e]] += a[e] * u[ends[2 * e + 1]];
}

struct owners; /* by_hand.h */
static void by_hand_border(const struct owners *owners, int t, int e) {
  (void)owners, (void)t, (void)e; /* an edge adds to one node, which a thread owns */
}

static double changes; /* of all nodes: nobody looks at it, as in the program */

static void by_hand_nodes(int begin, int end) {
  double change = 0;
#pragma omp simd reduction(+ : change)
  for (int k = begin; k < end; k++) {
    const double next = du[k] + r[k], step = next - u[k];
    change += step * step;
    u[k] = next;
    du[k] = 0;
  }
#pragma omp atomic
  changes += change;
}

static void by_hand_begin(double *answer) {
  (void)answer;
  memset(u, 0, (size_t)graph.nodes * sizeof *u);
}

static void by_hand_end(double *answer) {
  memcpy(answer, u, (size_t)graph.nodes * sizeof *u);
}

#include "by_hand.h"

/* ---- by the library ---- */

long long turns_prepare(int size, int library) {
  graph = graph_make(size);
  turns_bytes = graph.edges * (8.0 + 2 * 4.0) + graph.nodes * (8.0 + 16.0 + 16.0 + 8.0 + 16.0);
  if (library) {
    mesh = mesh_declare(&graph);
    zeros = array(graph.nodes, sizeof *zeros);
  } else {
    ends = touched_copy(graph.ends, graph.edges, 2 * sizeof *ends, 1);
    a = touched_copy(graph.a, graph.edges, sizeof *a, 1);
    r = touched_copy(graph.r, graph.nodes, sizeof *r, 1);
    u = touched_zeros(graph.nodes, sizeof *u, 1);
    du = touched_zeros(graph.nodes, sizeof *du, 1);
    by_hand_make(graph.edges, 2, 1, ends, graph.nodes);
  }
  return graph.nodes;
}

double turns_library(int steps, double *answer) {
  op_put_data(mesh.u, zeros);
  const double begin = clock_seconds();
  for (int k = 0; k < steps; k++)
    iterate(&mesh);
  op_barrier(); /* runs what waits */
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(mesh.u, answer);
  return seconds;
}
