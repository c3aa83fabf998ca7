#include "mesh/subset.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/handles.h"

/* ---- declaring ---- */

static const char *said(const char *name) {
  return name ? name : "unnamed";
}

static int check_size(const struct set *parent, const struct chosen *chosen, const char *name,
                      struct error *err) {
  const int n = chosen->n;
  if (n < 0 || n > parent->size)
    return error_set(err, OP_ERR_SIZE,
                     "subset \"%s\": the size is %d; expected 0 .. %ld, as many elements as set \"%s\" has%s",
                     name, n, parent->size, parent->name, parent->of_ranks ? " on this rank" : "");
  if (!chosen->elements && !chosen->range && n > 0)
    return error_set(
        err, OP_ERR_ARGUMENT,
        "subset \"%s\": the elements are NULL; expected %d numbers of elements of set \"%s\" (NULL "
        "only for none)",
        name, n, parent->name);
  if (chosen->range && (chosen->first < 0 || chosen->first > parent->size - n))
    return error_set(
        err, OP_ERR_RANGE,
        "subset \"%s\": the range of %d elements begins at %d; expected %d .. %ld, as set \"%s\" "
        "has %ld elements%s",
        name, n, chosen->first + chosen->base, chosen->base, parent->size - n + chosen->base, parent->name,
        parent->size, parent->of_ranks ? " on this rank" : "");
  return OP_OK;
}

/* The place in `elements` where this one is, before `end`. */
static int place_of(const int *elements, int end, int element) {
  int i = 0;
  while (i < end && elements[i] != element)
    i++;
  return i;
}

static int check_elements(const struct set *parent, const struct chosen *chosen, const char *name,
                          struct error *err) {
  const int *elements = chosen->elements, base = chosen->base;
  /* As C and Fortran write them. */
  const char open = base ? '(' : '[', close = base ? ')' : ']';
  unsigned char *seen = array_new((size_t)parent->size, 1);
  if (!seen)
    return error_memory(err, "the check of a subset", (size_t)parent->size);
  int code = OP_OK;
  for (int i = 0; !code && i < chosen->n; i++) {
    const int element = elements[i];
    if (element < 0 || element >= parent->size)
      code =
          error_set(err, OP_ERR_RANGE,
                    "subset \"%s\": elements%c%d%c is %d; expected %d .. %ld, the elements of set \"%s\"%s",
                    name, open, i + base, close, element + base, base, parent->size - 1 + base, parent->name,
                    parent->of_ranks ? " that this rank declared" : "");
    else if (seen[element]++)
      code = error_set(
          err, OP_ERR_ARGUMENT,
          "subset \"%s\": elements%c%d%c is %d, as elements%c%d%c is; name each element of set \"%s\" "
          "once",
          name, open, i + base, close, element + base, open, place_of(elements, i, element) + base, close,
          parent->name);
  }
  free(seen);
  return code;
}

int subset_check(const struct set *parent, const struct chosen *chosen, const char *name, struct error *err) {
  const int code = check_size(parent, chosen, said(name), err);
  return code || chosen->range ? code : check_elements(parent, chosen, said(name), err);
}

static void inside_free(struct set *set) {
  struct subset *sub = set->sub;
  if (sub) {
    for (int i = 0; i < sub->maps.count; i++)
      map_free(sub->maps.items[i]);
    list_free(&sub->maps);
    map_free(sub->own);
    free(sub->members);
  }
  set_free(set);
  free(sub);
}

static int member(const struct chosen *chosen, int i) {
  return chosen->range ? chosen->first + i : chosen->elements[i];
}

static bool fill_new(struct set *set, struct set *parent, const struct chosen *chosen, const char *name) {
  set->sub = calloc(1, sizeof *set->sub);
  set->name = name_copy(name);
  if (!set->sub || !set->name)
    return false;
  set->sub->parent = parent;
  set->sub->members = array_new((size_t)chosen->n, sizeof *set->sub->members);
  set->sub->own = map_new(-1, set, parent, 1, set->name);
  if (!set->sub->members || !set->sub->own)
    return false;
  for (int i = 0; i < chosen->n; i++)
    set->sub->members[i] = member(chosen, i);
  set->id = parent->id;
  set->first_said = parent->first_said;
  set->size = set->global_size = chosen->n;
  return true;
}

struct set *subset_new(struct op_context *ctx, struct set *parent, const struct chosen *chosen,
                       const char *name, struct error *err) {
  struct set *set = calloc(1, sizeof *set);
  if (set && fill_new(set, parent, chosen, name) &&
      (set->handle = handle_new(ctx->handles, HANDLE_SET, set)) && list_add(&ctx->mesh->subsets, set))
    return set;
  if (set && set->handle)
    handle_release(ctx->handles, set->handle, NULL);
  if (set)
    inside_free(set);
  error_memory_of(err, "subset", name, (size_t)chosen->n * sizeof(int));
  return NULL;
}

