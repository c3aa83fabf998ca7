/* Declarations. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/whereami.h"
#include "checkpoint/tell.h"
#include "loop/balance.h"
#include "loop/chain/tiled.h"
#include "loop/temporary.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "mesh/ragged.h"
#include "ranks/agree.h"
#include "spread/data.h"
#include "spread/exchange.h"
#include "spread/parts/partition.h"
#include "spread/spread.h"
#include "tape/tell.h"

op_set op2jit_decl_set(int size, const char *name) {
  struct op_context *ctx = api_enter("op_decl_set", FLUSH);
  if (!ctx)
    return NULL;
  struct set *set = api_error()->code ? NULL : mesh_set(ctx, size, name, api_error());
  int code = agree_on_call(ctx, set ? OP_OK : api_error()->code, api_error(), "op_decl_set of set \"%s\"",
                           name ? name : "unnamed");
  if (!code && spread_wanted(ctx))
    code = spread_declare(ctx, set, api_error());
  if (code && set)
    mesh_undo_set(ctx, set);
  return api_leave_pointer(code ? NULL : set->handle);
}

/* The ranks make maps and dats on the same sets, which their handles do not show. */
static const char *name_of(const struct set *set) {
  return set ? set->name : "";
}

/* `offsets`: of a ragged one. */
struct declared_map {
  const char *call;
  op_set from, to;
  int arity;
  const int *table;
  const long long *long_table, *offsets;
  const char *name;
  bool ragged;
};

static op_map declare_map(const struct declared_map *m) {
  struct op_context *ctx = api_enter(m->call, FLUSH);
  if (!ctx)
    return NULL;
  struct map *map = NULL;
  const char *name = m->name ? m->name : "unnamed";
  struct set *source = api_object(ctx, m->from, HANDLE_SET, m->call, "the source set");
  struct set *target = source ? api_object(ctx, m->to, HANDLE_SET, m->call, "the target set") : NULL;
  if (!target)
    error_prefix(api_error(), "%smap \"%s\": ", m->ragged ? "ragged " : "", name);
  else if (m->ragged)
    map = mesh_ragged(ctx, source, target, m->offsets, m->table, m->name, api_error());
  else
    map = mesh_map(ctx, source, target, m->arity, m->table, m->long_table, NULL, m->name, api_error());
  int code = agree_on_call(ctx, map ? OP_OK : api_error()->code, api_error(),
                           "%s of map \"%s\"\nfrom\tset \"%s\"\nto\tset \"%s\"\narity\t%d\n", m->call, name,
                           name_of(source), name_of(target), m->arity);
  if (!code && m->ragged && spread_wanted(ctx))
    code = spread_declare(ctx, map->entries, api_error());
  if (!code)
    ctx->mesh->undistributed = true;
  else if (map)
    mesh_undo_map(ctx, map);
  return api_leave_pointer(code ? NULL : map->handle);
}

op_map op2jit_decl_map(op_set from, op_set to, int arity, const int *table, const char *name) {
  return declare_map(&(struct declared_map){
      .call = "op_decl_map", .from = from, .to = to, .arity = arity, .table = table, .name = name});
}

op_map op2jit_decl_map_long(op_set from, op_set to, int arity, const long long *table, const char *name) {
  return declare_map(&(struct declared_map){
      .call = "op_decl_map_long", .from = from, .to = to, .arity = arity, .long_table = table, .name = name});
}

op_map op2jit_decl_map_ragged(op_set from, op_set to, const long long *offsets, const int *targets,
                              const char *name) {
  const struct declared_map m = {"op_decl_map_ragged", from, to, 0, targets, NULL, offsets, name, true};
  return declare_map(&m);
}

op_set op2jit_map_entries(op_map handle) {
  struct op_context *ctx = api_enter("op_map_entries", KEEP);
  if (!ctx)
    return NULL;
  struct map *map = handle == OP_ID ? NULL : api_object(ctx, handle, HANDLE_MAP, "op_map_entries", "the map");
  if (handle == OP_ID)
    error_set(api_error(), OP_ERR_HANDLE, "op_map_entries: the map is OP_ID, which has no entries");
  else if (map && !map->entries)
    error_set(
        api_error(), OP_ERR_HANDLE,
        "op_map_entries: map \"%s\" is not ragged; only maps of op_decl_map_ragged have a set of entries",
        map->name);
  return api_leave_local(api_error()->code) ? NULL : map->entries->handle;
}

