#include "files/vtk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "files/save.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "spread/spread.h"

/* ---- which maps ---- */

/* All elements of a ragged one have an area. */
static bool has_polygons(const struct map *map) {
  enum { LEAST_SIDES = 3 };
  return map->first && map->shortest >= LEAST_SIDES;
}

static bool is_cell_map(const struct vtk_step *s, const struct map *map) {
  return map->to == s->coords->set && map->from != s->coords->set &&
         ((map->arity >= 2 && map->arity <= 8) || has_polygons(map));
}

/* The most points of a cell. */
static long width(const struct map *map) {
  return map->first ? map->longest : map->arity;
}

/* The widest of a set's maps to the points, the first declared among equals. */
static struct map *widest(const struct vtk_step *s, const struct set *set) {
  struct map *best = NULL;
  const struct list *maps = &s->ctx->mesh->maps;
  for (int i = 0; i < maps->count; i++) {
    struct map *map = maps->items[i];
    if (map->from == set && is_cell_map(s, map) && (!best || width(map) > width(best)))
      best = map;
  }
  return best;
}

/* Finds the set's first map to faces in space. A solid has four faces or more. */
static bool find_solids(const struct vtk_step *s, const struct set *set, struct vtk_cells *out) {
  enum { LEAST_FACES = 4 };
  const struct list *maps = &s->ctx->mesh->maps;
  for (int i = 0; s->coords->dim == 3 && i < maps->count; i++) {
    struct map *map = maps->items[i];
    struct map *faces = map->from == set && map->to != set ? widest(s, map->to) : NULL;
    if (!faces || (faces->first ? faces->shortest : faces->arity) < 3 ||
        (map->first ? map->shortest : map->arity) < LEAST_FACES)
      continue;
    *out = (struct vtk_cells){.map = map, .faces = faces};
    return true;
  }
  return false;
}

/* The number of the set among the cells, added if need be; -1: it has no map, -2: too many. */
static int cells_of(struct vtk_step *s, const struct set *set) {
  for (int i = 0; i < s->ncells; i++)
    if (s->cells[i].map->from == set)
      return i;
  struct vtk_cells found = {.map = widest(s, set)};
  /* Points of a ragged map are round a face; those of a solid are in no order. */
  if (!found.map || found.map->first)
    find_solids(s, set, &found);
  if (!found.map || s->ncells == VTK_CELLS_MOST)
    return found.map ? -2 : -1;
  s->cells[s->ncells] = found;
  return s->ncells++;
}

/* Without dats on cells: all sets whose elements have area or volume, else all that are lines. */
static void cells_of_points_only(struct vtk_step *s) {
  const struct list *sets = &s->ctx->mesh->sets;
  for (int least = 3; least >= 2 && s->ncells == 0; least--)
    for (int i = 0; i < sets->count && s->ncells < VTK_CELLS_MOST; i++) {
      const struct map *map = widest(s, sets->items[i]);
      if (map && width(map) >= least)
        cells_of(s, sets->items[i]);
    }
}

/* ---- fields ---- */

static bool is_floating(enum type_code type) {
  return type_info(type)->is_float;
}

