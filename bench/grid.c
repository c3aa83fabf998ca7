#include "grid.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const struct grid_map grid_maps[MAPS] = {
    {EDGES, CELLS, 2}, {EDGES, NODES, 2}, {BOUNDARY, CELLS, 1}, {BOUNDARY, NODES, 2}, {CELLS, NODES, 4}};

struct grid grid_of(long long cells) {
  const long long height = (long long)sqrt((double)cells / 2), width = 2 * height;
  return (struct grid){.width = width,
                       .height = height,
                       .size = {[CELLS] = width * height,
                                [EDGES] = (width - 1) * height + width * (height - 1),
                                [BOUNDARY] = 2 * (width + height),
                                [NODES] = (width + 1) * (height + 1)}};
}

static void cell_row(const struct grid *t, long long cell, long long row[4]) {
  const long long x = cell % t->width, y = cell / t->width, node = y * (t->width + 1) + x;
  row[0] = node;
  row[1] = node + 1;
  row[2] = node + t->width + 2;
  row[3] = node + t->width + 1;
}

/* First the edges between left and right, then those between below and above. */
static void edge_rows(const struct grid *t, long long edge, long long cells[2], long long nodes[2]) {
  const long long upright = (t->width - 1) * t->height;
  long long corners[4];
  if (edge < upright) {
    cells[0] = edge / (t->width - 1) * t->width + edge % (t->width - 1);
    cells[1] = cells[0] + 1;
    cell_row(t, cells[0], corners);
    nodes[0] = corners[1];
    nodes[1] = corners[2];
  } else {
    cells[0] = edge - upright;
    cells[1] = cells[0] + t->width;
    cell_row(t, cells[0], corners);
    nodes[0] = corners[3];
    nodes[1] = corners[2];
  }
}

static void boundary_rows(const struct grid *t, long long edge, long long cells[1], long long nodes[2]) {
  const long long w = t->width, h = t->height;
  const int first[4] = {0, 3, 0, 1}, second[4] = {1, 2, 3, 2};
  const int side = edge < w ? 0 : edge < 2 * w ? 1 : edge < 2 * w + h ? 2 : 3;
  long long corners[4];
  cells[0] = side == 0   ? edge
             : side == 1 ? (h - 1) * w + edge - w
             : side == 2 ? (edge - 2 * w) * w
                         : (edge - 2 * w - h) * w + w - 1;
  cell_row(t, cells[0], corners);
  nodes[0] = corners[first[side]];
  nodes[1] = corners[second[side]];
}

void grid_row(const struct grid *t, int map, long long element, long long *row) {
  long long cells[2], nodes[4];
  if (map == CELL_NODES)
    cell_row(t, element, nodes);
  else if (map <= EDGE_NODES)
    edge_rows(t, element, cells, nodes);
  else
    boundary_rows(t, element, cells, nodes);
  memcpy(row, grid_maps[map].to == CELLS ? cells : nodes, (size_t)grid_maps[map].arity * sizeof *row);
}
