/* All that is written is read again: all types, both layouts, renumbered or not, constants, several results in one
 * file. */
#include "files.h"

struct kind {
  const char *type;
  size_t size;
};
static const struct kind kinds[] = {{"double", 8},       {"float", 4},         {"int", 4},
                                    {"unsigned int", 4}, {"long long", 8},     {"unsigned long long", 8},
                                    {"double:soa", 8},   {"long long:soa", 8}, {"bool", 1},
                                    {"char", 1},         {"short", 2},         {"bool:soa", 1}};
enum { KINDS = sizeof kinds / sizeof *kinds, ROWS = 37, DIM = 3 };

static void fill(const struct kind *kind, unsigned char *bytes) {
  unsigned state = 7;
  for (size_t i = 0; i < kind->size * ROWS * DIM; i++) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = (unsigned char)(kind->type[0] == 'b' ? state >> 31 : state >> 24);
  }
}

OP_KERNEL_DEF(
    look, void look(const int *target, int *seen) { *seen = *target; })

static int stop_and_count(void **state) {
  int code = stop(state);
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir && (e = readdir(dir));)
    if (strstr(e->d_name, ".part"))
      code = -1;
  closedir(dir);
  return code;
}

#define CLEAN_TEST(name) TEST_BETWEEN(name, start, stop_and_count)

CLEAN_TEST(every_type_comes_back) {
  unsigned char out[8 * ROWS * DIM], in[8 * ROWS * DIM];
  op_set set = op_decl_set(ROWS, "s");
  char names[KINDS][16];
  for (int i = 0; i < KINDS; i++) {
    fill(&kinds[i], in);
    snprintf(names[i], sizeof names[i], "d%d", i);
    assert_non_null(op_decl_dat(set, DIM, kinds[i].type, in, names[i]));
  }
  works(op_dump_to_hdf5(in_folder("all.h5")));
  works(op_exit());
  works(op_init(0, NULL, 0));
  set = op_decl_set_hdf5(in_folder("all.h5"), "s");
  assert_int_equal(op_get_size(set), ROWS);
  for (int i = 0; i < KINDS; i++) {
    op_dat dat = op_decl_dat_hdf5(set, DIM, kinds[i].type, in_folder("all.h5"), names[i]);
    if (!dat)
      fail_msg("%s: %s", kinds[i].type, op_last_error()->message);
    fill(&kinds[i], in);
    works(op_fetch_data(dat, out));
    assert_memory_equal(in, out, kinds[i].size * ROWS * DIM);
  }
}

struct sample {
  double rho;
  float u[2];
  struct {
    int steps;
    char tag;
  } last;
  short flags[3];
};

static op_set declare_samples(struct sample *samples) {
  memset(samples, 0, ROWS * sizeof *samples);
  for (int i = 0; i < ROWS; i++)
    samples[i] =
        (struct sample){i + 0.5, {(float)i, (float)-i}, {7 * i, (char)('a' + i % 26)}, {1, (short)i, 3}};
  works(OP_TYPE(struct sample, rho, u, last.steps, last.tag, flags));
  return op_decl_set(ROWS, "s");
}

static void check_samples(const struct sample *found, const struct sample *right) {
  for (int i = 0; i < ROWS; i++) {
    assert_true(found[i].rho == right[i].rho && found[i].last.steps == right[i].last.steps);
    assert_int_equal(found[i].last.tag, right[i].last.tag);
    assert_memory_equal(found[i].u, right[i].u, sizeof right[i].u);
    assert_memory_equal(found[i].flags, right[i].flags, sizeof right[i].flags);
  }
}

/* Structs, and constants of them, as compounds. */
CLEAN_TEST(structs_come_back) {
  static struct sample in[ROWS], out[ROWS];
  const char *file = in_folder("structs.h5");
  op_set set = declare_samples(in);
  assert_non_null(op_decl_dat(set, 1, "struct sample", in, "d"));
  assert_non_null(op_decl_dat(set, 1, "double", NULL, "plain"));
  works(op_decl_const("chosen", 1, "struct sample", &in[5]));
  works(op_dump_to_hdf5(file));
  works(op_write_const_hdf5("chosen", 1, "struct sample", &in[5], file));
  works(op_exit());
  works(op_init(0, NULL, 0));
  declare_samples(in);
  set = op_decl_set_hdf5(file, "s");
  op_dat dat = op_decl_dat_hdf5(set, 1, "struct sample", file, "d");
  if (!dat)
    fail_msg("%s", op_last_error()->message);
  works(op_fetch_data(dat, out));
  check_samples(out, in);
  works(op_get_const_hdf5("chosen", 1, "struct sample", &out[5], file));
  check_samples(out, in);
  /* Numbers are no structs, nor structs numbers, nor is one struct another. */
  assert_null(op_decl_dat_hdf5(set, 1, "double", file, "d"));
  assert_int_equal(op_last_error()->code, OP_ERR_TYPE);
  assert_null(op_decl_dat_hdf5(set, 1, "struct sample", file, "plain"));
  assert_int_equal(op_last_error()->code, OP_ERR_TYPE);
  const op2jit_member other = {"momentum", "double", 0, 8};
  works(op2jit_decl_type("struct other", 8, 1, &other));
  assert_null(op_decl_dat_hdf5(set, 1, "struct other", file, "d"));
  assert_non_null(strstr(op_last_error()->message, "momentum"));
}

