/* Polyhedra, whose faces are elements of a set of their own: each stands behind its kind and how many faces it has, each face
 * behind how many points it has. A face may have been declared by another rank than its cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "files/save.h"
#include "files/vtk.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/parts/directory.h"
#include "spread/parts/numbers.h"
#include "spread/spread.h"

struct solids {
  struct op_context *ctx;
  struct rows_known cells, faces;
  struct numbers ids; /* faces: this rank's, then those that its cells name */
  long own;
  size_t width;          /* of a row: how many points, and these */
  long long *rows, *far; /* of this rank's faces, and of others' */
};

static int no_memory(struct error *err) {
  return error_memory(err, "polyhedra", 0);
}

static int agreed(const struct solids *s, int code, struct error *err) {
  return together_agree(spread_wanted(s->ctx) ? s->ctx->comm : NULL, code, err);
}

/* Rows of one length, so that they can be asked for. */
static int know_faces(struct solids *s, const struct map *faces, struct error *err) {
  const struct set *set = faces->from;
  long long *numbers = array_new((size_t)set->size, sizeof *numbers);
  s->own = set->size;
  s->width = 1 + (size_t)(faces->first ? faces->longest : faces->arity);
  s->rows = array_new((size_t)s->own * s->width, sizeof *s->rows);
  for (long f = 0; numbers && s->rows && f < s->own; f++) {
    const long long begin = s->faces.first[f], count = s->faces.first[f + 1] - begin;
    numbers[f] = set->global_first + f;
    s->rows[(size_t)f * s->width] = count;
    memcpy(s->rows + (size_t)f * s->width + 1, s->faces.targets + begin, (size_t)count * sizeof *s->rows);
  }
  return numbers_take(&s->ids, numbers, s->own) && s->rows ? OP_OK : no_memory(err);
}

static int know_others(struct solids *s, const struct map *map, struct error *err) {
  int code = OP_OK;
  for (long long i = 0; !code && i < s->cells.first[map->from->size]; i++)
    code = numbers_add(&s->ids, s->cells.targets[i]) < 0 ? no_memory(err) : OP_OK;
  if (!code && !(s->far = array_new((size_t)(s->ids.count - s->own) * s->width, sizeof *s->far)))
    code = no_memory(err);
  code = agreed(s, code, err);
  if (!code && spread_wanted(s->ctx))
    code = directory_rows(s->ctx->comm, map->to->global_size, &s->ids, s->own, s->width * sizeof *s->far,
                          s->rows, s->far, err);
  return code;
}

static const long long *face_of(const struct solids *s, long long number) {
  const long id = numbers_find(&s->ids, number);
  return id < s->own ? s->rows + (size_t)id * s->width : s->far + (size_t)(id - s->own) * s->width;
}

/* `out` NULL: only count. */
static long long list(const struct solids *s, long cells, int kind, long long *out) {
  long long count = 0;
  for (long c = 0; c < cells; c++) {
    const long long head[2] = {kind, s->cells.first[c + 1] - s->cells.first[c]};
    if (out)
      memcpy(out + count, head, sizeof head);
    count += 2;
    for (long long i = s->cells.first[c]; i < s->cells.first[c + 1]; i++) {
      const long long *face = face_of(s, s->cells.targets[i]);
      if (out)
        memcpy(out + count, face, (size_t)(face[0] + 1) * sizeof *face);
      count += face[0] + 1;
    }
  }
  return count;
}

static int count_all(const struct solids *s, struct vtk_cells *cells, struct error *err) {
  struct comm *comm = s->ctx->comm;
  cells->all = cells->count;
  if (!spread_wanted(s->ctx))
    return OP_OK;
  const int code = comm->table->scan_before(comm, cells->count, &cells->before, err);
  return code ? code : comm->table->reduce_all(comm, &cells->all, 1, COMM_LLONG, COMM_SUM, err);
}

/* ---- vtk_solids.c: the numbers of polyhedra, from their maps. Collective. */
static int vtk_list_solids(struct op_context *ctx, struct vtk_cells *cells, int kind, struct error *err) {
  const struct map *map = cells->map;
  struct solids s = {.ctx = ctx};
  int code = agreed(&s, rows_know(ctx, map, &s.cells, err), err);
  if (!code)
    code = agreed(&s, rows_know(ctx, cells->faces, &s.faces, err), err);
  if (!code)
    code = agreed(&s, know_faces(&s, cells->faces, err), err);
  if (!code)
    code = know_others(&s, map, err);
  if (!code) {
    cells->count = list(&s, map->from->size, kind, NULL);
    cells->numbers = array_new((size_t)cells->count, sizeof *cells->numbers);
    code = agreed(&s, cells->numbers ? OP_OK : no_memory(err), err);
  }
  if (!code) {
    list(&s, map->from->size, kind, cells->numbers);
    code = count_all(&s, cells, err);
  }
  rows_forget(&s.cells);
  rows_forget(&s.faces);
  numbers_free(&s.ids);
  free(s.rows);
  free(s.far);
  return code;
}

/* ---- kinds of cells ---- */
static const struct vtk_kind polygon = {"Polygon", 3, true}, polyline = {"Polyline", 2, true},
                             triangle = {"Triangle", 4, false}, quadrilateral = {"Quadrilateral", 5, false};
static const struct vtk_kind polyhedron = {"Polyhedron", 16, true};
/* With room inside, by arity. */
static const struct vtk_kind vtk_kinds_solids[] = {[4] = {"Tetrahedron", 6, false},
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

/* Finds out if the cells are faces in space: by their mean thickness over all ranks. Of cells at the border between
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
                : !flat      ? &vtk_kinds_solids[arity]
                : arity == 4 ? &quadrilateral
                             : &polygon;
  return code;
}
