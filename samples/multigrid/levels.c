#include "levels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

static void add_edge(struct level *level, int one, int other) {
  level->edge_cells[2 * level->edges] = one;
  level->edge_cells[2 * level->edges + 1] = other;
  level->weight[level->edges++] = 1;
  level->diagonal[one] += 1;
  level->diagonal[other] += 1;
}

static struct level level_make(int side) {
  struct level made = {.side = side, .cells = side * side};
  int edges = 2 * side * (side - 1);
  made.edge_cells = array(2LL * edges, sizeof *made.edge_cells);
  made.weight = array(edges, sizeof *made.weight);
  made.outer = array(made.cells, sizeof *made.outer);
  made.diagonal = array(made.cells, sizeof *made.diagonal);
  for (int c = 0; c < made.cells; c++) {
    int i = c % side, j = c / side;
    /* The boundary is half a cell away: weight two for each side on it. */
    made.outer[c] = made.diagonal[c] = 2 * ((i == 0) + (i == side - 1) + (j == 0) + (j == side - 1));
  }
  for (int c = 0; c < made.cells; c++) {
    if (c % side < side - 1)
      add_edge(&made, c, c + 1);
    if (c + side < made.cells)
      add_edge(&made, c, c + side);
  }
  return made;
}

/* In one direction: the coarse cell that holds fine cell i, and the one on its other side with its share of
 * a quarter, negative where that one lies beyond the boundary and mirrors the first. */
static void nearest_two(int i, int coarse_side, int cell[2], double share[2]) {
  int holder = i / 2, other = i % 2 ? holder + 1 : holder - 1;
  int inside = other >= 0 && other < coarse_side;
  cell[0] = holder;
  cell[1] = inside ? other : holder;
  share[0] = 0.75;
  share[1] = inside ? 0.25 : -0.25;
}

static void connect(struct level *fine, int coarse_side) {
  fine->parent = array(fine->cells, sizeof *fine->parent);
  fine->around = array((long long)CORNERS * fine->cells, sizeof *fine->around);
  fine->share = array((long long)CORNERS * fine->cells, sizeof *fine->share);
  for (int c = 0; c < fine->cells; c++) {
    int i[2], j[2];
    double si[2], sj[2];
    nearest_two(c % fine->side, coarse_side, i, si);
    nearest_two(c / fine->side, coarse_side, j, sj);
    fine->parent[c] = i[0] + j[0] * coarse_side;
    for (int k = 0; k < CORNERS; k++) {
      fine->around[CORNERS * c + k] = i[k % 2] + j[k / 2] * coarse_side;
      fine->share[CORNERS * c + k] = si[k % 2] * sj[k / 2];
    }
  }
}

struct levels levels_make(int side, int most) {
  struct levels made = {0};
  if (most > MOST_LEVELS)
    most = MOST_LEVELS;
  for (;;) {
    made.level[made.count++] = level_make(side);
    if (made.count == most || side % 2 || side <= 4)
      return made;
    side /= 2;
    connect(&made.level[made.count - 1], side);
  }
}

void levels_free(struct levels *levels) {
  for (int l = 0; l < levels->count; l++) {
    struct level *level = &levels->level[l];
    void *const owned[] = {level->edge_cells, level->weight, level->outer, level->diagonal,
                           level->parent,     level->around, level->share};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
      free(owned[k]);
  }
  levels->count = 0;
}

/* sin(pi x) sin(pi y) at the middles of cells is an eigenvector of the discrete operator. */
void levels_problem(const struct levels *levels, double *right, double *solution, double *start) {
  const struct level *fine = &levels->level[0];
  double h = M_PI / fine->side, eigenvalue = 4 - 4 * cos(h);
  unsigned state = 2463534242u;
  for (int c = 0; c < fine->cells; c++) {
    int i = c % fine->side, j = c / fine->side;
    solution[c] = sin(h * (i + 0.5)) * sin(h * (j + 0.5));
    right[c] = eigenvalue * solution[c];
    state = state * 1664525u + 1013904223u;
    start[c] = (state >> 8) / 8388608.0 - 1;
  }
}
