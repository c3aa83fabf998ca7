/* A program written for one process declares the whole mesh on every rank: N ranks then compute on N meshes side
 * by side. That is no error, as ranks may be alike, but never what was meant when the maps of all name one rank's
 * elements. */
#include "base/log.h"
#include "context/context.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/spread.h"

static bool all_ranks_alike(const struct mesh *mesh) {
  for (int s = 0; s < mesh->sets.count; s++)
    if (!((const struct set *)mesh->sets.items[s])->alike)
      return false;
  return true;
}

static bool names_only_first(const struct map *map) {
  const size_t entries = (size_t)map_rows_of(map)->size * (size_t)map_width(map);
  for (size_t i = 0; i < entries; i++)
    if (rows_get(&map->global, i) >= map->to->alike)
      return false;
  return true;
}

/* Find a map whose rows are still as they were declared; NULL: some name other elements, or there are none. */
static const struct map *map_of_copies(const struct mesh *mesh) {
  const struct map *found = NULL;
  for (int m = 0; m < mesh->maps.count; m++) {
    const struct map *map = mesh->maps.items[m];
    if (map->global.entries && !names_only_first(map))
      return NULL;
    if (map->global.entries && !found)
      found = map;
  }
  return found;
}

static void warn(const struct op_context *ctx, const struct map *map) {
  const int ranks = ctx->comm->size;
  struct text sizes = {0};
  text_addf(&sizes, "%ld elements of set \"%s\"", map->from->size, map->from->name);
  if (map->to != map->from)
    text_addf(&sizes, " and %ld of set \"%s\"", map->to->size, map->to->name);
  log_line(ctx->log, LOG_WARN, "mesh",
           "each of %d ranks declared the same %s, and on all of them map \"%s\" names only those of rank 0: "
           "the mesh is there %d times; let rank 0 declare everything and the others 0 elements "
           "(op_is_root() ? n : 0), or each rank its own share, with global numbers in maps",
           ranks, text_str(&sizes), map->name, ranks);
  text_free(&sizes);
}

int spread_warn_of_copies(struct op_context *ctx, struct error *err) {
  struct mesh *mesh = ctx->mesh;
  if (mesh->copies_told || !mesh->undistributed || !all_ranks_alike(mesh))
    return OP_OK;
  const struct map *map = map_of_copies(mesh);
  long long everywhere = map != NULL;
  const int code = ctx->comm->table->reduce_all(ctx->comm, &everywhere, 1, COMM_LLONG, COMM_MIN, err);
  if (code || !everywhere)
    return code;
  mesh->copies_told = true;
  if (ctx->comm->rank == 0)
    warn(ctx, map);
  return OP_OK;
}
