/* Which copies of others' elements are the newest: of the part of a halo that one map reaches, and of the elements
 * that are executed here as well. */
#include <stdlib.h>

#include "base/size.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "spread/exchange.h"

static struct halo_mark *find_mark(struct dat *dat, const struct map *map) {
  for (int i = 0; i < dat->nmarks; i++)
    if (dat->marks[i].map == map)
      return &dat->marks[i];
  return NULL;
}

static void forget_old_mesh(struct op_context *ctx, struct dat *dat) {
  if (dat->marks_epoch == ctx->mesh->epoch)
    return;
  dat->marks_epoch = ctx->mesh->epoch;
  halo_is_old(ctx, dat);
}

void halo_is_old(struct op_context *ctx, struct dat *dat) {
  (void)ctx;
  for (int s = 0; s < SPACES; s++) {
    dat->replicas[s].version[REGION_EXEC] = 0;
    dat->replicas[s].version[REGION_NONEXEC] = 0;
    for (int i = 0; i < dat->nmarks; i++)
      dat->marks[i].version[s] = 0;
  }
}

bool halo_is_current(struct op_context *ctx, struct dat *dat, enum space space, const struct map *map) {
  forget_old_mesh(ctx, dat);
  if (!map)
    return dat->replicas[space].version[REGION_EXEC] == dat->version;
  const struct halo_mark *mark = find_mark(dat, map);
  return mark && mark->version[space] == dat->version;
}

void halo_computed(struct op_context *ctx, struct dat *dat, enum space space) {
  forget_old_mesh(ctx, dat);
  dat->replicas[space].version[REGION_EXEC] = dat->version;
}

int halo_keep_version(struct dat *dat, const struct map *map, struct error *err) {
  if (!map || find_mark(dat, map))
    return OP_OK;
  struct halo_mark *marks = array_resize(dat->marks, (size_t)dat->nmarks + 1, sizeof *marks);
  if (!marks)
    return error_memory(err, "the versions of a halo", ((size_t)dat->nmarks + 1) * sizeof *marks);
  dat->marks = marks;
  marks[dat->nmarks++] = (struct halo_mark){.map = map};
  return OP_OK;
}

void halo_forget_map(struct dat *dat, const struct map *map) {
  const struct halo_mark *mark = find_mark(dat, map);
  if (mark)
    dat->marks[mark - dat->marks] = dat->marks[--dat->nmarks];
}

void halo_received(struct dat *dat, enum space space, const struct map *map) {
  if (map)
    find_mark(dat, map)->version[space] = dat->version;
  else
    dat->replicas[space].version[REGION_EXEC] = dat->version;
}
