/* Fetches, puts, prints, order and reports that are wrong. */
#include <math.h>
#include <stddef.h>

#include "negative.h"

CASE(fetch_null_dat, OP_ERR_HANDLE, IN_MESH) {
  double out[CELLS];
  op_fetch_data(NULL, out);
}

CASE(fetch_null_memory, OP_ERR_ARGUMENT, IN_MESH) {
  op_fetch_data(m->height, NULL);
}

CASE(fetch_freed, OP_ERR_HANDLE, IN_MESH) {
  double out[CELLS];
  op_dat t = op_decl_dat_temp(m->cells, 1, "double", NULL, "t");
  op_free_dat_temp(t);
  op_fetch_data(t, out);
}

CASE(put_null_memory, OP_ERR_ARGUMENT, IN_MESH) {
  op_put_data(m->flow, NULL);
}

CASE(put_of_another_type, OP_ERR_TYPE, IN_MESH) {
  double flow[2 * EDGES] = {0};
  op_put_data(m->flow, flow);
}

CASE(fetch_of_another_type, OP_ERR_TYPE, IN_MESH) {
  float height[CELLS];
  op_fetch_data(m->height, height);
}

CASE(fetch_idx_of_another_type, OP_ERR_TYPE, IN_MESH) {
  float height[CELLS];
  op_fetch_data_idx(m->height, height, 0, 1);
}

CASE(put_into_set, OP_ERR_HANDLE, IN_MESH) {
  double in[CELLS] = {0};
  op_put_data((op_dat)(void *)m->cells, in);
}

#define RANGE(name, code, flags, dat, low, high)                                                             \
  CASE(name, code, flags) {                                                                                  \
    double out[2 * CELLS];                                                                                   \
    op_fetch_data_idx(dat, out, low, high);                                                                  \
  }

RANGE(range_reversed, OP_ERR_RANGE, IN_MESH, m->height, 3, 2)
RANGE(range_high, OP_ERR_RANGE, IN_MESH, m->height, 0, CELLS)
RANGE(range_negative, OP_ERR_RANGE, IN_MESH, m->height, -1, 2)

CASE(range_of_empty, OP_ERR_RANGE, IN_MESH) {
  double out[1];
  op_dat q = op_decl_dat(m->nothing, 1, "double", NULL, "q");
  op_fetch_data_idx(q, out, 0, 0);
}

CASE(size_null, OP_ERR_HANDLE, IN_MESH) {
  op_get_size(NULL);
}

CASE(size_of_dat, OP_ERR_HANDLE, IN_MESH) {
  op_get_global_size((op_set)(void *)m->height);
}

CASE(print_path_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_print_dat_to_txtfile(m->height, NULL);
}

CASE(print_no_folder, OP_ERR_FILE, IN_MESH) {
  op_print_dat_to_txtfile(m->height, "no/such/folder/height.txt");
}

CASE(print_binary_no_folder, OP_ERR_FILE, IN_MESH) {
  op_print_dat_to_binfile(m->height, "no/such/folder/height.bin");
}

CASE(print_null_dat, OP_ERR_HANDLE, IN_MESH) {
  op_print_dat_to_binfile(NULL, "height.bin");
}

CASE(renumber_null, OP_ERR_HANDLE, IN_MESH) {
  op_renumber(NULL);
}

CASE(renumber_method, OP_ERR_METHOD, IN_MESH) {
  op_renumber_by("rmc", m->edge_cells, NULL);
}

CASE(renumber_method_null, OP_ERR_METHOD, IN_MESH) {
  op_renumber_by(NULL, m->edge_cells, NULL);
}

CASE(renumber_without_coordinates, OP_ERR_ARGUMENT, IN_MESH) {
  op_renumber_by("hilbert", m->edge_cells, NULL);
}

CASE(renumber_coordinates_elsewhere, OP_ERR_ARGUMENT, IN_MESH) {
  op_renumber_by("rcb", m->edge_cells, m->flow);
}

CASE(renumber_coordinates_dim, OP_ERR_ARGUMENT, IN_MESH) {
  op_dat q = op_decl_dat(m->cells, 4, "double", NULL, "q");
  op_renumber_by("hilbert", m->edge_cells, q);
}

