/* Files that Gmsh made, whatever their version, hold one mesh; and the edges and faces that are made of its cells
 * close each of them, so that areas and volumes come out. The folder of the files is the first argument. */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mesh/mesh_file.h"
#include "cli/mesh/whole.h"

static const char *folder;

static struct mesh_file mesh_of_text(const char *text) {
  struct mesh_file m = {0};
  struct error err = {0};
  if (mesh_parse_gmsh(&m, "text", text, strlen(text), &err))
    fail_msg("%s", error_message(&err));
  return m;
}

static struct mesh_file mesh_of(const char *name) {
  struct mesh_file m = {0};
  struct error err = {0};
  char path[4096], *text;
  size_t length;
  snprintf(path, sizeof path, "%s/%s.msh", folder, name);
  if (whole_read(path, &text, &length, &err) || mesh_parse_gmsh(&m, path, text, length, &err))
    fail_msg("%s", error_message(&err));
  free(text);
  return m;
}

static int set_of(const struct mesh_file *m, const char *name) {
  for (int i = 0; i < m->nsets; i++)
    if (strcmp(m->sets[i].name, name) == 0)
      return i;
  return -1;
}

static long long size_of(const struct mesh_file *m, const char *name) {
  const int set = set_of(m, name);
  return set < 0 ? -1 : m->sets[set].size;
}

static const struct mesh_table *table_of(const struct mesh_file *m, const char *name) {
  for (int i = 0; i < m->ntables; i++)
    if (strcmp(m->tables[i].name, name) == 0)
      return &m->tables[i];
  return NULL;
}

/* ---- what Gmsh wrote ---- */

/* Text has one digit less than it takes. */
static void assert_near(const struct mesh_file *a, const struct mesh_table *x, const struct mesh_table *y) {
  for (long long i = 0; i < a->sets[x->set].size * x->columns; i++)
    assert_true(fabs(((double *)x->values)[i] - ((double *)y->values)[i]) < 1e-14);
}

static void assert_same_table(const struct mesh_file *a, const struct mesh_file *b, const char *name) {
  const struct mesh_table *x = table_of(a, name), *y = table_of(b, name);
  assert_int_equal(!x, !y);
  if (!x)
    return;
  assert_int_equal(a->sets[x->set].size, b->sets[y->set].size);
  assert_int_equal(x->columns, y->columns);
  assert_int_equal(x->type, y->type);
  if (x->type == TYPE_DOUBLE)
    assert_near(a, x, y);
  else
    assert_memory_equal(x->values, y->values,
                        (size_t)a->sets[x->set].size * (size_t)x->columns * sizeof(int));
}

TEST(one_mesh_in_all_versions) {
  static const char *const meshes[] = {"square", "solid", "parted"};
  static const char *const forms[] = {"22_binary", "40_text", "41_text", "41_binary"};
  static const char *const formats[] = {"Gmsh 2", "Gmsh 4.0", "Gmsh 4.1", "Gmsh 4.1"};
  static const char *const tables[] = {
      "x",          "triangles_nodes", "triangles_group", "quads_nodes", "quads_group", "tets_nodes",
      "tets_group", "wedges_nodes",    "wedges_group",    "hexes_nodes", "hexes_group"};
  for (int i = 0; i < 3; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s_22_text", meshes[i]);
    struct mesh_file first = mesh_of(name);
    assert_string_equal(first.format, "Gmsh 2");
    for (int k = 0; k < 4; k++) {
      snprintf(name, sizeof name, "%s_%s", meshes[i], forms[k]);
      struct mesh_file other = mesh_of(name);
      assert_string_equal(other.format, formats[k]);
      for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        assert_same_table(&first, &other, tables[t]);
      mesh_file_free(&other);
    }
    mesh_file_free(&first);
  }
}

/* What square.geo and solid.geo ask for. */
TEST(what_was_asked_for) {
  struct mesh_file m = mesh_of("square_40_text");
  assert_int_equal(size_of(&m, "quads"), 4);
  assert_int_equal(table_of(&m, "x")->columns, 2);
  for (int i = 0; i < 4; i++)
    assert_int_equal(((int *)table_of(&m, "quads_group")->values)[i], 21);
  for (int i = 0; i < size_of(&m, "triangles"); i++)
    assert_int_equal(((int *)table_of(&m, "triangles_group")->values)[i], 22);
  mesh_file_free(&m);
  m = mesh_of("solid_40_text");
  assert_int_equal(size_of(&m, "hexes"), 1);
  assert_int_equal(size_of(&m, "wedges"), 2);
  assert_int_equal(size_of(&m, "tets"), 6);
  assert_int_equal(((int *)table_of(&m, "hexes_group")->values)[0], 41);
  assert_int_equal(((int *)table_of(&m, "wedges_group")->values)[1], 42);
  assert_int_equal(((int *)table_of(&m, "tets_group")->values)[5], 43);
  assert_int_equal(((int *)table_of(&m, "quads_group")->values)[0], 31);
  mesh_file_free(&m);
}

