#include "mesh/visible.h"

#include "context/context.h"
#include "mesh/data.h"
#include "op2/op2jit_visible.h"

static void show_set(const struct set *set) {
  const long *end = set->extents;
  *set->handle = (struct op2jit_set){.index = set->id,
                                     .size = (int)end[EXTENT_OWNED],
                                     .name = set->name,
                                     .core_size = (int)end[EXTENT_CORE],
                                     .exec_size = (int)(end[EXTENT_EXEC] - end[EXTENT_OWNED]),
                                     .nonexec_size = (int)(end[EXTENT_NONEXEC] - end[EXTENT_EXEC])};
}

static void show_map(const struct map *map) {
  *map->handle = (struct op2jit_map){.index = map->id,
                                     .from = map->from->handle,
                                     .to = map->to->handle,
                                     .dim = map->arity,
                                     .map = map->table,
                                     .name = map->name};
}

static void show_dat(const struct dat *dat) {
  *dat->handle = (struct op2jit_dat){.index = dat->id,
                                     .set = dat->set->handle,
                                     .dim = dat->dim,
                                     .size = (int)dat->row_bytes,
                                     .data = dat->replicas[SPACE_HOST].memory,
                                     .type = type_info(dat->type)->name,
                                     .name = dat->name};
}

void visible_update(struct op_context *ctx) {
  const struct mesh *mesh = ctx->mesh;
  for (int i = 0; i < mesh->sets.count; i++)
    show_set(mesh->sets.items[i]);
  for (int i = 0; i < mesh->maps.count; i++)
    show_map(mesh->maps.items[i]);
  for (int i = 0; i < mesh->dats.count; i++)
    show_dat(mesh->dats.items[i]);
  ctx->visible_epoch = mesh->epoch;
}
