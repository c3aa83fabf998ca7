/* The meshes of the multigrid solver: square cells, coarser from level to level, as sets of cells and edges
 * with their tables; the solver sees only these. */
#ifndef MULTIGRID_LEVELS_H
#define MULTIGRID_LEVELS_H

enum { MOST_LEVELS = 16, CORNERS = 4 };

/* Cells exchange `weight` times their difference through edges; `outer` is the weight of what touches the
 * boundary, where the value is zero. */
struct level {
  int side, cells, edges;
  int *edge_cells;  /* edges x 2 */
  double *weight;   /* edges */
  double *outer;    /* cells */
  double *diagonal; /* cells: the sum of all its weights */
  int *parent;      /* cells: the cell of the next level that holds it; not on the last level */
  int *around;      /* cells x 4: cells of the next level to interpolate from, */
  double *share;    /* cells x 4: and their shares */
};

struct levels {
  int count;
  struct level level[MOST_LEVELS];
};

/* `side` x `side` cells on the first level; halved up to `most` times, while it can be. */
struct levels levels_make(int side, int most);
void levels_free(struct levels *levels);

/* The right-hand side for which `solution` (cells of the first level) is exact, and a start that has errors
 * of all wavelengths. */
void levels_problem(const struct levels *levels, double *right, double *solution, double *start);

struct schedule {
  int cycles, before, after, last; /* sweeps before and after the coarser levels, and on the last */
  double damping;
};

#endif
