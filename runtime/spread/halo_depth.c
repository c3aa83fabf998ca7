/* How deep copies of others' elements are the newest, and which maps' parts of them are beyond that. */
#include <stdlib.h>

#include "base/size.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "spread/exchange.h"

/* All copies that a rank has: what is executed here as well, and what that reaches. */
enum { DEPTH_ALL = 2, DEPTH_EXECUTED = 1 };

static struct halo_part *find_part(const struct dat *dat, const struct map *map) {
  for (int i = 0; i < dat->halo.nparts; i++)
    if (dat->halo.parts[i].map == map)
      return &dat->halo.parts[i];
  return NULL;
}

static void forget_old_mesh(struct op_context *ctx, struct dat *dat) {
  if (dat->halo.epoch == ctx->mesh->epoch)
    return;
  dat->halo.epoch = ctx->mesh->epoch;
  halo_is_old(dat);
}

void halo_is_old(struct dat *dat) {
  dat->halo.version = 0;
  for (int i = 0; i < dat->halo.nparts; i++)
    dat->halo.parts[i].version = 0;
}

int halo_depth(struct op_context *ctx, struct dat *dat) {
  forget_old_mesh(ctx, dat);
  return dat->halo.version == dat->version ? dat->halo.depth : 0;
}

bool halo_is_current(struct op_context *ctx, struct dat *dat, const struct map *map) {
  const int depth = halo_depth(ctx, dat);
  const struct halo_part *part = find_part(dat, map);
  return depth >= (map ? DEPTH_ALL : DEPTH_EXECUTED) || (part && part->version == dat->version);
}

static bool any_is_current(struct op_context *ctx, struct dat *dat) {
  bool any = halo_depth(ctx, dat) > 0;
  for (int i = 0; i < dat->halo.nparts; i++)
    any |= dat->halo.parts[i].version == dat->version;
  return any;
}

int halo_bring(struct op_context *ctx, struct dat *dat, enum space space, struct error *err) {
  return dat_is_current(dat, space, REGION_COPIES) || !any_is_current(ctx, dat)
             ? OP_OK
             : dat_need(ctx, dat, space, REGION_COPIES, err);
}

static void set_depth(struct dat *dat, int depth) {
  dat->halo.depth = depth;
  dat->halo.version = dat->version;
}

void halo_computed(struct op_context *ctx, struct dat *dat, enum space space, int depth) {
  forget_old_mesh(ctx, dat);
  set_depth(dat, depth);
  if (depth > 0)
    dat_got_copies(dat, space);
}

int halo_keep_part(struct dat *dat, const struct map *map, struct error *err) {
  if (!map || find_part(dat, map))
    return OP_OK;
  struct halo_part *parts = array_resize(dat->halo.parts, (size_t)dat->halo.nparts + 1, sizeof *parts);
  if (!parts)
    return error_memory(err, "the parts of a halo", ((size_t)dat->halo.nparts + 1) * sizeof *parts);
  dat->halo.parts = parts;
  parts[dat->halo.nparts++] = (struct halo_part){.map = map};
  return OP_OK;
}

void halo_forget_map(struct dat *dat, const struct map *map) {
  struct halo_part *part = find_part(dat, map);
  if (part)
    *part = dat->halo.parts[--dat->halo.nparts];
}

void halo_received(struct dat *dat, enum space space, const struct map *map) {
  if (map)
    find_part(dat, map)->version = dat->version;
  else
    set_depth(dat, DEPTH_EXECUTED);
  dat_got_copies(dat, space);
}
