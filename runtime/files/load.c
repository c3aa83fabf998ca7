/* Sets, maps, dats and constants out of a file. Sets are divided evenly over the ranks, in the file's order;
 * whatever is on a set is read by the rows that a rank declared of it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "files/io.h"
#include "files/layout.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "mesh/ragged.h"
#include "spread/spread.h"

static int open_for(struct op_context *ctx, struct layout *l, const char *path, struct error *err) {
  const struct file_table *table;
  int code = io_table(ctx, &table, err);
  if (!code)
    code = layout_open(l, table, ctx->comm, path, err);
  l->ctx = code ? NULL : ctx;
  return code;
}

/* ---- sets ---- */

static struct set *declare_share(struct op_context *ctx, const char *path, const char *name, long long size,
                                 struct error *err) {
  long long first, count;
  struct set *set = NULL;
  together_share(ctx->comm, size, &first, &count);
  if (count > INT_MAX)
    error_set(err, OP_ERR_SIZE,
              "%s: set \"%s\" has %lld elements, %lld for each rank; expected at most %d: use more ranks",
              path, name, size, count, INT_MAX);
  else
    set = mesh_set(ctx, (long)count, name, err);
  int code = together_agree(ctx->comm, set ? OP_OK : err->code, err);
  if (!code && spread_wanted(ctx))
    code = spread_declare(ctx, set, err);
  if (code && set)
    mesh_undo_set(ctx, set);
  return code ? NULL : set;
}

struct set *load_set(struct op_context *ctx, const char *path, const char *name, struct error *err) {
  struct layout l;
  long long size = 0;
  if (open_for(ctx, &l, path, err))
    return NULL;
  int code = layout_close(&l, layout_read_size(&l, name, &size, err), err);
  return code ? NULL : declare_share(ctx, path, name, size, err);
}

struct set *load_set_of(struct op_context *ctx, const char *path, const char *name, const char *data_name,
                        struct error *err) {
  struct layout l;
  struct file_dataset d = {0};
  if (open_for(ctx, &l, path, err))
    return NULL;
  int code = layout_find(&l, data_name, &d, err);
  if (!code && d.rank < 1)
    code = error_set(err, OP_ERR_DIM,
                     "%s: \"%s\" is one value; expected a table whose rows give the size of set \"%s\"", path,
                     data_name, name);
  code = layout_close(&l, code, err);
  return code ? NULL : declare_share(ctx, path, name, d.extents[0], err);
}

/* ---- tables ---- */

/* The table must have a row for each element of the set over all ranks. */
static int find_rows(struct layout *l, const struct set *set, const char *name, int dim, bool whole,
                     struct file_dataset *d, struct error *err) {
  long long rows;
  int code = layout_find_table(l, name, dim, whole, &rows, d, err);
  if (!code && rows != set->global_size)
    code = error_set(err, OP_ERR_SIZE,
                     "%s: \"%s\" has %lld rows, but set \"%s\" has %lld elements; expected as many", l->path,
                     name, rows, set->name, set->global_size);
  return code;
}

static bool is_wide(enum type_code type) {
  return type == TYPE_LONGLONG || type == TYPE_ULONGLONG || type == TYPE_UINT;
}

/* Tables that count from 1, as a program of OP2 may say. */
static void count_from_zero(void *table, bool wide, size_t entries, int base) {
  for (size_t i = 0; base && i < entries; i++)
    if (wide)
      ((long long *)table)[i] -= base;
    else
      ((int *)table)[i] -= base;
}

/* A ragged map has offsets too. */
static void tell_ragged(struct layout *l, const char *name, struct error *err) {
  struct text offsets = {0};
  text_addf(&offsets, "%s" RAGGED_OFFSETS, name);
  if (text_ok(&offsets) && l->table->kind(l->file, text_str(&offsets)) != FILE_NOTHING)
    error_prefix(err, "map \"%s\" is ragged in the file, and op_decl_map_ragged_hdf5 reads it: ", name);
  text_free(&offsets);
}

