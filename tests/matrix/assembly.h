/* A random mesh that every rank knows whole, of which it declares a part; matrices on it, and what they should be: dense
 * sums in plain C, over all elements in their order. */
#ifndef OP2JIT_TESTS_ASSEMBLY_H
#define OP2JIT_TESTS_ASSEMBLY_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"
#include "op2jit_bridge.h"

/* With the line, on whatever rank. */
#define EXPECT(condition)                                                                                    \
  ((condition) ? (void)0                                                                                     \
               : (printf("%s:%d: rank %d: %s\n", __FILE__, __LINE__, op_rank(), #condition), exit(1)))
#define WORKS(call)                                                                                          \
  ((call) == OP_OK                                                                                           \
       ? (void)0                                                                                             \
       : (printf("%s:%d: rank %d: %s\n", __FILE__, __LINE__, op_rank(), op_last_error()->message), exit(1)))

enum { CELLS = 37, NODES = 23, FACES = 19, TRI = 3, PAIR = 2, LONGEST = 5 };
enum { SETS = 3, OF_CELLS = 0, OF_NODES = 1, OF_FACES = 2 };

struct world {
  unsigned state;
  int tri[CELLS * TRI];   /* cells to nodes */
  int pair[CELLS * PAIR]; /* cells to faces */
  int ends[FACES * PAIR]; /* faces to nodes */
  long long first[CELLS + 1];
  int poly[CELLS * LONGEST]; /* ragged: cells to nodes */
  double w[CELLS], x[NODES], v[FACES];
  int fixed[NODES * 2];
  int begin[SETS], end[SETS]; /* what this rank declares */
  op_set cells, nodes, faces, some;
  op_map by_tri, by_pair, by_ends, by_poly;
  op_dat on_cells, on_nodes, on_faces, on_flags, on_flags2;
  int nsome, members[CELLS];
};

unsigned draw(struct world *w, unsigned limit);
/* The same on all ranks. One rank of several has no element of any set. */
void world_make(struct world *w, unsigned seed);

/* A matrix as a table: `rows` x `columns` numbers. */
struct dense {
  int rows, columns;
  double *values;
};
struct dense dense_new(int rows, int columns);
void dense_free(struct dense *d);
static inline double *dense_at(struct dense *d, int row, int column) {
  return &d->values[row * d->columns + column];
}
/* What op_fetch_mat says of the rows that this rank declared of a set (of_set, with dim components) is that, entry by entry;
 * columns ascend. */
void expect_matrix(const struct world *w, op_mat mat, struct dense *d, int of_set, int dim, const char *what);

/* Element e's numbers, as the kernels make them: of row i and column j of its matrix. */
static inline double entry(double w, double a, double b, int i, int j) {
  return w * (1 + i) + a * b + 0.25 * j;
}

#endif
