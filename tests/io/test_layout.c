/* Files as OP2 writes them, made here by HDF5's own calls, load; files made here are what OP2's readers ask for. */
#include <hdf5.h>

#include "files.h"

/* ---- as OP2 writes ---- */

static void attribute(hid_t dataset, const char *name, hid_t type, const void *value) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t id = H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(id, type, value) >= 0);
  H5Aclose(id);
  H5Sclose(space);
}

static void table(hid_t file, const char *name, hid_t type, const char *words, int rank, hsize_t rows,
                  hsize_t columns, const void *data, bool described) {
  const hsize_t extents[2] = {rows, columns};
  hid_t space = H5Screate_simple(rank, extents, NULL);
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  if (described) {
    const int size = (int)rows, dim = (int)columns;
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, strlen(words) + 1);
    attribute(dataset, "size", H5T_NATIVE_INT, &size);
    attribute(dataset, "dim", H5T_NATIVE_INT, &dim);
    attribute(dataset, "type", text, words);
    H5Tclose(text);
  }
  H5Dclose(dataset);
  H5Sclose(space);
}

enum { NODES = 6, CELLS = 2, EDGES = 3 };
static const int cell_nodes[CELLS * 4] = {0, 1, 4, 3, 1, 2, 5, 4};
static const long edge_cells[EDGES * 2] = {0, 1, 1, 0, 0, 0};
static const double x[NODES * 2] = {0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1};
static const float q[CELLS] = {1.5f, -2.5f};

static void write_as_op2(const char *path, bool described) {
  const int nodes = NODES, cells = CELLS, edges = EDGES;
  const double gam = 1.4;
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  table(file, "nodes", H5T_NATIVE_INT, "", 1, 1, 1, &nodes, false);
  table(file, "cells", H5T_NATIVE_INT, "", 1, 1, 1, &cells, false);
  table(file, "edges", H5T_NATIVE_INT, "", 1, 1, 1, &edges, false);
  table(file, "pcell", H5T_NATIVE_INT, "int", 2, CELLS, 4, cell_nodes, described);
  table(file, "pecell", H5T_NATIVE_LONG, "long", 2, EDGES, 2, edge_cells, described);
  table(file, "p_x", H5T_NATIVE_DOUBLE, "double:soa", 2, NODES, 2, x, described);
  table(file, "p_q", H5T_NATIVE_FLOAT, "float", described ? 2 : 1, CELLS, 1, q, described);
  table(file, "gam", H5T_NATIVE_DOUBLE, "double", 1, 1, 1, &gam, false);
  H5Fclose(file);
}

static void load(const char *path) {
  op_set nodes = op_decl_set_hdf5(path, "nodes"), cells = op_decl_set_hdf5(path, "cells");
  op_set edges = op_decl_set_hdf5_infer_size(path, "edges", "pecell");
  assert_int_equal(op_get_size(nodes), NODES);
  assert_int_equal(op_get_size(cells), CELLS);
  assert_int_equal(op_get_size(edges), EDGES);
  assert_non_null(op_decl_map_hdf5(cells, nodes, 4, path, "pcell"));
  assert_non_null(op_decl_map_hdf5(edges, cells, 2, path, "pecell"));
  double out[NODES * 2], gam = 0;
  op_dat dat = op_decl_dat_hdf5(nodes, 2, "double:soa", path, "p_x");
  works(op_fetch_data(dat, out));
  assert_memory_equal(out, x, sizeof x);
  dat = op_decl_dat_hdf5(cells, 1, "double", path, "p_q"); /* another type than the file's */
  works(op_fetch_data(dat, out));
  assert_true(out[0] == 1.5 && out[1] == -2.5);
  works(op_get_const_hdf5("gam", 1, "double", &gam, path));
  assert_true(gam == 1.4);
}

LIBRARY_TEST(files_of_op2_load) {
  write_as_op2(in_folder("op2.h5"), true);
  load(in_folder("op2.h5"));
}

/* A table of one column as one dimension, and no attributes at all. */
LIBRARY_TEST(attributes_may_be_absent) {
  write_as_op2(in_folder("bare.h5"), false);
  load(in_folder("bare.h5"));
}

/* ---- as OP2 reads ---- */

