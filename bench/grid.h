/* A grid of quadrilaterals that pretends to be unstructured, like airfoil's mesh: twice as wide as high, with its
 * edges, boundary edges and nodes. Any element can be asked for by itself, so that each rank makes its own part. */
#ifndef OP2JIT_BENCH_GRID_H
#define OP2JIT_BENCH_GRID_H

enum { CELLS, EDGES, BOUNDARY, NODES, SETS };
enum { EDGE_CELLS, EDGE_NODES, BOUNDARY_CELLS, BOUNDARY_NODES, CELL_NODES, MAPS };

struct grid_map {
  int from, to, arity;
};
extern const struct grid_map grid_maps[MAPS];

struct grid {
  long long width, height; /* cells */
  long long size[SETS];
};

/* Of about so many cells. */
struct grid grid_of(long long cells);
/* The targets of an element. */
void grid_row(const struct grid *grid, int map, long long element, long long *row);

#endif
