/* Airfoil: the inviscid flow round a wing section, by finite volumes on cells with two stages of time
 * stepping per iteration, on a mesh of quadrilaterals that knows nothing of its structure. airfoil_kernels.h has the
 * kernels, mesh.c makes the mesh, or reads and writes it. Checked against the residuals that OP2 published. */
#include "mesh.h"

#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ratio of specific heats, the same less one, share of the largest stable time step, smoothing: single-precision
 * numbers, as the published figures were made with them. And the free stream: density, x and y momentum, energy. */
static double gam = (double)1.4f, gm1 = (double)1.4f - 1, cfl = (double)0.9f, eps = (double)0.05f, qinf[4];

#include "airfoil_kernels.h"

static void declare_constants(void) {
  const double mach = (double)0.4f, pressure = 1, density = 1, speed = sqrt(gam * pressure / density) * mach;
  qinf[0] = density;
  qinf[1] = density * speed;
  qinf[3] = pressure / gm1 + 0.5 * density * speed * speed;
  op_decl_const("gam", 1, "double", &gam);
  op_decl_const("gm1", 1, "double", &gm1);
  op_decl_const("cfl", 1, "double", &cfl);
  op_decl_const("eps", 1, "double", &eps);
  op_decl_const("qinf", 4, "double", qinf);
}

struct airfoil {
  int cell_count; /* that this rank declares */
  double all_cells;
  op_set nodes, cells, edges, boundary_edges;
  op_map cell_nodes, edge_nodes, edge_cells, boundary_nodes, boundary_cell;
  op_dat x, q, old, adt, res, kind;
  op_gbl squares[2]; /* of what the stages of all iterations changed, since it was last put */
};

/* Sets, maps and places of a mesh in memory, under the names that OP2's airfoil has: what is written is read again. */
static void declare_tables(struct airfoil *a, const struct airfoil_mesh *mesh) {
  a->nodes = op_decl_set(mesh->nodes, "nodes");
  a->cells = op_decl_set(mesh->cells, "cells");
  a->edges = op_decl_set(mesh->edges, "edges");
  a->boundary_edges = op_decl_set(mesh->boundary_edges, "bedges");
  a->cell_nodes = op_decl_map(a->cells, a->nodes, 4, mesh->cell_nodes, "pcell");
  a->edge_nodes = op_decl_map(a->edges, a->nodes, 2, mesh->edge_nodes, "pedge");
  a->edge_cells = op_decl_map(a->edges, a->cells, 2, mesh->edge_cells, "pecell");
  a->boundary_nodes = op_decl_map(a->boundary_edges, a->nodes, 2, mesh->boundary_nodes, "pbedge");
  a->boundary_cell = op_decl_map(a->boundary_edges, a->cells, 1, mesh->boundary_cell, "pbecell");
  a->x = op_decl_dat(a->nodes, 2, "double", mesh->x, "p_x");
  a->kind = op_decl_dat(a->boundary_edges, 1, "int", mesh->boundary_kind, "p_bound");
}

/* The same out of a file: each rank reads its own part. */
static void declare_from_file(struct airfoil *a, const char *file) {
  a->nodes = op_decl_set_hdf5(file, "nodes");
  a->cells = op_decl_set_hdf5(file, "cells");
  a->edges = op_decl_set_hdf5(file, "edges");
  a->boundary_edges = op_decl_set_hdf5(file, "bedges");
  a->cell_nodes = op_decl_map_hdf5(a->cells, a->nodes, 4, file, "pcell");
  a->edge_nodes = op_decl_map_hdf5(a->edges, a->nodes, 2, file, "pedge");
  a->edge_cells = op_decl_map_hdf5(a->edges, a->cells, 2, file, "pecell");
  a->boundary_nodes = op_decl_map_hdf5(a->boundary_edges, a->nodes, 2, file, "pbedge");
  a->boundary_cell = op_decl_map_hdf5(a->boundary_edges, a->cells, 1, file, "pbecell");
  a->x = op_decl_dat_hdf5(a->nodes, 2, "double", file, "p_x");
  a->kind = op_decl_dat_hdf5(a->boundary_edges, 1, "int", file, "p_bound");
}

