/* Transport of a scalar c by a flow, c_t + div(u c) = 0, by finite volumes on triangles, of second order:
 * least-squares gradients, a limiter, walls, inflow and outflow, two stages a step, and steps as long as the flow
 * allows. The flow u = (x, -y) s(t) comes in at the top of the unit square, leaves at the right and slides along
 * the two walls. The program writes steps for ParaView (--vtk NAME), stops and goes on later (--write FILE.h5,
 * --restart FILE.h5), and checks its answer. Copy it to begin a solver of your own: this file has mesh, data and
 * loops, transport_kernels.h the kernels. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport_kernels.h"

/* ---- the mesh: n x n squares, each cut into two triangles, with the points inside moved a little --------- */

struct mesh {
  int nodes, cells, edges, sides; /* sides: edges at the boundary */
  double *x;
  int *cell_nodes, *cell_cells, *edge_nodes, *edge_cells, *side_nodes, *side_cell, *side_kind;
};

static void *room(int count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "transport: no memory\n");
    exit(1);
  }
  return made;
}

/* Triangle 0 or 1 of square (i, j): its corners, counterclockwise. Corners of the square lie on the cut, so that
 * every triangle has two neighbours at least. */
static void cut(int n, int i, int j, int which, int *corner) {
  const int sw = j * (n + 1) + i, se = sw + 1, nw = sw + n + 1, ne = nw + 1;
  const int rising[2][3] = {{sw, se, ne}, {sw, ne, nw}}, falling[2][3] = {{sw, se, nw}, {se, ne, nw}};
  memcpy(corner, (i + j) % 2 ? falling[which] : rising[which], 3 * sizeof *corner);
}

/* All triangles turn the same way, so that an edge goes from a to b in one of its cells and from b to a in the
 * other. The edges that begin at a point are few: they are kept in a short list of each. */
static void join_cells(struct mesh *m) {
  enum { MOST = 8 };
  int *seen = room(m->nodes * MOST, sizeof *seen); /* 3 * cell + side + 1 of the edges that begin here */
  for (int s = 0; s < 3 * m->cells; s++) {
    const int a = m->cell_nodes[s], b = m->cell_nodes[s - s % 3 + (s + 1) % 3];
    m->cell_cells[s] = s / 3;
    int *slot = seen + MOST * a;
    while (*slot)
      slot++;
    *slot = s + 1;
    for (slot = seen + MOST * b; *slot; slot++) {
      const int o = *slot - 1;
      if (m->cell_nodes[o - o % 3 + (o + 1) % 3] != a)
        continue;
      m->cell_cells[s] = o / 3;
      m->cell_cells[o] = s / 3;
      m->edge_nodes[2 * m->edges] = a;
      m->edge_nodes[2 * m->edges + 1] = b;
      m->edge_cells[2 * m->edges] = s / 3;
      m->edge_cells[2 * m->edges++ + 1] = o / 3;
    }
  }
  free(seen);
}

static void find_sides(struct mesh *m) {
  for (int s = 0; s < 3 * m->cells; s++) {
    if (m->cell_cells[s] != s / 3)
      continue;
    const int a = m->cell_nodes[s], b = m->cell_nodes[s - s % 3 + (s + 1) % 3];
    m->side_nodes[2 * m->sides] = a;
    m->side_nodes[2 * m->sides + 1] = b;
    m->side_kind[m->sides] = m->x[2 * a + 1] + m->x[2 * b + 1] == 2 ? INFLOW
                             : m->x[2 * a] + m->x[2 * b] == 2       ? OUTFLOW
                                                                    : WALL;
    m->side_cell[m->sides++] = s / 3;
  }
}