/* ---- edges and faces ---- */

struct vector {
  double at[3];
};

static struct vector point(const struct mesh_file *m, int node) {
  const struct mesh_table *x = table_of(m, "x");
  struct vector v = {{0}};
  memcpy(v.at, (const double *)x->values + (size_t)node * (size_t)x->columns,
         (size_t)x->columns * sizeof(double));
  return v;
}

static struct vector from_to(struct vector a, struct vector b) {
  for (int i = 0; i < 3; i++)
    b.at[i] -= a.at[i];
  return b;
}

/* Out of the first cell, as long as the side is large. */
static struct vector area(const struct mesh_file *m, const int *row, int nodes) {
  const struct vector a = point(m, row[0]), b = point(m, row[1]);
  if (nodes == 2) /* as in airfoil's kernels */
    return (struct vector){{a.at[1] - b.at[1], b.at[0] - a.at[0], 0}};
  const struct vector c = point(m, row[2]), p = from_to(a, c),
                      q = from_to(b, nodes == 4 ? point(m, row[3]) : a);
  struct vector n = {{p.at[1] * q.at[2] - p.at[2] * q.at[1], p.at[2] * q.at[0] - p.at[0] * q.at[2],
                      p.at[0] * q.at[1] - p.at[1] * q.at[0]}};
  for (int i = 0; i < 3; i++)
    n.at[i] /= 2;
  return n;
}

struct balance {
  double volume;
  struct vector sum; /* of all sides of the cell: nothing, if it is closed */
  int sides;
};

static double side_size(struct vector n) {
  return sqrt(n.at[0] * n.at[0] + n.at[1] * n.at[1] + n.at[2] * n.at[2]);
}

static void add_side(struct balance *b, struct vector n, double flux, int sign) {
  b->volume += sign * flux;
  b->sides++;
  for (int i = 0; i < 3; i++)
    b->sum.at[i] += sign * n.at[i];
}

/* Adds the sides of a set to their cells; the number of sides. By group, their size is added to `sizes`. */
static long long balance_of(const struct mesh_file *m, const char *set, int dimension, struct balance *cells,
                            double sizes[64]) {
  char name[64];
  snprintf(name, sizeof name, "%s_nodes", set);
  const struct mesh_table *nodes = table_of(m, name);
  snprintf(name, sizeof name, "%s_cells", set);
  const struct mesh_table *both = table_of(m, name);
  snprintf(name, sizeof name, "%s_cell", set);
  const struct mesh_table *of = both ? both : table_of(m, name);
  snprintf(name, sizeof name, "%s_group", set);
  const struct mesh_table *group = table_of(m, name);
  if (!nodes)
    return 0;
  assert_non_null(of);
  for (long long i = 0; i < size_of(m, set); i++) {
    const int *row = (const int *)nodes->values + i * nodes->columns,
              *cell = (const int *)of->values + i * of->columns;
    const struct vector n = area(m, row, nodes->columns);
    double flux = 0;
    for (int k = 0; k < nodes->columns; k++)
      for (int d = 0; d < 3; d++)
        flux += point(m, row[k]).at[d] * n.at[d] / nodes->columns / dimension;
    for (int c = 0; c < of->columns; c++)
      add_side(&cells[cell[c]], n, flux, c ? -1 : 1);
    if (group)
      sizes[((int *)group->values)[i]] += side_size(n);
  }
  return size_of(m, set);
}

static void assert_closed(const char *file, int dimension, double volume, int sides, double sizes[64]) {
  static const char *const sets[] = {"edges",      "bedges",     "tri_faces",
                                     "tri_bfaces", "quad_faces", "quad_bfaces"};
  struct mesh_file m = mesh_of(file);
  struct error err = {0};
  assert_int_equal(mesh_add_sides(&m, &err), OP_OK);
  const long long count = size_of(&m, "cells");
  struct balance *cells = calloc((size_t)count, sizeof *cells);
  double total = 0;
  int seen = 0;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    balance_of(&m, sets[i], dimension, cells, sizes);
  for (long long c = 0; c < count; c++) {
    assert_true(cells[c].volume > 1e-3);
    assert_true(side_size(cells[c].sum) < 1e-12);
    total += cells[c].volume;
    seen += cells[c].sides;
  }
  assert_true(fabs(total - volume) < 1e-12);
  assert_int_equal(seen, sides);
  for (int i = 0; i < m.ntables; i++)
    if (m.tables[i].to >= 0) {
      struct mesh_map_info info;
      assert_int_equal(mesh_map_look(&m, &m.tables[i], &info, &err), OP_OK);
      assert_int_equal(info.bad.count + info.repeated, 0);
    }
  free(cells);
  mesh_file_free(&m);
}