static int check_pointed(const char *name, const char *type, const char *is) {
  bool soa;
  return type_check_pointed(type_parse(type, &soa), is, "the data are C variables", "const void *",
                            api_error())
             ? error_prefix(api_error(), "dat \"%s\": ", name ? name : "unnamed")
             : OP_OK;
}

/* A new dat of some kind. `data` is where its first values are, `array` the same if it is a view. */
struct declared_dat {
  const char *call;
  op_set set;
  int dim;
  const char *type, *name, *is;
  const void *data;
  void *array;
  bool view, temporary;
};

static struct dat *make_dat(struct op_context *ctx, const struct declared_dat *d, struct set *on) {
  if (d->view)
    return data_new_view(ctx, on, d->dim, d->type, d->array, d->name, api_error());
  struct dat *again = NULL;
  const struct temporary_wish wish = {.set = on, .dim = d->dim, .type = d->type, .name = d->name};
  again = d->temporary ? tape_gives_back(ctx, on, d->dim, d->type, d->name, api_error()) : NULL;
  if (api_error()->code)
    return NULL;
  if (again && tape_tell_put(ctx, again, d->data, d->call, api_error()))
    return NULL;
  if (again && (!d->data || on->spread))
    dat_clear(again);
  if (again && on->spread) /* what is given comes later, from all ranks */
    return dat_need(ctx, again, SPACE_HOST, REGION_OWNED, api_error()) ? NULL : again;
  if (d->temporary && !again && temporary_again(ctx, &wish, &again, api_error()))
    return NULL;
  if (again && d->data) {
    data_put_rows(ctx, again, d->data);
    dat_wrote(again, SPACE_HOST);
  }
  if (again)
    return again;
  return data_new(ctx, on, d->dim, d->type, d->data, d->name, d->temporary, api_error());
}

static op_dat declare_dat(const struct declared_dat *d) {
  struct op_context *ctx = api_enter(d->call, KEEP);
  if (!ctx)
    return NULL;
  struct dat *dat = NULL;
  const char *name = d->name ? d->name : "unnamed";
  struct set *on = api_object(ctx, d->set, HANDLE_SET, d->call, "the set");
  if (on && d->data && !api_error()->code)
    tape_tell_declared(ctx, d->type, d->name, d->call, api_error());
  if (on && !api_error()->code && !spread_check(ctx, api_error()) && !check_pointed(d->name, d->type, d->is))
    dat = make_dat(ctx, d, on);
  else if (!on)
    error_prefix(api_error(), "dat \"%s\": ", name);
  int code = agree_on_call(ctx, dat ? OP_OK : api_error()->code, api_error(),
                           "%s of dat \"%s\"\non\tset \"%s\"\ndim\t%d\ntype\t%s\n", d->call, name,
                           name_of(on), d->dim, d->type ? d->type : "none");
  if (!code && on->spread)
    code = spread_put(ctx, dat, d->data, api_error());
  if (!code)
    code = checkpoint_declared(ctx, dat, api_error());
  if (code && dat)
    data_undo(ctx, dat);
  return api_leave_pointer(code ? NULL : dat->handle);
}

op_dat op2jit_decl_dat_typed(op_set set, int dim, const char *type, const void *data, const char *name,
                             const char *is) {
  const struct declared_dat d = {"op_decl_dat", set, dim, type, name, is, data, NULL, false, false};
  return declare_dat(&d);
}

op_dat op2jit_decl_dat_temp_typed(op_set set, int dim, const char *type, const void *data, const char *name,
                                  const char *is) {
  const struct declared_dat d = {"op_decl_dat_temp", set, dim, type, name, is, data, NULL, false, true};
  return declare_dat(&d);
}

op_dat op2jit_decl_dat_view_typed(op_set set, int dim, const char *type, void *array, const char *name,
                                  const char *is) {
  const struct declared_dat d = {"op_decl_dat_view", set, dim, type, name, is, array, array, true, false};
  return declare_dat(&d);
}

static int agree_on_constant(struct op_context *ctx, int code, const char *call, const char *name) {
  const struct constant *constant = name ? mesh_find_constant(ctx->mesh, name) : NULL;
  struct text value = {0};
  if (constant)
    agree_print_values(&value, (int)constant->type, constant->dim, constant->value);
  if (!code && !text_ok(&value))
    code = error_memory(api_error(), "a constant's value", value.length);
  code = agree_on_call(ctx, code, api_error(), "%s of constant \"%s\"\nvalue\t%s\n", call,
                       name ? name : "unnamed", text_str(&value));
  text_free(&value);
  return code;
}

/* A variable at file scope is compared at op_exit: a program may expect that loops see its later values. One that
 * several constants were given from in turn says nothing. */