static struct mesh make_mesh(int n) {
  struct mesh m = {.nodes = (n + 1) * (n + 1), .cells = 2 * n * n};
  m.x = room(2 * m.nodes, sizeof *m.x);
  m.cell_nodes = room(3 * m.cells, sizeof(int));
  m.cell_cells = room(3 * m.cells, sizeof(int));
  m.edge_nodes = room(3 * m.cells, sizeof(int));
  m.edge_cells = room(3 * m.cells, sizeof(int));
  m.side_nodes = room(8 * n, sizeof(int));
  m.side_cell = room(4 * n, sizeof(int));
  m.side_kind = room(4 * n, sizeof(int));
  for (int j = 0, k = 0; j <= n; j++)
    for (int i = 0; i <= n; i++, k++) {
      const int inside = i > 0 && i < n && j > 0 && j < n;
      m.x[2 * k] = (i + inside * 0.2 * sin(12.9898 * k)) / n;
      m.x[2 * k + 1] = (j + inside * 0.2 * sin(78.233 * k)) / n;
    }
  for (int j = 0, c = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      for (int which = 0; which < 2; which++, c++)
        cut(n, i, j, which, m.cell_nodes + 3 * c);
  join_cells(&m);
  find_sides(&m);
  return m;
}

/* ---- what the library knows -------------------------------------------------------------------------- */

static op_set nodes, cells, edges, sides;
static op_map cell_nodes, cell_cells, edge_nodes, edge_cells, side_nodes, side_cell;
static op_dat x, kind, c, centre, area, moments, sums, range, gradient, gain, old;

/* Where the run is: the time, how far the flow has gone, what has left through the boundary, and the mass at the
 * beginning. This is all that a restart needs beside mesh and c. */
struct progress {
  double time, gone, left, mass;
};

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static void declare(int n) {
  struct mesh m = op_is_root() ? make_mesh(n) : (struct mesh){0};
  nodes = op_decl_set(m.nodes, "nodes");
  cells = op_decl_set(m.cells, "cells");
  edges = op_decl_set(m.edges, "edges");
  sides = op_decl_set(m.sides, "sides");
  cell_nodes = op_decl_map(cells, nodes, 3, m.cell_nodes, "cell_nodes");
  cell_cells = op_decl_map(cells, cells, 3, m.cell_cells, "cell_cells");
  edge_nodes = op_decl_map(edges, nodes, 2, m.edge_nodes, "edge_nodes");
  edge_cells = op_decl_map(edges, cells, 2, m.edge_cells, "edge_cells");
  side_nodes = op_decl_map(sides, nodes, 2, m.side_nodes, "side_nodes");
  side_cell = op_decl_map(sides, cells, 1, m.side_cell, "side_cell");
  x = op_decl_dat(nodes, 2, "double", m.x, "x");
  kind = op_decl_dat(sides, 1, "int", m.side_kind, "kind");
  c = op_decl_dat(cells, 1, "double", NULL, "c");
  int *const tables[] = {m.cell_nodes, m.cell_cells, m.edge_nodes, m.edge_cells,
                         m.side_nodes, m.side_cell,  m.side_kind};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    free(tables[t]);
  free(m.x);
}

/* The same from a file that write_state wrote; under mpirun each process reads its part. */
static void read_state(const char *file, struct progress *progress) {
  nodes = op_decl_set_hdf5(file, "nodes");
  cells = op_decl_set_hdf5(file, "cells");
  edges = op_decl_set_hdf5(file, "edges");
  sides = op_decl_set_hdf5(file, "sides");
  cell_nodes = op_decl_map_hdf5(cells, nodes, 3, file, "cell_nodes");
  cell_cells = op_decl_map_hdf5(cells, cells, 3, file, "cell_cells");
  edge_nodes = op_decl_map_hdf5(edges, nodes, 2, file, "edge_nodes");
  edge_cells = op_decl_map_hdf5(edges, cells, 2, file, "edge_cells");
  side_nodes = op_decl_map_hdf5(sides, nodes, 2, file, "side_nodes");
  side_cell = op_decl_map_hdf5(sides, cells, 1, file, "side_cell");
  x = op_decl_dat_hdf5(nodes, 2, "double", file, "x");
  kind = op_decl_dat_hdf5(sides, 1, "int", file, "kind");
  c = op_decl_dat_hdf5(cells, 1, "double", file, "c");
  op_get_const_hdf5("progress", 4, "double", &progress->time, file);
}

static void write_state(const char *file, const struct progress *progress) {
  op_dump_to_hdf5(file);
  op_write_const_hdf5("progress", 4, "double", &progress->time, file);
  op_printf("wrote %s: go on with --restart %s\n", file, file);
}

/* ---- the loops ----------------------------------------------------------------------------------------- */

static op_arg own(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static op_arg of(op_dat dat, int index, op_map map, int dim, op_access access) {
  return op_arg_dat(dat, index, map, dim, "double", access);
}

static void prepare(int fresh) {
  centre = op_decl_dat_temp(cells, 2, "double", NULL, "centre");
  area = op_decl_dat_temp(cells, 1, "double", NULL, "area");
  moments = op_decl_dat_temp(nodes, 6, "double", NULL, "moments");
  sums = op_decl_dat_temp(nodes, 3, "double", NULL, "sums");
  range = op_decl_dat_temp(cells, 2, "double", NULL, "range");
  gradient = op_decl_dat_temp(cells, 2, "double", NULL, "gradient");
  gain = op_decl_dat_temp(cells, 1, "double", NULL, "gain");
  old = op_decl_dat_temp(cells, 1, "double", NULL, "old");
  op_partition("rcb", "", cells, cell_nodes, x);
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", geometry), "geometry", cells,
              of(x, -3, cell_nodes, 2, OP_READ), own(centre, 2, OP_WRITE), own(area, 1, OP_WRITE));
  for (int corner = 0; corner < 3; corner++)
    op_par_loop(OP_KERNEL_FILE("transport_kernels.h", weigh), "weigh", cells,
                of(x, corner, cell_nodes, 2, OP_READ), own(centre, 2, OP_READ),
                of(moments, corner, cell_nodes, 6, OP_INC));
  if (fresh)
    op_par_loop(OP_KERNEL_FILE("transport_kernels.h", fill), "fill", cells, own(centre, 2, OP_READ),
                own(c, 1, OP_WRITE));
}

/* What flows in and out of all cells; returns what leaves the square in a second. */
static double rates(double strength) {
  double left = 0;
  op_arg speed = op_arg_gbl(&strength, 1, "double", OP_READ);
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", forget), "forget", nodes, own(sums, 3, OP_WRITE));
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", gather), "gather", cells,
              of(x, -3, cell_nodes, 2, OP_READ), own(centre, 2, OP_READ), own(c, 1, OP_READ),
              of(sums, -3, cell_nodes, 3, OP_INC));
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", extremes), "extremes", cells, own(c, 1, OP_READ),
              of(c, -3, cell_cells, 1, OP_READ), own(range, 2, OP_WRITE));
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", reconstruct), "reconstruct", cells,
              of(x, -3, cell_nodes, 2, OP_READ), of(moments, -3, cell_nodes, 6, OP_READ),
              of(sums, -3, cell_nodes, 3, OP_READ), own(centre, 2, OP_READ), own(c, 1, OP_READ),
              of(range, -3, cell_cells, 2, OP_READ), own(gradient, 2, OP_WRITE));
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", flux), "flux", edges, of(x, 0, edge_nodes, 2, OP_READ),
              of(x, 1, edge_nodes, 2, OP_READ), of(centre, 0, edge_cells, 2, OP_READ),
              of(centre, 1, edge_cells, 2, OP_READ), of(c, 0, edge_cells, 1, OP_READ),
              of(c, 1, edge_cells, 1, OP_READ), of(gradient, 0, edge_cells, 2, OP_READ),
              of(gradient, 1, edge_cells, 2, OP_READ), speed, of(gain, 0, edge_cells, 1, OP_INC),
              of(gain, 1, edge_cells, 1, OP_INC));
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", boundary), "boundary", sides,
              op_arg_dat(kind, -1, OP_ID, 1, "int", OP_READ), of(x, 0, side_nodes, 2, OP_READ),
              of(x, 1, side_nodes, 2, OP_READ), of(centre, 0, side_cell, 2, OP_READ),
              of(c, 0, side_cell, 1, OP_READ), of(gradient, 0, side_cell, 2, OP_READ), speed,
              of(gain, 0, side_cell, 1, OP_INC), op_arg_gbl(&left, 1, "double", OP_INC));
  return left;
}

