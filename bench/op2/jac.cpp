// The Jacobi iteration over edges (samples/jac) as a program of OP2.
#include "op_seq.h"

#include "turn.h"

#include <cmath>

static inline void gather(const double *a, const double *u, double *du) {
  *du += *a * *u;
}

static inline void update(const double *r, double *du, double *u, double *change) {
  double next = *du + *r;
  double step = next - *u;
  *change += step * step;
  *u = next;
  *du = 0;
}

static op_set nodes, edges;
static op_map ends;
static op_dat a, r, u, du;
static std::vector<double> zero;

// An n x n grid, as the sample's.
static void prepare(int n) {
  static std::vector<int> table;
  static std::vector<double> right;
  const double half = std::sin(0.5 * M_PI / (n + 1)), gap = 2 * half * half;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      const int node = i + j * n;
      const int apart[4] = {j > 0 ? -n : 0, i > 0 ? -1 : 0, i < n - 1 ? 1 : 0, j < n - 1 ? n : 0};
      for (int side = 0; side < 4; side++)
        if (apart[side] != 0)
          table.insert(table.end(), {node, node + apart[side]});
      right.push_back(gap * std::sin(M_PI * (i + 1) / (n + 1)) * std::sin(M_PI * (j + 1) / (n + 1)));
    }
  zero.resize(right.size());
  std::vector<double> quarter(table.size() / 2, 0.25);
  nodes = op_decl_set(n * n, "nodes");
  edges = op_decl_set(static_cast<int>(quarter.size()), "edges");
  ends = op_decl_map(edges, nodes, 2, table.data(), "ends");
  a = op_decl_dat(edges, 1, "double", quarter.data(), "a");
  r = op_decl_dat(nodes, 1, "double", right.data(), "r");
  u = op_decl_dat(nodes, 1, "double", zero.data(), "u");
  du = op_decl_dat(nodes, 1, "double", zero.data(), "du");
}

static void begin(int) {
  put(u, zero);
}

static void step() {
  double change = 0;
  op_par_loop(gather, "gather", edges, op_arg_dat(a, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(u, 1, ends, 1, "double", OP_READ), op_arg_dat(du, 0, ends, 1, "double", OP_INC));
  op_par_loop(update, "update", nodes, op_arg_dat(r, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(du, -1, OP_ID, 1, "double", OP_RW), op_arg_dat(u, -1, OP_ID, 1, "double", OP_RW),
              op_arg_gbl(&change, 1, "double", OP_INC));
}

static op_dat answer() {
  return u;
}
