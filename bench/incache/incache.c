/* One process of ./dev bench incache (incache.py): a loop over a mesh that stays in the processor's cache, on one
 * thread. usage: incache LOOP [CELLS] | incache LOOP CELLS by-hand. Says "ready"; then for each number that it reads
 * it runs the loop that often, and prints the nanoseconds of the shortest of these runs for each element. At the end of
 * what it reads it prints a sum of the results, weighted, which tells two forms apart that differ. */
#include "by_hand.h"

#include "common/memory.h"

#include <math.h>
#include <op2jit.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double gam = 1.4, gm1 = 0.4, cfl = 0.9, eps = 0.05, qinf[4] = {1, 0.5, 0, 2.6}, viscosity = 1e-3;

#include "samples/airfoil/airfoil_kernels.h"
#include "samples/airfoil_hydra/airfoil_hydra_kernels.h"

/* As in solvers of three-dimensional flow: five values and a normal. */
OP_KERNEL_DEF(
    euler, void euler(const double *n, const double *q1, const double *q2, double *r1, double *r2) {
      const double i1 = 1 / q1[0], i2 = 1 / q2[0];
      const double k1 = 0.5 * i1 * (q1[1] * q1[1] + q1[2] * q1[2] + q1[3] * q1[3]);
      const double k2 = 0.5 * i2 * (q2[1] * q2[1] + q2[2] * q2[2] + q2[3] * q2[3]);
      const double p1 = 0.4 * (q1[4] - k1), p2 = 0.4 * (q2[4] - k2);
      const double u1 = i1 * (q1[1] * n[0] + q1[2] * n[1] + q1[3] * n[2]);
      const double u2 = i2 * (q2[1] * n[0] + q2[2] * n[1] + q2[3] * n[2]);
      const double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      const double wave =
          0.1 * area * (sqrt(1.4 * p1 * i1) + sqrt(1.4 * p2 * i2) + fabs(i1 * u1) + fabs(i2 * u2));
      for (int v = 0; v < 5; v++) {
        double f = 0.5 * (u1 * q1[v] + u2 * q2[v]) - wave * (q2[v] - q1[v]);
        if (v == 4)
          f += 0.5 * (p1 * u1 + p2 * u2);
        else if (v > 0)
          f += 0.5 * (p1 + p2) * n[v - 1];
        r1[v] -= f;
        r2[v] += f;
      }
    })
OP_KERNEL_DEF(
    spread, void spread(const double *a, const double *u1, const double *u2, double *r1, double *r2) {
      *r1 += *a * *u2;
      *r2 += *a * *u1;
    })
OP_KERNEL_DEF(
    jac, void jac(const double *a, const double *u, double *du) { *du += *a * *u; })
OP_KERNEL_DEF(
    multiply, void multiply(const double *k, const double *p[4], double *v[4]) {
      for (int i = 0; i < 4; i++)
        v[i][0] +=
            k[4 * i] * p[0][0] + k[4 * i + 1] * p[1][0] + k[4 * i + 2] * p[2][0] + k[4 * i + 3] * p[3][0];
    })

/* ---- the mesh: like airfoil's, and in its order; the edges are whole strips of eight ---- */

static struct {
  int count[3];
  int *corners, *edge_nodes, *edge_cells;
  op_set nodes, cells, edges;
  op_map corner, end, side;
} mesh;
enum { NODES, CELLS, EDGES };

static void add_edge(int first, int second, int left, int right) {
  const int e = mesh.count[EDGES]++;
  mesh.edge_nodes[2 * e] = first, mesh.edge_nodes[2 * e + 1] = second;
  mesh.edge_cells[2 * e] = left, mesh.edge_cells[2 * e + 1] = right;
}

static void make_mesh(int cells) {
  const int h = (int)sqrt(cells / 1.5) / 8 * 8 + 8, w = cells / h / 8 * 8 + 8, row = w + 1;
  mesh.count[CELLS] = w * h;
  mesh.count[NODES] = row * (h + 1);
  mesh.corners = room(4LL * w * h, sizeof(int));
  mesh.edge_nodes = room(4LL * w * h, sizeof(int));
  mesh.edge_cells = room(4LL * w * h, sizeof(int));
  for (int j = 0; j < h; j++)
    for (int i = 0; i < w; i++) {
      const int cell = i + j * w, node = i + j * row;
      const int corners[] = {node, node + 1, node + 1 + row, node + row};
      memcpy(mesh.corners + 4 * cell, corners, sizeof corners);
      if (j + 1 < h)
        add_edge(node + row, node + row + 1, cell, cell + w);
      if (i + 1 < w)
        add_edge(node + 1, node + 1 + row, cell + 1, cell);
    }
}

static void declare_mesh(void) {
  mesh.nodes = op_decl_set(mesh.count[NODES], "nodes");
  mesh.cells = op_decl_set(mesh.count[CELLS], "cells");
  mesh.edges = op_decl_set(mesh.count[EDGES], "edges");
  mesh.corner = op_decl_map(mesh.cells, mesh.nodes, 4, mesh.corners, "corner");
  mesh.end = op_decl_map(mesh.edges, mesh.nodes, 2, mesh.edge_nodes, "end");
  mesh.side = op_decl_map(mesh.edges, mesh.cells, 2, mesh.edge_cells, "side");
}

