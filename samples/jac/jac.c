/* Edge-based Jacobi iteration for A u + r = 0 on the graph of an n x n grid, with -1 on the diagonal of
 * A and a quarter for each of the four neighbours. r is chosen so that the solution is
 *   s = sin(pi x) sin(pi y),
 * which is an eigenvector of the iteration: from u = 0, iteration k must give (1 - lambda^k) s with
 * lambda = cos(pi h). That is what the answer is checked against. */
#include <float.h>
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

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
  made.ends = array(2LL * edges, sizeof *made.ends);
  made.a = array(edges, sizeof *made.a);
  made.r = array(made.nodes, sizeof *made.r);
  made.solution = array(made.nodes, sizeof *made.solution);
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

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

struct mesh {
  op_set nodes, edges;
  op_map ends;
  op_dat a, r, u, du;
  op_gbl change; /* the sum of the squared changes, since it was last put */
};

static struct mesh mesh_declare(const struct graph *graph) {
  struct mesh mesh;
  mesh.nodes = op_decl_set(here(graph->nodes), "nodes");
  mesh.edges = op_decl_set(here(graph->edges), "edges");
  mesh.ends = op_decl_map(mesh.edges, mesh.nodes, 2, graph->ends, "ends");
  mesh.a = op_decl_dat(mesh.edges, 1, "double", graph->a, "a");
  mesh.r = op_decl_dat(mesh.nodes, 1, "double", graph->r, "r");
  mesh.u = op_decl_dat(mesh.nodes, 1, "double", NULL, "u");
  mesh.du = op_decl_dat(mesh.nodes, 1, "double", NULL, "du");
  mesh.change = op_decl_gbl(1, "double", NULL, "change");
  op_partition("block", "", mesh.nodes, NULL, NULL);
  return mesh;
}

/* Nothing that it leaves is looked at here, so that its loops can wait for those of the next one (OP2_LAZY). */
static void iterate(const struct mesh *mesh) {
  op_par_loop(OP_KERNEL_OF(gather), "gather", mesh->edges,
              op_arg_dat(mesh->a, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(mesh->u, 1, mesh->ends, 1, "double", OP_READ),
              op_arg_dat(mesh->du, 0, mesh->ends, 1, "double", OP_INC));
  op_par_loop(OP_KERNEL_OF(update), "update", mesh->nodes,
              op_arg_dat(mesh->r, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(mesh->du, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(mesh->u, -1, OP_ID, 1, "double", OP_RW), op_arg_global(mesh->change, OP_INC));
}

static double iterate_and_look(const struct mesh *mesh) {
  double change = 0;
  op_put_gbl(mesh->change, &change);
  iterate(mesh);
  op_get_gbl(mesh->change, &change);
  return change;
}

/* How far rounding may take u, which is 1 at most: each iteration adds a little and keeps lambda of what was there. */
static double rounding_of(const struct graph *graph, int iterations) {
  return 1e-13 + 4 * DBL_EPSILON * fmin(iterations, 1 / graph->gap);
}

/* The larger of the two; a NaN stays, which fmax would drop. */
static double larger(double a, double b) {
  return isnan(a) || b <= a ? a : b;
}

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

static void run(int n, int iterations) {
  struct graph graph = graph_make(n);
  struct mesh mesh = mesh_declare(&graph);
  double change, before = 0, worst = 0, *u = array(graph.nodes, sizeof *u);
  for (int k = 0; k < iterations - 2; k++)
    iterate(&mesh);
  if (iterations > 1)
    before = iterate_and_look(&mesh);
  change = iterate_and_look(&mesh);
  op_fetch_data(mesh.u, u);
  op_printf("%d nodes, %d edges, %d iterations: last change %.10e\n", graph.nodes, graph.edges, iterations,
            sqrt(change / graph.nodes));
  const double reached = -expm1(iterations * log1p(-graph.gap));
  for (int i = 0; op_is_root() && i < graph.nodes; i++)
    worst = larger(worst, fabs(u[i] - reached * graph.solution[i]));
  expect("u against (1 - lambda^k) s", worst, rounding_of(&graph, iterations));
  if (iterations > 1) /* the change shrinks by lambda, which rounding hides in the end */
    expect("the change against lambda times the one before",
           fabs(sqrt(change) - (1 - graph.gap) * sqrt(before)), 1e-9 * sqrt(before) + 16 * DBL_EPSILON * n);
  graph_free(&graph);
  free(u);
}

int main(int argc, char **argv) {
  int n = 300, iterations = 100;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--iters"))
      iterations = atoi(value);
    else
      n = 0;
    a++;
  }
  if (n < 2 || n > 20000 || iterations < 1) {
    fprintf(stderr, "usage: jac [--n NODES-ON-A-SIDE] [--iters N]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  run(n, iterations);
  op_printf("jac: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
