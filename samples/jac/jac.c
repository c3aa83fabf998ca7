/* Edge-based Jacobi iteration for A u + r = 0 on the graph of an n x n grid, with -1 on the diagonal of
 * A and a quarter for each of the four neighbours. r is chosen so that the solution is
 *   s = sin(pi x) sin(pi y),
 * which is an eigenvector of the iteration: from u = 0, iteration k must give (1 - lambda^k) s with
 * lambda = cos(pi h). That is what the answer is checked against, and against a hand-written loop. */
#include "common/memory.h"
#include "common/options.h"
#include "common/output.h"
#include "common/picture.h"
#include "common/ranks.h"
#include "common/report.h"
#include "common/touch.h"
#include "twin.h"

#include <float.h>
#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

OP_KERNEL_DEF(
    gather, void gather(const double *a, const double *u, double *du) { *du += *a * *u; })

OP_KERNEL_DEF(
    update, void update(const double *r, double *du, double *u, double *change) {
      double next = *du + *r;
      double step = next - *u;
      *change += step * step;
      *u = next;
      *du = 0;
    })

struct graph {
  int n, nodes, edges;
  int *ends;
  double *a, *r, *solution;
  double gap; /* 1 - lambda, which would lose digits as a difference */
};

static void add_edge(struct graph *graph, int to, int from) {
  graph->ends[2 * graph->edges] = to;
  graph->ends[2 * graph->edges + 1] = from;
  graph->a[graph->edges++] = 0.25;
}

static struct graph graph_make(int n) {
  const double half = sin(0.5 * M_PI / (n + 1));
  struct graph made = {.n = n, .nodes = n * n, .gap = 2 * half * half};
  int edges = 4 * n * (n - 1);
  made.ends = room(2LL * edges, sizeof *made.ends);
  made.a = room(edges, sizeof *made.a);
  made.r = room(made.nodes, sizeof *made.r);
  made.solution = room(made.nodes, sizeof *made.solution);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      int node = i + j * n;
      if (j > 0)
        add_edge(&made, node, node - n);
      if (i > 0)
        add_edge(&made, node, node - 1);
      if (i < n - 1)
        add_edge(&made, node, node + 1);
      if (j < n - 1)
        add_edge(&made, node, node + n);
      made.solution[node] = sin(M_PI * (i + 1) / (n + 1)) * sin(M_PI * (j + 1) / (n + 1));
      made.r[node] = made.gap * made.solution[node];
    }
  }
  return made;
}

static void graph_free(struct graph *graph) {
  free(graph->ends);
  free(graph->a);
  free(graph->r);
  free(graph->solution);
}

struct mesh {
  op_set nodes, edges;
  op_map ends;
  op_dat a, r, u, du;
};

static struct mesh mesh_declare(const struct graph *graph) {
  struct mesh mesh;
  mesh.nodes = op_decl_set(declared(graph->nodes), "nodes");
  mesh.edges = op_decl_set(declared(graph->edges), "edges");
  mesh.ends = op_decl_map(mesh.edges, mesh.nodes, 2, graph->ends, "ends");
  mesh.a = op_decl_dat(mesh.edges, 1, "double", graph->a, "a");
  mesh.r = op_decl_dat(mesh.nodes, 1, "double", graph->r, "r");
  mesh.u = op_decl_dat(mesh.nodes, 1, "double", NULL, "u");
  mesh.du = op_decl_dat(mesh.nodes, 1, "double", NULL, "du");
  share_out(mesh.nodes);
  return mesh;
}

