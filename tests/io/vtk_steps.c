/* Writes what tests/io/vtk.py reads again: vtk_steps FOLDER [NAME STEP]. Meshes of one kind of cell and of
 * several, with steps; or one step of a triangle. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"

static char path[4096];
static const char *in(const char *folder, const char *name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void write(const char *file, int step, int n, const op_dat dats[]) {
  if (op_write_vtk(file, step, n, dats))
    exit(1);
}

/* 2 x 2 quadrilaterals; the points move at step 3. */
static void steps(const char *folder) {
  enum { N = 2, NODES = (N + 1) * (N + 1), CELLS = N * N };
  double x[2 * NODES], v[2 * NODES], q[CELLS];
  float state[4 * CELLS];
  int table[4 * CELLS];
  unsigned char flag[CELLS];
  for (int j = 0; j <= N; j++)
    for (int i = 0; i <= N; i++) {
      int n = i + j * (N + 1);
      x[2 * n] = v[2 * n + 1] = i;
      x[2 * n + 1] = v[2 * n] = j;
    }
  for (int c = 0; c < CELLS; c++) {
    int n = c % N + c / N * (N + 1);
    const int row[4] = {n, n + 1, n + N + 2, n + N + 1};
    memcpy(table + 4 * c, row, sizeof row);
    flag[c] = (unsigned char)(c % 2);
    for (int k = 0; k < 4; k++)
      state[4 * c + k] = (float)(10 * c + k);
  }
  op_set nodes = op_decl_set(NODES, "nodes"), cells = op_decl_set(CELLS, "cells");
  op_map map = op_decl_map(cells, nodes, 4, table, "cell_nodes");
  op_dat dats[] = {op_decl_dat(nodes, 2, "double", x, "x"), op_decl_dat(nodes, 2, "double", v, "velocity"),
                   op_decl_dat(cells, 1, "double", NULL, "q <of> \"cells\""),
                   op_decl_dat(cells, 4, "float:soa", state, "state"),
                   op_decl_dat(cells, 1, "bool", flag, "flag")};
  for (int step = 0; step < 5; step++) {
    for (int c = 0; c < CELLS; c++)
      q[c] = 100 * step + c;
    op_put_data(dats[2], q);
    if (step == 3) {
      for (int i = 0; i < 2 * NODES; i++)
        x[i] += 10;
      op_put_data(dats[0], x);
    }
    if (step == 2)
      op_renumber(map);
    write(in(folder, "quads.xdmf"), step, 5, dats);
  }
  write(in(folder, "quads.xdmf"), 4, 5, dats); /* again: the last one counts */
  write(in(folder, "single"), -1, 5, dats);
  const op_dat points_only[] = {dats[0], dats[1]};
  write(in(folder, "points.xmf"), -1, 2, points_only);
}

/* Steps with times of their own, and a state without a series; one step begins anew, with another time. */
static void times(const char *folder) {
  static const double at[] = {0, 0.1, 12.5, 1e-30, 86400};
  const double x[] = {0, 0, 1, 0, 0, 1};
  const int corners[] = {0, 1, 2};
  op_set nodes = op_decl_set(3, "three"), cells = op_decl_set(1, "one");
  op_decl_map(cells, nodes, 3, corners, "its corners");
  const op_dat place = op_decl_dat(nodes, 2, "double", x, "place");
  for (int step = 0; step < 5; step++)
    if (op_write_vtk_at(in(folder, "times"), step, at[step], 1, &place))
      exit(1);
  if (op_write_vtk_at(in(folder, "times"), 4, -2.0 / 3, 1, &place) ||
      op_write_vtk_at(in(folder, "time"), -1, 1e6, 1, &place))
    exit(1);
}

/* A tetrahedron, a pyramid, a wedge, a hexahedron and a triangle in space, each a set of its own. */
static void mixed(const char *folder) {
  static const int arity[] = {4, 5, 6, 8, 3};
  static const char *const names[] = {"tets", "pyramids", "wedges", "hexes", "triangles"};
  const double x[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
  const int rows[5][8] = {
      {0, 1, 3, 4}, {0, 1, 2, 3, 6}, {0, 1, 3, 4, 5, 7}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2}};
  op_set nodes = op_decl_set(8, "corners");
  op_dat dats[8] = {op_decl_dat(nodes, 3, "float", NULL, "x3")};
  float place[24];
  for (int i = 0; i < 24; i++)
    place[i] = (float)x[i];
  op_put_data(dats[0], place);
  int n = 1;
  for (int k = 0; k < 5; k++) {
    op_set set = op_decl_set(1, names[k]);
    const double p = k + 1;
    op_decl_map(set, nodes, arity[k], rows[k], names[k]);
    if (k != 2) /* the wedges have none */
      dats[n++] = op_decl_dat(set, 1, "double", &p, "p");
    else
      dats[n++] = op_decl_dat(set, 1, "int", (int[]){7}, "number");
  }
  write(in(folder, "mixed"), -1, n, dats);
}