/* Backwards, so that no element keeps its number. */
CLEAN_TEST(results_are_in_the_users_order) {
  struct strip s = declare_strip(50);
  double before[50], after[50];
  works(op_fetch_data(s.q, before));
  works(op_renumber(s.cell_nodes));
  works(op_dump_to_hdf5(in_folder("renumbered.h5")));
  works(op_exit());
  works(op_init(0, NULL, 0));
  const char *file = in_folder("renumbered.h5");
  op_set nodes = op_decl_set_hdf5(file, "nodes"), cells = op_decl_set_hdf5(file, "cells");
  op_map map = op_decl_map_hdf5(cells, nodes, 4, file, "cell_nodes");
  assert_non_null(map);
  op_dat q = op_decl_dat_hdf5(cells, 1, "double", file, "q");
  works(op_fetch_data(q, after));
  assert_memory_equal(before, after, sizeof before);
  /* Into a renumbered set as well. */
  works(op_renumber(map));
  q = op_decl_dat_hdf5(cells, 1, "double", file, "q");
  works(op_fetch_data(q, after));
  assert_memory_equal(before, after, sizeof before);
  works(op_dump_to_hdf5(in_folder("again.h5")) == OP_ERR_FILE ? OP_OK
                                                              : OP_ERR_INTERNAL); /* two dats called q */
  message_has("both called \"q\"");
}

/* The table itself, through a loop that reads it. */
CLEAN_TEST(maps_keep_their_entries) {
  struct strip s = declare_strip(20);
  works(op_renumber(s.cell_nodes));
  works(op_dump_to_hdf5(in_folder("map.h5")));
  op_set wanted = op_decl_set_hdf5_infer_size(in_folder("map.h5"), "values", "cell_nodes");
  assert_int_equal(op_get_size(wanted), 20);
  /* A map is a table of whole numbers: it can be read as a dat. */
  op_dat entries = op_decl_dat_hdf5(wanted, 4, "int", in_folder("map.h5"), "cell_nodes");
  int table[80];
  works(op_fetch_data(entries, table));
  for (int i = 0; i < 20; i++) {
    const int row[4] = {2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1};
    assert_memory_equal(table + 4 * i, row, sizeof row);
  }
}

CLEAN_TEST(many_results_in_one_file) {
  struct strip s = declare_strip(9);
  double q[9], back[9];
  for (int step = 0; step < 5; step++) {
    char path[64];
    for (int i = 0; i < 9; i++)
      q[i] = 100 * step + i;
    works(op_put_data(s.q, q));
    snprintf(path, sizeof path, "steps/%d/q", step);
    works(op_fetch_data_hdf5_file_path(s.q, in_folder("steps.h5"), path));
  }
  works(op_fetch_data_hdf5_file(s.q, in_folder("steps.h5")));
  works(op_fetch_data_hdf5_file(s.x, in_folder("steps.h5")));
  q[3] = -1;
  works(op_put_data(s.q, q)); /* again under the same name: the newest counts */
  works(op_fetch_data_hdf5_file(s.q, in_folder("steps.h5")));
  op_dat third = op_decl_dat_hdf5(s.cells, 1, "double", in_folder("steps.h5"), "steps/3/q");
  assert_non_null(third);
  works(op_fetch_data(third, back));
  assert_true(back[0] == 300 && back[8] == 308);
  op_dat last = op_decl_dat_hdf5(s.cells, 1, "double", in_folder("steps.h5"), "q");
  works(op_fetch_data(last, back));
  assert_true(back[3] == -1 && back[4] == 404);
}