void subset_free(struct op_context *ctx, struct set *set) {
  if (set->handle)
    handle_release(ctx->handles, set->handle, set->name);
  list_remove(&ctx->mesh->subsets, set);
  list_remove(&ctx->mesh->retired, set);
  inside_free(set);
}

void subsets_free(struct op_context *ctx) {
  struct mesh *mesh = ctx->mesh;
  while (mesh->subsets.count)
    subset_free(ctx, mesh->subsets.items[mesh->subsets.count - 1]);
  while (mesh->retired.count)
    subset_free(ctx, mesh->retired.items[mesh->retired.count - 1]);
  list_free(&mesh->subsets);
  list_free(&mesh->retired);
}

/* ---- the same again ---- */

bool subset_retire(struct op_context *ctx, struct set *set) {
  if (!list_add(&ctx->mesh->retired, set))
    return false;
  list_remove(&ctx->mesh->subsets, set);
  handle_release(ctx->handles, set->handle, set->name);
  set->handle = NULL;
  return true;
}

bool subset_is_like(const struct set *set, const struct set *parent, const char *name) {
  return set->sub->parent == parent && strcmp(set->name, said(name)) == 0;
}

bool subset_has(const struct set *set, const struct chosen *chosen) {
  if (set->size != chosen->n)
    return false;
  for (int i = 0; i < chosen->n; i++)
    if (set->sub->members[i] != member(chosen, i))
      return false;
  return true;
}

int subset_revive(struct op_context *ctx, struct set *set, struct error *err) {
  op_set handle = handle_new(ctx->handles, HANDLE_SET, set);
  if (!handle || !list_add(&ctx->mesh->subsets, set)) {
    if (handle)
      handle_release(ctx->handles, handle, NULL);
    return error_memory_of(err, "subset", set->name, sizeof *set);
  }
  list_remove(&ctx->mesh->retired, set);
  set->handle = handle;
  return OP_OK;
}

/* ---- the library's numbers ---- */

static int *table_memory(struct op_context *ctx, const struct map *map, size_t entries) {
  return data_memory(ctx->team, (entries + MAP_SLACK) * sizeof *map->table, data_table_number(map->id));
}

/* A ragged map gets room for its beginnings of rows alone: their lengths are known when its elements are. */
static bool new_table(struct op_context *ctx, struct map *map, long rows) {
  data_memory_free(map->table);
  data_memory_free(map->numbers);
  free(map->first);
  map->table = map->numbers = NULL;
  map->first = NULL;
  if (map->of && map->of->first)
    map->first = array_new((size_t)rows + 1, sizeof *map->first);
  else
    map->table = table_memory(ctx, map, (size_t)rows * (size_t)map->arity);
  return map->first || map->table;
}

int subset_room(struct op_context *ctx, struct set *set, const long extents[EXTENTS], struct error *err) {
  const long rows = extents[EXTENT_EXEC];
  bool good = new_table(ctx, set->sub->own, rows);
  for (int i = 0; good && i < set->sub->maps.count; i++)
    good = new_table(ctx, set->sub->maps.items[i], rows);
  free(set->to_user);
  set->to_user = array_new((size_t)rows, sizeof *set->to_user);
  if (!good || !set->to_user)
    return error_memory_of(err, "subset", set->name, (size_t)rows * sizeof(int));
  memcpy(set->extents, extents, sizeof set->extents);
  return OP_OK;
}

/* Room for the rows of a ragged one, if there is none. */
static bool make_entries(struct op_context *ctx, const struct set *set, struct map *map) {
  const size_t entries = (size_t)map->first[set->extents[EXTENT_EXEC]];
  map->table = map->table ? map->table : table_memory(ctx, map, entries);
  map->numbers = map->numbers ? map->numbers : table_memory(ctx, map, entries);
  return map->table && map->numbers;
}

static bool compose_ragged(struct op_context *ctx, const struct set *set, struct map *map) {
  const struct map *of = map->of;
  const int *own = set->sub->own->table;
  const long rows = set->extents[EXTENT_EXEC];
  map->shortest = of->shortest;
  map->longest = of->longest;
  map->equal = of->equal;
  for (long e = 0; e < rows; e++)
    map->first[e + 1] = map->first[e] + of->first[own[e] + 1] - of->first[own[e]];
  if (!make_entries(ctx, set, map))
    return false;
  for (long e = 0; e < rows; e++)
    for (long long i = map->first[e], from = of->first[own[e]]; i < map->first[e + 1]; i++, from++) {
      map->table[i] = of->table[from];
      map->numbers[i] = (int)from;
    }
  return true;
}