static void advance_by(double dt, double weight) {
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", advance), "advance", cells, own(old, 1, OP_READ),
              own(area, 1, OP_READ), op_arg_gbl(&dt, 1, "double", OP_READ),
              op_arg_gbl(&weight, 1, "double", OP_READ), own(c, 1, OP_RW), own(gain, 1, OP_RW));
}

/* The flow's strength, and its integral from the beginning. */
static double strength_at(double time) {
  return 1 + 0.5 * sin(2 * M_PI * time);
}
static double gone_at(double time) {
  return time + 0.25 / M_PI * (1 - cos(2 * M_PI * time));
}

/* A step that ends at `end` or before, by Heun's method. Returns its length, or 0. */
static double step(struct progress *now, double end) {
  double rate = 0, strength = strength_at(now->time);
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", courant), "courant", cells,
              of(x, -3, cell_nodes, 2, OP_READ), own(area, 1, OP_READ),
              op_arg_gbl(&strength, 1, "double", OP_READ), op_arg_gbl(&rate, 1, "double", OP_MAX));
  const double dt = rate > 0 ? fmin(0.3 / rate, end - now->time) : 0;
  if (!(dt > 0))
    return 0;
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", save), "save", cells, own(c, 1, OP_READ),
              own(old, 1, OP_WRITE));
  const double first = rates(strength);
  advance_by(dt, 1);
  const double second = rates(strength_at(now->time + dt));
  advance_by(dt, 0.5);
  now->left += 0.5 * dt * (first + second);
  now->time = dt < end - now->time ? now->time + dt : end;
  now->gone = gone_at(now->time);
  return dt;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

