#include "mesh/ragged.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/handles.h"
#include "ranks/comm.h"

/* ---- what the program gives ---- */

/* Two int, of which the first is 0, look like a multiple of 2^32. */
static const char *hint_of(long long first) {
  return first == 1                          ? "; do they count from 1? Here the first element's number is 0"
         : first && first % (1LL << 32) == 0 ? "; are they an array of int? They must be long long"
                                             : "";
}

static int check_offsets(const struct set *from, const long long *offsets, const char *name,
                         struct error *err) {
  if (!offsets)
    return error_set(err, OP_ERR_ARGUMENT,
                     "ragged map \"%s\": the offsets are NULL; expected %ld, one for each element of set "
                     "\"%s\" and the end",
                     name, from->size + 1, from->name);
  if (offsets[0] != 0)
    return error_set(err, OP_ERR_ARGUMENT,
                     "ragged map \"%s\": offsets[0] is %lld; expected 0, where the first element's targets "
                     "begin%s",
                     name, offsets[0], hint_of(offsets[0]));
  for (long e = 0; e < from->size; e++)
    if (offsets[e + 1] < offsets[e])
      return error_set(err, OP_ERR_ARGUMENT,
                       "ragged map \"%s\": offsets[%ld] is %lld, and offsets[%ld] before it is %lld; offsets "
                       "must not go back, an element without targets has the same one twice",
                       name, e + 1, offsets[e + 1], e, offsets[e]);
  /* Elements of a set are counted by int. */
  if (offsets[from->size] > INT_MAX)
    return error_set(
        err, OP_ERR_SIZE,
        "ragged map \"%s\": there are %lld entries; expected at most %d on one rank, use more ranks", name,
        offsets[from->size], INT_MAX);
  return OP_OK;
}

static int tell_target(const struct op_context *ctx, const struct set *from, const struct set *to,
                       const long long *offsets, const int *targets, long long at, const char *name,
                       struct error *err) {
  const int base = ctx->maps_base, first = ctx->columns_base;
  long e = 0;
  while (offsets[e + 1] <= at)
    e++;
  if (to->global_size == 0)
    return error_set(
        err, OP_ERR_MAP_RANGE,
        "ragged map \"%s\": element %lld of set \"%s\" has the target %d, but set \"%s\" is empty; into an "
        "empty set no element has a target",
        name, from->global_first + e + first, from->name, targets[at] + base, to->name);
  return error_set(
      err, OP_ERR_MAP_RANGE,
      "ragged map \"%s\": target %lld of element %lld of set \"%s\" is %d; expected %d .. %lld, the "
      "elements of set \"%s\"; correct the targets, or declare the set larger",
      name, at - offsets[e] + first, from->global_first + e + first, from->name, targets[at] + base, base,
      to->global_size - 1 + base, to->name);
}

static int check_targets(const struct op_context *ctx, const struct set *from, const struct set *to,
                         const long long *offsets, const int *targets, const char *name, struct error *err) {
  const long long entries = offsets[from->size];
  if (!targets && entries > 0)
    return error_set(
        err, OP_ERR_ARGUMENT,
        "ragged map \"%s\": the targets are NULL; expected %lld, as many as the last offset says", name,
        entries);
  for (long long i = 0; i < entries; i++)
    if (targets[i] < 0 || targets[i] >= to->global_size)
      return tell_target(ctx, from, to, offsets, targets, i, name, err);
  return OP_OK;
}

/* ---- the library's numbers ---- */

/* With ranks rows stay as they are until somebody needs local numbers. */
static bool keep(struct map *map, const long long *offsets, const int *targets) {
  const size_t entries = (size_t)offsets[map->from->size];
  map->first = array_new((size_t)map->from->size + 1, sizeof *map->first);
  if (!map->first || !rows_new(&map->global, entries, rows_wide(map->to->global_size)))
    return false;
  memcpy(map->first, offsets, ((size_t)map->from->size + 1) * sizeof *offsets);
  for (size_t i = 0; i < entries; i++)
    rows_set(&map->global, i, targets[i]);
  return true;
}