/* A path in the file: what XDMF or HDF5 would take apart is replaced. */
static void name_dataset(struct vtk_step *s, struct vtk_field *field) {
  bool changed = false;
  text_add(&field->dataset, field->points ? "point/" : "cell/");
  for (const char *c = field->name; *c; c++) {
    const bool plain =
        (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
    text_add_char(&field->dataset, plain ? *c : '_');
    changed |= !plain;
  }
  if (changed || !*field->name)
    text_addf(&field->dataset, "_%d", (int)(field - s->fields));
}

static int add_field(struct vtk_step *s, struct dat *dat, int cells, struct error *err) {
  for (int i = 0; i < s->nfields; i++) {
    struct vtk_field *f = &s->fields[i];
    if (strcmp(f->name, dat->name) != 0 || (f->points != NULL) != (cells < 0))
      continue;
    if (cells < 0 || f->cells[cells])
      return error_set(
          err, OP_ERR_ARGUMENT,
          "op_write_vtk: two dats on set \"%s\" are called \"%s\"; a field needs a name of its own",
          dat->set->name, dat->name);
    if (f->dim != dat->dim || f->type != dat->type)
      return error_set(
          err, OP_ERR_DIM,
          "op_write_vtk: dat \"%s\" on set \"%s\" is %d of %s, that on another set of cells %d of %s; "
          "one field needs one dim and type",
          dat->name, dat->set->name, dat->dim, type_info(dat->type)->name, f->dim, type_info(f->type)->name);
    f->cells[cells] = dat;
    return OP_OK;
  }
  if (type_is_struct(dat->type))
    return error_set(
        err, OP_ERR_ARGUMENT,
        "op_write_vtk: dat \"%s\" is of \"%s\", and a field is of numbers; copy the members that are to be "
        "seen into dats of their own, by a loop",
        dat->name, type_info(dat->type)->name);
  struct vtk_field *f = &s->fields[s->nfields++];
  *f = (struct vtk_field){.name = dat->name,
                          .dim = dat->dim,
                          .columns = dat->dim == 2 && is_floating(dat->type) ? 3 : dat->dim,
                          .type = dat->type,
                          .points = cells < 0 ? dat : NULL};
  if (cells >= 0)
    f->cells[cells] = dat;
  name_dataset(s, f);
  return text_ok(&f->dataset) ? OP_OK : error_memory(err, "a field's name", strlen(dat->name));
}

static int check_coords(const struct dat *coords, struct error *err) {
  if (coords->dim > 3 || !is_floating(coords->type))
    return error_set(
        err, OP_ERR_ARGUMENT,
        "op_write_vtk: the first dat holds the coordinates of the points: double or float, dim 1 to 3; "
        "dat \"%s\" is %d of %s",
        coords->name, coords->dim, type_info(coords->type)->name);
  return OP_OK;
}

/* It has cells of several kinds, as "cells" of op2jit.mesh: sets with maps to the points lead to it. */
static bool has_kinds(const struct vtk_step *s, const struct set *set) {
  const struct list *maps = &s->ctx->mesh->maps;
  for (int i = 0; i < maps->count; i++) {
    const struct map *map = maps->items[i];
    if (map->to == set && map->arity == 1 && !map->first && widest(s, map->from))
      return true;
  }
  return false;
}

static int place_field(struct vtk_step *s, struct dat *dat, struct error *err) {
  if (dat->set == s->coords->set)
    return add_field(s, dat, -1, err);
  int cells = cells_of(s, dat->set);
  if (cells == -1)
    return error_set(
        err, OP_ERR_MAP_SET,
        "op_write_vtk: dat \"%s\" is on set \"%s\", which has no map of arity 2 to 8 to the points, set "
        "\"%s\", no ragged one of three or more, and none to faces that have one; %s",
        dat->name, dat->set->name, s->coords->set->name,
        has_kinds(s, dat->set)
            ? "loops over the sets of each kind of cells copy it to dats of one name on them: write those"
            : "write dats of the points and of sets with such a map");
  if (cells < 0)
    return error_set(err, OP_ERR_ARGUMENT, "op_write_vtk: the dats are on more than %d sets of cells",
                     VTK_CELLS_MOST);
  return add_field(s, dat, cells, err);
}

int vtk_choose(struct vtk_step *s, int count, struct dat *const dats[], struct error *err) {
  s->coords = dats[0];
  int code = check_coords(dats[0], err);
  /* Then the lengths of rows are those of all ranks. */
  if (!code)
    code = mesh_distribute(s->ctx, err);
  s->geometry = dats[0]->dim == 3 ? 3 : 2;
  s->npoints = dats[0]->set->global_size;
  s->fields = array_new((size_t)count, sizeof *s->fields);
  if (!s->fields)
    code = error_memory(err, "the fields of a step", (size_t)count * sizeof *s->fields);
  for (int i = 1; i < count && !code; i++)
    code = place_field(s, dats[i], err);
  if (!code && s->ncells == 0)
    cells_of_points_only(s);
  if (!code && s->ncells == 0)
    code = error_set(
        err, OP_ERR_MAP_SET,
        "op_write_vtk: there is no map of arity 2 to 8 to the points, set \"%s\": without cells there is "
        "nothing to show",
        s->coords->set->name);
  for (int i = 0; i < s->ncells && !code; i++) {
    code = vtk_choose_kind(s, &s->cells[i], err);
    s->total += s->cells[i].map->from->global_size;
  }
  return code;
}

void vtk_step_free(struct vtk_step *s) {
  for (int i = 0; i < s->nfields; i++)
    text_free(&s->fields[i].dataset);
  for (int i = 0; i < s->ncells; i++)
    free(s->cells[i].numbers);
  free(s->fields);
  text_free(&s->index);
  text_free(&s->data);
  text_free(&s->mesh);
  text_free(&s->points);
}

/* ---- cells into the file ---- */

bool vtk_is_mixed(const struct vtk_step *s) {
  return s->ncells > 1 || (s->ncells == 1 && (s->cells[0].map->first || s->cells[0].faces));
}

/* How many numbers a mixed topology has in front of each element's points: the kind, and for some the number of points. */
static int front_of(const struct vtk_cells *cells) {
  return 1 + cells->kind->counted;
}

/* Numbers of a set's cells in a mixed topology, of all ranks. */
static long long numbers_of(const struct vtk_cells *cells) {
  const struct map *map = cells->map;
  const long long size = map->from->global_size;
  return cells->faces ? cells->all
                      : (map->first ? map->entries->global_size : size * map->arity) + size * front_of(cells);
}

long long vtk_cell_numbers(const struct vtk_step *s) {
  long long numbers = 0;
  for (int i = 0; i < s->ncells; i++)
    numbers += numbers_of(&s->cells[i]);
  return numbers;
}

enum type_code vtk_cell_type(const struct vtk_step *s) {
  return map_number_type(s->cells[0].faces ? s->cells[0].faces : s->cells[0].map);
}

/* In the array's type, in place: it is no wider. */
static int write_numbers(struct layout *l, enum type_code type, long long before, long long *numbers,
                         long long count, struct error *err) {
  for (long long i = 0; type == TYPE_INT && i < count; i++) {
    const int narrow = (int)numbers[i];
    memcpy((unsigned char *)numbers + (size_t)i * sizeof narrow, &narrow, sizeof narrow);
  }
  return layout_write(l, "cells", type, 1, before, count, numbers, err);
}

/* Lists each cell's points behind these numbers. */
static void list_points(const struct vtk_cells *cells, const struct rows_known *known, long long *numbers) {
  for (long e = 0; e < cells->map->from->size; e++) {
    *numbers++ = cells->kind->number;
    if (cells->kind->counted)
      *numbers++ = known->first[e + 1] - known->first[e];
    for (long long i = known->first[e]; i < known->first[e + 1]; i++)
      *numbers++ = known->targets[i];
  }
}

static int write_listed(struct op_context *ctx, struct layout *l, const struct vtk_cells *cells,
                        enum type_code type, long long before, struct error *err) {
  const struct map *map = cells->map;
  const struct set *from = map->from;
  const long long first = from->global_first, width = front_of(cells) + (map->first ? 0 : map->arity);
  const long long count = from->size * width + (map->first ? map->entries->size : 0);
  struct rows_known known;
  long long *numbers = array_new((size_t)count, sizeof *numbers);
  int code = together_agree(l->comm, rows_know(ctx, map, &known, err), err);
  if (!code && !numbers)
    code = error_memory(err, "cells", (size_t)count * sizeof *numbers);
  code = together_agree(l->comm, code, err);
  if (!code) {
    list_points(cells, &known, numbers);
    before += first * width + (map->first ? map->entries->global_first : 0);
    code = write_numbers(l, type, before, numbers, count, err);
  }
  rows_forget(&known);
  free(numbers);
  return code;
}

/* One number after the other: the cells of each set behind those of the one before. */
static int write_mixed(struct vtk_step *s, struct layout *l, enum type_code type, struct error *err) {
  const long long all = vtk_cell_numbers(s);
  long long before = 0;
  int code = layout_create(l, "cells", type, 1, &all, err);
  for (int i = 0; i < s->ncells && !code; i++) {
    const struct vtk_cells *cells = &s->cells[i];
    code = cells->faces ? write_numbers(l, type, before + cells->before, cells->numbers, cells->count, err)
                        : write_listed(s->ctx, l, cells, type, before, err);
    before += numbers_of(cells);
  }
  return code;
}

int vtk_write_cells(struct vtk_step *s, struct layout *l, struct error *err) {
  const enum type_code type = vtk_cell_type(s);
  struct map *map = s->cells[0].map;
  const long long extents[2] = {s->total, map->arity};
  const struct rows_table t = {.name = "cells",
                               .type = type,
                               .dim = map->arity > 0 ? map->arity : 1,
                               .set = map->from,
                               .source = rows_of_map,
                               .object = map};
  if (vtk_is_mixed(s))
    return write_mixed(s, l, type, err);
  const int code = layout_create(l, "cells", type, 2, extents, err);
  return code ? code : rows_write(s->ctx, l, &t, err);
}

/* ---- points and fields into the file ---- */

/* Rows of a dat, with components of zero behind them. */
struct padded {
  struct dat *dat; /* NULL: nothing is known */
  enum type_code type;
  int dim, columns;
};

static void fill_unknown(enum type_code type, void *out, size_t count) {
  memset(out, 0, count * type_info(type)->size);
  for (size_t i = 0; i < count; i++)
    if (type == TYPE_DOUBLE)
      ((double *)out)[i] = NAN;
    else if (type == TYPE_FLOAT)
      ((float *)out)[i] = NAN;
}

static int rows_padded(struct op_context *ctx, void *object, long low, long count, void *out,
                       struct error *err) {
  const struct padded *p = object;
  const size_t size = type_info(p->type)->size, row = (size_t)p->dim * size,
               length = (size_t)p->columns * size;
  if (!p->dat) {
    fill_unknown(p->type, out, (size_t)count * (size_t)p->columns);
    return OP_OK;
  }
  unsigned char *to = out, *from = to + (size_t)count * (length - row);
  int code = rows_of_dat(ctx, p->dat, low, count, from, err);
  for (long e = 0; e < count && !code; e++, to += length, from += row) {
    memmove(to, from, row);
    memset(to + row, 0, length - row);
  }
  return code;
}

int vtk_write_points(struct vtk_step *s, struct layout *l, struct error *err) {
  const long long extents[2] = {s->npoints, s->geometry};
  struct padded p = {s->coords, s->coords->type, s->coords->dim, s->geometry};
  const struct rows_table t = {.name = "points",
                               .type = p.type,
                               .dim = p.columns,
                               .set = s->coords->set,
                               .source = rows_padded,
                               .object = &p};
  int code = layout_create(l, "points", p.type, 2, extents, err);
  return code ? code : rows_write(s->ctx, l, &t, err);
}

int vtk_write_field(struct vtk_step *s, struct layout *l, const struct vtk_field *f, struct error *err) {
  const char *name = text_str(&f->dataset);
  const long long extents[2] = {f->points ? s->npoints : s->total, f->columns};
  struct padded p = {f->points, f->type, f->dim, f->columns};
  struct rows_table t = {.name = name,
                         .type = f->type,
                         .dim = f->columns,
                         .set = s->coords->set,
                         .source = rows_padded,
                         .object = &p};
  int code = layout_create(l, name, f->type, f->columns > 1 ? 2 : 1, extents, err);
  if (!code && f->points)
    return rows_write(s->ctx, l, &t, err);
  for (int i = 0; i < s->ncells && !code; i++) {
    t.set = s->cells[i].map->from;
    p.dat = f->cells[i];
    code = rows_write(s->ctx, l, &t, err);
    t.before += t.set->global_size;
  }
  return code;
}