static double iterate(const struct mesh *mesh) {
  double change = 0;
  op_par_loop(OP_KERNEL_OF(gather), "gather", mesh->edges,
              op_arg_dat(mesh->a, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(mesh->u, 1, mesh->ends, 1, "double", OP_READ),
              op_arg_dat(mesh->du, 0, mesh->ends, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_OF(update), "update", mesh->nodes,
              op_arg_dat(mesh->r, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(mesh->du, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(mesh->u, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&change, 1, "double", OP_INC));
  return change;
}

struct outcome {
  double change, seconds;
};

static struct outcome run_library(const struct mesh *mesh, int iterations) {
  struct outcome out = {0, 0};
  double start = clock_seconds();
  for (int k = 0; k < iterations; k++)
    out.change = iterate(mesh);
  out.seconds = (clock_seconds() - start) / iterations;
  return out;
}

static struct outcome run_twin(const struct jac_problem *problem, int iterations,
                               const struct colouring *colouring) {
  struct outcome out = {0, 0};
  jac_clear(problem, colouring != NULL);
  double start = clock_seconds();
  for (int k = 0; k < iterations; k++)
    out.change = colouring ? jac_openmp(problem, colouring) : jac_serial(problem);
  out.seconds = (clock_seconds() - start) / iterations;
  return out;
}

struct settings {
  int n, iterations, compare, block;
  const char *picture, *vtk;
};

/* What was asked for. 0, or -1. */
static int write_results(const struct settings *s, const struct mesh *mesh, const double *u) {
  const op_dat fields[] = {mesh->u, mesh->r};
  const double h = 1.0 / (s->n + 1);
  if (s->vtk && output_grid(s->vtk, NULL, mesh->nodes, s->n, s->n, NULL, h, h, 2, fields))
    return -1;
  return s->picture && op_is_root() ? picture_png(s->picture, s->n, s->n, u) : 0;
}

/* How far rounding may take u, which is 1 at most: each iteration adds a little and keeps lambda of what was there. */
static double rounding_of(const struct graph *graph, int iterations) {
  return 1e-13 + 4 * DBL_EPSILON * fmin(iterations, 1 / graph->gap);
}

/* Root of the mean square. */
static double rms_change(const struct graph *graph, struct outcome outcome) {
  return sqrt(outcome.change / graph->nodes);
}

/* The change is a difference of values about 1, of which rounding has a few of the last digits. */
static void check_change(struct check *check, const char *what, const struct graph *graph, struct outcome a,
                         struct outcome b) {
  const double limit = 1e-9, least = 16 * DBL_EPSILON / limit;
  check_at_most(check, what, difference_above(least, rms_change(graph, a), rms_change(graph, b)), limit);
}

/* The hand-written loop with OpenMP, on tables that lie where its threads are; its u must be that of the library, its change that
 * of the serial loop. Returns the seconds of one iteration. */
static double openmp_seconds(struct check *check, const struct settings *s, const struct graph *graph,
                             const struct jac_problem *problem, const double *u, struct outcome serial) {
  int *ends = touched_copy(graph->ends, graph->edges, 2 * sizeof *ends, 1);
  double *a = touched_copy(graph->a, graph->edges, sizeof *a, 1),
         *r = touched_copy(graph->r, graph->nodes, sizeof *r, 1);
  struct jac_problem spread = {graph->nodes, graph->edges, ends, a, r, problem->u, problem->du};
  struct colouring colouring = colouring_make(graph->edges, 2, ends, graph->nodes, s->block);
  struct outcome openmp = run_twin(&spread, s->iterations, &colouring);
  check_at_most(check, "u, hand-written with OpenMP", largest_difference(u, spread.u, graph->nodes),
                rounding_of(graph, s->iterations));
  check_change(check, "last change, hand-written with OpenMP", graph, openmp, serial);
  colouring_free(&colouring);
  touched_free(ends);
  touched_free(a);
  touched_free(r);
  return openmp.seconds;
}

static void compare_times(struct check *check, const struct settings *s, const struct graph *graph,
                          const struct jac_problem *problem, const struct mesh *mesh, const double *u,
                          struct outcome serial) {
  /* Edges: a and two ends; nodes: u read, du read and written in both loops, r read, u written. */
  double bytes = graph->edges * (8.0 + 2 * 4.0) + graph->nodes * (8.0 + 16.0 + 16.0 + 8.0 + 16.0), base = 0;
  compare_header("one iteration");
  compare_row("hand-written, serial", serial.seconds, bytes, &base);
  if (s->compare)
    compare_row("hand-written, OpenMP", openmp_seconds(check, s, graph, problem, u, serial), bytes, &base);
  compare_row("op2jit", run_library(mesh, s->iterations).seconds, bytes, &base);
}

static int run(const struct settings *s) {
  struct graph graph = graph_make(s->n);
  struct mesh mesh = mesh_declare(&graph);
  double *u = room(graph.nodes, sizeof *u), *exact = room(graph.nodes, sizeof *exact);
  struct jac_problem problem = {graph.nodes,
                                graph.edges,
                                graph.ends,
                                graph.a,
                                graph.r,
                                touched_zeros(graph.nodes, sizeof(double), s->compare),
                                touched_zeros(graph.nodes, sizeof(double), s->compare)};

  struct outcome library = run_library(&mesh, s->iterations);
  op_fetch_data(mesh.u, u);
  op_printf("%d nodes, %d edges, %d iterations: last change %.10e\n", graph.nodes, graph.edges, s->iterations,
            rms_change(&graph, library));

  struct check check = {0};
  const double reached = -expm1(s->iterations * log1p(-graph.gap)),
               rounding = rounding_of(&graph, s->iterations);
  for (int i = 0; i < graph.nodes; i++)
    exact[i] = reached * graph.solution[i];
  check_at_most(&check, "u against (1 - lambda^k) s", largest_difference(u, exact, graph.nodes), rounding);
  struct outcome serial = run_twin(&problem, s->iterations, NULL);
  check_at_most(&check, "u against the hand-written loop", largest_difference(u, problem.u, graph.nodes),
                rounding);
  check_change(&check, "last change against the hand-written loop", &graph, library, serial);
  int unwritten = write_results(s, &mesh, u);
  compare_times(&check, s, &graph, &problem, &mesh, u, serial);
  graph_free(&graph);
  touched_free(problem.u);
  touched_free(problem.du);
  free(u);
  free(exact);
  int status = check_end(&check, "jac");
  return unwritten ? EXIT_FAILURE : status;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 300, .iterations = 100, .block = 4096};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 2, 20000, "grid of n x n nodes"},
      {"iters", OPTION_INT, &s.iterations, 1, 1e9, "iterations"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
      {"block", OPTION_INT, &s.block, 16, 1e9, "block size of the hand-written loop with OpenMP"},
      {"picture", OPTION_NEW_PICTURE, &s.picture, 0, 0, "write the answer to this PNG file"},
      {"vtk", OPTION_NEW_VTK, &s.vtk, 0, 0, "write the grid for ParaView, under this name"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "edge-based Jacobi iteration for A u + r = 0 on a grid graph",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  output_prepare(NULL, s.vtk);
  int status = run(&s);
  op_exit();
  return status;
}
