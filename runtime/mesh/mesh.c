#include "mesh/mesh.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "jit/kernel/prelude.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "mesh/halo.h"
#include "mesh/handles.h"
#include "mesh/meeting.h"
#include "op2/op2jit_visible.h"
#include "ranks/comm.h"

/* The map of direct arguments; only its address matters. */
__attribute__((visibility("default"))) struct op2jit_map op2jit_identity_map;

void set_layout_free(struct set_layout *layout) {
  if (!layout)
    return;
  free(layout->copies);
  free(layout->users);
  free(layout);
}

void set_free(struct set *set) {
  if (!set)
    return;
  free(set->name);
  free(set->to_user);
  free(set->from_user);
  set_layout_free(set->layout);
  if (!set->sub)
    distribution_free(set->spread);
  free(set);
}

struct set *mesh_set(struct op_context *ctx, long size, const char *name, struct error *err) {
  if (size < 0) {
    error_set(err, OP_ERR_SIZE, "set \"%s\": the size is %ld; expected 0 or more elements",
              name ? name : "unnamed", size);
    return NULL;
  }
  struct set *set = calloc(1, sizeof *set);
  if (!set || !(set->name = name_copy(name)) || !(set->handle = handle_new(ctx->handles, HANDLE_SET, set)) ||
      !list_add(&ctx->mesh->sets, set)) {
    if (set && set->handle)
      handle_release(ctx->handles, set->handle, NULL);
    set_free(set);
    error_memory_of(err, "set", name, sizeof *set);
    return NULL;
  }
  set->id = ctx->mesh->next_set++;
  set->size = size;
  set->global_size = size;
  set->first_said = ctx->columns_base;
  for (int i = 0; i < EXTENTS; i++)
    set->extents[i] = size;
  return set;
}

/* How a table looks as a whole: for the message about one bad entry. */
struct survey {
  long long lowest, highest;
  size_t first_bad, bad;
};

static struct survey survey_table(const int *table, const long long *long_table, size_t entries,
                                  long long limit) {
  struct survey s = {LLONG_MAX, LLONG_MIN, 0, 0};
  for (size_t i = 0; i < entries; i++) {
    long long value = table ? table[i] : long_table[i];
    s.lowest = value < s.lowest ? value : s.lowest;
    s.highest = value > s.highest ? value : s.highest;
    if (value < 0 || value >= limit) {
      if (!s.bad)
        s.first_bad = i;
      s.bad++;
    }
  }
  return s;
}

/* `shifted`: the entries run from one more than the first number to the size of the set. */
static const char *advise(const struct op_context *ctx, bool shifted) {
  if (!shifted)
    return "correct the table, or declare the set larger";
  if (ctx->maps_base)
    return "all entries seem to be one too large; a table in a file counts from 0";
  return ctx->columns_base ? "the entries run from 1 to the size of the set, so the map seems to count from "
                             "1: leave base=0 of "
                             "op_init away"
                           : "the entries run from 1 to the size of the set, so the map seems to count from "
                             "1: subtract 1 from "
                             "each entry";
}

/* Numbers in messages are those of the program, which in Fortran count from 1. */
static int check_entries(const struct op_context *ctx, const struct set *from, const struct set *to,
                         int arity, const int *table, const long long *long_table, size_t entries,
                         const char *name, struct error *err) {
  struct survey s = survey_table(table, long_table, entries, to->global_size);
  if (!s.bad)
    return OP_OK;
  const int base = ctx->maps_base, first = ctx->columns_base;
  const long long value = base + (table ? table[s.first_bad] : long_table[s.first_bad]);
  const long long element = first + from->global_first + (long long)(s.first_bad / (size_t)arity);
  if (to->global_size == 0)
    return error_set(
        err, OP_ERR_MAP_RANGE,
        "map \"%s\": element %lld of set \"%s\" has the target %lld, but set \"%s\" is empty; a map into an "
        "empty set needs an empty source",
        name, element, from->name, value, to->name);
  return error_set(
      err, OP_ERR_MAP_RANGE,
      "map \"%s\": entry %lld of element %lld of set \"%s\" is %lld; expected %d .. %lld, the elements of "
      "set \"%s\" (%zu of %zu entries %s outside); %s",
      name, first + (long long)(s.first_bad % (size_t)arity), element, from->name, value, base,
      base + to->global_size - 1, to->name, s.bad, entries, s.bad == 1 ? "is" : "are",
      advise(ctx, s.lowest == 1 && s.highest == to->global_size));
}

