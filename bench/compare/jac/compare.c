/* jac against hand-written loops. */
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"
#include "common/touch.h"
#include "twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/jac/jac.c"
#undef main

struct outcome {
  double change, seconds;
};

static struct outcome run_library(const struct mesh *mesh, int iterations) {
  struct outcome out = {0, 0};
  double start = clock_seconds();
  for (int k = 1; k < iterations; k++)
    iterate(mesh);
  out.change = iterate_and_look(mesh);
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
};

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

/* The hand-written loop with OpenMP, on tables that lie where its threads are; its u must be that of the library,
 * its change that of the serial loop. Returns the seconds of one iteration. */
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

static int compare(const struct settings *s) {
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
  compare_times(&check, s, &graph, &problem, &mesh, u, serial);
  graph_free(&graph);
  touched_free(problem.u);
  touched_free(problem.du);
  free(u);
  free(exact);
  return check_end(&check, "jac");
}

int main(int argc, char **argv) {
  struct settings s = {.n = 300, .iterations = 100, .block = 4096};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 2, 20000, "grid of n x n nodes"},
      {"iters", OPTION_INT, &s.iterations, 1, 1e9, "iterations"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops with OpenMP too"},
      {"block", OPTION_INT, &s.block, 16, 1e9, "block size of the hand-written loop with OpenMP"},
  };
  enum options_outcome outcome =
      options_read(argc, argv, "edge-based Jacobi iteration for A u + r = 0 on a grid graph",
                   sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  int status = compare(&s);
  op_exit();
  return status;
}