struct answer {
  double mass, error, least, most;
};

static struct answer measure_at(double gone) {
  struct answer a = {0, 0, INFINITY, -INFINITY};
  op_par_loop(OP_KERNEL_FILE("transport_kernels.h", measure), "measure", cells, own(c, 1, OP_READ),
              own(centre, 2, OP_READ), own(area, 1, OP_READ), op_arg_gbl(&gone, 1, "double", OP_READ),
              op_arg_gbl(&a.mass, 1, "double", OP_INC), op_arg_gbl(&a.error, 1, "double", OP_INC),
              op_arg_gbl(&a.least, 1, "double", OP_MIN), op_arg_gbl(&a.most, 1, "double", OP_MAX));
  return a;
}

static int check(const char *what, double value, double low, double high) {
  const int holds = value >= low && value <= high;
  op_printf("  %-46s %12.5e in %9.2e .. %9.2e: %s\n", what, value, low, high, holds ? "yes" : "NO");
  return holds;
}

struct wishes {
  int n;
  double end;
  const char *vtk, *write, *restart;
};

static int run(const struct wishes *w) {
  struct progress now = {0};
  if (w->restart)
    read_state(w->restart, &now);
  else
    declare(w->n);
  prepare(!w->restart);
  if (!w->restart)
    now.mass = measure_at(0).mass;
  op_printf("transport: %lld triangles, from time %g to %g\n", op_get_global_size(cells), now.time, w->end);
  const op_dat shown[] = {x, c};
  int steps = 0, pictures = 0;
  const double first = now.time;
  for (; now.time < w->end && step(&now, w->end) > 0; steps++) {
    if (w->vtk && (now.time - first) * 10 >= (pictures + 1) * (w->end - first))
      op_write_vtk_at(w->vtk, pictures++, now.time, 2, shown);
  }
  if (w->write)
    write_state(w->write, &now);

  const struct answer a = measure_at(now.gone);
  const double size = sqrt(1.0 / (double)op_get_global_size(cells));
  op_printf("  %d steps, mass %.12f, error %.3e\n", steps, a.mass, a.error);
  int good = check("time at the end", now.time, w->end, w->end);
  good &= check("mass that is not accounted for", fabs(a.mass + now.left - now.mass), 0, 1e-11);
  good &= check("mean error against the exact solution, in h*h", a.error / (size * size), 0, 12);
  good &= check("least value", a.least, 0.5, 1.5);
  good &= check("largest value", a.most, 1, 2.5);
  op_printf("transport: %s\n", good ? "PASSED" : "FAILED");
  return !good;
}

int main(int argc, char **argv) {
  struct wishes w = {.n = 60, .end = 0.4};
  for (int a = 1; a < argc; a++) {
    const char *word = argv[a], *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(word, "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(word, "--n"))
      w.n = atoi(value);
    else if (!strcmp(word, "--end"))
      w.end = atof(value);
    else if (!strcmp(word, "--vtk"))
      w.vtk = value;
    else if (!strcmp(word, "--write"))
      w.write = value;
    else if (!strcmp(word, "--restart"))
      w.restart = value;
    else
      w.n = 0;
    a++;
  }
  if (w.n < 2 || w.n % 2 || w.n > 10000 || !(w.end >= 0)) {
    fprintf(stderr,
            "usage: transport [--n EVEN] [--end TIME] [--vtk NAME] [--write FILE.h5] [--restart FILE.h5]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  const int status = run(&w);
  return op_exit() || status;
}
