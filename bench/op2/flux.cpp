// The flux over edges in three dimensions (bench/turns/flux.c) as a program of OP2.
#include "op_seq.h"

#include "turn.h"

#include <cmath>

extern "C" {
#include "bench/turns/box.h"
}
#include "bench/turns/flux_kernels.h"

static op_set nodes, edges;
static op_map ends;
static op_dat normal, q, f;
static std::vector<double> start;

static void prepare(int size) {
  static struct box box;
  box = box_make(size);
  const double *flow = box_flow(&box);
  start.assign(flow, flow + 5 * static_cast<size_t>(box.nodes));
  std::vector<double> zero(start.size());
  nodes = op_decl_set(box.nodes, "nodes");
  edges = op_decl_set(box.edges, "edges");
  ends = op_decl_map(edges, nodes, 2, box.ends, "ends");
  normal = op_decl_dat(edges, 3, "double", box.normal, "normal");
  q = op_decl_dat(nodes, 5, "double", start.data(), "q");
  f = op_decl_dat(nodes, 5, "double", zero.data(), "f");
}

static void begin(int) {
  put(q, start);
}

static void step() {
  op_par_loop(flux, "flux", edges, op_arg_dat(normal, -1, OP_ID, 3, "double", OP_READ),
              op_arg_dat(q, 0, ends, 5, "double", OP_READ), op_arg_dat(q, 1, ends, 5, "double", OP_READ),
              op_arg_dat(f, 0, ends, 5, "double", OP_INC), op_arg_dat(f, 1, ends, 5, "double", OP_INC));
  op_par_loop(march, "march", nodes, op_arg_dat(q, -1, OP_ID, 5, "double", OP_RW),
              op_arg_dat(f, -1, OP_ID, 5, "double", OP_RW));
}

static op_dat answer() {
  return q;
}
