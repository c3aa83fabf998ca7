// The airfoil sample as a program of OP2, with its kernels, mesh and loops (turn.h).
#include "op_seq.h"

#include "turn.h"

#include <cmath>

extern "C" {
#include "samples/airfoil/mesh.h"
}

double gam = (double)1.4f, gm1 = (double)1.4f - 1, cfl = (double)0.9f, eps = (double)0.05f, qinf[4];

#include "samples/airfoil/airfoil_kernels.h"

static void declare_constants() {
  const double mach = (double)0.4f, speed = std::sqrt(gam) * mach;
  qinf[0] = 1;
  qinf[1] = speed;
  qinf[3] = 1 / gm1 + 0.5 * speed * speed;
  op_decl_const(1, "double", &gam);
  op_decl_const(1, "double", &gm1);
  op_decl_const(1, "double", &cfl);
  op_decl_const(1, "double", &eps);
  op_decl_const(4, "double", qinf);
}

static op_set nodes, cells, edges, bedges;
static op_map corners, ends, sides, bends, bside;
static op_dat x, kind, q, old, adt, res;
static std::vector<double> start;

static void prepare(int size) {
  static struct airfoil_mesh mesh;
  mesh_generate(&mesh, size);
  declare_constants();
  nodes = op_decl_set(mesh.nodes, "nodes");
  cells = op_decl_set(mesh.cells, "cells");
  edges = op_decl_set(mesh.edges, "edges");
  bedges = op_decl_set(mesh.boundary_edges, "bedges");
  corners = op_decl_map(cells, nodes, 4, mesh.cell_nodes, "pcell");
  ends = op_decl_map(edges, nodes, 2, mesh.edge_nodes, "pedge");
  sides = op_decl_map(edges, cells, 2, mesh.edge_cells, "pecell");
  bends = op_decl_map(bedges, nodes, 2, mesh.boundary_nodes, "pbedge");
  bside = op_decl_map(bedges, cells, 1, mesh.boundary_cell, "pbecell");
  start.resize(4 * static_cast<size_t>(mesh.cells));
  for (size_t i = 0; i < start.size(); i++)
    start[i] = qinf[i % 4];
  std::vector<double> zero(start.size());
  x = op_decl_dat(nodes, 2, "double", mesh.x, "p_x");
  kind = op_decl_dat(bedges, 1, "int", mesh.boundary_kind, "p_bound");
  q = op_decl_dat(cells, 4, "double", start.data(), "q");
  old = op_decl_dat(cells, 4, "double", zero.data(), "old");
  adt = op_decl_dat(cells, 1, "double", zero.data(), "adt");
  res = op_decl_dat(cells, 4, "double", zero.data(), "res");
}

static void step() {
  op_par_loop(save_soln, "save_soln", cells, op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(old, -1, OP_ID, 4, "double", OP_WRITE));
  for (int stage = 0; stage < 2; stage++) {
    op_par_loop(adt_calc, "adt_calc", cells, op_arg_dat(x, -4, corners, 2, "double", OP_READ),
                op_arg_dat(q, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(adt, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(
        res_calc, "res_calc", edges, op_arg_dat(x, 0, ends, 2, "double", OP_READ),
        op_arg_dat(x, 1, ends, 2, "double", OP_READ), op_arg_dat(q, 0, sides, 4, "double", OP_READ),
        op_arg_dat(q, 1, sides, 4, "double", OP_READ), op_arg_dat(adt, 0, sides, 1, "double", OP_READ),
        op_arg_dat(adt, 1, sides, 1, "double", OP_READ), op_arg_dat(res, 0, sides, 4, "double", OP_INC),
        op_arg_dat(res, 1, sides, 4, "double", OP_INC));
    op_par_loop(bres_calc, "bres_calc", bedges, op_arg_dat(x, 0, bends, 2, "double", OP_READ),
                op_arg_dat(x, 1, bends, 2, "double", OP_READ), op_arg_dat(q, 0, bside, 4, "double", OP_READ),
                op_arg_dat(adt, 0, bside, 1, "double", OP_READ),
                op_arg_dat(res, 0, bside, 4, "double", OP_INC),
                op_arg_dat(kind, -1, OP_ID, 1, "int", OP_READ));
    double squares = 0;
    op_par_loop(update, "update", cells, op_arg_dat(old, -1, OP_ID, 4, "double", OP_READ),
                op_arg_dat(q, -1, OP_ID, 4, "double", OP_WRITE),
                op_arg_dat(res, -1, OP_ID, 4, "double", OP_RW),
                op_arg_dat(adt, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&squares, 1, "double", OP_INC));
  }
}

// As the sample's in turns: behind one step that is not counted.
static void begin(int) {
  put(q, start);
  step();
}

static op_dat answer() {
  return q;
}