/* Rows in the library's order, which is another than the program's where sets were renumbered before. */
static bool fill(struct op_context *ctx, struct map *map, const long long *offsets, const int *targets) {
  const struct set *from = map->from;
  if (ctx->comm && !comm_alone(ctx->comm))
    return keep(map, offsets, targets);
  const int *rows = from->to_user, *numbers = map->to->from_user;
  const size_t entries = (size_t)offsets[from->size];
  map->first = array_new((size_t)from->size + 1, sizeof *map->first);
  map->table = data_memory(ctx->team, (entries + MAP_SLACK) * sizeof *map->table, data_table_number(map->id));
  if (rows) {
    map->entries->to_user = array_new(entries, sizeof(int));
    map->entries->from_user = array_new(entries, sizeof(int));
  }
  if (!map->first || !map->table || (rows && (!map->entries->to_user || !map->entries->from_user)))
    return false;
  long long next = 0;
  map->shortest = from->size ? LONG_MAX : 0;
  for (long e = 0; e < from->size; e++) {
    const long row = rows ? rows[e] : e;
    const long length = (long)(offsets[row + 1] - offsets[row]);
    map->shortest = length < map->shortest ? length : map->shortest;
    map->longest = length > map->longest ? length : map->longest;
    for (long long i = offsets[row]; i < offsets[row + 1]; i++, next++) {
      map->table[next] = numbers ? numbers[targets[i]] : targets[i];
      if (rows) {
        map->entries->to_user[next] = (int)i;
        map->entries->from_user[i] = (int)next;
      }
    }
    map->first[e + 1] = next;
  }
  map->equal = map->shortest == map->longest ? map->longest : 0;
  return true;
}

bool ragged_reorder(const struct map *map, const int *order, long long **first, int **entries) {
  const long size = map->from->extents[EXTENT_OWNED];
  *first = array_new((size_t)size + 1, sizeof **first);
  *entries = array_new((size_t)map->entries->extents[EXTENT_NONEXEC], sizeof **entries);
  if (!*first || !*entries)
    return false;
  long long next = 0;
  for (long e = 0; e < size; e++) {
    const long old = order ? order[e] : e;
    for (long long i = map->first[old]; i < map->first[old + 1]; i++)
      (*entries)[next++] = (int)i;
    (*first)[e + 1] = next;
  }
  for (; next < map->entries->extents[EXTENT_NONEXEC]; next++)
    (*entries)[next] = (int)next;
  return true;
}

/* ---- declaring ---- */

static struct set *new_entries(struct op_context *ctx, long size, const char *name, struct error *err) {
  struct text words = {0};
  text_addf(&words, "entries of %s", name);
  struct set *set = text_ok(&words) ? mesh_set(ctx, size, text_str(&words), err) : NULL;
  if (!text_ok(&words))
    error_memory_of(err, "the entries of map", name, words.length);
  text_free(&words);
  return set;
}

struct map *mesh_ragged(struct op_context *ctx, struct set *from, struct set *to, const long long *offsets,
                        const int *targets, const char *name, struct error *err) {
  const char *said = name ? name : "unnamed";
  if (check_offsets(from, offsets, said, err) || check_targets(ctx, from, to, offsets, targets, said, err))
    return NULL;
  struct set *entries = new_entries(ctx, (long)offsets[from->size], said, err);
  if (!entries)
    return NULL;
  struct map *map = map_new(ctx->mesh->next_map, from, to, 0, name);
  if (map)
    map->entries = entries;
  if (!map || !fill(ctx, map, offsets, targets) ||
      !(map->handle = handle_new(ctx->handles, HANDLE_MAP, map)) || !list_add(&ctx->mesh->maps, map)) {
    if (map && map->handle)
      handle_release(ctx->handles, map->handle, NULL);
    map_free(map);
    mesh_undo_set(ctx, entries);
    error_memory_of(err, "the table of map", name, (size_t)offsets[from->size] * sizeof(int));
    return NULL;
  }
  entries->entries_of = map;
  ctx->mesh->next_map++;
  return map;
}

struct dat *ragged_targets(struct op_context *ctx, struct map *map, struct error *err) {
  struct text name = {0};
  if (map->targets)
    return map->targets;
  text_addf(&name, "targets of %s", map->name);
  struct dat *dat = data_new(ctx, map->entries, 1, "int", NULL, text_str(&name), true, err);
  text_free(&name);
  const int *numbers = map->to->to_user;
  for (long i = 0; dat && i < map->entries->extents[EXTENT_OWNED]; i++)
    memcpy(dat_value(dat, i, 0), numbers ? &numbers[map->table[i]] : &map->table[i], sizeof *numbers);
  if (dat)
    dat_wrote(dat, SPACE_HOST);
  return map->targets = dat;
}
