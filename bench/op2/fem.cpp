// The loop over hexahedra of eight nodes (bench/turns/fem.c) as a program of OP2.
#include "op_seq.h"

#include "turn.h"

#include <cmath>

extern "C" {
#include "bench/turns/box.h"
}
#include "bench/turns/fem_kernels.h"

static op_set nodes, cells;
static op_map corners;
static op_dat x, u, r, share;
static std::vector<double> start;

static void prepare(int size) {
  static struct box box;
  box = box_make(size);
  const double *field = box_field(&box);
  start.assign(field, field + box.nodes);
  std::vector<double> zero(start.size());
  nodes = op_decl_set(box.nodes, "nodes");
  cells = op_decl_set(box.cells, "cells");
  corners = op_decl_map(cells, nodes, 8, box.corners, "corners");
  x = op_decl_dat(nodes, 3, "double", box.x, "x");
  u = op_decl_dat(nodes, 1, "double", start.data(), "u");
  r = op_decl_dat(nodes, 1, "double", zero.data(), "r");
  share = op_decl_dat(nodes, 1, "double", box_shares(&box), "share");
}

static void begin(int) {
  put(u, start);
}

static void step() {
  op_par_loop(hexahedron, "hexahedron", cells, op_arg_dat(x, -8, corners, 3, "double", OP_READ),
              op_arg_dat(u, -8, corners, 1, "double", OP_READ),
              op_arg_dat(r, -8, corners, 1, "double", OP_INC));
  op_par_loop(relax, "relax", nodes, op_arg_dat(share, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(r, -1, OP_ID, 1, "double", OP_RW), op_arg_dat(u, -1, OP_ID, 1, "double", OP_RW));
}

static op_dat answer() {
  return u;
}
