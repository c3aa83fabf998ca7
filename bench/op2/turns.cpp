// turns CELLS ROUNDS: three loops of airfoil as a program of OP2 has them, and the same loops by hand in this
// file, in turns: on the same memory, with the same kernels and the compiler's same options. Prints of each loop
// nanoseconds an element, by hand (on one thread) and by the library: the median of the rounds and the least.
#include "op_seq.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

extern "C" {
#include "samples/airfoil/mesh.h"
}

double gam = 1.4, gm1 = 0.4, cfl = 0.9, eps = 0.05, qinf[4] = {1, 0.47, 0, 2.6};

#include "samples/airfoil/airfoil_kernels.h"

struct flow {
  op_set cells, edges;
  op_map corners, ends, sides;
  op_dat x, q, old, adt, res;
};

struct result {
  double rms;
};

template <class T> static T *of(op_dat dat) {
  return reinterpret_cast<T *>(dat->data);
}

/* ---- by hand ---- */

#define ALONE __attribute__((noinline)) static

ALONE void hand_adt_calc(const flow &f) {
  const int *corners = f.corners->map;
  const double *x = of<double>(f.x), *q = of<double>(f.q);
  double *adt = of<double>(f.adt);
  for (int c = 0; c < f.cells->size; c++) {
    const double *at[4] = {x + 2 * corners[4 * c], x + 2 * corners[4 * c + 1], x + 2 * corners[4 * c + 2],
                           x + 2 * corners[4 * c + 3]};
    adt_calc(at, q + 4 * c, adt + c);
  }
}

ALONE void hand_res_calc(const flow &f) {
  const int *ends = f.ends->map, *sides = f.sides->map;
  const double *x = of<double>(f.x), *q = of<double>(f.q), *adt = of<double>(f.adt);
  double *res = of<double>(f.res);
  for (int e = 0; e < f.edges->size; e++) {
    const int a = sides[2 * e], b = sides[2 * e + 1];
    res_calc(x + 2 * ends[2 * e], x + 2 * ends[2 * e + 1], q + 4 * a, q + 4 * b, adt + a, adt + b,
             res + 4 * a, res + 4 * b);
  }
}

ALONE void hand_update(const flow &f, result &r) {
  const double *old = of<double>(f.old), *adt = of<double>(f.adt);
  double *q = of<double>(f.q), *res = of<double>(f.res);
  double rms = r.rms;
  for (int c = 0; c < f.cells->size; c++)
    update(old + 4 * c, q + 4 * c, res + 4 * c, adt + c, &rms);
  r.rms = rms;
}

/* ---- by the library ---- */

