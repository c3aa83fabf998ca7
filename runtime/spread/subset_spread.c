#include "spread/spread.h"

#include <stdlib.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "mesh/subset.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/parts/mail.h"

int subset_count(struct op_context *ctx, struct set *set, struct error *err) {
  long long count = set->size;
  ctx->comm->where = "op_decl_subset";
  const int code = ctx->comm->table->reduce_all(ctx->comm, &count, 1, COMM_LLONG, COMM_SUM, err);
  if (!code)
    set->global_size = count;
  return code;
}

/* `declared` and `here`: the parent's elements that are of the subset, where they were declared, and where they are owned and
 * executed. Owners first, for they are asked by those that have copies. */
static int tell(struct op_context *ctx, const struct set *parent, const unsigned char *declared,
                unsigned char *here, struct error *err) {
  const struct distribution *d = parent->spread;
  const int code = carry_rows(ctx->comm, &d->home.send, &d->home.receive, 1, declared, here, err);
  return code ? code : carry_rows(ctx->comm, &d->exec.send, &d->exec.receive, 1, here, here, err);
}

static int take(struct op_context *ctx, struct set *set, const unsigned char *here, struct error *err) {
  const struct set *parent = set->sub->parent;
  long extents[EXTENTS] = {0}, count = 0;
  for (int x = EXTENT_CORE, e = 0; x <= EXTENT_EXEC; x++) {
    for (; e < parent->extents[x]; e++)
      count += here[e];
    extents[x] = count;
  }
  extents[EXTENT_NONEXEC] = count;
  int code = subset_room(ctx, set, extents, err);
  count = 0;
  for (int e = 0; !code && e < parent->extents[EXTENT_EXEC]; e++)
    if (here[e])
      set->sub->own->table[count++] = e;
  return code ? code : subset_follow(ctx, set, err);
}

int subset_spread(struct op_context *ctx, struct set *set, struct error *err) {
  const struct set *parent = set->sub->parent;
  unsigned char *declared = array_new((size_t)parent->size, 1),
                *here = array_new((size_t)parent->extents[EXTENT_EXEC], 1);
  int code = declared && here ? OP_OK : error_memory_of(err, "subset", set->name, (size_t)parent->size);
  for (long i = 0; !code && i < set->size; i++)
    declared[set->sub->members[i]] = 1;
  ctx->comm->where = set->name;
  code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = tell(ctx, parent, declared, here, err);
  if (!code)
    code = take(ctx, set, here, err);
  set->spread = parent->spread;
  free(declared);
  free(here);
  return agree_on_success(ctx->comm, code, err);
}

static int spread_each(struct op_context *ctx, const struct list *subsets, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < subsets->count; i++)
    code = subset_spread(ctx, subsets->items[i], err);
  return code;
}

int subsets_spread(struct op_context *ctx, struct error *err) {
  const int code = spread_each(ctx, &ctx->mesh->subsets, err);
  return code ? code : spread_each(ctx, &ctx->mesh->retired, err);
}
