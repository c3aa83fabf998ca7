/* The loops of airfoil_loops.h on the mesh of airfoil: the tangent against differences, the dot-product test, and times
 * beside the hand-written adjoint of the fluxes. */
#include "adjoint.h"
#include "airfoil_loops.h"
#include "twin.h"

#include "common/memory.h"
#include "common/ranks.h"
#include "common/touch.h"
#include "compare/airfoil/flow.h"
#include "samples/airfoil/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static op_dat dat_of(op_set set, int dim, const double *values, const char *name) {
  return op_decl_dat(set, dim, "double", values, name);
}

static struct airfoil declare(const struct airfoil_mesh *mesh) {
  struct airfoil a;
  a.nodes = op_decl_set(declared(mesh->nodes), "nodes");
  a.cells = op_decl_set(declared(mesh->cells), "cells");
  a.edges = op_decl_set(declared(mesh->edges), "edges");
  a.boundary = op_decl_set(declared(mesh->boundary_edges), "boundary");
  a.cell_nodes = op_decl_map(a.cells, a.nodes, 4, mesh->cell_nodes, "cell_nodes");
  a.edge_nodes = op_decl_map(a.edges, a.nodes, 2, mesh->edge_nodes, "edge_nodes");
  a.edge_cells = op_decl_map(a.edges, a.cells, 2, mesh->edge_cells, "edge_cells");
  a.boundary_nodes = op_decl_map(a.boundary, a.nodes, 2, mesh->boundary_nodes, "boundary_nodes");
  a.boundary_cell = op_decl_map(a.boundary, a.cells, 1, mesh->boundary_cell, "boundary_cell");
  a.kind = op_decl_dat(a.boundary, 1, "int", mesh->boundary_kind, "kind");
  op_dat *const of_nodes[] = {&a.x, &a.x_d, &a.x_b};
  op_dat *const of_cells[] = {&a.q, &a.q_d, &a.q_b, &a.res, &a.res_d, &a.res_b};
  op_dat *const steps[] = {&a.adt, &a.adt_d, &a.adt_b};
  for (int k = 0; k < 3; k++) {
    *of_nodes[k] = dat_of(a.nodes, 2, NULL, "x");
    *steps[k] = dat_of(a.cells, 1, NULL, "adt");
  }
  for (int k = 0; k < 6; k++)
    *of_cells[k] = dat_of(a.cells, 4, NULL, "q or res");
  share_out(a.cells);
  return a;
}

static void clear(op_dat dat, long long count) {
  double *zeros = room(count, sizeof *zeros);
  memset(zeros, 0, (size_t)count * sizeof *zeros);
  op_put_data(dat, zeros);
  free(zeros);
}

/* The primal point: the mesh, and the free stream with noise, so that nothing is zero by chance. */
struct point {
  double *x, *q, *x_d, *q_d, *res_b;
};

static struct point point_make(const struct airfoil_mesh *mesh) {
  struct point p = {room(2LL * mesh->nodes, sizeof(double)), adjoint_noise(4LL * mesh->cells, 11),
                    adjoint_noise(2LL * mesh->nodes, 12), adjoint_noise(4LL * mesh->cells, 13),
                    adjoint_noise(4LL * mesh->cells, 14)};
  double qinf[4];
  flow_free_stream(qinf);
  memcpy(p.x, mesh->x, 2 * (size_t)mesh->nodes * sizeof(double));
  for (int i = 0; i < 4 * mesh->cells; i++)
    p.q[i] = qinf[i % 4] + 0.05 * p.q[i];
  for (int i = 0; i < 2 * mesh->nodes; i++)
    p.x_d[i] *= 1e-3; /* movements that suit the size of cells */
  return p;
}

static void point_free(struct point *p) {
  free(p->x);
  free(p->q);
  free(p->x_d);
  free(p->q_d);
  free(p->res_b);
}

/* The residual at the point moved by h along the tangent direction. */
static void residual_at(const struct airfoil *a, const struct airfoil_mesh *mesh, const struct point *p,
                        double h, double *res) {
  double *x = room(2LL * mesh->nodes, sizeof *x), *q = room(4LL * mesh->cells, sizeof *q);
  for (int i = 0; i < 2 * mesh->nodes; i++)
    x[i] = p->x[i] + h * p->x_d[i];
  for (int i = 0; i < 4 * mesh->cells; i++)
    q[i] = p->q[i] + h * p->q_d[i];
  op_put_data(a->x, x);
  op_put_data(a->q, q);
  clear(a->res, 4LL * op_get_size(a->cells));
  airfoil_residual(a);
  op_fetch_data(a->res, res);
  free(x);
  free(q);
}

/* The tangent against a difference of two residuals, in the root mean square: the time step has a modulus,
 * near whose corner a difference is wrong for a few sides. */
static void check_tangent(struct check *check, const struct airfoil *a, const struct airfoil_mesh *mesh,
                          const struct point *p) {
  const double h = 1e-6;
  long long count = 4LL * mesh->cells;
  double *res_d = room(count, sizeof *res_d), *up = room(count, sizeof *up),
         *down = room(count, sizeof *down);
  double difference = 0, size = 0;
  residual_at(a, mesh, p, h, up);
  residual_at(a, mesh, p, -h, down);
  residual_at(a, mesh, p, 0, res_d);
  airfoil_tangent(a);
  op_fetch_data(a->res_d, res_d);
  for (long long i = 0; op_is_root() && i < count; i++) {
    double slope = (up[i] - down[i]) / (2 * h);
    difference += (slope - res_d[i]) * (slope - res_d[i]);
    size += res_d[i] * res_d[i];
  }
  check_at_most(check, "airfoil: tangent against a difference, relative", sqrt(difference / size), 1e-6);
  free(res_d);
  free(up);
  free(down);
}

