/* Airfoil: the inviscid flow round a wing section, by finite volumes on cells with two stages of time
 * stepping per iteration, on a mesh of quadrilaterals that knows nothing of its structure. The loops are
 * in solver_loops.h; the same by hand is in twin_loops.h. */
#include "colouring.h"
#include "flow.h"
#include "options.h"
#include "reference.h"
#include "report.h"
#include "solver.h"
#include "twin.h"

#include <op2jit.h>
#include <stdlib.h>

struct settings {
  int cells, iterations, block, single, check, compare;
  const char *mesh_file, *write_file;
};

/* Cells times iterations that the serial twin does in a second or two: run unasked. */
static const double SMALL_RUN = 3e7;

static enum options_outcome read_settings(struct settings *s, int argc, char **argv) {
  const struct option_entry entries[] = {
      {"cells", OPTION_INT, &s->cells, 12, 2e8, "size of the mesh to make; 720000 is the published one"},
      {"mesh", OPTION_TEXT, &s->mesh_file, 0, 0, "read the mesh from this file, in OP2's text format"},
      {"write-mesh", OPTION_TEXT, &s->write_file, 0, 0, "write the mesh to this file"},
      {"iters", OPTION_INT, &s->iterations, 1, 1e9, "iterations"},
      {"single", OPTION_FLAG, &s->single, 0, 0, "single precision"},
      {"check", OPTION_FLAG, &s->check, 0, 0, "check against the hand-written loops however long it takes"},
      {"compare", OPTION_FLAG, &s->compare, 0, 0, "time the hand-written loops, serial and with OpenMP"},
      {"block", OPTION_INT, &s->block, 0, 1e9, "block size of the hand-written loops with OpenMP; 0 chooses"},
  };
  return options_read(argc, argv, "inviscid flow round a wing section, by finite volumes",
                      sizeof entries / sizeof *entries, entries);
}

static int make_mesh(const struct settings *s, struct airfoil_mesh *mesh) {
  if (s->mesh_file) {
    if (mesh_read(mesh, s->mesh_file))
      return -1;
  } else {
    mesh_generate(mesh, s->cells);
  }
  if (s->write_file && mesh_write(mesh, s->write_file)) {
    mesh_free(mesh);
    return -1;
  }
  return 0;
}

static void print_history(const struct flow_result *result, int iterations) {
  int step = iterations > 10 ? (iterations + 9) / 10 : 1;
  op_printf("  iteration         rms\n");
  for (int i = 0; i < iterations; i++)
    if (i == 0 || (i + 1) % step == 0 || i == iterations - 1)
      op_printf("  %9d  %.10e\n", i + 1, result->rms[i]);
  op_printf("  largest squared change in the last iteration %.15e in cell %d\n", result->largest,
            result->cell);
}

static void run_twin(const struct settings *s, const struct airfoil_mesh *mesh,
                     const struct colouring *colouring, struct flow_result *result) {
  (s->single ? twin_run_single : twin_run_double)(mesh, s->iterations, colouring, result);
}

static void check_twin(struct check *check, const struct settings *s, const struct airfoil_mesh *mesh,
                       const struct flow_result *library, const struct flow_result *twin) {
  double worst = 0;
  for (int i = 0; i < s->iterations; i++) {
    double difference = relative_difference(library->rms[i], twin->rms[i]);
    worst = difference <= worst ? worst : difference;
  }
  check_at_most(check, "rms of all iterations against the hand-written loops", worst,
                s->single ? 1e-3 : 1e-9);
  check_at_most(check, "state of all cells against the hand-written loops",
                largest_difference(library->q, twin->q, 4LL * mesh->cells), s->single ? 1e-4 : 1e-10);
  if (!s->single)
    check_equal(check, "cell of the largest change, or its mirror image",
                mesh_lower_image(mesh, library->cell), mesh_lower_image(mesh, twin->cell));
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

static void report(struct check *check, const struct settings *s, const struct airfoil_mesh *mesh,
                   const struct flow_result *library) {
  int known = reference_check(check, mesh, s->iterations, library, s->single);
  int small = (double)mesh->cells * s->iterations <= SMALL_RUN;
  double base = 0, bytes = bytes_per_iteration(mesh, s->single);
  struct flow_result twin = flow_result_make(mesh, s->iterations);
  if (s->compare || small || (s->check && known == 0)) {
    run_twin(s, mesh, NULL, &twin);
    check_twin(check, s, mesh, library, &twin);
    compare_header("one iteration");
    compare_row("hand-written, serial", twin.seconds, bytes, &base);
  } else {
    compare_header("one iteration");
  }
  if (s->compare) {
    struct colouring colouring =
        colouring_make(mesh->edges, 2, mesh->edge_cells, mesh->cells, block_size(s, mesh));
    run_twin(s, mesh, &colouring, &twin);
    compare_row("hand-written, OpenMP", twin.seconds, bytes, &base);
    colouring_free(&colouring);
  }
  compare_row("op2jit, first loops included", library->seconds, bytes, &base);
  flow_result_free(&twin);
}

int main(int argc, char **argv) {
  struct settings settings = {.cells = 20000, .iterations = 200, .block = 0};
  enum options_outcome outcome = read_settings(&settings, argc, argv);
  if (outcome != OPTIONS_RUN)
    return outcome == OPTIONS_STOP ? EXIT_SUCCESS : 2;
  struct airfoil_mesh mesh;
  if (make_mesh(&settings, &mesh))
    return 2;

  op_init(argc, argv, 1);
  op_printf("airfoil: %d nodes, %d cells, %d edges, %d boundary edges, %s precision\n", mesh.nodes,
            mesh.cells, mesh.edges, mesh.boundary_edges, settings.single ? "single" : "double");
  struct flow_result result = flow_result_make(&mesh, settings.iterations);
  (settings.single ? solver_run_single : solver_run_double)(&mesh, settings.iterations, &result);
  print_history(&result, settings.iterations);

  struct check check = {0};
  report(&check, &settings, &mesh, &result);
  op_timing_output();
  flow_result_free(&result);
  mesh_free(&mesh);
  int status = check_end(&check, "airfoil");
  op_exit();
  return status;
}
