/* Fetches, puts, prints, order and reports that are wrong. */
#include <math.h>
#include <stddef.h>

#include "negative.h"

#define CASE(name) static void name(struct mesh *m, struct said *said)
#define UNUSED (void)m, (void)said

CASE(fetch_null_dat) {
  UNUSED;
  double out[CELLS];
  op_fetch_data(NULL, out);
}

CASE(fetch_null_memory) {
  UNUSED;
  op_fetch_data(m->height, NULL);
}

CASE(fetch_freed) {
  UNUSED;
  double out[CELLS];
  op_dat t = op_decl_dat_temp(m->cells, 1, "double", NULL, "t");
  op_free_dat_temp(t);
  op_fetch_data(t, out);
}

CASE(put_null_memory) {
  UNUSED;
  op_put_data(m->flow, NULL);
}

CASE(put_of_another_type) {
  UNUSED;
  double flow[2 * EDGES] = {0};
  op_put_data(m->flow, flow);
}

CASE(fetch_of_another_type) {
  UNUSED;
  float height[CELLS];
  op_fetch_data(m->height, height);
}

CASE(fetch_idx_of_another_type) {
  UNUSED;
  float height[CELLS];
  op_fetch_data_idx(m->height, height, 0, 1);
}

CASE(put_into_set) {
  UNUSED;
  double in[CELLS] = {0};
  op_put_data((op_dat)(void *)m->cells, in);
}

#define RANGE(name, dat, low, high)                                                                          \
  CASE(name) {                                                                                               \
    UNUSED;                                                                                                  \
    double out[2 * CELLS];                                                                                   \
    op_fetch_data_idx(dat, out, low, high);                                                                  \
  }

RANGE(range_reversed, m->height, 3, 2)
RANGE(range_high, m->height, 0, CELLS)
RANGE(range_negative, m->height, -1, 2)

CASE(range_of_empty) {
  UNUSED;
  double out[1];
  op_dat q = op_decl_dat(m->nothing, 1, "double", NULL, "q");
  op_fetch_data_idx(q, out, 0, 0);
}

CASE(size_null) {
  UNUSED;
  op_get_size(NULL);
}

CASE(size_of_dat) {
  UNUSED;
  op_get_global_size((op_set)(void *)m->height);
}

CASE(print_path_null) {
  UNUSED;
  op_print_dat_to_txtfile(m->height, NULL);
}

CASE(print_no_folder) {
  UNUSED;
  op_print_dat_to_txtfile(m->height, "no/such/folder/height.txt");
}

CASE(print_binary_no_folder) {
  UNUSED;
  op_print_dat_to_binfile(m->height, "no/such/folder/height.bin");
}

CASE(print_null_dat) {
  UNUSED;
  op_print_dat_to_binfile(NULL, "height.bin");
}

CASE(renumber_null) {
  UNUSED;
  op_renumber(NULL);
}

CASE(renumber_method) {
  UNUSED;
  op_renumber_by("rmc", m->edge_cells, NULL);
}

CASE(renumber_method_null) {
  UNUSED;
  op_renumber_by(NULL, m->edge_cells, NULL);
}

CASE(renumber_without_coordinates) {
  UNUSED;
  op_renumber_by("hilbert", m->edge_cells, NULL);
}

CASE(renumber_coordinates_elsewhere) {
  UNUSED;
  op_renumber_by("rcb", m->edge_cells, m->flow);
}

CASE(renumber_coordinates_dim) {
  UNUSED;
  op_dat q = op_decl_dat(m->cells, 4, "double", NULL, "q");
  op_renumber_by("hilbert", m->edge_cells, q);
}

CASE(vtk_without_dats) {
  UNUSED;
  op_write_vtk("out", 0, 0, &m->height);
}

CASE(vtk_at_no_time) {
  UNUSED;
  op_write_vtk_at("out", 0, (double)INFINITY, 1, &m->height);
}

CASE(file_without_name) {
  UNUSED;
  op_fetch_data_hdf5_file(m->height, "");
}

CASE(plan_level) {
  UNUSED;
  op_plan_check(9);
}

#define ROW(name, code)                                                                                      \
  { #name, code, IN_MESH, name }
const struct negative_case data_cases[] = {
    ROW(fetch_null_dat, OP_ERR_HANDLE),
    ROW(fetch_null_memory, OP_ERR_ARGUMENT),
    ROW(fetch_freed, OP_ERR_HANDLE),
    ROW(put_null_memory, OP_ERR_ARGUMENT),
    ROW(put_of_another_type, OP_ERR_TYPE),
    ROW(fetch_of_another_type, OP_ERR_TYPE),
    ROW(fetch_idx_of_another_type, OP_ERR_TYPE),
    ROW(put_into_set, OP_ERR_HANDLE),
    ROW(range_reversed, OP_ERR_RANGE),
    ROW(range_high, OP_ERR_RANGE),
    ROW(range_negative, OP_ERR_RANGE),
    ROW(range_of_empty, OP_ERR_RANGE),
    ROW(size_null, OP_ERR_HANDLE),
    ROW(size_of_dat, OP_ERR_HANDLE),
    ROW(print_path_null, OP_ERR_ARGUMENT),
    ROW(print_no_folder, OP_ERR_FILE),
    ROW(print_binary_no_folder, OP_ERR_FILE),
    ROW(print_null_dat, OP_ERR_HANDLE),
    ROW(renumber_null, OP_ERR_HANDLE),
    ROW(renumber_method, OP_ERR_METHOD),
    ROW(renumber_method_null, OP_ERR_METHOD),
    ROW(renumber_without_coordinates, OP_ERR_ARGUMENT),
    ROW(renumber_coordinates_elsewhere, OP_ERR_ARGUMENT),
    ROW(renumber_coordinates_dim, OP_ERR_ARGUMENT),
    ROW(vtk_without_dats, OP_ERR_ARGUMENT),
    ROW(vtk_at_no_time, OP_ERR_ARGUMENT),
    ROW(file_without_name, OP_ERR_ARGUMENT),
    ROW(plan_level, OP_ERR_ARGUMENT),
    {NULL, 0, 0, NULL},
};