struct map *load_map(struct op_context *ctx, struct set *from, struct set *to, int arity, const char *path,
                     const char *name, struct error *err) {
  struct layout l;
  struct file_dataset d;
  struct map *map = NULL;
  struct rows rows = {0};
  if (arity < 1) {
    error_set(err, OP_ERR_DIM, "map \"%s\": the arity is %d; expected 1 or more targets per element", name,
              arity);
    return NULL;
  }
  if (open_for(ctx, &l, path, err))
    return NULL;
  int code = find_rows(&l, from, name, arity, true, &d, err);
  if (code)
    tell_ragged(&l, name, err);
  rows.wide = !code && is_wide(d.type);
  const enum type_code type = rows.wide ? TYPE_LONGLONG : TYPE_INT;
  if (!code) {
    size_t entries;
    if (!size_mul((size_t)from->size, (size_t)arity, &entries) || !rows_new(&rows, entries, rows.wide))
      code = error_memory(err, "a map's table", (size_t)from->size * (size_t)arity * sizeof(int));
  }
  if (!code)
    code = layout_read(&l, name, type, arity, from->global_first, from->size, rows.entries, err);
  code = layout_close(&l, code, err);
  if (!code) {
    count_from_zero(rows.entries, rows.wide, (size_t)from->size * (size_t)arity,
                    ctx->compiled ? ctx->maps_base : 0);
    map = mesh_map(ctx, from, to, arity, rows.wide ? NULL : rows.entries, rows.wide ? rows.entries : NULL,
                   &rows, name, err);
    code = together_agree(l.comm, map ? OP_OK : error_prefix(err, "%s: ", path), err);
  }
  if (!code)
    ctx->mesh->undistributed = true;
  else if (map)
    mesh_undo_map(ctx, map);
  free(rows.entries);
  return code ? NULL : map;
}

/* This rank's part of a ragged map. */
struct ragged_part {
  long long *offsets; /* from 0 */
  long long first;    /* target, of all ranks' */
  int *targets;
};

/* Those of this rank's elements, and the end. */
static int read_offsets(struct layout *l, const struct set *from, const char *name, struct ragged_part *part,
                        struct error *err) {
  struct file_dataset d;
  long long rows = 0;
  int code = layout_find_table(l, name, 1, true, &rows, &d, err);
  if (!code && rows != from->global_size + 1)
    code =
        error_set(err, OP_ERR_SIZE,
                  "%s: \"%s\" has %lld rows, but set \"%s\" has %lld elements; expected one more than these",
                  l->path, name, rows, from->name, from->global_size);
  if (!code && !(part->offsets = array_new((size_t)from->size + 1, sizeof *part->offsets)))
    code = error_memory(err, "the offsets of a map", ((size_t)from->size + 1) * sizeof *part->offsets);
  if (!code)
    code = layout_read(l, name, TYPE_LONGLONG, 1, from->global_first, from->size + 1, part->offsets, err);
  /* The first one of all is to be 0, which is looked at later. */
  part->first = code || !from->global_first ? 0 : part->offsets[0];
  for (long e = 0; !code && e <= from->size; e++)
    part->offsets[e] -= part->first;
  return code;
}

/* The offsets, then as many targets as they say. */
static int read_ragged(struct layout *l, const struct set *from, const char *name, const char *offsets_name,
                       struct ragged_part *part, struct error *err) {
  struct file_dataset d;
  long long rows = 0;
  int code = read_offsets(l, from, offsets_name, part, err);
  if (code)
    error_prefix(err, "map \"%s\" is read as a ragged one, with offsets (others: op_decl_map_hdf5): ", name);
  if (!code)
    code = layout_find_table(l, name, 1, true, &rows, &d, err);
  const long long count = code ? 0 : part->offsets[from->size], end = part->first + count;
  const bool last = from->global_first + from->size == from->global_size;
  if (!code && (count < 0 || count > INT_MAX || part->first < 0 || end > rows || (last && end != rows)))
    code = error_set(err, OP_ERR_SIZE, "%s: \"%s\" has %lld targets, and \"%s\" %s %lld", l->path, name, rows,
                     offsets_name, last ? "ends with" : "has", end);
  if (!code && !(part->targets = array_new((size_t)count, sizeof *part->targets)))
    code = error_memory(err, "the targets of a map", (size_t)count * sizeof *part->targets);
  return code ? code : layout_read(l, name, TYPE_INT, 1, part->first, count, part->targets, err);
}

struct map *load_ragged(struct op_context *ctx, struct set *from, struct set *to, const char *path,
                        const char *name, struct error *err) {
  struct layout l;
  struct map *map = NULL;
  struct text offsets_name = {0};
  struct ragged_part part = {0};
  text_addf(&offsets_name, "%s" RAGGED_OFFSETS, name);
  int code = text_ok(&offsets_name) ? OP_OK : error_memory(err, "a name in a file", offsets_name.length);
  code = together_agree(ctx->comm, code, err);
  if (!code)
    code = open_for(ctx, &l, path, err);
  if (!code)
    code = layout_close(&l, read_ragged(&l, from, name, text_str(&offsets_name), &part, err), err);
  if (!code) {
    map = mesh_ragged(ctx, from, to, part.offsets, part.targets, name, err);
    code = together_agree(ctx->comm, map ? OP_OK : error_prefix(err, "%s: ", path), err);
  }
  if (!code && spread_wanted(ctx))
    code = spread_declare(ctx, map->entries, err);
  if (!code)
    ctx->mesh->undistributed = true;
  else if (map)
    mesh_undo_map(ctx, map);
  text_free(&offsets_name);
  free(part.offsets);
  free(part.targets);
  return code ? NULL : map;
}

/* ---- dats ---- */

