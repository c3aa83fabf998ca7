/* Objects that end before op_exit. Loops, plans and messages forget them first. */
#include <stdlib.h>

#include "api/api.h"
#include "api/life.h"
#include "base/text.h"
#include "checkpoint/tell.h"
#include "context/context.h"
#include "loop/loop.h"
#include "loop/temporary.h"
#include "mesh/data.h"
#include "mesh/matrix.h"
#include "mesh/subset.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/data.h"
#include "spread/exchange.h"
#include "spread/spread.h"
#include "tape/tape.h"
#include "tape/tell.h"

/* ---- dats ---- */

static int free_for_good(struct op_context *ctx, const char *call, struct dat *dat) {
  int code = checkpoint_free(ctx, call, dat, api_error());
  if (!code)
    code = lend_last(ctx, dat, api_error());
  if (code)
    return code;
  tape_forget(ctx, dat);
  dat_forget(ctx, dat);
  return OP_OK;
}

/* Loops that wait need not store a temporary, and may run later. A view's array is the program's. */
static int free_temporary(struct op_context *ctx, op_dat handle) {
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, "op_free_dat_temp", "the dat");
  if (!dat || lend_check_placed(dat, "op_free_dat_temp", api_error()))
    return api_error()->code;
  if (!dat->temporary && !dat->view)
    return error_set(api_error(), OP_ERR_HANDLE,
                     "op_free_dat_temp: dat \"%s\" is not a temporary; op_free_dat frees dats of any kind",
                     dat->name);
  if (dat->temporary && !dat->view && tape_holds_dat(ctx, dat))
    return OP_OK;
  if (!dat->view)
    checkpoint_free(ctx, "op_free_dat_temp", dat, api_error());
  if (dat->temporary && !dat->view) {
    /* Loops that wait may use its bar or its dot, which go now. */
    const int ran = thing_find(ctx->tapes, dat) ? ctx_flush(ctx, api_error()) : OP_OK;
    tape_forget(ctx, dat);
    const int code = temporary_end(ctx, dat, api_error());
    return ran ? ran : code;
  }
  int code = tape_refuses(ctx, dat, "op_free_dat_temp", api_error());
  if (!code)
    code = ctx_flush(ctx, api_error());
  return code ? code : free_for_good(ctx, "op_free_dat_temp", dat);
}

int op2jit_free_dat_temp(op_dat dat) {
  struct op_context *ctx = api_enter("op_free_dat_temp", KEEP);
  if (!ctx)
    return api_refused();
  /* With ranks loops that wait run here if they use it: then it is a call of all ranks. */
  const bool together = ctx->counters->waiting > 0 && !comm_alone(ctx->comm);
  return (together ? api_leave : api_leave_local)(free_temporary(ctx, dat));
}

int op2jit_free_dat(op_dat handle) {
  struct op_context *ctx = api_enter("op_free_dat", FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, "op_free_dat", "the dat");
  if (dat && !lend_check_placed(dat, "op_free_dat", api_error()))
    tape_refuses(ctx, dat, "op_free_dat", api_error());
  const int code = api_agree("op_free_dat of dat \"%s\"\n", dat ? dat->name : "");
  return api_leave(code ? code : free_for_good(ctx, "op_free_dat", dat));
}

/* ---- what is in use ---- */

/* The users of a set, for the message: the first few by name. */
struct users {
  struct text names;
  int count;
};

static void add_user(struct users *u, const char *kind, const char *name) {
  enum { NAMED = 4 };
  if (u->count++ < NAMED)
    text_addf(&u->names, "%s%s \"%s\"", u->count == 1 ? "" : ", ", kind, name);
  else if (u->count == NAMED + 1)
    text_add(&u->names, ", ...");
}

static void add_users(struct users *u, const struct mesh *mesh, const struct set *set) {
  for (int i = 0; i < mesh->maps.count; i++) {
    const struct map *map = mesh->maps.items[i];
    if (map->from == set || map->to == set)
      add_user(u, "map", map->name);
  }
  for (int i = 0; i < mesh->dats.count; i++) {
    const struct dat *dat = mesh->dats.items[i];
    if (dat->set == set && !matrix_of_dat(mesh, dat) && !(set->entries_of && set->entries_of->targets == dat))
      add_user(u, "dat", dat->name);
  }
  for (int i = 0; i < mesh->subsets.count; i++) {
    const struct set *subset = mesh->subsets.items[i];
    if (subset->sub->parent == set)
      add_user(u, "subset", subset->name);
  }
}

static void add_matrices(struct users *u, const struct mesh *mesh, const void *object) {
  for (int i = 0; i < mesh->matrices.count; i++)
    if (matrix_uses(mesh->matrices.items[i], object))
      add_user(u, "matrix", ((const struct matrix *)mesh->matrices.items[i])->name);
}