static void expect_number(hid_t dataset, const char *name, int expected) {
  int value = -1;
  hid_t id = H5Aopen(dataset, name, H5P_DEFAULT);
  assert_true(id >= 0 && H5Aread(id, H5T_NATIVE_INT, &value) >= 0);
  assert_int_equal(value, expected);
  H5Aclose(id);
}

static void expect_table(hid_t file, const char *name, const char *words, hsize_t rows, hsize_t columns,
                         hid_t type, const void *expected, size_t bytes) {
  char text[64] = "";
  hsize_t extents[2];
  void *data = malloc(bytes);
  hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
  assert_int_equal(H5Sget_simple_extent_ndims(space), 2);
  H5Sget_simple_extent_dims(space, extents, NULL);
  assert_true(extents[0] == rows && extents[1] == columns);
  expect_number(dataset, "size", (int)rows);
  expect_number(dataset, "dim", (int)columns);
  hid_t id = H5Aopen(dataset, "type", H5P_DEFAULT), string = H5Aget_type(id);
  assert_true(H5Tis_variable_str(string) == 0 && H5Tget_size(string) == strlen(words) + 1);
  assert_true(H5Aread(id, string, text) >= 0);
  assert_string_equal(text, words);
  assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
  assert_memory_equal(data, expected, bytes);
  H5Tclose(string);
  H5Aclose(id);
  H5Sclose(space);
  H5Dclose(dataset);
  free(data);
}

LIBRARY_TEST(our_files_are_in_its_layout) {
  const int table_int[EDGES * 2] = {0, 1, 1, 0, 0, 0};
  const double gam = 1.4;
  op_set nodes = op_decl_set(NODES, "nodes"), cells = op_decl_set(CELLS, "cells"),
         edges = op_decl_set(EDGES, "edges");
  op_decl_map(cells, nodes, 4, cell_nodes, "pcell");
  op_decl_map(edges, cells, 2, table_int, "pecell");
  op_decl_dat(nodes, 2, "double:soa", x, "p_x");
  op_decl_dat(cells, 1, "float", q, "mesh/p_q");
  works(op_dump_to_hdf5(in_folder("ours.h5")));
  works(op_write_const_hdf5("gam", 1, "double", &gam, in_folder("ours.h5")));
  hid_t file = H5Fopen(in_folder("ours.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  int size = 0;
  hid_t dataset = H5Dopen2(file, "nodes", H5P_DEFAULT);
  assert_true(H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &size) >= 0);
  assert_int_equal(size, NODES);
  H5Dclose(dataset);
  expect_table(file, "pcell", "int", CELLS, 4, H5T_NATIVE_INT, cell_nodes, sizeof cell_nodes);
  expect_table(file, "pecell", "int", EDGES, 2, H5T_NATIVE_INT, table_int, sizeof table_int);
  expect_table(file, "p_x", "double:soa", NODES, 2, H5T_NATIVE_DOUBLE, x, sizeof x);
  expect_table(file, "mesh/p_q", "float", CELLS, 1, H5T_NATIVE_FLOAT, q, sizeof q);
  double back = 0;
  dataset = H5Dopen2(file, "gam", H5P_DEFAULT);
  assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &back) >= 0);
  assert_true(back == gam);
  expect_number(dataset, "dim", 1);
  H5Dclose(dataset);
  H5Fclose(file);
}

static herr_t note(hid_t stack, void *user) {
  (void)stack;
  ++*(int *)user;
  return 0;
}

/* The host program's own use of HDF5 goes on as it was, errors included. */
LIBRARY_TEST(the_hosts_errors_are_its_own) {
  int told = 0;
  H5Eset_auto2(H5E_DEFAULT, note, &told);
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(in_folder("op2.h5"), "nothing"));
  FILE *f = fopen(in_folder("text.h5"), "w");
  fputs("not a file of HDF5", f);
  fclose(f);
  handle_fails(OP_ERR_FILE, op_decl_set_hdf5(in_folder("text.h5"), "nodes"));
  assert_int_equal(told, 0);
  assert_true(H5Fopen(in_folder("none"), H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
  assert_int_equal(told, 1);
}

int main(void) {
  need_hdf5();
  return run_these(make_folder, remove_folder);
}