/* What mesh_read refuses in a text file. All ranks know it, and end. */
static void check_kinds(const struct airfoil *a, const char *file) {
  int strange = 0, found[2] = {0};
  op_par_loop(OP_KERNEL_FILE("airfoil_kernels.h", find_strange), "find_strange", a->boundary_edges,
              op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ), op_arg_idx(-1, OP_ID),
              op_arg_gbl(&strange, 1, "int", OP_MAX), op_arg_info(found, 2, "int", 3));
  if (!strange)
    return;
  if (op_is_root())
    fprintf(stderr, "%s: p_bound of boundary edge %d is %d; expected its kind: 1 wall, 2 far field\n", file,
            found[0], found[1]);
  op_exit();
  exit(2);
}

static struct airfoil declare_mesh(const struct airfoil_mesh *mesh) {
  struct airfoil a;
  if (mesh->file && mesh_is_hdf5(mesh->file))
    declare_from_file(&a, mesh->file);
  else
    declare_tables(&a, mesh);
  a.cell_count = op_get_size(a.cells);
  a.all_cells = (double)op_get_global_size(a.cells);
  double *q = calloc(4 * (size_t)a.cell_count + 1, sizeof *q);
  for (int i = 0; q && i < 4 * a.cell_count; i++)
    q[i] = qinf[i % 4];
  a.q = op_decl_dat(a.cells, 4, "double", q, "q");
  a.old = op_decl_dat(a.cells, 4, "double", NULL, "old");
  a.adt = op_decl_dat(a.cells, 1, "double", NULL, "adt");
  a.res = op_decl_dat(a.cells, 4, "double", NULL, "res");
  for (int stage = 0; stage < 2; stage++)
    a.squares[stage] = op_decl_gbl(1, "double", NULL, "squares");
  free(q);
  /* Over the ranks of mpirun: cells that are near one another. */
  op_partition("rcb", "", a.cells, a.cell_nodes, a.x);
  if (mesh->file && mesh_is_hdf5(mesh->file))
    check_kinds(&a, mesh->file);
  return a;
}