TEST(edges_in_the_plane) {
  static const char *const files[] = {"square_22_binary", "square_40_text", "square_41_binary",
                                      "parted_41_text"};
  for (int i = 0; i < 4; i++) {
    double lengths[64] = {0};
    assert_closed(files[i], 2, 2, 14 * 3 + 4 * 4, lengths);
    assert_true(fabs(lengths[11] - 4) + fabs(lengths[12] - 1) + fabs(lengths[13] - 1) < 1e-12);
    assert_true(lengths[0] == 0);
  }
}

TEST(faces_in_space) {
  static const char *const files[] = {"solid_22_text", "solid_40_text", "solid_41_binary"};
  for (int i = 0; i < 3; i++) {
    double areas[64] = {0};
    assert_closed(files[i], 3, 3, 6 + 2 * 5 + 6 * 4, areas);
    assert_true(fabs(areas[31] - 1) < 1e-12);
  }
}

#define HEAD                                                                                                 \
  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 2 0 "              \
  "0\n$EndNodes\n$Elements\n"
#define TAIL "$EndElements\n"

/* The first cell is on the right, whichever way round its nodes go. */
TEST(either_way_round) {
  static const char *const texts[] = {HEAD "1\n1 3 1 0 1 2 3 4\n" TAIL, HEAD "1\n1 3 1 0 4 3 2 1\n" TAIL};
  static const int expected[2][8] = {{1, 0, 2, 1, 3, 2, 0, 3}, {3, 2, 2, 1, 1, 0, 0, 3}};
  for (int i = 0; i < 2; i++) {
    struct mesh_file m = mesh_of_text(texts[i]);
    struct error err = {0};
    assert_int_equal(mesh_add_sides(&m, &err), OP_OK);
    assert_int_equal(size_of(&m, "edges"), 0);
    assert_int_equal(size_of(&m, "bedges"), 4);
    assert_int_equal(set_of(&m, "cells"), -1); /* quads are the cells */
    assert_memory_equal(table_of(&m, "bedges_nodes")->values, expected[i], sizeof expected[i]);
    mesh_file_free(&m);
  }
}

TEST(one_edge_less) {
  struct mesh_file m = mesh_of_text(HEAD "2\n1 3 1 0 1 2 3 3\n2 2 1 0 1 3 4\n" TAIL);
  struct error err = {0};
  assert_int_equal(mesh_add_sides(&m, &err), OP_OK);
  assert_int_equal(size_of(&m, "edges"), 1);
  assert_int_equal(size_of(&m, "bedges"), 4);
  mesh_file_free(&m);
}

TEST(no_such_mesh) {
  static const struct {
    const char *text, *words;
  } cases[] = {{HEAD "1\n1 1 1 0 1 2\n" TAIL, "no cells"},
               {HEAD "1\n1 3 1 0 1 2 1 2\n" TAIL, "on two of its sides"},
               {HEAD "3\n1 2 1 0 1 2 3\n2 2 1 0 1 2 4\n3 2 1 0 1 2 5\n" TAIL, "one or two cells"},
               {HEAD "1\n1 4 1 0 1 2 3 3\n" TAIL, "names a node twice"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct mesh_file m = mesh_of_text(cases[i].text);
    struct error err = {0};
    assert_int_equal(mesh_add_sides(&m, &err), OP_ERR_FILE);
    if (!strstr(error_message(&err), cases[i].words))
      fail_msg("\"%s\", expected \"%s\"", error_message(&err), cases[i].words);
    error_free(&err);
    mesh_file_free(&m);
  }
  struct mesh_file m = mesh_of("square_41_text");
  struct error err = {0};
  assert_int_equal(mesh_add_sides(&m, &err), OP_OK);
  assert_int_equal(mesh_add_sides(&m, &err), OP_ERR_FILE);
  assert_non_null(strstr(error_message(&err), "has a set \"cells\" already"));
  error_free(&err);
  mesh_file_free(&m);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  folder = argv[1];
  return run_these(NULL, NULL);
}
