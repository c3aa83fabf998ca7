/* The loops of samples/airfoil on its mesh, as they should be, in a form that a mistake can be planted in. */
#ifndef OP2JIT_TESTS_MISTAKES_AIRFOIL_PROGRAM_H
#define OP2JIT_TESTS_MISTAKES_AIRFOIL_PROGRAM_H

#include "mistakes.h"

#include "samples/airfoil/mesh.h"

/* Names that kernels know. */
extern double gam, gm1, cfl, eps;

/* Parts of the kernels that several of them share. OP_KERNEL_DEF replaces macros before it makes the text. */
#define SPEED(q)                                                                                             \
  double inverse = 1 / q[0];                                                                                 \
  double u = inverse * q[1];                                                                                 \
  double v = inverse * q[2];                                                                                 \
  double c = sqrt(gam * gm1 * (inverse * q[3] - 0.5 * (u * u + v * v)));
#define SIDES(next)                                                                                          \
  for (int side = 0; side < 4; side++) {                                                                     \
    double dx = x[next][0] - x[side][0];                                                                     \
    double dy = x[next][1] - x[side][1];                                                                     \
    sum += fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);                                              \
  }
#define FLUX_BEGIN(mean)                                                                                     \
  double dx = x1[0] - x2[0];                                                                                 \
  double dy = x1[1] - x2[1];                                                                                 \
  double inverse1 = 1 / q1[0];                                                                               \
  double inverse2 = 1 / q2[0];                                                                               \
  double p1 = gm1 * (q1[3] - 0.5 * inverse1 * (q1[1] * q1[1] + q1[2] * q1[2]));                              \
  double p2 = gm1 * (q2[3] - 0.5 * inverse2 * (q2[1] * q2[1] + q2[2] * q2[2]));                              \
  double through1 = inverse1 * (q1[1] * dy - q1[2] * dx);                                                    \
  double through2 = inverse2 * (q2[1] * dy - q2[2] * dx);                                                    \
  double mu = mean * eps;                                                                                    \
  double f;
#define FLUXES(adds, n, part1, part2)                                                                        \
  f = 0.5 * (through1 * q1[n] part1 + through2 * q2[n] part2) + mu * (q1[n] - q2[n]);                        \
  res1[n] adds f;                                                                                            \
  res2[n] -= f;
#define ALL_FLUXES(adds)                                                                                     \
  FLUXES(adds, 0, , )                                                                                        \
  FLUXES(adds, 1, +p1 *dy, +p2 *dy)                                                                          \
  FLUXES(adds, 2, -p1 *dx, -p2 *dx)                                                                          \
  FLUXES(adds, 3, +through1 *p1, +through2 *p2)
#define COUNT_STEP                                                                                           \
  res[n] = 0;                                                                                                \
  *rms += step * step;                                                                                       \
  if (step * step > *largest) {                                                                              \
    *largest = step * step;                                                                                  \
    *place = *cell;                                                                                          \
  }

struct airfoil {
  struct airfoil_mesh mesh;
  op_set nodes, cells, edges, boundary_edges;
  op_map cell_nodes, edge_nodes, edge_cells, boundary_nodes, boundary_cell;
  op_dat x, q, old, adt, res, kind;
  struct call save_soln, adt_calc, res_calc, bres_calc, update;
  double rms, largest;
  int place;
};

/* In this order: a mistake changes tables behind the first, or loops behind the second. The third runs the loops,
 * frees the mesh and returns a number that tells the answer. */
void airfoil_generate(struct airfoil *a);
void airfoil_declare(struct airfoil *a);
double airfoil_iterate(struct airfoil *a);

static inline op_arg through(op_map map, int idx, op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, idx, map, dim, "double", access);
}

#endif