CLEAN_TEST(constants_come_back) {
  const double three[3] = {1.5, -2.5, 1e300};
  const int one = 42;
  double d[3];
  int i = 0;
  const char *file = in_folder("const.h5");
  works(op_write_const_hdf5("three", 3, "double", three, file));
  works(op_write_const_hdf5("group/one", 1, "int", &one, file));
  works(op_get_const_hdf5("three", 3, "double", d, file));
  works(op_get_const_hdf5("group/one", 1, "int", &i, file));
  assert_memory_equal(d, three, sizeof d);
  assert_int_equal(i, 42);
  works(op_get_const_hdf5("group/one", 1, "double", d, file)); /* converted */
  assert_true(d[0] == 42);
  fails(OP_ERR_DIM, op_get_const_hdf5("three", 2, "double", d, file));
  fails(OP_ERR_TYPE, op_get_const_hdf5("three", 3, "float", d, file));
  message_has("the value is a C variable of type double");
  fails(OP_ERR_TYPE, op_get_const_hdf5("three", 3, "int", (void *)d, file));
  message_has("a value has a fraction");
  fails(OP_ERR_FILE, op_get_const_hdf5("four", 1, "double", d, file));
  message_has("\"three\"");
}

CLEAN_TEST(numbers_are_converted) {
  const double values[4] = {1, -2, 3, 100};
  const long long wide[4] = {0, 1, 2, 3}, huge[4] = {0, 1LL << 40, 2, 3};
  op_set set = op_decl_set(4, "s");
  op_decl_dat(set, 1, "double", values, "values");
  op_decl_dat(set, 1, "ll", wide, "wide");
  op_decl_dat(set, 1, "ll", huge, "huge");
  works(op_dump_to_hdf5(in_folder("convert.h5")));
  const char *file = in_folder("convert.h5");
  static const char *const types[] = {"float", "int", "short", "char", "ll", "double"};
  for (int i = 0; i < 6; i++)
    assert_non_null(op_decl_dat_hdf5(set, 1, types[i], file, "values"));
  int out[4];
  op_dat dat = op_decl_dat_hdf5(set, 1, "int", file, "values");
  works(op_fetch_data(dat, out));
  assert_true(out[0] == 1 && out[1] == -2 && out[3] == 100);
  handle_fails(OP_ERR_TYPE, op_decl_dat_hdf5(set, 1, "uint", file, "values"));
  message_has("too large or too small");
  assert_non_null(op_decl_map_hdf5(set, set, 1, file, "wide"));
  handle_fails(OP_ERR_MAP_RANGE, op_decl_map_hdf5(set, set, 1, file, "huge"));
  message_has("element 1");
  message_has("1099511627776");
  handle_fails(OP_ERR_TYPE, op_decl_map_hdf5(set, set, 1, file, "values"));
}

CLEAN_TEST(empty_sets_are_files_too) {
  op_set none = op_decl_set(0, "none"), one = op_decl_set(1, "one");
  op_decl_map(none, one, 2, NULL, "nothing");
  op_decl_dat(none, 3, "float", NULL, "void");
  works(op_dump_to_hdf5(in_folder("empty.h5")));
  works(op_exit());
  works(op_init(0, NULL, 0));
  none = op_decl_set_hdf5(in_folder("empty.h5"), "none");
  one = op_decl_set_hdf5(in_folder("empty.h5"), "one");
  assert_int_equal(op_get_size(none), 0);
  assert_non_null(op_decl_map_hdf5(none, one, 2, in_folder("empty.h5"), "nothing"));
  assert_non_null(op_decl_dat_hdf5(none, 3, "float", in_folder("empty.h5"), "void"));
}

CLEAN_TEST(a_link_stays_a_link) {
  const int v = 1;
  works(op_write_const_hdf5("v", 1, "int", &v, in_folder("real.h5")));
  assert_int_equal(chmod(in_folder("real.h5"), 0640), 0);
  assert_int_equal(symlink("real.h5", in_folder("link.h5")), 0);
  works(op_write_const_hdf5("w", 1, "int", &v, in_folder("link.h5")));
  struct stat s;
  assert_int_equal(lstat(in_folder("link.h5"), &s), 0);
  assert_true(S_ISLNK(s.st_mode));
  assert_int_equal(stat(in_folder("real.h5"), &s), 0);
  assert_int_equal(s.st_mode & 0777, 0640);
  int back = 0;
  works(op_get_const_hdf5("w", 1, "int", &back, in_folder("real.h5")));
  works(op_get_const_hdf5("v", 1, "int", &back, in_folder("real.h5")));
}

