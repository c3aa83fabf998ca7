/* Meshes, dats and constants into a file. */
#include "files/save.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "files/io.h"
#include "files/writing.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/spread.h"

static int begin(struct op_context *ctx, struct writing *w, struct layout *l, const char *path, bool keep,
                 struct error *err) {
  const struct file_table *table;
  int code = io_table(ctx, &table, err);
  if (!code)
    code = writing_begin(w, table, ctx->comm, path, keep ? path : NULL, err);
  if (code)
    return code;
  *l = writing_layout(w, path);
  l->ctx = ctx;
  return OP_OK;
}

/* ---- tables ---- */

static int write_table(struct op_context *ctx, struct layout *l, const struct rows_table *t,
                       const char *type_words, const struct layout_link links[2], struct error *err) {
  int code = layout_new_table(l, t->name, t->type, type_words, t->dim, t->set->global_size, links, err);
  return code ? code : rows_write(ctx, l, t, err);
}

/* Names are places in a file: in a whole mesh no two may be the same, and none empty. */
static int check_new(struct layout *l, const char *what, const char *name, struct error *err) {
  int code = OP_OK;
  if (l->file && !*name)
    code = error_set(err, OP_ERR_FILE, "%s: a %s has an empty name; in a file everything needs one", l->path,
                     what);
  else if (l->file && l->table->kind(l->file, name) != FILE_NOTHING)
    code = error_set(
        err, OP_ERR_FILE,
        "%s: a %s and something else are both called \"%s\"; in a file each needs a name of its own", l->path,
        what, name);
  return together_agree(l->comm, code, err);
}

static int write_set(struct layout *l, const struct set *set, struct error *err) {
  const int code = check_new(l, "set", set->name, err);
  return code ? code : layout_write_size(l, set->name, set->global_size, err);
}

/* One more than elements, in the program's order. The last rank has the end. */
static int write_offsets(struct op_context *ctx, struct layout *l, const struct map *map, const char *name,
                         struct error *err) {
  const struct set *from = map->from;
  const long long extents[1] = {from->global_size + 1};
  const long count = from->size + (spread_wanted(ctx) ? ctx->comm->rank == ctx->comm->size - 1 : 1);
  long long *offsets = array_new((size_t)from->size + 1, sizeof *offsets);
  int code =
      offsets ? OP_OK : error_memory(err, "the offsets of a map", ((size_t)from->size + 1) * sizeof *offsets);
  code = together_agree(l->comm, code, err);
  if (!code)
    code = together_agree(l->comm, spread_fetch_offsets(ctx, map, offsets, err), err);
  if (!code)
    code = layout_create(l, name, TYPE_LONGLONG, 1, extents, err);
  if (!code)
    code = layout_write(l, name, TYPE_LONGLONG, 1, from->global_first, count, offsets, err);
  free(offsets);
  return code;
}

/* The targets, a row for each entry; and behind the name with "_offsets" where each element's begin. */
static int write_ragged(struct op_context *ctx, struct layout *l, const struct map *map, struct error *err) {
  struct text name = {0};
  text_addf(&name, "%s" RAGGED_OFFSETS, map->name);
  int code = together_agree(l->comm,
                            text_ok(&name) ? OP_OK : error_memory(err, "a name in a file", name.length), err);
  if (!code)
    code = check_new(l, "ragged map's list of offsets", text_str(&name), err);
  if (!code)
    code = write_offsets(ctx, l, map, text_str(&name), err);
  text_free(&name);
  return code;
}

static int write_map(struct op_context *ctx, struct layout *l, struct map *map, struct error *err) {
  const struct layout_link links[2] = {{"from", map_rows_of(map)->name}, {"to", map->to->name}};
  const enum type_code type = map_number_type(map);
  const struct rows_table table = {.name = map->name,
                                   .type = type,
                                   .dim = map_width(map),
                                   .set = map_rows_of(map),
                                   .source = rows_of_map,
                                   .object = map};
  int code = check_new(l, "map", map->name, err);
  if (!code)
    code = write_table(ctx, l, &table, type_info(type)->name, links, err);
  return code || !map->first ? code : write_ragged(ctx, l, map, err);
}

/* ---- what may be replaced ---- */

enum { NAME_MOST = 256 };

static bool is_map(const struct layout *l, const char *name) {
  char word[NAME_MOST];
  return l->table->get_text(l->file, name, "from", word, sizeof word) &&
         l->table->get_text(l->file, name, "to", word, sizeof word);
}

/* A map is called as the dataset is without the end, and no dat is called as the dataset. */
static bool is_offsets(const struct layout *l, const char *name) {
  char map[NAME_MOST], word[NAME_MOST];
  const size_t length = strlen(name), end = sizeof RAGGED_OFFSETS - 1;
  if (length <= end || length - end >= sizeof map || strcmp(name + length - end, RAGGED_OFFSETS) != 0)
    return false;
  memcpy(map, name, length - end);
  map[length - end] = '\0';
  return l->table->kind(l->file, map) == FILE_DATASET && is_map(l, map) &&
         !l->table->get_text(l->file, name, "set", word, sizeof word);
}

