/* Ragged maps. */
#include "api/api.h"
#include "mesh/ragged/ragged.h"
#include "ranks/agree.h"
#include "spread/spread.h"

static const char *name_of(const struct set *set) {
  return set ? set->name : "";
}

op_map op2jit_decl_map_ragged(op_set from, op_set to, const long long *offsets, const int *targets,
                              const char *name) {
  static const char call[] = "op_decl_map_ragged";
  struct op_context *ctx = api_enter(call, FLUSH);
  if (!ctx)
    return NULL;
  struct map *map = NULL;
  struct set *source = api_object(ctx, from, HANDLE_SET, call, "the source set");
  struct set *target = source ? api_object(ctx, to, HANDLE_SET, call, "the target set") : NULL;
  if (target)
    map = mesh_ragged(ctx, source, target, offsets, targets, name, api_error());
  else
    error_prefix(api_error(), "ragged map \"%s\": ", name ? name : "unnamed");
  int code = agree_on_call(ctx, map ? OP_OK : api_error()->code, api_error(),
                           "%s of map \"%s\"\nfrom\tset \"%s\"\nto\tset \"%s\"\n", call,
                           name ? name : "unnamed", name_of(source), name_of(target));
  if (!code && spread_wanted(ctx))
    code = spread_declare(ctx, map->entries, api_error());
  if (!code)
    ctx->mesh->undistributed = true;
  else if (map)
    mesh_undo_map(ctx, map);
  return api_leave_pointer(code ? NULL : map->handle);
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