struct map *map_new(int id, struct set *from, struct set *to, int arity, const char *name) {
  struct map *map = calloc(1, sizeof *map);
  char *said = name_copy(name);
  if (!map || !said) {
    free(map);
    free(said);
    return NULL;
  }
  *map = (struct map){.id = id, .name = said, .from = from, .to = to, .arity = arity};
  return map;
}

void map_free(struct map *map) {
  if (!map)
    return;
  free(map->name);
  data_memory_free(map->table);
  data_memory_free(map->numbers);
  free(map->first);
  free(map->global.entries);
  map_halo_free(map->halo);
  meeting_free(map);
  free(map);
}

/* Into the library's numbering, row by row. */
static void fill_table(struct map *map, const int *table, const long long *long_table) {
  const int *rows = map->from->from_user, *targets = map->to->from_user;
  for (long e = 0; e < map->from->size; e++) {
    const size_t source = (size_t)e * (size_t)map->arity;
    int *row = map->table + (size_t)(rows ? rows[e] : e) * (size_t)map->arity;
    for (int i = 0; i < map->arity; i++) {
      int target = table ? table[source + (size_t)i] : (int)long_table[source + (size_t)i];
      row[i] = targets ? targets[target] : target;
    }
  }
}

static int check_map(const struct op_context *ctx, const struct set *from, const struct set *to, int arity,
                     const int *table, const long long *long_table, const char *name, size_t *entries,
                     struct error *err) {
  size_t bytes;
  if (arity < 1)
    return error_set(err, OP_ERR_DIM, "map \"%s\": the arity is %d; expected 1 or more targets per element",
                     name, arity);
  if (!table && !long_table && from->size > 0)
    return error_set(err, OP_ERR_ARGUMENT,
                     "map \"%s\": the table is NULL; expected %ld x %d entries (NULL only for an empty set)",
                     name, from->size, arity);
  if (!size_mul((size_t)from->size, (size_t)arity, entries) || !size_mul(*entries, sizeof(long long), &bytes))
    return error_set(
        err, OP_ERR_SIZE,
        "map \"%s\": %ld elements of arity %d are more than can be addressed; declare fewer of them", name,
        from->size, arity);
  return from->size > 0 ? check_entries(ctx, from, to, arity, table, long_table, *entries, name, err) : OP_OK;
}

/* With ranks the rows stay as they are until somebody needs local numbers. `given`, or NULL: they are these, and are taken if
 * they are as wide as needed. */
static bool keep_rows(struct op_context *ctx, struct map *map, size_t entries, const int *table,
                      const long long *long_table, struct rows *given) {
  if (!ctx->comm || comm_alone(ctx->comm)) {
    if ((map->table =
             data_memory(ctx->team, (entries + MAP_SLACK) * sizeof *map->table, data_table_number(map->id))))
      fill_table(map, table, long_table);
    return map->table;
  }
  if (given && given->wide == rows_wide(map->to->global_size)) {
    map->global = *given;
    given->entries = NULL;
    return true;
  }
  if (!rows_new(&map->global, entries, rows_wide(map->to->global_size)))
    return false;
  for (size_t i = 0; i < entries; i++)
    rows_set(&map->global, i, table ? table[i] : long_table[i]);
  return true;
}