/* The role of the dataset in a mesh of the file, NULL: it has none. */
static const char *part_of_mesh(struct layout *l, const char *name, const struct file_dataset *d) {
  if (layout_is_set(l, name, d))
    return "the size of a set";
  return is_map(l, name) ? "a map" : is_offsets(l, name) ? "the list of offsets of a ragged map" : NULL;
}

static int check_replaced(struct layout *l, const char *name, struct error *err) {
  struct file_dataset d;
  if (l->table->kind(l->file, name) != FILE_DATASET)
    return OP_OK;
  int code = l->table->look(l->file, name, &d, err);
  const char *what = code ? NULL : part_of_mesh(l, name, &d);
  return !what ? code
               : error_set(err, OP_ERR_FILE,
                           "%s: \"%s\" is %s in the file's mesh and is not replaced; name another place",
                           l->path, name, what);
}

/* Dats and constants replace their like. A set or a map is not replaced: its mesh would become unreadable. */
static int may_replace(struct layout *l, const struct text *name, struct error *err) {
  int code = text_ok(name) ? OP_OK : error_memory(err, "a name in a file", name->length);
  if (!code && l->file)
    code = check_replaced(l, text_str(name), err);
  return together_agree(l->comm, code, err);
}

/* One place has one name: "run/q" also for "/run//./q/". */
static void add_place(struct text *out, const char *name) {
  for (const char *part = name; *part;) {
    const size_t length = strcspn(part, "/");
    if (length && !(length == 1 && *part == '.')) {
      text_add(out, out->length ? "/" : "");
      text_add_bytes(out, part, length);
    }
    part += length + (part[length] == '/');
  }
  if (!out->length)
    text_add(out, "/");
}

static int write_dat(struct op_context *ctx, struct layout *l, struct dat *dat, const char *name,
                     struct error *err) {
  const struct layout_link links[2] = {{"set", dat->set->name}, {NULL, NULL}};
  char words[200];
  snprintf(words, sizeof words, "%s%s", type_info(dat->type)->name, dat->asked_soa ? ":soa" : "");
  const struct rows_table table = {.name = name,
                                   .type = dat->type,
                                   .dim = dat->dim,
                                   .set = dat->set,
                                   .source = rows_of_dat,
                                   .object = dat};
  int code = write_table(ctx, l, &table, words, links, err);
  return code ? error_prefix(err, "dat \"%s\": ", dat->name) : OP_OK;
}

/* ---- whole meshes ---- */

static int write_mesh(struct op_context *ctx, struct layout *l, struct error *err) {
  const struct mesh *mesh = ctx->mesh;
  int code = OP_OK;
  for (int i = 0; i < mesh->sets.count && !code; i++)
    code = write_set(l, mesh->sets.items[i], err);
  for (int i = 0; i < mesh->maps.count && !code; i++)
    code = write_map(ctx, l, mesh->maps.items[i], err);
  for (int i = 0; i < mesh->dats.count && !code; i++) {
    struct dat *dat = mesh->dats.items[i];
    if (!dat->temporary && !(code = check_new(l, "dat", dat->name, err)))
      code = write_dat(ctx, l, dat, dat->name, err);
  }
  return code;
}

int save_mesh(struct op_context *ctx, const char *path, struct error *err) {
  struct writing w;
  struct layout l;
  const int code = begin(ctx, &w, &l, path, false, err);
  return code ? code : writing_end(&w, write_mesh(ctx, &l, err), err);
}

int save_dat(struct op_context *ctx, struct dat *dat, const char *path, const char *name, struct error *err) {
  struct writing w;
  struct layout l;
  if (!*name)
    return error_set(err, OP_ERR_ARGUMENT,
                     "%s: dat \"%s\" is to be written under an empty name; give a path in the file", path,
                     dat->name);
  struct text place = {0};
  int code = begin(ctx, &w, &l, path, true, err);
  if (code)
    return code;
  add_place(&place, name);
  code = may_replace(&l, &place, err);
  code = writing_end(&w, code ? code : write_dat(ctx, &l, dat, text_str(&place), err), err);
  text_free(&place);
  return code;
}

/* ---- constants ---- */

static int write_const(struct writing *w, const char *name, int dim, enum type_code type, const void *value,
                       struct error *err) {
  const long long extent = dim;
  int code = w->table->create(w->file, name, type, 1, &extent, err);
  if (!code)
    code = w->table->put_number(w->file, name, "dim", dim, err);
  if (!code)
    code = w->table->put_text(w->file, name, "type", type_info(type)->name, err);
  return code ? code : w->table->write(w->file, name, type, 0, dim, value, err);
}

