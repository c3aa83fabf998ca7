/* Airfoil: the inviscid flow round a wing section, by finite volumes on cells with two stages of time
 * stepping per iteration, on a mesh of quadrilaterals that knows nothing of its structure. The loops are
 * in solver_loops.h; the same by hand is in twin_loops.h. */
#include "common/memory.h"
#include "common/options.h"
#include "common/output.h"
#include "common/picture.h"
#include "common/ranks.h"
#include "common/report.h"
#include "flow.h"
#include "reference.h"
#include "solver.h"
#include "twin.h"

#include <float.h>
#include <op2jit.h>
#include <stdlib.h>

struct settings {
  int cells, iterations, block, single, check, compare;
  const char *mesh_file, *write_file, *results, *vtk, *picture;
};

/* Cells times iterations that the serial twin does in a second or two: run unasked, and of longer runs, about which nothing
 * is known, the first iterations if these are not too few. */
static const double SMALL_RUN = 3e7, FEW_ITERATIONS = 10;

static enum options_outcome read_settings(struct settings *s, int argc, char **argv) {
  const struct option_entry entries[] = {
      {"cells", OPTION_INT, &s->cells, 12, 2e8, "size of the mesh to make; 720000 is the published one"},
      {"mesh", OPTION_FILE, &s->mesh_file, 0, 0,
       "read the mesh from this file: OP2's text format, or HDF5 (.h5)"},
      {"write-mesh", OPTION_NEW_FILE, &s->write_file, 0, 0,
       "write the mesh to this file, in OP2's text format"},
      {"write", OPTION_NEW_HDF5, &s->results, 0, 0,
       "write the mesh and the state at the end to this HDF5 file"},
      {"vtk", OPTION_NEW_VTK, &s->vtk, 0, 0, "write the state at the end for ParaView, under this name"},
      {"picture", OPTION_NEW_PICTURE, &s->picture, 0, 0,
       "write the pressure near the section to this PNG file"},
      {"iters", OPTION_INT, &s->iterations, 1, 1e9, "iterations"},
      {"single", OPTION_FLAG, &s->single, 0, 0, "single precision"},
      {"check", OPTION_FLAG, &s->check, 0, 0, "check against the hand-written loops however long it takes"},
      {"compare", OPTION_FLAG, &s->compare, 0, 0, "time the hand-written loops, serial and with OpenMP"},
      {"block", OPTION_INT, &s->block, 0, 1e9, "block size of the hand-written loops with OpenMP; 0 chooses"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "inviscid flow round a wing section, by finite volumes",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  if (s->mesh_file && options_given(argc, argv, "cells"))
    return options_refuse(
        "--cells %d: this is for the mesh that the sample makes itself; leave it out with --mesh", s->cells);
  if (s->mesh_file && mesh_is_hdf5(s->mesh_file) && s->write_file)
    return options_refuse("--write-mesh %s: op2jit mesh convert does that for a mesh in HDF5", s->write_file);
  if (s->write_file && mesh_is_hdf5(s->write_file))
    return options_refuse("--write-mesh %s: the mesh is written as text, expected a name such as mesh.dat; "
                          "--write FILE.h5 writes mesh and "
                          "state in HDF5, and op2jit mesh convert makes HDF5 of the text",
                          s->write_file);
  return OPTIONS_RUN;
}

/* Of a mesh that the ranks share no one has all; one that is read as text the first rank has. Every rank knows. */
static int picture_refused(const struct settings *s, int ranks) {
  if (!s->picture || ranks == 1 || (s->mesh_file && !mesh_is_hdf5(s->mesh_file)))
    return 0;
  if (op_is_root())
    options_refuse("--picture %s: one process paints it, and here %d ranks share the mesh; expected one "
                   "rank, or --vtk NAME, which "
                   "all write",
                   s->picture, ranks);
  return 1;
}

/* What this rank declares, and the sizes of the whole; its tables only where they are needed, which is on the first rank. */
struct meshes {
  struct airfoil_mesh share, whole;
};

/* The tables stay in the file until the solver declares them: each rank its part. A set is a dataset of one number. */
static int open_mesh(struct meshes *m, const char *path, int ranks) {
  struct airfoil_mesh *whole = &m->whole;
  *whole = (struct airfoil_mesh){.file = path};
  if (op_get_const_hdf5("nodes", 1, "int", &whole->nodes, path) ||
      op_get_const_hdf5("cells", 1, "int", &whole->cells, path) ||
      op_get_const_hdf5("edges", 1, "int", &whole->edges, path) ||
      op_get_const_hdf5("bedges", 1, "int", &whole->boundary_edges, path))
    return -1;
  m->share = *whole;
  m->share.cells = whole->cells / ranks + (ranks > 1);
  return 0;
}

/* A text file is read by the first rank, which declares all of it; a mesh that is made is made where it is declared. */
static int make_meshes(const struct settings *s, struct meshes *m) {
  *m = (struct meshes){0};
  const int ranks = op_rank_count();
  if (picture_refused(s, ranks)) {
    op_exit();
    return -1;
  }
  if (s->mesh_file && mesh_is_hdf5(s->mesh_file))
    return open_mesh(m, s->mesh_file, ranks);
  if (s->mesh_file) {
    if (op_is_root() && mesh_read(&m->share, s->mesh_file))
      return -1;
  } else {
    mesh_generate_share(&m->share, s->cells, op_rank(), ranks);
  }
  m->whole = s->mesh_file || ranks == 1 ? m->share : mesh_sizes(s->cells);
  return 0;
}

static const struct airfoil_mesh *whole_mesh(const struct settings *s, struct meshes *m) {
  if (!m->whole.x)
    mesh_generate(&m->whole, s->cells);
  return &m->whole;
}

static void meshes_free(struct meshes *m) {
  if (m->whole.x != m->share.x)
    mesh_free(&m->whole);
  mesh_free(&m->share);
}

static struct flow_run run_make(const struct airfoil_mesh *mesh, int iterations) {
  return (struct flow_run){.rms = room(iterations, sizeof(double)),
                           .q = room(4LL * mesh->cells, sizeof(double))};
}

static void run_free(struct flow_run *run) {
  free(run->rms);
  free(run->q);
}

/* The first iteration is timed by itself: in it the library plans and compiles. */
static void run_code(const struct flow_code *code, const struct airfoil_mesh *mesh, int iterations, int block,
                     const struct settings *s, struct flow_run *run) {
  void *state = code->start(mesh, block);
  double start = clock_seconds(), second = start;
  for (int i = 0; i < iterations; i++) {
    run->last = code->iterate(state);
    run->rms[i] = run->last.rms;
    if (i == 0)
      second = clock_seconds();
  }
  double end = clock_seconds();
  run->first = second - start;
  run->later = iterations > 1 ? (end - second) / (iterations - 1) : run->first;
  if (code == &solver_double || code == &solver_single) {
    run->unwritten = (s->single ? solver_single_write : solver_double_write)(state, s->results, s->vtk);
    if (s->results)
      output_said(run->unwritten, s->results, "");
    if (s->vtk)
      output_vtk_said(run->unwritten, s->vtk);
  }
  code->finish(state, run->q);
}

static void print_history(const struct flow_run *run, int iterations) {
  int step = iterations > 10 ? (iterations + 9) / 10 : 1;
  op_printf("  iteration         rms\n");
  for (int i = 0; i < iterations; i++)
    if (i == 0 || (i + 1) % step == 0 || i == iterations - 1)
      op_printf("  %9d  %.10e\n", i + 1, run->rms[i]);
  op_printf("  largest squared change in the last iteration %.15e in cell %d\n", run->last.largest,
            run->last.cell);
}

static double rms_limit(const struct settings *s) {
  return s->single ? 1e-3 : 1e-9;
}

/* What rounding leaves of an rms, once the flow does not change any more: a few of the last digits of states about 1. */
static double rounding_of(const struct settings *s) {
  return 2 * (s->single ? FLT_EPSILON : DBL_EPSILON);
}

/* Of so many iterations. */
static double rms_difference(const struct settings *s, const struct flow_run *one,
                             const struct flow_run *other, int iterations) {
  const double least = rounding_of(s) / rms_limit(s);
  double worst = 0;
  for (int i = 0; i < iterations; i++)
    worst = worse_of(worst, difference_above(least, one->rms[i], other->rms[i]));
  return worst;
}

/* The twin did the first `iterations`. The first rank has declared the first cells, and fetched them. */
static void check_twin(struct check *check, const struct settings *s, const struct meshes *m,
                       const struct flow_run *library, const struct flow_run *twin, int iterations) {
  const struct airfoil_mesh *mesh = &m->whole;
  const double worst = rms_difference(s, library, twin, iterations);
  if (iterations < s->iterations) {
    op_printf("  of the hand-written loops %d iterations: --check does all\n", iterations);
    check_at_most(check, "rms of these against the hand-written loops", worst, rms_limit(s));
    return;
  }
  check_at_most(check, "rms of all iterations against the hand-written loops", worst, rms_limit(s));
  check_at_most(check, "state of all cells against the hand-written loops",
                largest_difference(library->q, twin->q, 4LL * m->share.cells), s->single ? 1e-4 : 1e-10);
  /* Where nothing changes any more, rounding decides. */
  if (!s->single && twin->last.largest > 1e-20)
    check_equal(check, "cell of the largest change, or its mirror image",
                mesh_lower_image(mesh, library->last.cell), mesh_lower_image(mesh, twin->last.cell));
}

/* What an iteration must move: each loop's data once, its maps once. */
static double bytes_per_iteration(const struct airfoil_mesh *mesh, int single) {
  double real = single ? 4 : 8, cells = mesh->cells, nodes = mesh->nodes, edges = mesh->edges;
  double save = cells * 8 * real;
  double time_step = nodes * 2 * real + cells * (5 * real + 4 * 4);
  double fluxes = nodes * 2 * real + cells * (4 + 1 + 8) * real + edges * 4 * 4;
  double update = cells * (4 + 4 + 8 + 1) * real;
  return save + 2 * (time_step + fluxes + update);
}

/* Large blocks are best as long as all threads get enough of them. */
static int block_size(const struct settings *s, const struct airfoil_mesh *mesh) {
  int fitting = mesh->edges / 64;
  if (s->block > 0)
    return s->block;
  return fitting < 256 ? 256 : fitting > 16384 ? 16384 : fitting;
}

/* The tables of a mesh in a file, for the hand-written loops of one process; a map is a table of whole numbers like any
 * other. */
static void load_tables(struct airfoil_mesh *mesh) {
  op_set nodes = op_decl_set_hdf5(mesh->file, "nodes"), cells = op_decl_set_hdf5(mesh->file, "cells"),
         edges = op_decl_set_hdf5(mesh->file, "edges"), boundary = op_decl_set_hdf5(mesh->file, "bedges");
  mesh_allocate(mesh);
  const struct {
    op_set set;
    int dim;
    const char *type, *name;
    void *rows;
  } tables[] = {{nodes, 2, "double", "p_x", mesh->x},
                {cells, 4, "int", "pcell", mesh->cell_nodes},
                {edges, 2, "int", "pedge", mesh->edge_nodes},
                {edges, 2, "int", "pecell", mesh->edge_cells},
                {boundary, 2, "int", "pbedge", mesh->boundary_nodes},
                {boundary, 1, "int", "pbecell", mesh->boundary_cell},
                {boundary, 1, "int", "p_bound", mesh->boundary_kind}};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    op_fetch_data(op_decl_dat_hdf5(tables[t].set, tables[t].dim, tables[t].type, mesh->file, tables[t].name),
                  tables[t].rows);
}

/* How many iterations the serial twin does, if it can be run. */
static int iterations_by_hand(const struct settings *s, const struct airfoil_mesh *mesh, int known) {
  const double few = SMALL_RUN / mesh->cells;
  if (s->compare || few >= s->iterations || (s->check && known == 0))
    return s->iterations;
  return known == 0 && few >= FEW_ITERATIONS ? (int)few : 0;
}

/* The checks, and the times of what ran. */
static void report(struct check *check, const struct settings *s, struct meshes *m,
                   const struct flow_run *library) {
  const struct airfoil_mesh *mesh = &m->whole;
  int known = reference_check(check, mesh, s->iterations, library, s->single);
  int wanted = iterations_by_hand(s, mesh, known);
  if (wanted && mesh->file && m->share.cells == mesh->cells)
    load_tables(&m->whole);
  /* Of a mesh in a file that many ranks share no one has all. */
  int serial = wanted && (!mesh->file || m->whole.x);
  if (serial)
    mesh = whole_mesh(s, m);
  struct flow_run by_hand = run_make(mesh, s->iterations), openmp = run_make(mesh, s->iterations);
  int block = block_size(s, mesh);
  if (serial) {
    run_code(s->single ? &twin_serial_single : &twin_serial_double, mesh, wanted, block, s, &by_hand);
    check_twin(check, s, m, library, &by_hand, wanted);
  } else if (known == 0)
    check_between(check, "rms of the last iteration", library->rms[s->iterations - 1], 0, 1);
  double base = 0, bytes = bytes_per_iteration(mesh, s->single);
  compare_header("one iteration");
  if (serial)
    compare_row("hand-written, serial", by_hand.later, bytes, &base);
  if (s->compare && serial) {
    run_code(s->single ? &twin_openmp_single : &twin_openmp_double, mesh, s->iterations, block, s, &openmp);
    compare_row("hand-written, OpenMP", openmp.later, bytes, &base);
    check_at_most(check, "rms, hand-written with OpenMP", rms_difference(s, &openmp, &by_hand, s->iterations),
                  rms_limit(s));
    check_at_most(check, "state, hand-written with OpenMP",
                  largest_difference(openmp.q, by_hand.q, 4LL * mesh->cells), s->single ? 1e-4 : 1e-10);
  }
  compare_row("op2jit, the first", library->first, bytes, &base);
  compare_row("op2jit, the others", library->later, bytes, &base);
  run_free(&by_hand);
  run_free(&openmp);
}

/* The pressure; this process has all of mesh and state. 0, or -1. */
static int write_picture(const char *path, struct meshes *m, const double *q) {
  const struct airfoil_mesh *mesh = &m->whole;
  const struct picture_view near = {-0.5, -0.75, 1.5, 0.75};
  if (!mesh->x)
    load_tables(&m->whole);
  double *pressure = room(mesh->cells, sizeof *pressure);
  for (int c = 0; c < mesh->cells; c++) {
    const double *state = q + 4 * (size_t)c;
    pressure[c] =
        (FLOW_GAMMA - 1) * (state[3] - 0.5 * (state[1] * state[1] + state[2] * state[2]) / state[0]);
  }
  int failed = picture_cells(path, near, mesh->cells, mesh->cell_nodes, mesh->x, pressure);
  free(pressure);
  return failed;
}

int main(int argc, char **argv) {
  struct settings settings = {.cells = 20000, .iterations = 200, .block = 0};
  enum options_outcome outcome = read_settings(&settings, argc, argv);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  output_prepare(settings.results, settings.vtk);
  struct meshes m;
  if (make_meshes(&settings, &m))
    return 2;
  if (settings.write_file && op_is_root() && !m.whole.file &&
      mesh_write(whole_mesh(&settings, &m), settings.write_file))
    return 2;
  op_printf("airfoil: %d nodes, %d cells, %d edges, %d boundary edges, %s precision\n", m.whole.nodes,
            m.whole.cells, m.whole.edges, m.whole.boundary_edges, settings.single ? "single" : "double");
  struct flow_run run = run_make(&m.share, settings.iterations);
  run_code(settings.single ? &solver_single : &solver_double, &m.share, settings.iterations, 0, &settings,
           &run);
  print_history(&run, settings.iterations);

  struct check check = {0};
  int unwritten = run.unwritten;
  if (op_is_root())
    report(&check, &settings, &m, &run);
  if (op_is_root() && settings.picture)
    unwritten |= write_picture(settings.picture, &m, run.q);
  compare_print();
  op_timing_output();
  run_free(&run);
  meshes_free(&m);
  int status = check_end(&check, "airfoil");
  op_exit();
  return unwritten ? EXIT_FAILURE : status;
}
