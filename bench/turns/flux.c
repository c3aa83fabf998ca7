/* The flux over edges of a flow in three dimensions, and a step in time, in turns: flux_kernels.h, on the nodes and edges of
 * box.h. */
#include "turns.h"

#include "box.h"
#include "common/memory.h"
#include "common/report.h"
#include "common/touch.h"
#include "flux_kernels.h"

#include <string.h>

const double turns_limit = 1e-12;
const char *const turns_word = NULL;
static struct box box;
static double *start, *normal, *q, *f;
static int *ends;

/* ---- by hand ---- */

static void by_hand_range(int begin, int end) {
  for (int e = begin; e < end; e++) {
    const int a = ends[2 * e], b = ends[2 * e + 1];
    flux(normal + 3 * e, q + 5 * a, q + 5 * b, f + 5 * a, f + 5 * b);
  }
}

static void by_hand_atomic(int e) {
  const int a = ends[2 * e], b = ends[2 * e + 1];
  double one[5] = {0}, other[5] = {0};
  flux(normal + 3 * e, q + 5 * a, q + 5 * b, one, other);
  for (int v = 0; v < 5; v++) {
#pragma omp atomic
    f[5 * a + v] += one[v];
#pragma omp atomic
    f[5 * b + v] += other[v];
  }
}

struct owners; /* by_hand.h */
static void by_hand_border(const struct owners *owners, int t, int e);

static void by_hand_nodes(int begin, int end) {
  for (int k = begin; k < end; k++)
    march(q + 5 * k, f + 5 * k);
}

static void by_hand_begin(double *answer) {
  (void)answer;
  memcpy(q, start, 5 * (size_t)box.nodes * sizeof *q);
}

static void by_hand_end(double *answer) {
  memcpy(answer, q, 5 * (size_t)box.nodes * sizeof *q);
}

#include "by_hand.h"

static void by_hand_border(const struct owners *owners, int t, int e) {
  const int a = ends[2 * e], b = ends[2 * e + 1];
  double aside[5] = {0};
  flux(normal + 3 * e, q + 5 * a, q + 5 * b, owners_has(owners, t, a) ? f + 5 * a : aside,
       owners_has(owners, t, b) ? f + 5 * b : aside);
}

/* ---- by the library ---- */

static struct {
  op_set nodes, edges;
  op_map ends;
  op_dat normal, q, f;
} flow;

static void declare(void) {
  flow.nodes = op_decl_set(box.nodes, "nodes");
  flow.edges = op_decl_set(box.edges, "edges");
  flow.ends = op_decl_map(flow.edges, flow.nodes, 2, box.ends, "ends");
  flow.normal = op_decl_dat(flow.edges, 3, "double", box.normal, "normal");
  flow.q = op_decl_dat(flow.nodes, 5, "double", start, "q");
  flow.f = op_decl_dat(flow.nodes, 5, "double", NULL, "f");
}

static void step(void) {
  op_par_loop(OP_KERNEL_FILE("flux_kernels.h", flux), "flux", flow.edges,
              op_arg_dat(flow.normal, -1, OP_ID, 3, "double", OP_READ),
              op_arg_dat(flow.q, 0, flow.ends, 5, "double", OP_READ),
              op_arg_dat(flow.q, 1, flow.ends, 5, "double", OP_READ),
              op_arg_dat(flow.f, 0, flow.ends, 5, "double", OP_INC),
              op_arg_dat(flow.f, 1, flow.ends, 5, "double", OP_INC));
  op_par_loop(OP_KERNEL_FILE("flux_kernels.h", march), "march", flow.nodes,
              op_arg_dat(flow.q, -1, OP_ID, 5, "double", OP_RW),
              op_arg_dat(flow.f, -1, OP_ID, 5, "double", OP_RW));
}

long long turns_prepare(int size, int library) {
  box = box_make(size);
  start = box_flow(&box);
  turns_bytes = box.edges * (24.0 + 8.0) + box.nodes * (40.0 + 80.0 + 160.0);
  if (library) {
    declare();
  } else {
    ends = touched_copy(box.ends, box.edges, 2 * sizeof *ends, 1);
    normal = touched_copy(box.normal, box.edges, 3 * sizeof *normal, 1);
    q = touched_zeros(box.nodes, 5 * sizeof *q, 1);
    f = touched_zeros(box.nodes, 5 * sizeof *f, 1);
    by_hand_make(box.edges, 2, 2, ends, box.nodes);
  }
  const int nodes = box.nodes;
  return 5LL * nodes;
}

double turns_library(int steps, double *answer) {
  op_put_data(flow.q, start);
  const double begin = clock_seconds();
  for (int s = 0; s < steps; s++)
    step();
  op_barrier(); /* runs what waits */
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(flow.q, answer);
  return seconds;
}