int save_const(struct op_context *ctx, const char *name, int dim, const char *type, const void *value,
               const char *path, struct error *err) {
  struct writing w;
  struct layout l;
  struct text place = {0};
  const enum type_code type_of = type_parse(type, NULL);
  int code = check_const(name, dim, type_of, type, value, err);
  code = together_agree(ctx->comm, code, err);
  if (!code)
    code = begin(ctx, &w, &l, path, true, err);
  if (code)
    return code;
  add_place(&place, name);
  code = may_replace(&l, &place, err);
  if (!code && w.file)
    code = write_const(&w, text_str(&place), dim, type_of, value, err);
  code = writing_end(&w, code, err);
  text_free(&place);
  return code;
}

int rows_of_dat(struct op_context *ctx, void *object, long low, long count, void *out, struct error *err) {
  return data_fetch(ctx, object, out, low, low + count - 1, err);
}

enum type_code map_number_type(const struct map *map) {
  return map->to->global_size > INT_MAX ? TYPE_LONGLONG : TYPE_INT;
}

/* With ranks all rows come at once, as long as `out` takes them. */
static int spread_rows(struct op_context *ctx, const struct map *map, long low, long count, void *out,
                       struct error *err) {
  const size_t width = (size_t)map_width(map), entries = (size_t)map_rows_of(map)->size * width;
  const enum type_code type = map_number_type(map);
  long long *rows = array_new(entries, sizeof *rows);
  int code = rows ? spread_fetch_map(ctx, map, rows, err)
                  : error_memory(err, "a map's rows", entries * sizeof *rows);
  for (size_t i = 0; !code && i < (size_t)count * width; i++) {
    const long long number = rows[(size_t)low * width + i];
    if (type == TYPE_INT)
      ((int *)out)[i] = (int)number;
    else
      ((long long *)out)[i] = number;
  }
  free(rows);
  return code;
}

int rows_of_map(struct op_context *ctx, void *object, long low, long count, void *out, struct error *err) {
  const struct map *map = object;
  if (spread_wanted(ctx))
    return spread_rows(ctx, map, low, count, out, err);
  const int *rows = map_rows_of(map)->from_user, *users = map->to->to_user, width = map_width(map);
  int *at = out;
  for (long e = low; e < low + count; e++) {
    const int *row = map->table + (size_t)(rows ? rows[e] : e) * (size_t)width;
    for (int i = 0; i < width; i++)
      *at++ = users ? users[row[i]] : row[i];
  }
  return OP_OK;
}

int rows_know(struct op_context *ctx, const struct map *map, struct rows_known *out, struct error *err) {
  const size_t elements = (size_t)map->from->size;
  const size_t targets = (size_t)map_rows_of(map)->size * (size_t)map_width(map);
  *out = (struct rows_known){array_new(elements + 1, sizeof *out->first),
                             array_new(targets, sizeof *out->targets)};
  int code = out->first && out->targets
                 ? OP_OK
                 : error_memory_of(err, "the rows of map", map->name, targets * sizeof *out->targets);
  code = together_agree(ctx->comm, code, err);
  if (!code && map->first)
    code = spread_fetch_offsets(ctx, map, out->first, err);
  const long long before = code ? 0 : out->first[0];
  for (size_t e = 0; !code && e <= elements; e++)
    out->first[e] = map->first ? out->first[e] - before : (long long)e * map->arity;
  if (!code && spread_wanted(ctx))
    return spread_fetch_map(ctx, map, out->targets, err);
  const int *rows = map_rows_of(map)->from_user, *users = map->to->to_user, width = map_width(map);
  for (size_t i = 0; !code && i < targets; i++) {
    const size_t row = i / (size_t)width, column = i % (size_t)width;
    const int target = map->table[(rows ? (size_t)rows[row] : row) * (size_t)width + column];
    out->targets[i] = users ? users[target] : target;
  }
  return code;
}

void rows_forget(struct rows_known *rows) {
  free(rows->first);
  free(rows->targets);
  *rows = (struct rows_known){0};
}

int rows_write(struct op_context *ctx, struct layout *l, const struct rows_table *t, struct error *err) {
  const size_t row_bytes = (size_t)t->dim * type_info(t->type)->size;
  const struct set *set = t->set;
  const long batch = !together_alone(ctx->comm) ? set->size
                     : row_bytes < LAYOUT_ROUND ? (long)(LAYOUT_ROUND / row_bytes)
                                                : 1;
  const long room = batch < set->size ? batch : set->size;
  void *rows = array_new((size_t)room, row_bytes);
  int code = together_agree(l->comm,
                            rows ? OP_OK : error_memory(err, "a file's rows", (size_t)room * row_bytes), err);
  layout_expect(l, (double)set->size * (double)row_bytes);
  /* Once at least: ranks without rows take part. */
  for (long low = 0, left = set->size; !code && (low == 0 || left > 0); low += batch, left -= batch) {
    const long count = left < batch ? left : batch;
    code = together_agree(l->comm, t->source(ctx, t->object, low, count, rows, err), err);
    if (!code)
      code = layout_write(l, t->name, t->type, t->dim, t->before + set->global_first + low, count, rows, err);
    if (!batch)
      break;
  }
  layout_expect(l, 0);
  free(rows);
  return code;
}
