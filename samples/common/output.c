#include "output.h"

#include "memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int ends_with(const char *text, const char *ending) {
  const size_t length = strlen(text), n = strlen(ending);
  return length > n && !strcmp(text + length - n, ending);
}

void output_prepare(const char *hdf5, const char *vtk) {
  if (hdf5 || vtk)
    op_open_hdf5();
}

int output_said(int failed, const char *path, const char *ending) {
  if (failed)
    return -1;
  op_printf("wrote %s%s\n", path, ends_with(path, ending) ? "" : ending);
  return 0;
}

int output_vtk_said(int failed, const char *name) {
  return output_said(failed, name, ends_with(name, ".xmf") ? "" : ".xdmf");
}

/* `mesh`: first the places of the points, then what is on the cells alone, if anything. */
static int write_at(const char *path, const double *time, int mesh_count, const op_dat mesh[], int count,
                    const op_dat fields[]) {
  op_dat *dats = room(mesh_count + count, sizeof *dats);
  memcpy(dats, mesh, (size_t)mesh_count * sizeof *dats);
  memcpy(dats + mesh_count, fields, (size_t)count * sizeof *dats);
  const int n = mesh_count + count,
            failed = time ? op_write_vtk_at(path, -1, *time, n, dats) : op_write_vtk(path, -1, n, dats);
  free(dats);
  return output_vtk_said(failed, path);
}

int output_grid(const char *path, const double *time, op_set points, int columns, int rows, const int *number,
                double dx, double dy, int count, const op_dat fields[]) {
  /* The first rank declares everything. */
  if (!op_is_root())
    columns = rows = 0;
  int across = columns > 1 ? columns - 1 : 0, up = rows > 1 ? rows - 1 : 0, size = op_get_size(points);
  double *place = room(2LL * size, sizeof *place);
  int *corners = room(4LL * across * up, sizeof *corners);
  memset(place, 0, 2 * (size_t)size * sizeof *place);
  for (int j = 0; j < rows; j++)
    for (int i = 0; i < columns; i++) {
      int k = i + j * columns, point = number ? number[k] : k;
      place[2 * (size_t)point] = i * dx;
      place[2 * (size_t)point + 1] = j * dy;
      if (i == across || j == up)
        continue;
      const int round[4] = {k, k + 1, k + columns + 1, k + columns};
      for (int c = 0; c < 4; c++)
        corners[4 * ((size_t)i + (size_t)j * (size_t)across) + (size_t)c] =
            number ? number[round[c]] : round[c];
    }
  op_set cells = op_decl_set(across * up, "grid cells");
  op_decl_map(cells, points, 4, across > 0 && up > 0 ? corners : NULL, "corners");
  /* With a dat on these cells no other set that leads to the points is taken for cells. */
  const op_dat mesh[] = {op_decl_dat(points, 2, "double", place, "place"),
                         op_decl_dat(cells, 1, "char", NULL, "cell")};
  int failed = write_at(path, time, 2, mesh, count, fields);
  free(corners);
  free(place);
  return failed;
}

/* Cells with corners of their own, which nothing else of the program has: their places, and each cell's row of the map. */
static int write_cells(const char *path, const double *time, op_set cells, int arity, int corner_count,
                       const int *corners, const double *place, int count, const op_dat fields[]) {
  op_set points = op_decl_set(corner_count, "corner points");
  op_decl_map(cells, points, arity, corners, "corners");
  const op_dat mesh[] = {op_decl_dat(points, 2, "double", place, "place")};
  return write_at(path, time, 1, mesh, count, fields);
}

int output_squares(const char *path, op_set cells, int side, int count, const op_dat fields[]) {
  side = op_is_root() ? side : 0;
  int across = op_is_root() ? side + 1 : 0;
  double *place = room(2LL * across * across, sizeof *place);
  int *corners = room(4LL * side * side, sizeof *corners);
  for (int k = 0; k < across * across; k++) {
    const int column = k % across, row = k / across;
    place[2 * (size_t)k] = (double)column / side;
    place[2 * (size_t)k + 1] = (double)row / side;
  }
  for (int c = 0; c < side * side; c++) {
    int first = c % side + c / side * across, *round = corners + 4 * (size_t)c;
    round[0] = first;
    round[1] = first + 1;
    round[2] = first + across + 1;
    round[3] = first + across;
  }
  int failed = write_cells(path, NULL, cells, 4, across * across, corners, place, count, fields);
  free(corners);
  free(place);
  return failed;
}

int output_hexagons(const char *path, const double *time, op_set cells, int columns, int rows, int count,
                    const op_dat fields[]) {
  enum { SIDES = 6 };
  /* Half of the width, and of a side: of hexagons whose middles are one apart. */
  const double wide = 0.5, half = 0.5 / sqrt(3);
  static const int x[SIDES] = {1, 1, 0, -1, -1, 0}, y[SIDES] = {-1, 1, 2, 1, -1, -2};
  int hexagons = op_is_root() ? columns * rows : 0;
  double *place = room(2LL * SIDES * hexagons, sizeof *place);
  int *corners = room((long long)SIDES * hexagons, sizeof *corners);
  for (int k = 0; k < SIDES * hexagons; k++) {
    int column = k / SIDES % columns, row = k / SIDES / columns;
    place[2 * (size_t)k] = column + 0.5 * (row % 2) + wide * x[k % SIDES];
    place[2 * (size_t)k + 1] = 3 * half * row + half * y[k % SIDES];
    corners[k] = k;
  }
  int failed = write_cells(path, time, cells, SIDES, SIDES * hexagons, corners, place, count, fields);
  free(corners);
  free(place);
  return failed;
}
