/* op2jit mesh convert takes along what an HDF5 file has beside its mesh, and loses nothing of it unsaid. usage:
 * test OP2JIT */
#include <hdf5.h>

#include "files.h"

static const char *command;

/* What the command says, on both streams; valid until the next call. */
static const char *mesh(int expected, const char *words, const char *file, const char *new) {
  static char said[8192];
  char line[4 * PATH_MAX];
  snprintf(line, sizeof line, "'%s' mesh %s '%s' %s 2>&1", command, words, file, new);
  FILE *pipe = popen(line, "r");
  assert_non_null(pipe);
  const size_t n = fread(said, 1, sizeof said - 1, pipe);
  said[n] = '\0';
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != expected)
    fail_msg("%s: status %d\n%s", line, status, said);
  return said;
}

static void has(const char *said, const char *words) {
  if (!strstr(said, words))
    fail_msg("it lacks \"%s\":\n%s", words, said);
}

/* ---- the file ---- */

enum { NODES = 5, CELLS = 4 };

static void declare_mesh(void) {
  static const double x[2 * NODES] = {0, 0, 1, 0, 1, 1, 0, 1, 0.5, 0.5};
  static const int triangle[3 * CELLS] = {0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4};
  op_set cells = op_decl_set(CELLS, "cells"), nodes = op_decl_set(NODES, "nodes");
  op_decl_map(cells, nodes, 3, triangle, "cell_nodes");
  op_decl_dat(nodes, 2, "double", x, "x");
  op_decl_dat(cells, 1, "char", "abcd", "letters");
}

static void attribute(hid_t object, const char *name, const char *value) {
  hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  hid_t id = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Awrite(id, type, &value) >= 0);
  H5Aclose(id);
  H5Tclose(type);
  H5Sclose(space);
}