/* `u` is emptied. */
static int refuse_used(struct users *u, const char *what, const char *name, const char *is,
                       const char *calls) {
  const bool one = u->count == 1;
  if (u->count)
    error_set(api_error(), OP_ERR_STATE, "%s \"%s\" %s in use by %d %s: %s; free %s first, with %s", what,
              name, is, u->count, one ? "thing" : "things", text_str(&u->names), one ? "it" : "them", calls);
  text_free(&u->names);
  *u = (struct users){0};
  return api_error()->code;
}

/* ---- maps ---- */

static void forget_table(struct op_context *ctx, const struct map *map, long rows) {
  if (ctx->plans && map->table)
    plan_cache_forget(ctx->plans, map->table, (size_t)map_begin(map, rows) + 1);
  if (ctx->plans && map->numbers)
    plan_cache_forget(ctx->plans, map->numbers, (size_t)map_begin(map, rows) + 1);
  /* Blocks may be cut by it. */
  if (ctx->plans && map->first)
    plan_cache_forget(ctx->plans, (const int *)(const void *)map->first,
                      ((size_t)rows + 1) * sizeof *map->first / sizeof(int));
}

static void forget_tables(struct op_context *ctx, const struct set *set, const struct map *of) {
  for (int i = 0; i < set->sub->maps.count; i++) {
    const struct map *map = set->sub->maps.items[i];
    if (!of || map->of == of)
      forget_table(ctx, map, set->extents[EXTENT_EXEC]);
  }
}

static void forget_map(struct op_context *ctx, struct map *map) {
  struct mesh *mesh = ctx->mesh;
  loop_forget(ctx, map);
  for (int i = 0; i < mesh->subsets.count; i++)
    forget_tables(ctx, mesh->subsets.items[i], map);
  for (int i = 0; i < mesh->retired.count; i++)
    forget_tables(ctx, mesh->retired.items[i], map);
  subsets_forget_map(ctx, map);
  forget_table(ctx, map, map->from->extents[EXTENT_EXEC]);
  for (int i = 0; i < mesh->dats.count; i++)
    halo_forget_map(mesh->dats.items[i], map);
  /* Messages are made of what maps reach: all anew. */
  if (spread_wanted(ctx))
    mesh->epoch++;
  mesh_free_map(ctx, map);
}

/* ---- sets ---- */

static int check_unused(const struct op_context *ctx, const struct set *set) {
  struct users u = {0};
  if (set->entries_of)
    return error_set(api_error(), OP_ERR_HANDLE,
                     "op_free_set: set \"%s\" is the entries of ragged map \"%s\", and is freed with it, by "
                     "op_free_map",
                     set->name, set->entries_of->name);
  if (!set->sub)
    add_users(&u, ctx->mesh, set);
  add_matrices(&u, ctx->mesh, set);
  return refuse_used(&u, "op_free_set: set", set->name, "is",
                     "op_free_map, op_free_dat, op_free_mat and op_free_set");
}

static void forget_subset(struct op_context *ctx, struct set *set) {
  loop_forget(ctx, set);
  forget_tables(ctx, set, NULL);
  forget_table(ctx, set->sub->own, set->extents[EXTENT_EXEC]);
  subset_free(ctx, set);
}

/* Until it comes again its records go by an address that is no handle. */
static op_set retired_name(struct set *set) {
  return (op_set)(void *)set;
}

void api_free_subset(struct op_context *ctx, struct set *set) {
  const op_set handle = set->handle;
  struct list *retired = &ctx->mesh->retired;
  if (!loops_rename(ctx, handle, retired_name(set)) || !subset_retire(ctx, set))
    forget_subset(ctx, set);
  while (retired->count > SUBSETS_RETIRED)
    forget_subset(ctx, retired->items[0]);
}

static void forget_set(struct op_context *ctx, struct set *set) {
  struct list *retired = &ctx->mesh->retired;
  for (int i = retired->count - 1; i >= 0; i--)
    if (((const struct set *)retired->items[i])->sub->parent == set)
      forget_subset(ctx, retired->items[i]);
  temporaries_forget(ctx, set);
  loop_forget(ctx, set);
  mesh_free_set(ctx, set);
  subsets_take_ids(ctx);
}

int op2jit_free_set(op_set handle) {
  struct op_context *ctx = api_enter("op_free_set", FLUSH);
  if (!ctx)
    return api_refused();
  struct set *set = api_set(ctx, handle, "op_free_set");
  tape_let_go(ctx);
  if (set && !check_unused(ctx, set) && !set->sub)
    tape_refuses(ctx, set, "op_free_set", api_error());
  const int code = api_agree("op_free_set of set \"%s\"\n", set ? set->name : "");
  if (!code && set->sub && !tape_holds_set(ctx, set))
    api_free_subset(ctx, set);
  else if (!code && !set->sub)
    forget_set(ctx, set);
  return api_leave(code);
}

/* ---- and maps, with their entries ---- */