static void note_variable(struct op_context *ctx, const char *name, const void *value) {
  for (int i = 0; i < ctx->mesh->constants.count; i++) {
    struct constant *other = ctx->mesh->constants.items[i];
    if (other->variable == value)
      other->variable = NULL;
  }
  mesh_find_constant(ctx->mesh, name)->variable = whereami_static(value) ? value : NULL;
}

/* A new constant, or a new value of one. */
static int give_constant(const char *call, const char *name, int dim, const char *type, const void *value,
                         const char *is, bool updates) {
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return api_refused();
  int code = api_error()->code;
  if (!code)
    code = tape_tell_constant(ctx, name, value, call, api_error());
  if (!code)
    code = updates ? mesh_update_constant(ctx, name, value, is, api_error())
                   : mesh_constant(ctx, name, dim, type, value, is, api_error());
  if (!code)
    note_variable(ctx, name, value);
  return api_leave(agree_on_constant(ctx, code, call, name));
}

int op2jit_decl_const_typed(const char *name, int dim, const char *type, const void *value, const char *is) {
  return give_constant("op_decl_const", name, dim, type, value, is, false);
}

int op2jit_update_const_typed(const char *name, const void *value, const char *is) {
  return give_constant("op_update_const", name, 0, NULL, value, is, true);
}

static int renumber(struct op_context *ctx, const char *call, const char *method, op_map handle,
                    op_dat coords) {
  struct map *base = api_object(ctx, handle, HANDLE_MAP, call, "the map");
  struct dat *dat =
      base && coords ? api_object(ctx, coords, HANDLE_DAT, call, "the dat of coordinates") : NULL;
  tiled_stay(ctx);
  if (!api_error()->code && !lend_check_all(ctx, call, api_error()))
    tape_refuses(ctx, NULL, call, api_error());
  if (!api_error()->code && dat)
    checkpoint_reads(ctx, call, dat, api_error());
  const int code =
      api_agree("%s\nmethod\t%s\nmap\t%s\n", call, method ? method : "NULL", base ? base->name : "NULL");
  return code ? code : renumber_by(ctx, method, base, dat, api_error());
}

int op2jit_renumber(op_map base) {
  struct op_context *ctx = api_enter("op_renumber", FLUSH);
  return ctx ? api_leave(renumber(ctx, "op_renumber", "rcm", base, NULL)) : api_refused();
}

int op2jit_renumber_by(const char *method, op_map base, op_dat coords) {
  struct op_context *ctx = api_enter("op_renumber_by", FLUSH);
  return ctx ? api_leave(renumber(ctx, "op_renumber_by", method, base, coords)) : api_refused();
}

/* Absent objects are NULL here; the partitioner says which it needs. */
static void take_object(struct op_context *ctx, const void *handle, enum handle_kind kind, const char *what,
                        void *out) {
  void *object = handle ? api_object(ctx, handle, kind, "op_partition", what) : NULL;
  memcpy(out, &object, sizeof object);
}

int api_partition_call(struct op_context *ctx, op_set prime, op_map map, op_dat coords,
                       struct partition_call *call) {
  tiled_stay(ctx);
  take_object(ctx, prime, HANDLE_SET, "the prime set", &call->prime);
  take_object(ctx, map == OP_ID ? NULL : map, HANDLE_MAP, "the prime map", &call->map);
  take_object(ctx, coords, HANDLE_DAT, "the dat", &call->coords);
  if (!api_error()->code && !lend_check_all(ctx, "op_partition", api_error()))
    tape_refuses(ctx, NULL, "op_partition", api_error());
  if (!api_error()->code && call->coords)
    checkpoint_reads(ctx, "op_partition", call->coords, api_error());
  return api_agree("op_partition\nlibrary\t%s\nmethod\t%s\nset\t%s\n", call->lib ? call->lib : "NULL",
                   call->method ? call->method : "NULL", call->prime ? call->prime->name : "NULL");
}

int op2jit_partition(const char *lib, const char *method, op_set prime, op_map prime_map, op_dat coords) {
  struct op_context *ctx = api_enter("op_partition", FLUSH);
  if (!ctx)
    return api_refused();
  struct partition_call call = {.lib = lib, .method = method};
  int code = api_partition_call(ctx, prime, prime_map, coords, &call);
  if (!code) {
    balance_fill(ctx, &call);
    code = mesh_partition(ctx, &call, api_error());
    free(call.times);
    if (!code)
      balance_parted(ctx, &call);
  }
  return api_leave(code);
}