static void dataset(hid_t file, const char *name, hid_t type, int rank, hsize_t rows, const void *values) {
  const hsize_t extents[3] = {rows, 1, 1};
  hid_t space = H5Screate_simple(rank, extents, NULL);
  hid_t id = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(H5Dwrite(id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(id);
  H5Sclose(space);
}

static void make_file(const char *path) {
  const double t = 0.25, five[NODES] = {1, 2, 3, 4, 5};
  declare_mesh();
  works(op_dump_to_hdf5(path));
  works(op_write_const_hdf5("t", 1, "double", &t, path));
  works(op_write_const_hdf5("five", NODES, "double", five, path)); /* as many as a set has elements */
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), string = H5Tcopy(H5T_C_S1);
  H5Tset_size(string, 8);
  dataset(file, "words", string, 1, 2, "one\0\0\0\0\0two\0\0\0\0");
  dataset(file, "space", H5T_NATIVE_DOUBLE, 3, NODES, five);
  dataset(file, "bare_bytes", H5T_NATIVE_SCHAR, 1, NODES, (const signed char[NODES]){-3, 1, 2, 3, 100});
  dataset(file, "bare_bools", H5T_NATIVE_UCHAR, 1, NODES, (const unsigned char[NODES]){1, 0, 1, 1, 0});
  dataset(file, "bare_shorts", H5T_NATIVE_SHORT, 1, NODES, (const short[NODES]){-300, 1, 2, 3, 4});
  hid_t group = H5Gcreate2(file, "empty", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  attribute(group, "note", "nothing yet");
  H5Gclose(group);
  hid_t x = H5Dopen2(file, "x", H5P_DEFAULT);
  attribute(x, "units", "m");
  H5Dclose(x);
  attribute(file, "title", "a square");
  H5Lcreate_soft("/x", file, "latest", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "words", file, "again", H5P_DEFAULT, H5P_DEFAULT); /* one dataset, listed once */
  H5Lcreate_hard(file, "empty", file, "hollow", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "/", file, "hollow/up", H5P_DEFAULT, H5P_DEFAULT);
  H5Tclose(string);
  assert_true(H5Fclose(file) >= 0);
}

/* ---- what is in it ---- */

static void attribute_is(hid_t file, const char *object, const char *name, const char *expected) {
  char *value = NULL;
  hid_t id = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT), type = H5Aget_type(id);
  assert_true(H5Aread(id, type, &value) >= 0);
  assert_string_equal(value, expected);
  H5free_memory(value);
  H5Tclose(type);
  H5Aclose(id);
}

static haddr_t address_of(hid_t file, const char *name) {
  H5O_info_t info;
  assert_true(H5Oget_info_by_name(file, name, &info, H5P_DEFAULT) >= 0);
  return info.addr;
}

static void type_is(hid_t file, const char *name, hid_t expected) {
  hid_t id = H5Dopen2(file, name, H5P_DEFAULT), type = H5Dget_type(id);
  assert_true(H5Tequal(type, expected) > 0);
  H5Tclose(type);
  H5Dclose(id);
}

static void is_all_there(const char *path) {
  double t = 0, five[NODES] = {0};
  char words[16] = "", letters[CELLS], link[8] = "";
  works(op_get_const_hdf5("t", 1, "double", &t, path));
  works(op_get_const_hdf5("five", NODES, "double", five, path));
  assert_true(t == 0.25 && five[4] == 5);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), string = H5Tcopy(H5T_C_S1);
  H5Tset_size(string, 8);
  hid_t id = H5Dopen2(file, "again", H5P_DEFAULT);
  assert_true(H5Dread(id, string, H5S_ALL, H5S_ALL, H5P_DEFAULT, words) >= 0);
  assert_string_equal(words + 8, "two");
  H5Dclose(id);
  assert_true(H5Lexists(file, "words", H5P_DEFAULT) > 0 && H5Lexists(file, "space", H5P_DEFAULT) > 0);
  assert_true(address_of(file, "words") == address_of(file, "again"));
  assert_true(address_of(file, "empty") == address_of(file, "hollow"));
  assert_true(address_of(file, "/") == address_of(file, "empty/up"));
  attribute_is(file, "/", "title", "a square");
  attribute_is(file, "empty", "note", "nothing yet");
  attribute_is(file, "x", "units", "m");
  assert_true(H5Lget_val(file, "latest", link, sizeof link, H5P_DEFAULT) >= 0);
  assert_string_equal(link, "/x");
  type_is(file, "letters", H5T_NATIVE_CHAR);
  type_is(file, "bare_bytes", H5T_NATIVE_SCHAR);
  type_is(file, "bare_bools", H5T_NATIVE_UCHAR);
  type_is(file, "bare_shorts", H5T_NATIVE_SHORT);
  signed char bytes[NODES];
  id = H5Dopen2(file, "bare_bytes", H5P_DEFAULT);
  assert_true(H5Dread(id, H5T_NATIVE_SCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0);
  assert_true(bytes[0] == -3 && bytes[4] == 100);
  H5Dclose(id);
  id = H5Dopen2(file, "letters", H5P_DEFAULT);
  assert_true(H5Dread(id, H5T_NATIVE_CHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, letters) >= 0);
  assert_memory_equal(letters, "abcd", CELLS);
  H5Dclose(id);
  H5Tclose(string);
  H5Fclose(file);
}

/* ---- the tests ---- */

LIBRARY_TEST(all_goes_along) {
  const char *from = in_folder("a.h5"), *to = in_folder("b.h5");
  make_file(from);
  const char *said = mesh(0, "convert", from, to);
  has(said, "2 of 2 sets and 6 of 6 tables written, from HDF5; 4 other datasets copied\n");
  is_all_there(to);
  mesh(0, "convert", from, from);
  is_all_there(from);
  has(mesh(1, "convert", from, in_folder("a.dat")), "there is no table for a node of a cell");
  said = mesh(0, "info", to, "");
  has(said, "const t                1 double\n");
  has(said, "const five             5 double\n");
  has(said, "other again            strings, on no set\n");
  said = mesh(0, "info --json", to, "");
  has(said, "\"constants\":[{\"name\":\"five\",\"dim\":5,\"type\":\"double\"},"
            "{\"name\":\"t\",\"dim\":1,\"type\":\"double\"}]");
}

/* The form of airfoil's text, and something beside it. */
static const char *make_square(const char *path) {
  const char *text = in_folder("square.dat");
  FILE *file = fopen(text, "w");
  const double t = 0.25;
  assert_non_null(file);
  fputs("4 1 0 1\n0 0\n1 0\n1 1\n0 1\n0 1 2 3\n0 1 0 7\n", file);
  assert_int_equal(fclose(file), 0);
  mesh(0, "convert", text, path);
  works(op_write_const_hdf5("t", 1, "double", &t, path));
  hid_t id = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  dataset(id, "space", H5T_NATIVE_DOUBLE, 3, 1, &t);
  H5Fclose(id);
  return text;
}

LIBRARY_TEST(what_has_no_place_is_said) {
  const char *from = in_folder("c.h5"), *text = make_square(from);
  const char *said = mesh(0, "convert", from, text);
  has(said, "warning: constant t is not in ");
  has(said, "warning: dataset space is not in ");
  said = mesh(0, "convert --json", from, text);
  has(said, "{\"kind\":\"constant\",\"name\":\"t\"}");
  said = mesh(1, "convert --to airfoil", from, from);
  has(said, "c.h5: the new format has no place for all that is in the file");
  double t = 0;
  works(op_get_const_hdf5("t", 1, "double", &t, from));
  assert_true(t == 0.25);
}

LIBRARY_TEST(references_go_along) {
  const char *from = in_folder("r.h5"), *to = in_folder("s.h5");
  char name[8] = "";
  make_file(from);
  hid_t file = H5Fopen(from, H5F_ACC_RDWR, H5P_DEFAULT);
  hobj_ref_t reference = 0;
  assert_true(H5Rcreate(&reference, file, "/x", H5R_OBJECT, -1) >= 0);
  dataset(file, "pointer", H5T_STD_REF_OBJ, 1, 1, &reference);
  H5Fclose(file);
  mesh(0, "convert", from, to);
  is_all_there(to);
  reference = 0;
  file = H5Fopen(to, H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t pointer = H5Dopen2(file, "pointer", H5P_DEFAULT);
  assert_true(H5Dread(pointer, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, &reference) >= 0);
  assert_true(H5Rget_name(pointer, H5R_OBJECT, &reference, name, sizeof name) > 0);
  assert_string_equal(name, "/x");
  H5Dclose(pointer);
  H5Fclose(file);
}

/* Tables that do not say their sets do so then. */
LIBRARY_TEST(what_was_guessed_is_said) {
  const char *from = in_folder("g.h5"), *to = in_folder("h.h5");
  make_file(from);
  hid_t file = H5Fopen(from, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(H5Adelete_by_name(file, "cell_nodes", "from", H5P_DEFAULT) >= 0);
  H5Fclose(file);
  has(mesh(0, "info", from, ""), "(by its numbers)");
  mesh(0, "convert", from, to);
  const char *said = mesh(0, "info", to, "");
  has(said, "cells -> nodes, arity 3\n");
  assert_null(strstr(said, "(by its"));
}

/* A mesh in the form of airfoil's. Dats with a coordinate's form: middles of cells, `x`, and `more` of the nodes. */
static void dump_form(const char *path, const char *more) {
  static const double x[2 * NODES] = {0, 0, 1, 0, 1, 1, 0, 1, 0.5, 0.5};
  op_set nodes = op_decl_set(NODES, "nodes"), cells = op_decl_set(1, "cells");
  op_set edges = op_decl_set(0, "edges"), bedges = op_decl_set(1, "bedges");
  op_decl_map(cells, nodes, 4, (int[4]){0, 1, 2, 3}, "cell_nodes");
  op_decl_map(cells, cells, 3, (int[3]){0, 0, 0}, "cell_cells");
  op_decl_map(edges, nodes, 2, NULL, "edge_nodes");
  op_decl_map(edges, cells, 2, NULL, "edge_cells");
  op_decl_map(bedges, nodes, 2, (int[2]){0, 1}, "bedge_nodes");
  op_decl_map(bedges, cells, 1, (int[1]){0}, "bedge_cell");
  op_decl_dat(bedges, 1, "int", (int[1]){1}, "bound");
  op_decl_dat(cells, 2, "double", x + 8, "middle");
  op_decl_dat(nodes, 2, "double", x, "x");
  if (more)
    op_decl_dat(nodes, 2, "double", (double[2 * NODES]){7}, more);
  works(op_dump_to_hdf5(path));
  works(op_exit());
  works(op_init(0, NULL, 0));
}

LIBRARY_TEST(coordinates_are_those_of_nodes) {
  static const char expected[] = "5 1 0 1\n0 0\n1 0\n1 1\n0 1\n0.5 0.5\n0 1 2 3\n0 1 0 1\n";
  const char *plain = in_folder("i.h5"), *both = in_folder("j.h5"), *new = in_folder("i.dat");
  char text[256] = "";
  dump_form(plain, NULL);
  dump_form(both, "velocities");
  const char *said = mesh(1, "convert", both, new);
  has(said, "velocities (on nodes), x (on nodes); say with --coordinates DAT");
  assert_int_equal(access(new, F_OK), -1);
  has(mesh(1, "convert --coordinates nothing", both, new), "--coordinates nothing: that is no dat");
  mesh(0, "convert", both, in_folder("k.h5")); /* HDF5 takes all dats as they are */
  for (int i = 0; i < 2; i++) {
    mesh(0, i ? "convert --coordinates x" : "convert", i ? both : plain, new);
    FILE *file = fopen(new, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  command = argv[1];
  need_hdf5();
  return run_these(make_folder, remove_folder);
}
