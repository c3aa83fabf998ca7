/* Subsets that are wrong, and what is freed while it is used, or used when it is freed. */
#include <stddef.h>

#include "negative.h"

CASE(subset_of_null, OP_ERR_HANDLE, IN_MESH) {
  op_decl_subset_range(NULL, 0, 1, "wall");
}

CASE(subset_of_subset, OP_ERR_HANDLE, IN_MESH) {
  op_decl_subset_range(op_decl_subset_range(m->cells, 2, 3, "wall"), 0, 1, "corner");
}

CASE(subset_size_negative, OP_ERR_SIZE, IN_MESH) {
  const int elements[] = {0};
  op_decl_subset(m->cells, -1, elements, "wall");
}

CASE(subset_too_large, OP_ERR_SIZE, IN_MESH) {
  const int elements[CELLS + 1] = {0};
  op_decl_subset(m->cells, CELLS + 1, elements, "wall");
}

CASE(subset_elements_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_decl_subset(m->cells, 2, NULL, "wall");
}

CASE(subset_element_high, OP_ERR_RANGE, IN_MESH) {
  const int elements[] = {0, 3, CELLS};
  op_decl_subset(m->cells, 3, elements, "wall");
}

CASE(subset_element_negative, OP_ERR_RANGE, IN_MESH) {
  const int elements[] = {0, -1};
  op_decl_subset(m->cells, 2, elements, "wall");
}

CASE(subset_element_twice, OP_ERR_ARGUMENT, IN_MESH) {
  const int elements[] = {5, 2, 0, 2};
  op_decl_subset(m->cells, 4, elements, "wall");
}

CASE(subset_range_high, OP_ERR_RANGE, IN_MESH) {
  op_decl_subset_range(m->cells, 4, 3, "wall");
}

CASE(map_from_subset, OP_ERR_HANDLE, IN_MESH) {
  const int table[] = {0, 1};
  op_decl_map(op_decl_subset_range(m->cells, 1, 2, "wall"), m->edges, 1, table, "wall_edges");
}

CASE(dat_on_subset, OP_ERR_HANDLE, IN_MESH) {
  op_decl_dat(op_decl_subset_range(m->cells, 1, 2, "wall"), 1, "double", NULL, "heat");
}

static void loop_over(op_set set, op_arg arg) {
  double sum = 0;
  op_par_loop(kernel_scale(), "scale", set, arg, op_arg_gbl(&sum, 1, "double", OP_INC));
}

CASE(subset_loop_dat_elsewhere, OP_ERR_MAP_SET, IN_MESH) {
  loop_over(op_decl_subset_range(m->edges, 0, 2, "wall"),
            op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ));
}

CASE(subset_loop_map_elsewhere, OP_ERR_MAP_SET, IN_MESH) {
  loop_over(op_decl_subset_range(m->cells, 0, 2, "wall"),
            op_arg_dat(m->height, 0, m->edge_cells, 1, "double", OP_READ));
}

CASE(subset_freed, OP_ERR_HANDLE, IN_MESH) {
  const op_set wall = op_decl_subset_range(m->cells, 0, 2, "wall");
  op_free_set(wall);
  loop_over(wall, op_arg_dat(m->height, -1, OP_ID, 1, "double", OP_READ));
}

CASE(free_set_in_use, OP_ERR_STATE, IN_MESH) {
  op_decl_subset_range(m->cells, 0, 2, "wall");
  op_free_set(m->cells);
}

CASE(free_set_twice, OP_ERR_HANDLE, IN_MESH) {
  op_free_set(m->nothing);
  m->nothing = op_decl_set(0, "nothing");
  const op_set other = op_decl_set(3, "other");
  op_free_set(other);
  op_free_set(other);
}

CASE(free_map_null, OP_ERR_HANDLE, IN_MESH) {
  op_free_map(NULL);
}

CASE(free_map_direct, OP_ERR_HANDLE, IN_MESH) {
  op_free_map(OP_ID);
}

CASE(free_map_twice, OP_ERR_HANDLE, IN_MESH) {
  const int table[EDGES] = {0};
  const op_map other = op_decl_map(m->edges, m->cells, 1, table, "other");
  op_free_map(other);
  op_free_map(other);
}

CASE(map_freed, OP_ERR_HANDLE, IN_MESH) {
  const int table[EDGES] = {0};
  const op_map other = op_decl_map(m->edges, m->cells, 1, table, "other");
  op_free_map(other);
  loop_over(m->edges, op_arg_dat(m->height, 0, other, 1, "double", OP_READ));
}

CASE(free_dat_twice, OP_ERR_HANDLE, IN_MESH) {
  const op_dat other = op_decl_dat(m->cells, 1, "double", NULL, "other");
  op_free_dat(other);
  op_free_dat(other);
}

CASE(dat_freed, OP_ERR_HANDLE, IN_MESH) {
  const op_dat other = op_decl_dat(m->cells, 1, "double", NULL, "other");
  op_free_dat(other);
  loop_over(m->cells, op_arg_dat(other, -1, OP_ID, 1, "double", OP_READ));
}

CASE(free_dat_acquired, OP_ERR_STATE, IN_MESH) {
  static double array[CELLS];
  const op_dat seen = op_decl_dat_view(m->cells, 1, "double", array, "seen");
  op_acquire(seen, OP_READ);
  op_free_dat(seen);
  said_keep(said, op_last_error());
  op_release(seen);
  op_free_dat(seen);
}
