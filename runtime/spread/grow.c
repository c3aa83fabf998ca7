#include "spread/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "ranks/agree.h"
#include "spread/rings.h"

/* The new parts of the mesh. */
struct growth {
  struct arrays arrays;
  struct rings rings;
  struct rings_set *sets;
  struct rings_map *maps;
  int *map_of; /* which of the mesh's maps each is */
  int **users; /* of each set: its to_user */
  void **rows; /* of each dat; NULL: it has no memory */
  int nmaps;
};

static int no_memory(struct error *err) {
  return error_memory(err, "deep halos of a mesh", 0);
}

static void growth_free(struct growth *g, const struct mesh *mesh) {
  for (int s = 0; g->users && s < mesh->sets.count; s++)
    free(g->users[s]);
  for (int d = 0; g->rows && d < mesh->dats.count; d++)
    data_memory_free(g->rows[d]);
  rings_free(&g->rings);
  arrays_free(&g->arrays);
}

/* ---- what is there ---- */

static int begin(struct growth *g, const struct mesh *mesh, const bool *followed, struct error *err) {
  const size_t nsets = (size_t)mesh->sets.count, nmaps = (size_t)mesh->maps.count;
  g->sets = arrays_add(&g->arrays, nsets, sizeof *g->sets);
  g->maps = arrays_add(&g->arrays, nmaps, sizeof *g->maps);
  g->map_of = arrays_add(&g->arrays, nmaps, sizeof *g->map_of);
  g->users = arrays_add(&g->arrays, nsets, sizeof *g->users);
  g->rows = arrays_add(&g->arrays, (size_t)mesh->dats.count, sizeof *g->rows);
  if (g->arrays.failed)
    return no_memory(err);
  for (int s = 0; s < mesh->sets.count; s++) {
    const struct set *set = mesh->sets.items[s];
    g->sets[s] = (struct rings_set){set->spread, set->extents};
  }
  for (int m = 0; m < mesh->maps.count; m++) {
    const struct map *map = mesh->maps.items[m];
    if (!map_may_grow(map))
      continue;
    g->map_of[g->nmaps] = m;
    g->maps[g->nmaps++] = (struct rings_map){map->from->id, map->to->id, map->arity, map->table, followed[m]};
  }
  return OP_OK;
}

/* ---- what it gets ---- */

static long rows_of(const struct growth *g, int set) {
  return g->rings.sets[set].ends[2 * g->rings.layers + 1];
}

static int make_users(struct growth *g, int s, const struct mesh *mesh, struct error *err) {
  const struct set *set = mesh->sets.items[s];
  const long count = rows_of(g, s);
  if (!set->to_user)
    return OP_OK;
  int *users = g->users[s] = array_new((size_t)count, sizeof *users);
  if (!users)
    return no_memory(err);
  for (long e = 0; e < count; e++)
    users[e] = (int)g->rings.sets[s].numbers[e];
  return OP_OK;
}

static int make_rows(struct op_context *ctx, struct growth *g, int d, struct error *err) {
  struct dat *dat = ctx->mesh->dats.items[d];
  const long rows = rows_of(g, dat->set->id);
  size_t bytes;
  if (!dat_has_memory(dat) || dat->segment)
    return OP_OK;
  const int code = dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
  if (code)
    return code;
  g->rows[d] = data_bytes(dat, rows, &bytes) ? data_memory(ctx->team, bytes, (unsigned)dat->id) : NULL;
  if (!g->rows[d])
    return no_memory(err);
  const struct row_store old = dat_rows(dat),
                         fresh = {g->rows[d], dat->value_size, dat->dim, dat->soa ? data_stride(rows) : 0};
  for (long e = 0; e < dat->set->extents[EXTENT_OWNED]; e++)
    row_copy(&old, e, &fresh, e);
  return OP_OK;
}

static int make(struct op_context *ctx, struct growth *g, struct error *err) {
  int code = OP_OK;
  for (int s = 0; !code && s < ctx->mesh->sets.count; s++)
    code = make_users(g, s, ctx->mesh, err);
  for (int d = 0; !code && d < ctx->mesh->dats.count; d++)
    code = make_rows(ctx, g, d, err);
  return code;
}

/* ---- it is the mesh's ---- */

static void swap(void **a, void **b) {
  void *old = *a;
  *a = *b;
  *b = old;
}

static void adopt_rows(struct op_context *ctx, struct growth *g, int d) {
  struct dat *dat = ctx->mesh->dats.items[d];
  const long rows = rows_of(g, dat->set->id);
  if (dat->segment) /* element matrices: loops that fill them keep to one layer */
    return;
  dat->stride = data_stride(rows);
  if (!g->rows[d])
    return;
  dat_leave_devices(ctx, dat);
  const bool left = view_leave(dat, "others' elements are kept with it (OP2_LAYERS)");
  if (!left)
    dat_leave_rows(dat);
  dat->replicas[SPACE_HOST].memory = g->rows[d];
  data_bytes(dat, rows, &dat->replicas[SPACE_HOST].bytes);
  g->rows[d] = NULL;
  if (left)
    dat_wrote(dat, SPACE_HOST);
}

/* Swap old and new parts, so that the old ones are freed with the growth. */
static void adopt(struct op_context *ctx, struct growth *g) {
  for (int d = 0; d < ctx->mesh->dats.count; d++)
    adopt_rows(ctx, g, d);
  for (int m = 0; m < g->nmaps; m++)
    swap((void **)&((struct map *)ctx->mesh->maps.items[g->map_of[m]])->table, (void **)&g->rings.tables[m]);
  for (int s = 0; s < ctx->mesh->sets.count; s++) {
    struct set *set = ctx->mesh->sets.items[s];
    if (g->users[s])
      swap((void **)&set->to_user, (void **)&g->users[s]);
    ring_set_free(&set->spread->rings, set->spread->layers);
    set->spread->rings = g->rings.sets[s];
    set->spread->layers = g->rings.layers;
    g->rings.sets[s] = (struct ring_set){0};
  }
  ctx->mesh->epoch++;
}

int mesh_grow(struct op_context *ctx, int layers, const bool *followed, struct error *err) {
  struct growth g = {0};
  int code = agree_on_success(ctx->comm, begin(&g, ctx->mesh, followed, err), err);
  const struct rings_mesh mesh = {g.sets, g.maps, ctx->mesh->sets.count, g.nmaps};
  if (!code)
    code = agree_on_success(ctx->comm, rings_build(ctx->comm, &mesh, layers, &g.rings, err), err);
  if (!code)
    code = agree_on_success(ctx->comm, make(ctx, &g, err), err);
  if (!code)
    adopt(ctx, &g);
  growth_free(&g, ctx->mesh);
  return code;
}