struct map *mesh_map(struct op_context *ctx, struct set *from, struct set *to, int arity, const int *table,
                     const long long *long_table, struct rows *given, const char *name, struct error *err) {
  size_t entries = 0;
  if (check_map(ctx, from, to, arity, table, long_table, name ? name : "unnamed", &entries, err))
    return NULL;
  struct map *map = map_new(ctx->mesh->next_map, from, to, arity, name);
  if (!map || !keep_rows(ctx, map, entries, table, long_table, given) ||
      !(map->handle = handle_new(ctx->handles, HANDLE_MAP, map)) || !list_add(&ctx->mesh->maps, map)) {
    if (map && map->handle)
      handle_release(ctx->handles, map->handle, NULL);
    map_free(map);
    error_memory_of(err, "the table of map", name, entries * sizeof(int));
    return NULL;
  }
  ctx->mesh->next_map++;
  return map;
}

struct constant *mesh_find_constant(const struct mesh *mesh, const char *name) {
  for (int i = 0; i < mesh->constants.count; i++) {
    struct constant *constant = mesh->constants.items[i];
    if (strcmp(constant->name, name) == 0)
      return constant;
  }
  return NULL;
}

static void set_value(struct op_context *ctx, struct constant *constant, const void *value) {
  if (memcmp(constant->value, value, constant->bytes) == 0)
    return;
  memcpy(constant->value, value, constant->bytes);
  constant->changes++;
  ctx->mesh->constant_epoch++;
}

bool mesh_constants_moved(const struct mesh *mesh) {
  bool any = false;
  for (int i = 0; i < mesh->constants.count; i++) {
    const struct constant *constant = mesh->constants.items[i];
    any |= constant->live && memcmp(constant->value, constant->live, constant->bytes) != 0;
  }
  return any;
}

void mesh_look_at_constants(struct op_context *ctx) {
  for (int i = 0; i < ctx->mesh->constants.count; i++) {
    struct constant *constant = ctx->mesh->constants.items[i];
    if (constant->live)
      set_value(ctx, constant, constant->live);
  }
}

static void constant_free(struct constant *constant) {
  if (!constant)
    return;
  free(constant->name);
  free(constant->value);
  free(constant);
}

int mesh_check_values(const char *what, const char *name, int dim, const char *type, size_t *bytes,
                      struct error *err) {
  const enum type_code code = type_parse(type, NULL);
  if (dim < 1)
    return error_set(err, OP_ERR_DIM, "%s \"%s\": the dim is %d; expected 1 or more", what, name, dim);
  if (code == TYPE_NONE) {
    struct text wrong = {0};
    type_tell_unknown(type, &wrong);
    error_set(err, OP_ERR_TYPE, "%s \"%s\": %s", what, name, text_str(&wrong));
    text_free(&wrong);
    return OP_ERR_TYPE;
  }
  if (!size_mul((size_t)dim, type_info(code)->size, bytes))
    return error_set(err, OP_ERR_SIZE,
                     "%s \"%s\": %d values are more than can be addressed; declare fewer of them", what, name,
                     dim);
  return OP_OK;
}

static int check_constant(const struct op_context *ctx, const char *name, int dim, const char *type,
                          const void *value, size_t *bytes, struct error *err) {
  if (!name)
    return error_set(err, OP_ERR_CONST,
                     "op_decl_const: the name is NULL; expected a C identifier, the name kernels use");
  const char *wrong_name = constant_name_wrong(name);
  if (wrong_name)
    return error_set(err, OP_ERR_CONST, "constant \"%s\": %s", name, wrong_name);
  if (mesh_check_values("constant", name, dim, type, bytes, err))
    return err->code;
  if (!value)
    return error_set(err, OP_ERR_ARGUMENT, "constant \"%s\": the value is NULL; expected %d of type %s", name,
                     dim, type_said(type_parse(type, NULL), ctx->columns_base != 0));
  return OP_OK;
}

int mesh_check_pointed(const struct op_context *ctx, const char *name, enum type_code declared,
                       const char *is, struct error *err) {
  return type_check_pointed(declared, is, "the value is a C variable", ctx->columns_base ? NULL : "void *",
                            err)
             ? error_prefix(err, "constant \"%s\": ", name ? name : "unnamed")
             : OP_OK;
}