static void residual(const struct airfoil *a) {
  op_par_loop(OP_KERNEL_FILE("airfoil_kernels.h", adt_calc), "adt_calc", a->cells,
              op_arg_dat(a->x, -4, a->cell_nodes, 2, "double", OP_READ),
              op_arg_dat(a->q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(a->adt, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(OP_KERNEL_FILE("airfoil_kernels.h", res_calc), "res_calc", a->edges,
              op_arg_dat(a->x, 0, a->edge_nodes, 2, "double", OP_READ),
              op_arg_dat(a->x, 1, a->edge_nodes, 2, "double", OP_READ),
              op_arg_dat(a->q, 0, a->edge_cells, 4, "double", OP_READ),
              op_arg_dat(a->q, 1, a->edge_cells, 4, "double", OP_READ),
              op_arg_dat(a->adt, 0, a->edge_cells, 1, "double", OP_READ),
              op_arg_dat(a->adt, 1, a->edge_cells, 1, "double", OP_READ),
              op_arg_dat(a->res, 0, a->edge_cells, 4, "double", OP_INC),
              op_arg_dat(a->res, 1, a->edge_cells, 4, "double", OP_INC));
  op_par_loop(OP_KERNEL_FILE("airfoil_kernels.h", bres_calc), "bres_calc", a->boundary_edges,
              op_arg_dat(a->x, 0, a->boundary_nodes, 2, "double", OP_READ),
              op_arg_dat(a->x, 1, a->boundary_nodes, 2, "double", OP_READ),
              op_arg_dat(a->q, 0, a->boundary_cell, 4, "double", OP_READ),
              op_arg_dat(a->adt, 0, a->boundary_cell, 1, "double", OP_READ),
              op_arg_dat(a->res, 0, a->boundary_cell, 4, "double", OP_INC),
              op_arg_dat(a->kind, -1, OP_ID, 1, "int", OP_READ));
}

/* The largest squared change of one variable in a cell, and the cell. */
struct largest {
  double change;
  int cell;
};

/* Nothing that it leaves is looked at here, so that its loops need not wait for one another (OP2_LAZY). `largest`, if
 * it is there, is set to that of the second stage. */
static void iterate(const struct airfoil *a, struct largest *largest) {
  op_par_loop(OP_KERNEL_FILE("airfoil_kernels.h", save_soln), "save_soln", a->cells,
              op_arg_dat(a->q, -1, OP_ID, 4, "double", OP_READ),
              op_arg_dat(a->old, -1, OP_ID, 4, "double", OP_WRITE));
  for (int stage = 0; stage < 2; stage++) {
    residual(a);
    if (stage == 1 && largest)
      op_par_loop(OP_KERNEL_FILE("airfoil_kernels.h", find_largest), "find_largest", a->cells,
                  op_arg_dat(a->res, -1, OP_ID, 4, "double", OP_READ),
                  op_arg_dat(a->adt, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_gbl(&largest->change, 1, "double", OP_MAX), op_arg_info(&largest->cell, 1, "int", 3),
                  op_arg_idx(-1, OP_ID));
    op_par_loop(
        OP_KERNEL_FILE("airfoil_kernels.h", update), "update", a->cells,
        op_arg_dat(a->old, -1, OP_ID, 4, "double", OP_READ),
        op_arg_dat(a->q, -1, OP_ID, 4, "double", OP_WRITE), op_arg_dat(a->res, -1, OP_ID, 4, "double", OP_RW),
        op_arg_dat(a->adt, -1, OP_ID, 1, "double", OP_READ), op_arg_global(a->squares[stage], OP_INC));
  }
}

/* The same, and the root of the mean over the cells of the squared changes. */
static double iterate_and_look(const struct airfoil *a, struct largest *largest) {
  double squares = 0;
  op_put_gbl(a->squares[1], &squares);
  iterate(a, largest);
  op_get_gbl(a->squares[1], &squares);
  return sqrt(squares / a->all_cells);
}

/* ---- residuals that are known from elsewhere, on a mesh that was made here --------------------------- */

/* After every `step` iterations, as printed with six digits. */
struct known {
  int cells, step, count;
  const double *rms;
};

/* OP2's published figures. */
static const double published[] = {5.02186e-04, 3.41746e-04, 2.63430e-04, 2.16288e-04, 1.84659e-04,
                                   1.60866e-04, 1.42253e-04, 1.27627e-04, 1.15810e-04, 1.06011e-04};

/* The small default mesh, by the hand-written loops compiled without optimisation. */
static const double small[] = {8.078632254612656e-04, 4.930576949844269e-04, 3.512976319532475e-04,
                               2.678919462698765e-04};

static const struct known histories[] = {
    {PUBLISHED_CELLS, 100, 10, published},
    {20100, 50, 4, small},
};

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

static void check_rms(int cells, int iteration, double rms) {
  for (size_t h = 0; h < sizeof histories / sizeof *histories; h++) {
    const struct known *known = &histories[h];
    const int k = iteration / known->step;
    char what[64];
    if (cells != known->cells || iteration % known->step || k < 1 || k > known->count)
      continue;
    snprintf(what, sizeof what, "rms after %d iterations against %.5e", iteration, known->rms[k - 1]);
    expect(what, fabs(rms / known->rms[k - 1] - 1), 5e-6);
  }
}

/* The mesh's sizes and what this process declares of it: its part of a mesh that is made, all of one that is read
 * as text on the first, and nothing of one in HDF5, of which each process reads its part. 0, or -1 after a
 * message. */
static int make_mesh(const char *file, int cells, struct airfoil_mesh *mesh) {
  *mesh = (struct airfoil_mesh){.file = file};
  if (!file)
    mesh_generate_share(mesh, cells, op_rank(), op_rank_count());
  else if (!mesh_is_hdf5(file)) /* the others learn by the end of the job that it cannot be read */
    return op_is_root() ? mesh_read(mesh, file) : 0;
  return 0;
}

static int write_whole_mesh(const char *file, int cells) {
  struct airfoil_mesh whole;
  mesh_generate(&whole, cells);
  const int status = mesh_write(&whole, file);
  mesh_free(&whole);
  return status;
}

static void print_sizes(const struct airfoil *a) {
  op_printf("airfoil: %lld nodes, %lld cells, %lld edges, %lld boundary edges\n  iteration         rms\n",
            op_get_global_size(a->nodes), op_get_global_size(a->cells), op_get_global_size(a->edges),
            op_get_global_size(a->boundary_edges));
}

static void run(const struct airfoil *a, int iterations, int made) {
  const int shown = iterations > 10 ? (iterations + 9) / 10 : 1;
  struct largest largest = {0, -1};
  double rms = 0;
  for (int i = 1; i <= iterations; i++) {
    const int show = i == 1 || i % shown == 0 || i == iterations;
    if (!show && i % 50 != 0) {
      iterate(a, NULL);
      continue;
    }
    rms = iterate_and_look(a, i == iterations ? &largest : NULL);
    if (show)
      op_printf("  %9d  %.10e\n", i, rms);
    if (made)
      check_rms((int)a->all_cells, i, rms);
  }
  op_printf("  largest squared change in the last iteration %.15e in cell %d\n", largest.change,
            largest.cell);
  expect("rms of the last iteration", rms, 1);
  expect("its square against the largest change", rms * rms / largest.change, 4);
  if (made && (int)a->all_cells == PUBLISHED_CELLS && iterations == 1000)
    expect("largest squared change against the published", fabs(largest.change / 2.315029308756640e-06 - 1),
           1e-7);
}

struct wishes {
  int cells, iterations;
  const char *mesh, *write_mesh, *write, *vtk;
};

static int read_wishes(struct wishes *w, int argc, char **argv) {
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--cells"))
      w->cells = atoi(value);
    else if (!strcmp(argv[a], "--iters"))
      w->iterations = atoi(value);
    else if (!strcmp(argv[a], "--mesh"))
      w->mesh = value;
    else if (!strcmp(argv[a], "--write-mesh"))
      w->write_mesh = value;
    else if (!strcmp(argv[a], "--write"))
      w->write = value;
    else if (!strcmp(argv[a], "--vtk"))
      w->vtk = value;
    else
      w->cells = 0;
    a++;
  }
  if (w->cells >= 12 && w->iterations >= 1)
    return 0;
  fprintf(stderr, "usage: airfoil [--cells N, 720000: the published mesh] [--iters N] [--mesh FILE, text or "
                  ".h5] [--write-mesh FILE]\n"
                  "               [--write FILE.h5] [--vtk NAME]\n");
  return -1;
}

int main(int argc, char **argv) {
  struct wishes w = {.cells = 20000, .iterations = 200};
  struct airfoil_mesh mesh;
  if (read_wishes(&w, argc, argv))
    return 2;
  if (op_init(argc, argv, 1) || make_mesh(w.mesh, w.cells, &mesh))
    return 1;
  if (w.write_mesh && op_is_root() && write_whole_mesh(w.write_mesh, w.cells))
    return 1;
  declare_constants();
  const struct airfoil a = declare_mesh(&mesh);
  mesh_free(&mesh);
  print_sizes(&a);
  run(&a, w.iterations, !w.mesh);
  const op_dat shown[] = {a.x, a.q, a.adt};
  if (w.write)
    op_dump_to_hdf5(w.write);
  if (w.vtk)
    op_write_vtk(w.vtk, -1, 3, shown);
  op_timing_output();
  op_printf("airfoil: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