/* ---- times ----------------------------------------------------------------------------------------------------*/

/* Edges coloured by their nodes and cells together. */
static struct colouring colour_edges(const struct airfoil_mesh *mesh) {
  int *table = room(4LL * mesh->edges, sizeof *table), block = mesh->edges / 64;
  for (int e = 0; e < mesh->edges; e++) {
    for (int k = 0; k < 2; k++) {
      table[4 * e + k] = mesh->edge_nodes[2 * e + k];
      table[4 * e + 2 + k] = mesh->nodes + mesh->edge_cells[2 * e + k];
    }
  }
  struct colouring made = colouring_make(mesh->edges, 4, table, mesh->nodes + mesh->cells,
                                         block < 256    ? 256
                                         : block > 8192 ? 8192
                                                        : block);
  free(table);
  return made;
}

/* The loop, and a wait for it. */
static void fluxes_backward_now(const struct airfoil *a, double got[4]) {
  airfoil_fluxes_backward(a);
  wait_for(a->q_b, got);
}

static void time_fluxes(struct check *check, const struct airfoil *a, const struct airfoil_mesh *mesh,
                        const struct point *p) {
  enum { REPEATS = 7, WAYS = 3 };
  static const char *const names[WAYS] = {"hand-written, serial", "hand-written, OpenMP", "op2jit"};
  long long nodes = 2LL * mesh->nodes, cells = 4LL * mesh->cells;
  double times[WAYS][REPEATS] = {{0}}, base = 0, *got = room(cells, sizeof *got),
         *adt = touched_zeros(mesh->cells, sizeof *adt, 1);
  double *by_hand = room(cells, sizeof *by_hand), *moved = room(nodes, sizeof *moved);
  double *x_bar = touched_zeros(nodes, sizeof *x_bar, 1), *q_bar = touched_zeros(cells, sizeof *q_bar, 1),
         *adt_bar = touched_zeros(mesh->cells, sizeof *adt, 1);
  double *x = touched_copy(p->x, nodes, sizeof *x, 1), *q = touched_copy(p->q, cells, sizeof *q, 1),
         *res_b = touched_copy(p->res_b, cells, sizeof *res_b, 1);
  struct colouring blocks = colour_edges(mesh);
  op_fetch_data(a->adt, adt);
  struct flux_adjoint f = {mesh, FLOW_GAMMA - 1, FLOW_EPS, x, q, adt, res_b, x_bar, q_bar, adt_bar};
  for (int way = op_is_root() ? 0 : 2; way < WAYS; way++) {
    if (way == 2) {
      clear(a->q_b, cells);
      clear(a->x_b, nodes);
    } else {
      memset(x_bar, 0, (size_t)nodes * sizeof *x_bar);
      memset(q_bar, 0, (size_t)cells * sizeof *q_bar);
      memset(adt_bar, 0, (size_t)mesh->cells * sizeof *adt_bar);
    }
    for (int r = 0; r < REPEATS; r++) {
      double start = clock_seconds();
      if (way == 0)
        flux_adjoint_serial(&f);
      else if (way == 1)
        flux_adjoint_openmp(&f, &blocks);
      else
        fluxes_backward_now(a, got);
      times[way][r] = clock_seconds() - start;
    }
    if (way == 0)
      memcpy(by_hand, q_bar, (size_t)cells * sizeof *by_hand);
    if (way == 1)
      check_at_most(check, "airfoil: adjoint of the fluxes, hand-written with OpenMP",
                    largest_difference(q_bar, by_hand, cells), 1e-11);
  }
  op_fetch_data(a->q_b, got);
  if (op_is_root())
    check_at_most(check, "airfoil: adjoint of the fluxes against the hand-written loop",
                  largest_difference(got, by_hand, cells), 1e-11);
  op_fetch_data(a->x_b, moved);
  if (op_is_root())
    check_at_most(check, "airfoil: the same of the coordinates", largest_difference(moved, x_bar, nodes),
                  1e-11);
  double bytes = mesh->edges * 16.0 + mesh->nodes * 8.0 * (2 + 4) + mesh->cells * 8.0 * (4 + 8 + 1 + 2 + 4);
  compare_header("the adjoint of the flux loop");
  for (int way = 0; way < WAYS; way++)
    compare_row(names[way], median(times[way], REPEATS), bytes, &base);
  colouring_free(&blocks);
  double *const owned[] = {adt, x_bar, q_bar, adt_bar, x, q, res_b};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
    touched_free(owned[k]);
  free(got);
  free(by_hand);
  free(moved);
}

void adjoint_airfoil(struct check *check, int cells, int compare) {
  struct airfoil_mesh mesh;
  mesh_generate(&mesh, cells);
  airfoil_constants();
  struct airfoil a = declare(&mesh);
  struct point p = point_make(&mesh);
  op_printf("airfoil: %d cells, %d edges\n", mesh.cells, mesh.edges);
  op_put_data(a.x_d, p.x_d);
  op_put_data(a.q_d, p.q_d);
  op_put_data(a.res_b, p.res_b);
  check_tangent(check, &a, &mesh, &p);
  airfoil_adjoint(&a);
  double forward = adjoint_dot(a.cells, a.res_d, a.res_b, 4);
  double of_x = adjoint_dot(a.nodes, a.x_b, a.x_d, 2), of_q = adjoint_dot(a.cells, a.q_b, a.q_d, 4);
  adjoint_check(check, "airfoil: dot-product test", forward, of_x + of_q,
                fabs(of_x) + fabs(of_q) + sqrt(adjoint_dot(a.cells, a.res_d, a.res_d, 4)));
  if (compare)
    time_fluxes(check, &a, &mesh, &p);
  point_free(&p);
  mesh_free(&mesh);
}