int mesh_constant(struct op_context *ctx, const char *name, int dim, const char *type, const void *value,
                  const char *is, struct error *err) {
  enum type_code code = type_parse(type, NULL);
  size_t bytes = 0;
  int status = check_constant(ctx, name, dim, type, value, &bytes, err);
  if (status)
    return status;
  struct constant *old = mesh_find_constant(ctx->mesh, name);
  if (old && (old->dim != dim || old->type != code))
    return error_set(
        err, OP_ERR_CONST,
        "constant \"%s\" is declared again as %d of type %s; it is %d of type %s. Use another name, or "
        "the same dim and type to give it a new value",
        name, dim, type_info(code)->name, old->dim, type_info(old->type)->name);
  status = mesh_check_pointed(ctx, name, code, is, err);
  if (status)
    return status;
  if (old) {
    set_value(ctx, old, value);
    return OP_OK;
  }
  struct constant *constant = calloc(1, sizeof *constant);
  if (!constant || !(constant->name = strdup(name)) || !(constant->value = array_new(bytes, 1)) ||
      !list_add(&ctx->mesh->constants, constant)) {
    constant_free(constant);
    return error_memory_of(err, "constant", name, bytes);
  }
  constant->type = code;
  constant->dim = dim;
  constant->bytes = bytes;
  memcpy(constant->value, value, bytes);
  ctx->mesh->constant_epoch++;
  return OP_OK;
}

int mesh_update_constant(struct op_context *ctx, const char *name, const void *value, const char *is,
                         struct error *err) {
  struct constant *constant = name ? mesh_find_constant(ctx->mesh, name) : NULL;
  if (!constant)
    return error_set(err, OP_ERR_CONST,
                     "constant \"%s\" is not declared; declare it with op_decl_const first",
                     name ? name : "NULL");
  if (!value)
    return error_set(err, OP_ERR_ARGUMENT, "constant \"%s\": the new value is NULL; expected %d of type %s",
                     name, constant->dim, type_info(constant->type)->name);
  const int status = mesh_check_pointed(ctx, name, constant->type, is, err);
  if (status)
    return status;
  set_value(ctx, constant, value);
  return OP_OK;
}

void mesh_undo_set(struct op_context *ctx, struct set *set) {
  handle_release(ctx->handles, set->handle, NULL);
  list_remove(&ctx->mesh->sets, set);
  ctx->mesh->next_set--;
  set_free(set);
}

void mesh_undo_map(struct op_context *ctx, struct map *map) {
  if (map->entries)
    mesh_undo_set(ctx, map->entries);
  handle_release(ctx->handles, map->handle, NULL);
  list_remove(&ctx->mesh->maps, map);
  ctx->mesh->next_map--;
  map_free(map);
}

void mesh_free_set(struct op_context *ctx, struct set *set) {
  struct list *sets = &ctx->mesh->sets;
  handle_release(ctx->handles, set->handle, set->name);
  list_remove(sets, set);
  for (int i = 0; i < sets->count; i++)
    ((struct set *)sets->items[i])->id = i;
  ctx->mesh->next_set = sets->count;
  set_free(set);
}

void mesh_free_map(struct op_context *ctx, struct map *map) {
  handle_release(ctx->handles, map->handle, map->name);
  list_remove(&ctx->mesh->maps, map);
  map_free(map);
}

void mesh_free(struct op_context *ctx) {
  struct mesh *mesh = ctx->mesh;
  for (int i = 0; i < mesh->dats.count; i++)
    data_free(ctx, mesh->dats.items[i]);
  for (int i = 0; i < mesh->spare.count; i++)
    data_free(ctx, mesh->spare.items[i]);
  for (int i = 0; i < mesh->maps.count; i++)
    map_free(mesh->maps.items[i]);
  for (int i = 0; i < mesh->sets.count; i++)
    set_free(mesh->sets.items[i]);
  for (int i = 0; i < mesh->constants.count; i++)
    constant_free(mesh->constants.items[i]);
  globals_free(ctx);
  list_free(&mesh->dats);
  list_free(&mesh->spare);
  list_free(&mesh->maps);
  list_free(&mesh->sets);
  list_free(&mesh->constants);
  *mesh = (struct mesh){0};
}