/* The same shell twice: quadrilaterals in space are not tetrahedra. Polygons, and lines. */
static void faces(const char *folder) {
  const double shell[] = {0, 0, 0, 1, 0, 0.01, 1, 1, 0, 0, 1, 0.01},
               ring[] = {0, 0, 1, 0, 2, 1, 1, 2, 0, 2, -1, 1, -1, 0};
  const int round[] = {0, 1, 2, 3, 4, 5, 6}, line[] = {0, 1, 1, 2};
  op_set corners = op_decl_set(4, "shell_nodes"), quads = op_decl_set(1, "shell");
  op_decl_map(quads, corners, 4, round, "shell_map");
  op_dat x = op_decl_dat(corners, 3, "double", shell, "xs");
  write(in(folder, "shell"), -1, 1, &x);
  op_set six = op_decl_set(6, "six"), hexagons = op_decl_set(1, "hexagons");
  op_decl_map(hexagons, six, 6, round, "hexagon_map");
  x = op_decl_dat(six, 2, "double", ring, "xh");
  write(in(folder, "hexagon"), -1, 1, &x);
  op_set seven = op_decl_set(7, "seven"), heptagons = op_decl_set(1, "heptagons");
  op_decl_map(heptagons, seven, 7, round, "heptagon_map");
  x = op_decl_dat(seven, 2, "double", ring, "x7");
  write(in(folder, "heptagon"), -1, 1, &x);
  op_set ends = op_decl_set(3, "ends"), lines = op_decl_set(2, "lines");
  op_decl_map(lines, ends, 2, line, "line_map");
  x = op_decl_dat(ends, 1, "double", ring, "xl");
  write(in(folder, "lines"), -1, 1, &x);
}

static int one_step(const char *folder, const char *name, int step) {
  const double x[] = {0, 0, 1, 0, 0, 1};
  op_set nodes = op_decl_set(3, "three"), cells = op_decl_set(1, "one");
  op_decl_map(cells, nodes, 3, (const int[]){0, 1, 2}, "its corners");
  const op_dat place = op_decl_dat(nodes, 2, "double", x, "place");
  return op_write_vtk(in(folder, name), step, 1, &place) || op_exit();
}

/* Polygons of three, five and four corners, of a ragged map; also in another order. */
static void ragged(const char *folder) {
  const double places[] = {0, 0, 1, 0, 2, 1, 1, 2, 0, 2, -1, 1};
  const long long offsets[] = {0, 3, 8, 12};
  const int corners[] = {0, 1, 2, 0, 2, 3, 4, 5, 0, 1, 3, 4};
  const double values[] = {1, 2, 3};
  op_set points = op_decl_set(6, "points of polygons"), polygons = op_decl_set(3, "polygons");
  op_map map = op_decl_map_ragged(polygons, points, offsets, corners, "polygons' corners");
  const op_dat dats[] = {op_decl_dat(points, 2, "double", places, "place"),
                         op_decl_dat(polygons, 1, "double", values, "value")};
  write(in(folder, "polygons"), -1, 2, dats);
  op_renumber(map);
  write(in(folder, "renumbered"), -1, 2, dats);
}

/* A cube of six squares and a prism of two triangles and three squares, which share a square; also in another order. */
static void solids(const char *folder) {
  const double places[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1,
                           1, 0, 1, 1, 1, 1, 0, 1, 1, 2, 0, 0, 2, 0, 1};
  const long long corners_begin[] = {0, 4, 8, 12, 16, 20, 24, 27, 30, 34, 38};
  const int corners[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7,
                         6, 3, 0, 4, 7, 1, 8, 2, 5, 9, 6, 1, 8, 9, 5, 8, 2, 6, 9};
  const long long faces_begin[] = {0, 6, 11};
  const int faces[] = {0, 1, 2, 3, 4, 5, 6, 7, 3, 8, 9};
  const double values[] = {7, 8};
  op_set points = op_decl_set(10, "points of solids"), sides = op_decl_set(10, "sides"),
         cells = op_decl_set(2, "solids");
  op_map map = op_decl_map_ragged(sides, points, corners_begin, corners, "sides' corners");
  op_decl_map_ragged(cells, sides, faces_begin, faces, "solids' sides");
  const op_dat dats[] = {op_decl_dat(points, 3, "double", places, "place"),
                         op_decl_dat(cells, 1, "double", values, "value")};
  write(in(folder, "solids"), -1, 2, dats);
  op_renumber(map);
  write(in(folder, "solids renumbered"), -1, 2, dats);
}

int main(int argc, char **argv) {
  if (argc < 2 || op_init(0, NULL, 0))
    return 2;
  if (argc == 4)
    return one_step(argv[1], argv[2], atoi(argv[3]));
  (void)setlocale(LC_NUMERIC,
                  "de_DE.UTF-8"); /* times have points all the same; C's, where that one is not installed */
  steps(argv[1]);
  times(argv[1]);
  mixed(argv[1]);
  faces(argv[1]);
  ragged(argv[1]);
  solids(argv[1]);
  return op_exit();
}