static bool compose(struct op_context *ctx, const struct set *set, struct map *map) {
  const size_t arity = (size_t)map->arity;
  if (map->first)
    return compose_ragged(ctx, set, map);
  for (long e = 0; e < set->extents[EXTENT_EXEC]; e++)
    memcpy(map->table + (size_t)e * arity, map->of->table + (size_t)set->sub->own->table[e] * arity,
           arity * sizeof *map->table);
  return true;
}

static int no_map_memory(const struct set *set, const struct map *map, struct error *err) {
  return error_memory_of(err, "a map of subset", set->name,
                         (size_t)set->extents[EXTENT_EXEC] * (size_t)map_width(map) * sizeof(int));
}

int subset_follow(struct op_context *ctx, struct set *set, struct error *err) {
  const struct subset *sub = set->sub;
  const int *numbers = sub->parent->to_user;
  for (long e = 0; e < set->extents[EXTENT_EXEC]; e++)
    set->to_user[e] = numbers ? numbers[sub->own->table[e]] : sub->own->table[e];
  for (int i = 0; i < sub->maps.count; i++)
    if (!compose(ctx, set, sub->maps.items[i]))
      return no_map_memory(set, sub->maps.items[i], err);
  return OP_OK;
}

static int ascending(const void *a, const void *b) {
  const int x = *(const int *)a, y = *(const int *)b;
  return (x > y) - (x < y);
}

static int number(struct op_context *ctx, struct set *set, struct error *err) {
  const struct subset *sub = set->sub;
  const int *from_user = sub->parent->from_user;
  bool sorted = true;
  for (long e = 0; e < set->size; e++) {
    sub->own->table[e] = from_user ? from_user[sub->members[e]] : sub->members[e];
    sorted &= e == 0 || sub->own->table[e - 1] < sub->own->table[e];
  }
  if (!sorted)
    qsort(sub->own->table, (size_t)set->size, sizeof(int), ascending);
  return subset_follow(ctx, set, err);
}

int subset_number(struct op_context *ctx, struct set *set, struct error *err) {
  const long extents[EXTENTS] = {set->size, set->size, set->size, set->size};
  const int code = subset_room(ctx, set, extents, err);
  return code ? code : number(ctx, set, err);
}

typedef void each_subset(struct op_context *ctx, struct set *set);

static void each(struct op_context *ctx, each_subset *f) {
  const struct list *both[] = {&ctx->mesh->subsets, &ctx->mesh->retired};
  for (int l = 0; l < 2; l++)
    for (int i = 0; i < both[l]->count; i++)
      f(ctx, both[l]->items[i]);
}

/* Rows only change places: there is room for them. */
static void number_again(struct op_context *ctx, struct set *set) {
  struct error none = {0};
  number(ctx, set, &none);
}

void subsets_number(struct op_context *ctx) {
  each(ctx, number_again);
}

static void take_id(struct op_context *ctx, struct set *set) {
  (void)ctx;
  set->id = set->sub->parent->id;
}

void subsets_take_ids(struct op_context *ctx) {
  each(ctx, take_id);
}

/* ---- maps ---- */

struct map *subset_map(struct op_context *ctx, struct set *set, const struct map *map, struct error *err) {
  for (int i = 0; i < set->sub->maps.count; i++)
    if (((const struct map *)set->sub->maps.items[i])->of == map)
      return set->sub->maps.items[i];
  struct map *made = map_new(map->id, set, map->to, map->arity, map->name);
  if (made) {
    made->entries = map->entries;
    made->of = map;
    if (new_table(ctx, made, set->extents[EXTENT_EXEC]) && compose(ctx, set, made) &&
        list_add(&set->sub->maps, made))
      return made;
    map_free(made);
  }
  no_map_memory(set, map, err);
  return NULL;
}

static void forget_map(const struct list *subsets, const struct map *map) {
  for (int s = 0; s < subsets->count; s++) {
    struct list *maps = &((struct set *)subsets->items[s])->sub->maps;
    for (int i = maps->count - 1; i >= 0; i--) {
      struct map *own = maps->items[i];
      if (own->of != map)
        continue;
      list_remove(maps, own);
      map_free(own);
    }
  }
}

void subsets_forget_map(struct op_context *ctx, const struct map *map) {
  forget_map(&ctx->mesh->subsets, map);
  forget_map(&ctx->mesh->retired, map);
}
