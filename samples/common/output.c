#include "output.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

int output_grid(const char *path, op_set points, int columns, int rows, const int *number, double dx,
                double dy, int count, const op_dat fields[]) {
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
  op_dat *dats = room(count + 1, sizeof *dats);
  dats[0] = op_decl_dat(points, 2, "double", place, "place");
  for (int f = 0; f < count; f++)
    dats[f + 1] = fields[f];
  int failed = op_write_vtk(path, -1, count + 1, dats) != OP_OK;
  free(dats);
  free(corners);
  free(place);
  return failed ? -1 : 0;
}
