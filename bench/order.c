/* ./dev bench order: what the order of a mesh costs, and what renumbering gives back: an iteration of airfoil on
 * its mesh as it is made, shuffled, and shuffled and renumbered by each method. All take turns in one process. */
#include "compare/airfoil/solver.h"

#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"

#include <math.h>
#include <op2jit.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define real double
#define REAL "double"
#define REAL_SQRT sqrt
#define REAL_ABS fabs
#define SOLVER ordered_solver
extern const struct flow_code ordered_solver;
#include "compare/airfoil/solver_loops.h"

/* ---- a shuffled mesh ------------------------------------------------------------------------------*/

/* to[i]: the new number of i. */
static int *shuffled(int count, unsigned long *seed) {
  int *to = room(count, sizeof *to);
  for (int i = 0; i < count; i++)
    to[i] = i;
  for (int i = count - 1; i > 0; i--) {
    *seed = *seed * 6364136223846793005UL + 1442695040888963407UL;
    int j = (int)((*seed >> 33) % (unsigned long)(i + 1)), t = to[i];
    to[i] = to[j];
    to[j] = t;
  }
  return to;
}

/* Rows of `arity` entries: row i goes to row_to[i], and entry e becomes entry_to[e] (NULL: stays). */
static int *moved(const int *table, int rows, int arity, const int *row_to, const int *entry_to) {
  int *made = room((long long)rows * arity, sizeof *made);
  for (int i = 0; i < rows; i++)
    for (int c = 0; c < arity; c++) {
      int entry = table[arity * i + c];
      made[arity * row_to[i] + c] = entry_to ? entry_to[entry] : entry;
    }
  return made;
}

static void shuffle_mesh(struct airfoil_mesh *to, const struct airfoil_mesh *from) {
  unsigned long seed = 1;
  int *nodes = shuffled(from->nodes, &seed), *cells = shuffled(from->cells, &seed);
  int *edges = shuffled(from->edges, &seed), *boundary = shuffled(from->boundary_edges, &seed);
  *to = *from;
  to->columns = 0;
  to->x = room(2LL * from->nodes, sizeof *to->x);
  for (int i = 0; i < from->nodes; i++)
    memcpy(to->x + 2 * nodes[i], from->x + 2 * i, 2 * sizeof *to->x);
  to->cell_nodes = moved(from->cell_nodes, from->cells, 4, cells, nodes);
  to->edge_nodes = moved(from->edge_nodes, from->edges, 2, edges, nodes);
  to->edge_cells = moved(from->edge_cells, from->edges, 2, edges, cells);
  to->boundary_nodes = moved(from->boundary_nodes, from->boundary_edges, 2, boundary, nodes);
  to->boundary_cell = moved(from->boundary_cell, from->boundary_edges, 1, boundary, cells);
  to->boundary_kind = moved(from->boundary_kind, from->boundary_edges, 1, boundary, NULL);
  free(nodes);
  free(cells);
  free(edges);
  free(boundary);
}

/* ---- the contenders -------------------------------------------------------------------------------*/

struct contender {
  const char *name, *method; /* method NULL: not renumbered */
  bool shuffled;
  struct airfoil airfoil;
  double seconds; /* to renumber */
  double rms;
};

static struct contender contenders[] = {
    {.name = "as it is made"},
    {.name = "shuffled", .shuffled = true},
    {.name = "shuffled, then rcm", .shuffled = true, .method = "rcm"},
    {.name = "shuffled, then hilbert", .shuffled = true, .method = "hilbert"},
    {.name = "shuffled, then rcb", .shuffled = true, .method = "rcb"},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders, MAX_REPEATS = 101 };

static void declare(struct contender *c, const struct airfoil_mesh *ordered,
                    const struct airfoil_mesh *shuffled_mesh) {
  c->airfoil = declare_mesh(c->shuffled ? shuffled_mesh : ordered);
  double begun = clock_seconds();
  if (c->method)
    op_renumber_by(c->method, c->airfoil.cell_nodes, c->airfoil.x);
  c->seconds = clock_seconds() - begun;
}

static double time_of(struct contender *c, int iterations) {
  double begun = clock_seconds();
  for (int i = 0; i < iterations; i++)
    c->rms = iterate(&c->airfoil).rms;
  return (clock_seconds() - begun) / iterations;
}

/* Returns how many disagree with the first. */
static int compare(int repeats, int iterations) {
  double times[CONTENDERS][MAX_REPEATS], first = 0;
  int wrong = 0;
  for (int k = 0; k < CONTENDERS; k++)
    time_of(&contenders[k], 2);
  for (int r = 0; r < repeats; r++)
    for (int k = 0; k < CONTENDERS; k++)
      times[k][r] = time_of(&contenders[k], iterations);
  printf("%-24s %10s  %22s %8s %12s\n", "order", "ms", "lowest .. highest", "time", "renumber s");
  for (int k = 0; k < CONTENDERS; k++) {
    const struct contender *c = &contenders[k];
    double middle = median(times[k], repeats);
    first = k ? first : middle;
    printf("%-24s %10.3f  %9.3f .. %9.3f %7.2fx", c->name, 1e3 * middle, 1e3 * times[k][0],
           1e3 * times[k][repeats - 1], middle / first);
    printf(c->method ? " %12.3f\n" : "\n", c->seconds);
    if (!(fabs(c->rms - contenders[0].rms) <= 1e-9 * contenders[0].rms)) {
      printf("WRONG: its residual is %.12e instead of %.12e\n", c->rms, contenders[0].rms);
      wrong++;
    }
  }
  return wrong;
}

int main(int argc, char **argv) {
  int cells = PUBLISHED_CELLS, repeats = 7, iterations = 3, report = 0;
  const struct option_entry entries[] = {
      {"cells", OPTION_INT, &cells, 12, 2e8, "cells of the mesh"},
      {"repeats", OPTION_INT, &repeats, 3, MAX_REPEATS, "measurements, of which the median counts"},
      {"iters", OPTION_INT, &iterations, 1, 1000, "iterations of a measurement"},
      {"report", OPTION_FLAG, &report, 0, 0, "print the library's own report too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "what the order of a mesh costs airfoil",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  struct airfoil_mesh ordered, shuffled_mesh;
  mesh_generate(&ordered, cells);
  shuffle_mesh(&shuffled_mesh, &ordered);

  /* The same variants for all, unless the user asks for something else. */
  if (!getenv("OP2_TUNE"))
    setenv("OP2_TUNE", "off", 1);
  op_init(argc, argv, 0);
  declare_constants();
  for (int k = 0; k < CONTENDERS; k++)
    declare(&contenders[k], &ordered, &shuffled_mesh);
  printf("airfoil, %d cells, milliseconds of an iteration\n", ordered.cells);
  int wrong = compare(repeats, iterations);
  if (report)
    op_timing_output();
  op_exit();
  mesh_free(&ordered);
  mesh_free(&shuffled_mesh);
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
