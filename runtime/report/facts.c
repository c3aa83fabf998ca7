/* Facts of the mesh and its data that reports show. */
#include <stdlib.h>

#include "base/list.h"
#include "base/types.h"
#include "base/whereami.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "mesh/subset.h"
#include "record/sites.h"
#include "report/forms.h"

static struct report_view *find_views(const struct op_context *ctx, int *count) {
  const struct list *dats = &ctx->mesh->dats;
  struct report_view *views = array_new((size_t)dats->count, sizeof *views);
  *count = 0;
  for (int i = 0; views && i < dats->count; i++) {
    const struct dat *dat = dats->items[i];
    if (dat->view && !dat->view->in_place)
      views[(*count)++] = (struct report_view){dat->name, dat->view->why};
  }
  return views;
}

/* Dats without a reader. The program may read a view in its own array. */
static struct report_unread *find_unread(const struct op_context *ctx, int *count) {
  const struct list *dats = &ctx->mesh->dats;
  struct report_unread *unread = array_new((size_t)dats->count, sizeof *unread);
  *count = 0;
  for (int i = 0; unread && i < dats->count; i++) {
    const struct dat *dat = dats->items[i];
    if (!dat->read && !dat->view)
      unread[(*count)++] = (struct report_unread){
          dat->name, (double)((size_t)dat->set->extents[EXTENT_OWNED] * dat->row_bytes)};
  }
  return unread;
}

/* The first value of a constant that differs from that of the program's variable, -1: none. A variable whose file is
 * closed is gone. */
static int find_difference(const struct constant *c) {
  const size_t size = c->bytes / (size_t)c->dim;
  if (c->variable && whereami_static(c->variable))
    for (int i = 0; i < c->dim; i++)
      if (!type_same(c->type, c->value + (size_t)i * size, (const char *)c->variable + (size_t)i * size))
        return i;
  return -1;
}

static struct report_moved *find_moved(const struct op_context *ctx, int *count) {
  const struct list *constants = &ctx->mesh->constants;
  struct report_moved *moved = array_new((size_t)constants->count, sizeof *moved);
  *count = 0;
  for (int i = 0; moved && i < constants->count; i++) {
    const struct constant *c = constants->items[i];
    const int at = find_difference(c);
    if (at < 0)
      continue;
    const size_t offset = c->bytes / (size_t)c->dim * (size_t)at;
    struct report_moved *m = &moved[(*count)++];
    *m = (struct report_moved){.name = c->name, .element = at, .dim = c->dim};
    type_add_shortest(c->type, c->value + offset, &m->loops);
    type_add_shortest(c->type, (const char *)c->variable + offset, &m->now);
  }
  return moved;
}

/* ---- the order of the mesh ---- */

/* The use of a map: the longest rows that loops reach through it, and the loop that takes the most time. */
struct use {
  const struct map *map;
  size_t row_bytes;
  const char *loop;
  double seconds, most;
  const struct loop *listed; /* whose elements run through a list, as they meet through the map */
};

static void note_use(struct use *uses, int *count, const struct loop *loop, const struct loop_arg *arg) {
  const struct map *map = map_origin(arg->map); /* of a subset: the set's, which has the numbering */
  int u = 0;
  while (u < *count && uses[u].map != map)
    u++;
  if (u == *count)
    uses[(*count)++] = (struct use){.map = map};
  if (arg->dat->row_bytes > uses[u].row_bytes)
    uses[u].row_bytes = arg->dat->row_bytes;
  if (loop->stats.colours && access_reduces(arg->access))
    uses[u].listed = loop;
  if (loop->name == uses[u].loop)
    return; /* another argument of the same loop */
  uses[u].seconds += loop->stats.seconds;
  if (loop->stats.seconds >= uses[u].most) {
    uses[u].most = loop->stats.seconds;
    uses[u].loop = loop->name;
  }
}

/* Maps to the rows of a matrix are the library's own, and in no list of the mesh's. */
static void note_loop(struct use *uses, int *count, const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->present && arg->dat && !arg->dat->segment && !arg_is_direct(arg))
      note_use(uses, count, loop, arg);
  }
}

/* Worth a walk: in one process, of a numbering that is the program's, through which much of the time goes. */
static bool is_worth_it(const struct report *r, const struct use *use) {
  const double share = 0.05;
  const struct set *to = use->map->to, *from = use->map->from;
  return !to->spread && !to->from_user && !from->from_user && use->seconds > share * report_seconds(r);
}

static double fetches_of(const struct use *use, size_t cache_bytes) {
  const struct map *map = use->map;
  const long owned = map->from->extents[EXTENT_OWNED];
  return reach_fetches(map->table, map->first ? map_begin(map, owned) : owned, map->first ? 1 : map->arity,
                       map->to->extents[EXTENT_OWNED], use->row_bytes, cache_bytes);
}

static struct report_order *find_orders(const struct op_context *ctx, const struct report *r, int *count) {
  struct use *uses = array_new((size_t)ctx->mesh->maps.count, sizeof *uses);
  struct report_order *orders = array_new((size_t)ctx->mesh->maps.count, sizeof *orders);
  int nuses = 0;
  *count = 0;
  for (int i = 0; uses && i < ctx->sites->count; i++) {
    const struct loop_site *site = ctx->sites->items[i];
    if (site->record)
      note_loop(uses, &nuses, site->record);
  }
  for (int u = 0; orders && u < nuses; u++) {
    const struct loop *listed = uses[u].listed;
    if (is_worth_it(r, &uses[u]))
      orders[(*count)++] = (struct report_order){.map = uses[u].map->name,
                                                 .loop = uses[u].loop,
                                                 .seconds = uses[u].seconds,
                                                 .fetches = fetches_of(&uses[u], r->cache_bytes),
                                                 .own_fetches = fetches_of(&uses[u], r->own_cache_bytes),
                                                 .listed = listed ? listed->name : NULL,
                                                 .blocks = listed ? listed->stats.blocks : 0,
                                                 .colours = listed ? listed->stats.colours : 0};
  }
  free(uses);
  return orders;
}

void facts_find(const struct op_context *ctx, struct report *r) {
  r->views = find_views(ctx, &r->nviews);
  r->unread = find_unread(ctx, &r->nunread);
  r->moved = find_moved(ctx, &r->nmoved);
  if (r->cache_bytes && report_seconds(r) > REPORT_SHORT)
    r->orders = find_orders(ctx, r, &r->norders);
}