/* The file's order and layout are the dat's own: rows go where they stay. */
static bool is_plain(const struct dat *dat) {
  return !dat->soa && !dat->set->from_user && !dat->set->spread;
}

static int read_dat(struct op_context *ctx, struct layout *l, struct dat *dat, const char *name,
                    struct error *err) {
  struct file_dataset d;
  unsigned char *rows = NULL;
  const long count = dat->set->size;
  int code = find_rows(l, dat->set, name, dat->dim, false, &d, err);
  if (code)
    return code;
  if (d.compound != type_is_struct(dat->type))
    return error_set(err, OP_ERR_TYPE, "%s: \"%s\" holds %s; the dat is declared as \"%s\"", l->path, name,
                     d.words, type_info(dat->type)->name);
  const bool plain = is_plain(dat);
  if (!plain && !(rows = array_new((size_t)count, dat->row_bytes)))
    code = error_memory(err, "a dat's rows", (size_t)count * dat->row_bytes);
  if (!code) {
    log_line(ctx->log, LOG_INFO, "io", "%s: \"%s\" holds %s, read as %s", l->path, name, d.words,
             type_info(dat->type)->name);
    code = layout_read(l, name, dat->type, dat->dim, dat->set->global_first, count,
                       plain ? dat_value(dat, 0, 0) : rows, err);
  }
  if (!plain) {
    code = together_agree(l->comm, code, err);
    if (!code)
      code = data_put(ctx, dat, rows, err);
  }
  free(rows);
  return code;
}

struct dat *load_dat(struct op_context *ctx, struct set *set, int dim, const char *type, const char *path,
                     const char *name, struct error *err) {
  struct layout l;
  struct dat *dat = data_new(ctx, set, dim, type, NULL, name, false, err);
  int code = together_agree(ctx->comm, dat ? OP_OK : err->code, err);
  if (!code)
    code = open_for(ctx, &l, path, err);
  if (!code)
    code = layout_close(&l, read_dat(ctx, &l, dat, name, err), err);
  if (!code)
    return dat;
  if (dat)
    data_undo(ctx, dat);
  return NULL;
}

/* ---- constants ---- */

int check_const(const char *name, int dim, enum type_code code, const char *type, const void *value,
                struct error *err) {
  if (dim < 1)
    return error_set(err, OP_ERR_DIM, "constant \"%s\": the dim is %d; expected 1 or more", name, dim);
  if (code == TYPE_NONE)
    return error_set(err, OP_ERR_TYPE, "constant \"%s\": the type \"%s\" is unknown; expected one of %s",
                     name, type ? type : "NULL", type_names());
  if (!value)
    return error_set(err, OP_ERR_ARGUMENT, "constant \"%s\": the memory for its value is NULL", name);
  return OP_OK;
}

static int read_const(struct layout *l, const char *name, int dim, enum type_code type, void *value,
                      size_t bytes, struct error *err) {
  struct file_dataset d;
  long long values = 1;
  int code = layout_find(l, name, &d, err);
  if (code)
    return code;
  for (int i = 0; i < d.rank; i++)
    if (__builtin_mul_overflow(values, d.extents[i], &values))
      values = -1;
  if ((d.type == TYPE_NONE && !d.compound) || d.compound != type_is_struct(type))
    return error_set(err, OP_ERR_TYPE, "%s: constant \"%s\" holds %s; expected %s", l->path, name, d.words,
                     type_is_struct(type) ? type_info(type)->name : "numbers");
  if (values != dim)
    return error_set(err, OP_ERR_DIM, "%s: constant \"%s\" has %lld values; expected %d", l->path, name,
                     values, dim);
  void *room = malloc(bytes);
  if (!room)
    return error_memory(err, "a constant", bytes);
  /* All of it, whatever its shape; the caller's memory is touched only if all went well. */
  code = layout_read(l, name, type, d.rank ? (int)(d.extents[0] ? dim / d.extents[0] : dim) : dim, 0,
                     d.rank ? d.extents[0] : 1, room, err);
  code = together_agree(l->comm, code, err);
  if (!code)
    memcpy(value, room, bytes);
  free(room);
  return code;
}

int load_const(struct op_context *ctx, const char *name, int dim, const char *type, void *value,
               const char *path, struct error *err) {
  struct layout l;
  const enum type_code type_of = type_parse(type, NULL);
  size_t bytes = 0;
  int code = check_const(name, dim, type_of, type, value, err);
  if (!code && !size_mul((size_t)dim, type_info(type_of)->size, &bytes))
    code =
        error_set(err, OP_ERR_SIZE, "constant \"%s\": %d values are more than can be addressed", name, dim);
  code = together_agree(ctx->comm, code, err);
  if (!code)
    code = open_for(ctx, &l, path, err);
  return code ? code : layout_close(&l, read_const(&l, name, dim, type_of, value, bytes, err), err);
}
