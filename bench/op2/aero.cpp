// Conjugate gradients of the aero sample as a program of OP2, with its kernels and loops; the mesh is made here.
#include "op_seq.h"

#include "turn.h"

#include <cmath>

double mach2 = 0.4 * 0.4, gm1 = 0.4, amplitude = 0.1;

#include "samples/aero/aero_kernels.h"

static op_set nodes, cells, fixed;
static op_map corners, fixed_node;
static op_dat x, phi, k, residual, u, v, p, r;
static double rr;

// A potential that is known on the boundary, and a parallel flow inside.
static double start_of(double x, double y, bool boundary) {
  return boundary ? x + amplitude * std::sin(M_PI * x) * std::sin(M_PI * y) : x;
}

// Quadrilaterals on a unit square that is bent, as the sample's.
static void make_mesh(int n, std::vector<double> &place, std::vector<double> &start,
                      std::vector<int> &known) {
  for (int node = 0; node < (n + 1) * (n + 1); node++) {
    const int i = node % (n + 1), j = node / (n + 1);
    const double s = static_cast<double>(i) / n, t = static_cast<double>(j) / n;
    const double bend = 0.04 * std::sin(2 * M_PI * s) * std::sin(2 * M_PI * t);
    const bool boundary = i == 0 || j == 0 || i == n || j == n;
    place.insert(place.end(), {s + bend, t - bend});
    start.push_back(start_of(s + bend, t - bend, boundary));
    if (boundary)
      known.push_back(node);
  }
}

static void declare_constants() {
  op_decl_const(1, "double", &mach2);
  op_decl_const(1, "double", &gm1);
  op_decl_const(1, "double", &amplitude);
}

static void prepare(int n) {
  static std::vector<double> place, start;
  static std::vector<int> known, table;
  make_mesh(n, place, start, known);
  for (int cell = 0; cell < n * n; cell++) {
    const int corner = cell % n + cell / n * (n + 1);
    table.insert(table.end(), {corner, corner + 1, corner + n + 2, corner + n + 1});
  }
  std::vector<double> zero(16 * table.size());
  declare_constants();
  most = 20; // on a small mesh nothing would be left to divide by
  nodes = op_decl_set((n + 1) * (n + 1), "nodes");
  cells = op_decl_set(n * n, "cells");
  fixed = op_decl_set(static_cast<int>(known.size()), "fixed");
  corners = op_decl_map(cells, nodes, 4, table.data(), "corners");
  fixed_node = op_decl_map(fixed, nodes, 1, known.data(), "fixed_node");
  x = op_decl_dat(nodes, 2, "double", place.data(), "x");
  phi = op_decl_dat(nodes, 1, "double", start.data(), "phi");
  k = op_decl_dat(cells, 16, "double", zero.data(), "k");
  residual = op_decl_dat(nodes, 1, "double", zero.data(), "residual");
  u = op_decl_dat(nodes, 1, "double", zero.data(), "u");
  v = op_decl_dat(nodes, 1, "double", zero.data(), "v");
  p = op_decl_dat(nodes, 1, "double", zero.data(), "p");
  r = op_decl_dat(nodes, 1, "double", zero.data(), "r");
}

static void begin(int) {
  op_par_loop(assemble, "assemble", cells, op_arg_dat(x, -4, corners, 2, "double", OP_READ),
              op_arg_dat(phi, -4, corners, 1, "double", OP_READ),
              op_arg_dat(k, -1, OP_ID, 16, "double", OP_WRITE),
              op_arg_dat(residual, -4, corners, 1, "double", OP_INC));
  op_par_loop(fix, "fix", fixed, op_arg_dat(residual, 0, fixed_node, 1, "double", OP_WRITE));
  rr = 0;
  op_par_loop(start_gradient, "start_gradient", nodes, op_arg_dat(residual, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(u, -1, OP_ID, 1, "double", OP_WRITE),
              op_arg_dat(v, -1, OP_ID, 1, "double", OP_WRITE),
              op_arg_dat(p, -1, OP_ID, 1, "double", OP_WRITE),
              op_arg_dat(r, -1, OP_ID, 1, "double", OP_WRITE), op_arg_gbl(&rr, 1, "double", OP_INC));
}

static void step() {
  double pv = 0, next = 0;
  op_par_loop(multiply, "multiply", cells, op_arg_dat(k, -1, OP_ID, 16, "double", OP_READ),
              op_arg_dat(p, -4, corners, 1, "double", OP_READ),
              op_arg_dat(v, -4, corners, 1, "double", OP_INC));
  op_par_loop(fix, "fix", fixed, op_arg_dat(v, 0, fixed_node, 1, "double", OP_WRITE));
  op_par_loop(product, "product", nodes, op_arg_dat(p, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(v, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&pv, 1, "double", OP_INC));
  double alpha = rr / pv;
  op_par_loop(advance, "advance", nodes, op_arg_dat(p, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(v, -1, OP_ID, 1, "double", OP_RW), op_arg_dat(u, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(r, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&alpha, 1, "double", OP_READ),
              op_arg_gbl(&next, 1, "double", OP_INC));
  double beta = next / rr;
  rr = next;
  op_par_loop(turn, "turn", nodes, op_arg_dat(r, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(p, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&beta, 1, "double", OP_READ));
}

static op_dat answer() {
  return u;
}
