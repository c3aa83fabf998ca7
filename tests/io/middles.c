/* Writes a mesh with more than one dat that has a coordinate's form: middles of cells, and velocities of nodes if
 * asked for. usage: middles FILE.h5 DIM [velocities] */
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 5, CELLS = 4 };

int main(int argc, char **argv) {
  static const double corner[NODES][3] = {{0, 0, 2}, {1, 0, 2}, {1, 1, 2}, {0, 1, 2}, {0.5, 0.5, 2}};
  static const int triangle[3 * CELLS] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
  if (argc < 3)
    return 2;
  const int dim = atoi(argv[2]);
  double x[NODES * 3], middle[CELLS * 3];
  for (int c = 0; c < dim; c++) {
    for (int n = 0; n < NODES; n++)
      x[dim * n + c] = corner[n][c];
    for (int e = 0; e < CELLS; e++)
      middle[dim * e + c] =
          (corner[triangle[3 * e]][c] + corner[triangle[3 * e + 1]][c] + corner[triangle[3 * e + 2]][c]) / 3;
  }
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  op_init(0, NULL, 0);
  op_set cells = op_decl_set(CELLS, "cells"), nodes = op_decl_set(NODES, "nodes");
  op_decl_map(cells, nodes, 3, triangle, "cell_nodes");
  op_decl_map(cells, cells, 3, (int[3 * CELLS]){1, 3, 0, 2, 0, 1, 3, 1, 2, 0, 2, 3}, "cell_cells");
  op_decl_dat(cells, dim, "double", middle, "middle");
  op_decl_dat(nodes, dim, "double", x, "x");
  if (argc > 3)
    op_decl_dat(nodes, dim, "double", x, argv[3]);
  if (op_dump_to_hdf5(argv[1])) {
    fprintf(stderr, "%s\n", op_last_error()->message);
    return op_last_error()->code == OP_ERR_NOT_BUILT ? 77 : 1;
  }
  return op_exit();
}