/* ---- the loops ---- */

enum { MOST_DATS = 8, MOST_ARGS = 12 };

struct dat {
  int on, dim;
};
/* An argument: a dat of the loop, the column of the map to its set, or DIRECT or ALL. */
enum { DIRECT = -1, ALL = -9 };
struct arg {
  int dat, column;
  op_access access;
};
struct loop {
  const char *name;
  int on, result; /* the dat that is summed in the end */
  struct dat dats[MOST_DATS];
  struct arg args[MOST_ARGS];
  void (*by_hand)(const struct by_hand *given);
};

static const struct loop loops[] = {
    {"adt_calc",
     CELLS,
     2,
     {{NODES, 2}, {CELLS, 4}, {CELLS, 1}},
     {{0, ALL, OP_READ}, {1, DIRECT, OP_READ}, {2, DIRECT, OP_WRITE}},
     BY_HAND_WIDE(by_hand_adt_calc)},
    {"res_calc",
     EDGES,
     3,
     {{NODES, 2}, {CELLS, 4}, {CELLS, 1}, {CELLS, 4}},
     {{0, 0, OP_READ},
      {0, 1, OP_READ},
      {1, 0, OP_READ},
      {1, 1, OP_READ},
      {2, 0, OP_READ},
      {2, 1, OP_READ},
      {3, 0, OP_INC},
      {3, 1, OP_INC}},
     by_hand_res_calc},
    {"save_soln",
     CELLS,
     1,
     {{CELLS, 4}, {CELLS, 4}},
     {{0, DIRECT, OP_READ}, {1, DIRECT, OP_WRITE}},
     by_hand_save_soln},
    {"euler",
     EDGES,
     2,
     {{EDGES, 3}, {CELLS, 5}, {CELLS, 5}},
     {{0, DIRECT, OP_READ}, {1, 0, OP_READ}, {1, 1, OP_READ}, {2, 0, OP_INC}, {2, 1, OP_INC}},
     BY_HAND_WIDE(by_hand_euler)},
    {"gradient",
     EDGES,
     2,
     {{EDGES, 3}, {CELLS, 7}, {CELLS, 21}},
     {{0, DIRECT, OP_READ}, {1, 0, OP_READ}, {1, 1, OP_READ}, {2, 0, OP_INC}, {2, 1, OP_INC}},
     BY_HAND_WIDE(by_hand_gradient)},
    {"flux",
     EDGES,
     5,
     {{CELLS, 3}, {EDGES, 3}, {CELLS, 1}, {CELLS, 7}, {CELLS, 21}, {CELLS, 7}},
     {{0, 0, OP_READ},
      {0, 1, OP_READ},
      {1, DIRECT, OP_READ},
      {2, 0, OP_READ},
      {2, 1, OP_READ},
      {3, 0, OP_READ},
      {3, 1, OP_READ},
      {4, 0, OP_READ},
      {4, 1, OP_READ},
      {5, 0, OP_INC},
      {5, 1, OP_INC}},
     BY_HAND_WIDE(by_hand_flux)},
    {"spread",
     EDGES,
     2,
     {{EDGES, 1}, {CELLS, 1}, {CELLS, 1}},
     {{0, DIRECT, OP_READ}, {1, 0, OP_READ}, {1, 1, OP_READ}, {2, 0, OP_INC}, {2, 1, OP_INC}},
     by_hand_spread},
    {"jac",
     EDGES,
     2,
     {{EDGES, 1}, {CELLS, 1}, {CELLS, 1}},
     {{0, DIRECT, OP_READ}, {1, 1, OP_READ}, {2, 0, OP_INC}},
     by_hand_jac},
    {"multiply",
     CELLS,
     2,
     {{CELLS, 16}, {NODES, 1}, {NODES, 1}},
     {{0, DIRECT, OP_READ}, {1, ALL, OP_READ}, {2, ALL, OP_INC}},
     by_hand_multiply},
};
enum { LOOPS = sizeof loops / sizeof *loops };

static const char *text_of(const struct loop *loop) {
  static const struct {
    const char *name;
    op_kernel_function function;
    const char *file;
  } included[] = {{"adt_calc", (op_kernel_function)adt_calc, "airfoil/airfoil_kernels.h"},
                  {"res_calc", (op_kernel_function)res_calc, "airfoil/airfoil_kernels.h"},
                  {"save_soln", (op_kernel_function)save_soln, "airfoil/airfoil_kernels.h"},
                  {"gradient", (op_kernel_function)gradient, "airfoil_hydra/airfoil_hydra_kernels.h"},
                  {"flux", (op_kernel_function)flux, "airfoil_hydra/airfoil_hydra_kernels.h"}};
  for (size_t i = 0; i < sizeof included / sizeof *included; i++)
    if (strcmp(loop->name, included[i].name) == 0) {
      char path[64];
      snprintf(path, sizeof path, "../../samples/%s", included[i].file);
      return op2jit_kernel_included(path, loop->name, included[i].function, __FILE__);
    }
  return strcmp(loop->name, "euler") == 0    ? OP_KERNEL_OF(euler)
         : strcmp(loop->name, "spread") == 0 ? OP_KERNEL_OF(spread)
         : strcmp(loop->name, "jac") == 0    ? OP_KERNEL_OF(jac)
                                             : OP_KERNEL_OF(multiply);
}

