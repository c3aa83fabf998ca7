/* Kinds of cells. */
#include <math.h>

#include "context/context.h"
#include "files/vtk.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/spread.h"

static const struct vtk_kind polygon = {"Polygon", 3, true}, polyline = {"Polyline", 2, true},
                             triangle = {"Triangle", 4, false}, quadrilateral = {"Quadrilateral", 5, false};
static const struct vtk_kind polyhedron = {"Polyhedron", 16, true};
/* With room inside, by arity. */
static const struct vtk_kind solids[] = {[4] = {"Tetrahedron", 6, false},
                                         [5] = {"Pyramid", 7, false},
                                         [6] = {"Wedge", 8, false},
                                         [8] = {"Hexahedron", 9, false}};

static double distance(const double *a, const double *b) {
  return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* Six times the volume of the tetrahedron of the first three points and the last, over the cube of the longest of
 * its edges at the first: 0.7 for a regular one, 0 for a flat polygon. */
static double thickness(double p[4][3]) {
  double u[3], v[3], w[3], longest = 0;
  for (int c = 0; c < 3; c++) {
    u[c] = p[1][c] - p[0][c];
    v[c] = p[2][c] - p[0][c];
    w[c] = p[3][c] - p[0][c];
  }
  for (int i = 1; i < 4; i++)
    longest = fmax(longest, distance(p[0], p[i]));
  double volume = u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) +
                  u[2] * (v[0] * w[1] - v[1] * w[0]);
  return longest > 0 ? fabs(volume) / (longest * longest * longest) : 0;
}

static const double FLAT = 0.05;

/* Whether the cells are faces in space: by their mean thickness over all ranks. Of cells at the border between
 * ranks some points may not be here; they are left to the others. */
static int look_flat(struct vtk_step *s, const struct map *map, bool *flat, struct error *err) {
  struct comm *comm = s->ctx->comm;
  const long owned = s->coords->set->extents[EXTENT_OWNED];
  double sum[2] = {0, 0};
  int code = mesh_distribute(s->ctx, err);
  if (!code)
    code = together_agree(comm, dat_need(s->ctx, s->coords, SPACE_HOST, REGION_OWNED, err), err);
  for (long e = 0; e < map->from->extents[EXTENT_OWNED] && !code; e++) {
    const int *row = map->table + (size_t)e * (size_t)map->arity;
    double p[4][3];
    bool here = true;
    for (int i = 0; i < 4 && here; i++) {
      const int point = row[i < 3 ? i : map->arity - 1];
      here = point < owned;
      for (int c = 0; c < 3 && here; c++)
        p[i][c] = type_number(s->coords->type, dat_value(s->coords, point, c));
    }
    sum[0] += here ? thickness(p) : 0;
    sum[1] += here;
  }
  if (!code && !together_alone(comm))
    code = comm->table->reduce_all(comm, sum, 2, COMM_DOUBLE, COMM_SUM, err);
  *flat = sum[1] > 0 && sum[0] / sum[1] < FLAT;
  return code;
}

int vtk_choose_kind(struct vtk_step *s, struct vtk_cells *cells, struct error *err) {
  const int arity = cells->map->arity;
  if (cells->faces) {
    cells->kind = &polyhedron;
    return vtk_list_solids(s->ctx, cells, polyhedron.number, err);
  }
  if (cells->map->first) {
    cells->kind = &polygon;
    return OP_OK;
  }
  bool flat = s->coords->dim < 3 || arity < 4 || arity == 7;
  int code = flat ? OP_OK : look_flat(s, cells->map, &flat, err);
  cells->kind = arity == 2   ? &polyline
                : arity == 3 ? &triangle
                : !flat      ? &solids[arity]
                : arity == 4 ? &quadrilateral
                             : &polygon;
  return code;
}
