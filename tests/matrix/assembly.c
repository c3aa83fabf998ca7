#include "assembly.h"

unsigned draw(struct world *w, unsigned limit) {
  w->state = w->state * 1664525u + 1013904223u;
  return (w->state >> 8) % limit;
}

static void draw_map(struct world *w, int *table, int n, unsigned limit) {
  for (int i = 0; i < n; i++)
    table[i] = (int)draw(w, limit); /* also one target twice */
}

static void draw_numbers(struct world *w, double *x, int n) {
  for (int i = 0; i < n; i++)
    x[i] = 0.5 + draw(w, 1000) / 1000.0;
}

static void draw_all(struct world *w) {
  draw_map(w, w->tri, CELLS * TRI, NODES);
  draw_map(w, w->pair, CELLS * PAIR, FACES);
  draw_map(w, w->ends, FACES * PAIR, NODES);
  for (int e = 0; e < CELLS; e++)
    w->first[e + 1] = w->first[e] + draw(w, LONGEST + 1);
  draw_map(w, w->poly, (int)w->first[CELLS], NODES);
  draw_numbers(w, w->w, CELLS);
  draw_numbers(w, w->x, NODES);
  draw_numbers(w, w->v, FACES);
  for (int i = 0; i < NODES * 2; i++)
    w->fixed[i] = draw(w, 4) == 0;
}

/* Ranks before this one that have elements: of three and more the second has none. */
static int sharing_before(int rank, int ranks) {
  return ranks > 2 && rank > 1 ? rank - 1 : rank;
}

static void share_out(struct world *w) {
  static const int sizes[SETS] = {CELLS, NODES, FACES};
  const int ranks = op_rank_count(), rank = op_rank(), sharing = sharing_before(ranks, ranks);
  for (int s = 0; s < SETS; s++) {
    w->begin[s] = sizes[s] * sharing_before(rank, ranks) / sharing;
    w->end[s] = sizes[s] * sharing_before(rank + 1, ranks) / sharing;
  }
}

static int size_of(const struct world *w, int set) {
  return w->end[set] - w->begin[set];
}

static void declare(struct world *w) {
  long long offsets[CELLS + 1];
  const int c = w->begin[OF_CELLS], n = w->begin[OF_NODES], f = w->begin[OF_FACES];
  w->cells = op_decl_set(size_of(w, OF_CELLS), "cells");
  w->nodes = op_decl_set(size_of(w, OF_NODES), "nodes");
  w->faces = op_decl_set(size_of(w, OF_FACES), "faces");
  w->by_tri = op_decl_map(w->cells, w->nodes, TRI, w->tri + c * TRI, "tri");
  w->by_pair = op_decl_map(w->cells, w->faces, PAIR, w->pair + c * PAIR, "pair");
  w->by_ends = op_decl_map(w->faces, w->nodes, PAIR, w->ends + f * PAIR, "ends");
  for (int e = 0; e <= size_of(w, OF_CELLS); e++)
    offsets[e] = w->first[c + e] - w->first[c];
  w->by_poly = op_decl_map_ragged(w->cells, w->nodes, offsets, w->poly + w->first[c], "poly");
  w->on_cells = op_decl_dat(w->cells, 1, "double", w->w + c, "w");
  w->on_nodes = op_decl_dat(w->nodes, 1, "double", w->x + n, "x");
  w->on_faces = op_decl_dat(w->faces, 1, "double", w->v + f, "v");
  w->on_flags = op_decl_dat(w->nodes, 1, "int", w->fixed + n, "flags");
  w->on_flags2 = op_decl_dat(w->nodes, 2, "int", w->fixed + 2 * n, "flags2");
  int members[CELLS], mine = 0;
  for (int e = 0; e < CELLS; e++)
    if (draw(w, 3) == 0) {
      w->members[w->nsome++] = e;
      if (e >= w->begin[OF_CELLS] && e < w->end[OF_CELLS])
        members[mine++] = e - w->begin[OF_CELLS];
    }
  w->some = op_decl_subset(w->cells, mine, members, "some");
  EXPECT(w->some && w->on_flags2 && w->by_poly);
}

void world_make(struct world *w, unsigned seed) {
  *w = (struct world){.state = seed * 7919u + 1};
  draw_all(w);
  share_out(w);
  declare(w);
}

struct dense dense_new(int rows, int columns) {
  struct dense d = {rows, columns, calloc((size_t)rows * (size_t)columns, sizeof(double))};
  EXPECT(d.values);
  return d;
}

void dense_free(struct dense *d) {
  free(d->values);
}

void expect_matrix(const struct world *w, op_mat mat, struct dense *d, int of_set, int dim,
                   const char *what) {
  const int rows = size_of(w, of_set) * dim, first = w->begin[of_set] * dim;
  long long entries = -1;
  WORKS(op_fetch_mat(mat, &entries, NULL, NULL, NULL));
  long long *offsets = calloc((size_t)rows + 1, sizeof *offsets),
            *columns = calloc((size_t)entries + 1, sizeof *columns);
  double *values = calloc((size_t)entries + 1, sizeof *values),
         *row = calloc((size_t)d->columns, sizeof *row);
  EXPECT(offsets && columns && values && row);
  WORKS(op_fetch_mat(mat, &entries, offsets, columns, values));
  EXPECT(offsets[0] == 0 && offsets[rows] == entries);
  for (int r = 0; r < rows; r++) {
    memset(row, 0, (size_t)d->columns * sizeof *row);
    for (long long k = offsets[r]; k < offsets[r + 1]; k++) {
      EXPECT(columns[k] >= 0 && columns[k] < d->columns);
      EXPECT(k == offsets[r] || columns[k] > columns[k - 1]);
      row[columns[k]] = values[k];
    }
    for (int c = 0; c < d->columns; c++) {
      const double want = *dense_at(d, first + r, c);
      if (!(fabs(row[c] - want) <= 1e-12 * (1 + fabs(want)))) {
        printf("rank %d: %s: row %d, column %d is %.17g, not %.17g\n", op_rank(), what, first + r, c, row[c],
               want);
        exit(1);
      }
    }
  }
  free(offsets);
  free(columns);
  free(values);
  free(row);
}