/* ---- the process ---- */

static double *values[MOST_DATS];
static op_dat dats[MOST_DATS];
static op_arg args[MOST_ARGS];
static int nargs;

/* Energies are large against what moves, and gradients small, for roots. */
static double *fill(const struct dat *dat, unsigned seed) {
  const long long count = (long long)mesh.count[dat->on] * dat->dim;
  double *made = room(count, sizeof *made);
  for (long long i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    made[i] = dat->dim >= 8                            ? 0.1 + seed / 8e10
              : i % dat->dim == (dat->dim < 5 ? 3 : 4) ? 9 + seed / 4e9
                                                       : 1 + seed / 8e9;
  }
  return made;
}

static void prepare(const struct loop *loop) {
  for (int d = 0; d < MOST_DATS && loop->dats[d].dim; d++) {
    values[d] = fill(&loop->dats[d], (unsigned)d);
    if (d == loop->result)
      memset(values[d], 0, (size_t)mesh.count[loop->dats[d].on] * (size_t)loop->dats[d].dim * sizeof(double));
  }
}

/* Arguments end with one that is all zero, but for the first. */
static bool is_argument(const struct loop *loop, int i) {
  const struct arg *a = &loop->args[i];
  return i < MOST_ARGS && (i == 0 || a->dat || a->column || a->access != OP_READ);
}

static void declare(const struct loop *loop) {
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("cfl", 1, "double", &cfl);
  op_decl_const("eps", 1, "double", &eps);
  op_decl_const("qinf", 4, "double", qinf);
  op_decl_const("viscosity", 1, "double", &viscosity);
  declare_mesh();
  const op_set sets[] = {[NODES] = mesh.nodes, [CELLS] = mesh.cells, [EDGES] = mesh.edges};
  for (int d = 0; values[d]; d++)
    dats[d] = op_decl_dat(sets[loop->dats[d].on], loop->dats[d].dim, "double", values[d], "dat");
  for (; is_argument(loop, nargs); nargs++) {
    const struct arg *a = &loop->args[nargs];
    const int on = loop->dats[a->dat].on;
    op_map map = a->column == DIRECT ? OP_ID
                 : loop->on == CELLS ? mesh.corner
                 : on == NODES       ? mesh.end
                                     : mesh.side;
    args[nargs] = op_arg_dat(dats[a->dat], a->column == ALL ? -4 : a->column, map, loop->dats[a->dat].dim,
                             "double", a->access);
  }
}

static double seconds_of(const struct loop *loop, const char *text, const struct by_hand *given) {
  double cpu, begin, end;
  op_timers(&cpu, &begin);
  if (given)
    loop->by_hand(given);
  else
    op_par_loop_array(text, loop->name, loop->on == CELLS ? mesh.cells : mesh.edges, nargs, args, __FILE__,
                      __LINE__);
  op_timers(&cpu, &end);
  return end - begin;
}

static void serve(const struct loop *loop, const char *text, const struct by_hand *given) {
  char line[16];
  printf("ready\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    double least = INFINITY;
    for (int i = atoi(line); i > 0; i--)
      least = fmin(least, seconds_of(loop, text, given));
    printf("%.6g\n", 1e9 * least / mesh.count[loop->on]);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  const struct loop *loop = loops;
  while (argc > 1 && loop < loops + LOOPS && strcmp(loop->name, argv[1]) != 0)
    loop++;
  if (argc < 2 || loop == loops + LOOPS) {
    for (int i = 0; i < LOOPS; i++)
      printf("%s%s\n", loops[i].name, loops[i].by_hand ? " by-hand" : "");
    return argc < 2 ? 0 : 2;
  }
  const int by_hand = argc > 3 && strcmp(argv[3], "by-hand") == 0;
  op_init(1, argv, 0);
  make_mesh(argc > 2 ? atoi(argv[2]) : 20000);
  prepare(loop);
  struct by_hand given = {.n = mesh.count[loop->on],
                          .map = loop->on == CELLS ? mesh.corners : mesh.edge_cells,
                          .nodes = mesh.edge_nodes,
                          .values = values};
  const char *text = NULL;
  if (!by_hand) {
    declare(loop);
    text = text_of(loop);
  }
  seconds_of(loop, text, by_hand ? &given : NULL);
  const long long count = (long long)mesh.count[loop->dats[loop->result].on] * loop->dats[loop->result].dim;
  if (!by_hand)
    op_fetch_data(dats[loop->result], values[loop->result]);
  double sum = 0;
  for (long long i = 0; i < count; i++)
    sum += values[loop->result][i] * (double)(1 + i % 7);
  serve(loop, text, by_hand ? &given : NULL);
  printf("%.10g\n", sum);
  return op_exit();
}