/* More than what is moved at a time. */
CLEAN_TEST(large_tables_go_in_rounds) {
  enum { LARGE = 700001 };
  op_set set = op_decl_set(LARGE, "large");
  int *values = malloc(sizeof(int) * 7 * LARGE), *back = malloc(sizeof(int) * 7 * LARGE);
  for (int i = 0; i < 7 * LARGE; i++)
    values[i] = (int)((unsigned)i * 2654435761u);
  op_dat dat = op_decl_dat(set, 7, "int:soa", values, "v");
  works(op_fetch_data_hdf5_file(dat, in_folder("large.h5")));
  dat = op_decl_dat_hdf5(set, 7, "int", in_folder("large.h5"), "v");
  works(op_fetch_data(dat, back));
  assert_memory_equal(values, back, sizeof(int) * 7 * LARGE);
  free(values);
  free(back);
}

/* Also where elements have other numbers here, and an element has no target. */
CLEAN_TEST(ragged_maps_keep_their_entries) {
  static const long long offsets[] = {0, 2, 2, 5, 6};
  static const int targets[] = {0, 2, 0, 1, 2, 1};
  static const double values[] = {1, 2, 3, 4, 5, 6};
  for (int renumbered = 0; renumbered < 2; renumbered++) {
    double got[6];
    op_set from = op_decl_set(4, "from"), to = op_decl_set(3, "to");
    op_map map = op_decl_map_ragged(from, to, offsets, targets, "map");
    assert_non_null(op_decl_dat(op_map_entries(map), 1, "double", values, "values"));
    if (renumbered)
      works(op_renumber(map));
    works(op_dump_to_hdf5(in_folder("ragged.h5")));
    works(op_exit());
    works(op_init(0, NULL, 0));
    from = op_decl_set_hdf5(in_folder("ragged.h5"), "from");
    to = op_decl_set_hdf5(in_folder("ragged.h5"), "to");
    map = op_decl_map_ragged_hdf5(from, to, in_folder("ragged.h5"), "map");
    if (!map)
      fail_msg("%s", op_last_error()->message);
    op_dat dat = op_decl_dat_hdf5(op_map_entries(map), 1, "double", in_folder("ragged.h5"), "values");
    works(op_fetch_data(dat, got));
    assert_memory_equal(got, values, sizeof values);
    /* Values that were read are written as they were. */
    works(op_dump_to_hdf5(in_folder("again.h5")));
    op_map again = op_decl_map_ragged_hdf5(from, to, in_folder("again.h5"), "map");
    assert_int_equal(op_get_size(op_map_entries(again)), 6);
    op_map ordinary = op_decl_map_hdf5(op_map_entries(map), to, 1, in_folder("again.h5"), "map");
    const op_dat number = op_decl_dat(to, 1, "int", (const int[]){10, 11, 12}, "number");
    const op_dat seen = op_decl_dat(op_map_entries(map), 1, "int", NULL, "seen");
    int numbers[6];
    works(op_par_loop(OP_KERNEL_OF(look), "look", op_map_entries(map),
                      op_arg_dat(number, 0, ordinary, 1, "int", OP_READ), direct(seen, 1, "int", OP_WRITE)));
    works(op_fetch_data(seen, numbers));
    for (int i = 0; i < 6; i++)
      assert_int_equal(numbers[i], 10 + targets[i]);
    assert_null(op_decl_map_ragged_hdf5(from, to, in_folder("again.h5"), "none"));
    message_has("map \"none\" is read as a ragged one, with offsets (others: op_decl_map_hdf5): ");
    assert_null(op_decl_map_hdf5(from, to, 2, in_folder("again.h5"), "map"));
    message_has("map \"map\" is ragged in the file, and op_decl_map_ragged_hdf5 reads it: ");
    /* A dat of the name that the offsets have would take their place. */
    const op_dat other = op_decl_dat(from, 1, "double", NULL, "map_offsets");
    fails(OP_ERR_FILE, op_fetch_data_hdf5_file(other, in_folder("again.h5")));
    message_has(
        "\"map_offsets\" is the list of offsets of a ragged map in the file's mesh and is not replaced");
    works(op_free_map(again));
    works(op_free_map(ordinary));
    fails(OP_ERR_FILE, op_dump_to_hdf5(in_folder("taken.h5")));
    message_has("both called \"map_offsets\"");
    works(op_exit());
    works(op_init(0, NULL, 0));
  }
}

int main(void) {
  need_hdf5();
  return run_these(make_folder, remove_folder);
}