static int check_map_unused(const struct op_context *ctx, const struct map *map) {
  struct users u = {0};
  add_matrices(&u, ctx->mesh, map);
  if (refuse_used(&u, "op_free_map: map", map->name, "is", "op_free_mat") || !map->entries)
    return api_error()->code;
  add_users(&u, ctx->mesh, map->entries);
  return refuse_used(&u, "op_free_map: the entries of ragged map", map->name, "are",
                     "op_free_map, op_free_dat and op_free_set");
}

int op2jit_free_map(op_map handle) {
  struct op_context *ctx = api_enter("op_free_map", FLUSH);
  if (!ctx)
    return api_refused();
  struct map *map = handle == OP_ID ? NULL : api_object(ctx, handle, HANDLE_MAP, "op_free_map", "the map");
  tape_let_go(ctx);
  if (handle == OP_ID)
    error_set(api_error(), OP_ERR_HANDLE, "op_free_map: the map is OP_ID, which stays");
  else if (map && !check_map_unused(ctx, map))
    tape_refuses(ctx, map, "op_free_map", api_error());
  const int code = api_agree("op_free_map of map \"%s\"\n", map ? map->name : "");
  struct set *entries = code ? NULL : map->entries;
  if (entries && map->targets) {
    tape_forget(ctx, map->targets);
    dat_forget(ctx, map->targets);
  }
  if (!code)
    forget_map(ctx, map);
  if (entries)
    forget_set(ctx, entries);
  return api_leave(code);
}

/* ---- subsets ---- */

/* A retired one with these elements on all ranks; NULL: none. */
static int find_retired(struct op_context *ctx, const struct set *parent, const struct chosen *chosen,
                        const char *name, struct set **out) {
  struct set *like[SUBSETS_RETIRED];
  long long same[SUBSETS_RETIRED] = {0};
  int count = 0, code = OP_OK;
  for (int i = 0; i < ctx->mesh->retired.count; i++) {
    struct set *set = ctx->mesh->retired.items[i];
    if (!subset_is_like(set, parent, name))
      continue;
    like[count] = set;
    same[count++] = subset_has(set, chosen);
  }
  if (count && spread_wanted(ctx))
    code = ctx->comm->table->reduce_all(ctx->comm, same, count, COMM_LLONG, COMM_MIN, api_error());
  *out = NULL;
  for (int i = 0; !code && i < count; i++)
    if (same[i])
      *out = like[i];
  return code;
}

static int revive(struct op_context *ctx, struct set *set) {
  const int code = subset_revive(ctx, set, api_error());
  if (!code)
    loops_rename(ctx, retired_name(set), set->handle);
  return code;
}

/* If the parent has no local numbers yet the next loop makes them, for subsets too. */
static int number(struct op_context *ctx, struct set *set) {
  const bool is_spread = set->sub->parent->spread;
  if (!spread_wanted(ctx) && !is_spread)
    return subset_number(ctx, set, api_error());
  const int code = subset_count(ctx, set, api_error());
  return code || !is_spread ? code : subset_spread(ctx, set, api_error());
}

static int make(struct op_context *ctx, struct set *parent, const struct chosen *chosen, const char *name,
                struct set **out) {
  *out = subset_new(ctx, parent, chosen, name, api_error());
  int code = agree_on_success(ctx->comm, *out ? OP_OK : api_error()->code, api_error());
  if (!code)
    code = number(ctx, *out);
  if (code && *out)
    subset_free(ctx, *out);
  return code;
}

/* In messages. */
static int numbers_from(void) {
  const struct op_context *ctx = api_context();
  return ctx ? ctx->columns_base : 0;
}

static op_set declare_subset(const char *call, op_set handle, const struct chosen *chosen, const char *name) {
  struct op_context *ctx = api_enter(call, KEEP);
  if (!ctx)
    return NULL;
  struct set *parent = api_object(ctx, handle, HANDLE_SET, call, "the set"), *set = NULL;
  if (parent && !spread_check(ctx, api_error()))
    subset_check(parent, chosen, name, api_error());
  else if (!parent)
    error_prefix(api_error(), "subset \"%s\": ", name ? name : "unnamed");
  int code = api_agree("%s of subset \"%s\"\nof\tset \"%s\"\n", call, name ? name : "unnamed",
                       parent ? parent->name : "");
  if (!code)
    code = find_retired(ctx, parent, chosen, name, &set);
  if (!code)
    code = set ? revive(ctx, set) : make(ctx, parent, chosen, name, &set);
  return api_leave_pointer(code ? NULL : set->handle);
}

op_set op2jit_decl_subset(op_set set, int n, const int *elements, const char *name) {
  return declare_subset("op_decl_subset", set,
                        &(struct chosen){.n = n, .elements = elements, .base = numbers_from()}, name);
}

op_set op2jit_decl_subset_range(op_set set, int first, int n, const char *name) {
  return declare_subset("op_decl_subset_range", set,
                        &(struct chosen){.n = n, .range = true, .first = first, .base = numbers_from()},
                        name);
}