CASE(vtk_without_dats, OP_ERR_ARGUMENT, IN_MESH) {
  op_write_vtk("out", 0, 0, &m->height);
}

CASE(vtk_at_no_time, OP_ERR_ARGUMENT, IN_MESH) {
  op_write_vtk_at("out", 0, (double)INFINITY, 1, &m->height);
}

/* The values of cells of several kinds are on a set of their own. */
CASE(vtk_of_kinds, OP_ERR_MAP_SET, IN_MESH) {
  const int corners[] = {0, 1, 2, 3}, number = 0;
  op_set points = op_decl_set(4, "points"), quads = op_decl_set(1, "quads"), all = op_decl_set(1, "all");
  op_decl_map(quads, points, 4, corners, "quads_nodes");
  op_decl_map(quads, all, 1, &number, "quads_cell");
  op_dat dats[] = {op_decl_dat(points, 2, "double", NULL, "x"), op_decl_dat(all, 1, "double", NULL, "u")};
  op_write_vtk("out", -1, 2, dats);
}

CASE(file_without_name, OP_ERR_ARGUMENT, IN_MESH) {
  op_fetch_data_hdf5_file(m->height, "");
}

CASE(plan_level, OP_ERR_ARGUMENT, IN_MESH) {
  op_plan_check(9);
}

static double viewed[CELLS + 2];

CASE(view_null, OP_ERR_ARGUMENT, IN_MESH) {
  op_decl_dat_view(m->cells, 1, "double", NULL, "seen");
}

CASE(view_of_another_type, OP_ERR_TYPE, IN_MESH) {
  op_decl_dat_view(m->cells, 1, "float", viewed, "seen");
}

CASE(view_overlaps, OP_ERR_ALIAS, IN_MESH) {
  op_dat first = op_decl_dat_view(m->cells, 1, "double", viewed, "first");
  op_decl_dat_view(m->cells, 1, "double", viewed + 2, "second");
  said_keep(said, op_last_error());
  op_free_dat_temp(first);
}

CASE(acquire_of_no_view, OP_ERR_HANDLE, IN_MESH) {
  op_acquire(m->height, OP_READ);
}

CASE(acquire_null, OP_ERR_HANDLE, IN_MESH) {
  op_acquire(NULL, OP_READ);
}

/* A view that goes when the case is over. */
static void with_view(struct mesh *m, struct said *said, void (*go)(struct mesh *m, op_dat seen)) {
  op_dat seen = op_decl_dat_view(m->cells, 1, "double", viewed, "seen");
  go(m, seen);
  said_keep(said, op_last_error());
  op_release(seen);
  op_free_dat_temp(seen);
}

#define VIEW_CASE(name, code, flags)                                                                         \
  static void go_##name(struct mesh *m, op_dat seen);                                                        \
  CASE(name, code, flags) {                                                                                  \
    with_view(m, said, go_##name);                                                                           \
  }                                                                                                          \
  static void go_##name(UNUSED struct mesh *m, op_dat seen)

VIEW_CASE(acquire_to_add, OP_ERR_ACCESS, IN_MESH) {
  op_acquire(seen, OP_INC);
}

VIEW_CASE(acquire_twice, OP_ERR_STATE, IN_MESH) {
  op_acquire(seen, OP_READ);
  op_acquire(seen, OP_READ);
}

VIEW_CASE(release_what_is_not_acquired, OP_ERR_STATE, IN_MESH) {
  op_release(seen);
}

VIEW_CASE(fetch_what_is_acquired, OP_ERR_STATE, IN_MESH) {
  double out[CELLS];
  op_acquire(seen, OP_READ);
  op_fetch_data(seen, out);
}

VIEW_CASE(loop_over_what_is_acquired, OP_ERR_STATE, IN_MESH) {
  op_acquire(seen, OP_WRITE);
  op_par_loop(kernel_spread(), "spread", m->edges, op_arg_dat(m->flow, -1, OP_ID, 2, "float", OP_READ),
              op_arg_dat(seen, 0, m->edge_cells, 1, "double", OP_INC));
}

VIEW_CASE(renumber_while_acquired, OP_ERR_STATE, IN_MESH) {
  op_acquire(seen, OP_READ);
  op_renumber(m->edge_cells);
}
