/* Writes a mesh in the form of airfoil's with more than one dat that has a coordinate's form: middles of cells, and
 * velocities of nodes if asked for. usage: middles FILE.h5 [velocities] */
#include <op2jit.h>
#include <stdio.h>

enum { NODES = 5 };

int main(int argc, char **argv) {
  static const double corner[2 * NODES] = {0, 0, 1, 0, 1, 1, 0, 1, 0.5, 0.5}, middle[2] = {0.5, 0.5};
  if (argc < 2)
    return 2;
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  op_init(0, NULL, 0);
  op_set nodes = op_decl_set(NODES, "nodes"), cells = op_decl_set(1, "cells");
  op_set edges = op_decl_set(0, "edges"), bedges = op_decl_set(1, "bedges");
  op_decl_map(cells, nodes, 4, (int[4]){0, 1, 2, 3}, "cell_nodes");
  op_decl_map(cells, cells, 3, (int[3]){0, 0, 0}, "cell_cells");
  op_decl_map(edges, nodes, 2, NULL, "edge_nodes");
  op_decl_map(edges, cells, 2, NULL, "edge_cells");
  op_decl_map(bedges, nodes, 2, (int[2]){0, 1}, "bedge_nodes");
  op_decl_map(bedges, cells, 1, (int[1]){0}, "bedge_cell");
  op_decl_dat(bedges, 1, "int", (int[1]){1}, "bound");
  op_decl_dat(cells, 2, "double", middle, "middle");
  op_decl_dat(nodes, 2, "double", corner, "x");
  if (argc > 2)
    op_decl_dat(nodes, 2, "double", corner, argv[2]);
  if (op_dump_to_hdf5(argv[1])) {
    fprintf(stderr, "%s\n", op_last_error()->message);
    return op_last_error()->code == OP_ERR_NOT_BUILT ? 77 : 1;
  }
  return op_exit();
}
