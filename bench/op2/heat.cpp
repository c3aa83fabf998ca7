// The heat equation on a square plate (samples/heat) as a program of OP2.
#include "op_seq.h"

#include "turn.h"

#include <cmath>
#include <utility>

static inline void diffuse(const double *u, const double *east, const double *west, const double *north,
                           const double *south, double *next, const double *r) {
  *next = (1 - 4 * *r) * *u + *r * (*east + *west + *north + *south);
}

static op_set points;
static op_map near;
static op_dat u, next;
// The same as u by the map: OP2's translator has no code for a dat that a loop reads by a map and without one.
static op_dat beside;
static std::vector<double> start;
static double factor;
static int width;

// n x n points in a frame, as the sample's.
static void prepare(int n) {
  static std::vector<int> table;
  width = n + 2;
  for (int k = 0; k < width * width; k++) {
    const int i = k % width, j = k / width;
    const bool inside = i > 0 && i <= n && j > 0 && j <= n;
    const int apart[4] = {1, -1, width, -width};
    for (int side = 0; side < 4; side++)
      table.push_back(inside ? k + apart[side] : k);
    start.push_back(inside ? std::sin(M_PI * i / (n + 1)) * std::sin(M_PI * j / (n + 1)) : 0);
  }
  points = op_decl_set(width * width, "points");
  near = op_decl_map(points, points, 4, table.data(), "near");
  u = op_decl_dat(points, 1, "double", start.data(), "u");
  next = op_decl_dat(points, 1, "double", start.data(), "next");
}

// As in the sample, half a second for all steps.
static void begin(int steps) {
  const double alpha = 0.1, dx = 1000.0 / (width - 1);
  factor = alpha * 0.5 / steps / (dx * dx);
  put(u, start);
}

static void step() {
  beside = u;
  op_par_loop(
      diffuse, "diffuse", points, op_arg_dat(u, -1, OP_ID, 1, "double", OP_READ),
      op_arg_dat(beside, 0, near, 1, "double", OP_READ), op_arg_dat(beside, 1, near, 1, "double", OP_READ),
      op_arg_dat(beside, 2, near, 1, "double", OP_READ), op_arg_dat(beside, 3, near, 1, "double", OP_READ),
      op_arg_dat(next, -1, OP_ID, 1, "double", OP_WRITE), op_arg_gbl(&factor, 1, "double", OP_READ));
  std::swap(u, next);
}

static op_dat answer() {
  return u;
}