static void run_adt_calc(const flow &f) {
  op_par_loop(adt_calc, "adt_calc", f.cells, op_arg_dat(f.x, -4, f.corners, 2, "double", OP_READ),
              op_arg_dat(f.q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(f.adt, -1, OP_ID, 1, "double", OP_WRITE));
}

static void run_res_calc(const flow &f) {
  op_par_loop(
      res_calc, "res_calc", f.edges, op_arg_dat(f.x, 0, f.ends, 2, "double", OP_READ),
      op_arg_dat(f.x, 1, f.ends, 2, "double", OP_READ), op_arg_dat(f.q, 0, f.sides, 4, "double", OP_READ),
      op_arg_dat(f.q, 1, f.sides, 4, "double", OP_READ), op_arg_dat(f.adt, 0, f.sides, 1, "double", OP_READ),
      op_arg_dat(f.adt, 1, f.sides, 1, "double", OP_READ), op_arg_dat(f.res, 0, f.sides, 4, "double", OP_INC),
      op_arg_dat(f.res, 1, f.sides, 4, "double", OP_INC));
}

static void run_update(const flow &f, result &r) {
  op_par_loop(update, "update", f.cells, op_arg_dat(f.old, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(f.q, -1, OP_ID, 4, "double", OP_WRITE),
              op_arg_dat(f.res, -1, OP_ID, 4, "double", OP_RW),
              op_arg_dat(f.adt, -1, OP_ID, 1, "double", OP_READ), op_arg_gbl(&r.rms, 1, "double", OP_INC));
}

/* ---- in turns ---- */

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

enum { LOOPS = 3, BATCH = 3 };
static const char *const names[LOOPS] = {"adt_calc", "res_calc", "update"};

/* Steps of the flow from the same start: seconds of each loop, and what came of them. */
static result batch(const flow &f, const std::vector<double> &start, bool by_hand, double seconds[LOOPS]) {
  result r = {0};
  std::copy(start.begin(), start.end(), of<double>(f.q));
  std::copy(start.begin(), start.end(), of<double>(f.old));
  op_arg wrote[] = {op_arg_dat(f.q, -1, OP_ID, 4, "double", OP_WRITE),
                    op_arg_dat(f.old, -1, OP_ID, 4, "double", OP_WRITE)};
  op_mpi_set_dirtybit(2, wrote);
  std::fill(seconds, seconds + LOOPS, 0.0);
  for (int i = 0; i < BATCH; i++) {
    const double t0 = now();
    by_hand ? hand_adt_calc(f) : run_adt_calc(f);
    const double t1 = now();
    by_hand ? hand_res_calc(f) : run_res_calc(f);
    const double t2 = now();
    r.rms = 0;
    by_hand ? hand_update(f, r) : run_update(f, r);
    const double t3 = now();
    seconds[0] += t1 - t0;
    seconds[1] += t2 - t1;
    seconds[2] += t3 - t2;
  }
  return r;
}

static bool agree(const result &one, const result &other) {
  const double small = 1e-10;
  return std::fabs(one.rms - other.rms) <= small * std::fabs(one.rms);
}

static flow declare(const airfoil_mesh &mesh) {
  flow f;
  std::vector<double> state(4 * static_cast<size_t>(mesh.cells));
  for (size_t i = 0; i < state.size(); i++)
    state[i] = qinf[i % 4] * (1 + 0.01 * static_cast<double>(i * 7 % 13));
  f.cells = op_decl_set(mesh.cells, "cells");
  f.edges = op_decl_set(mesh.edges, "edges");
  op_set nodes = op_decl_set(mesh.nodes, "nodes");
  f.corners = op_decl_map(f.cells, nodes, 4, mesh.cell_nodes, "corners");
  f.ends = op_decl_map(f.edges, nodes, 2, mesh.edge_nodes, "ends");
  f.sides = op_decl_map(f.edges, f.cells, 2, mesh.edge_cells, "sides");
  f.x = op_decl_dat(nodes, 2, "double", mesh.x, "x");
  f.q = op_decl_dat(f.cells, 4, "double", state.data(), "q");
  f.old = op_decl_dat(f.cells, 4, "double", state.data(), "old");
  f.adt = op_decl_dat(f.cells, 1, "double", static_cast<double *>(NULL), "adt");
  f.res = op_decl_dat(f.cells, 4, "double", static_cast<double *>(NULL), "res");
  return f;
}

static double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

static void print(const flow &f, int loop, const std::vector<double> times[2][LOOPS]) {
  const double per = 1e9 / BATCH / (loop == 1 ? f.edges : f.cells)->size;
  double middle[2], least[2];
  for (int side = 0; side < 2; side++) {
    middle[side] = median(times[side][loop]) * per;
    least[side] = *std::min_element(times[side][loop].begin(), times[side][loop].end()) * per;
  }
  printf("%s %.3f %.3f %.3f %.3f\n", names[loop], middle[0], least[0], middle[1], least[1]);
}

int main(int argc, char **argv) {
  airfoil_mesh mesh = {};
  if (argc < 3)
    return 2;
  mesh_generate(&mesh, atoi(argv[1]));
  op_init(argc, argv, 0);
  const flow f = declare(mesh);
  mesh_free(&mesh);
  std::vector<double> start(of<double>(f.q), of<double>(f.q) + 4 * static_cast<size_t>(f.cells->size));
  std::vector<double> times[2][LOOPS];
  double seconds[LOOPS];
  const int warm = 5, rounds = atoi(argv[2]);
  for (int round = -warm; round < rounds; round++) {
    result results[2];
    for (int turn = 0; turn < 2; turn++) {
      const int side = (turn + round) & 1;
      results[side] = batch(f, start, side == 0, seconds);
      for (int loop = 0; round >= 0 && loop < LOOPS; loop++)
        times[side][loop].push_back(seconds[loop]);
    }
    if (!agree(results[0], results[1])) {
      fprintf(stderr, "the loops by hand end with rms %.15g, the library's with %.15g\n", results[0].rms,
              results[1].rms);
      return 1;
    }
  }
  for (int loop = 0; loop < LOOPS; loop++)
    print(f, loop, times);
  op_exit();
  return 0;
}
