#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/text.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "mesh/order.h"
#include "mesh/ragged.h"
#include "mesh/ranges.h"
#include "mesh/rows.h"
#include "mesh/subset.h"
#include "ranks/agree.h"
#include "spread/spread.h"
#include "spread/sums.h"

/* One new order per set, by the set's position in the mesh; NULL: not reached, stays as it is. */
struct orders {
  int **order;       /* new number -> old */
  int **place;       /* old number -> new */
  long long **first; /* of each ragged map, by its position: where rows begin then */
  int count, maps;
};

static void orders_free(struct orders *o) {
  for (int i = 0; i < o->count; i++) {
    if (o->order)
      free(o->order[i]);
    if (o->place)
      free(o->place[i]);
  }
  for (int i = 0; o->first && i < o->maps; i++)
    free(o->first[i]);
  free(o->order);
  free(o->place);
  free(o->first);
}

/* Without ranks both are all elements. With ranks only owned ones get new places here, and copies follow their
 * owners; but copies are neighbours too. */
static long owned(const struct set *set) {
  return set->extents[EXTENT_OWNED];
}
static long known(const struct set *set) {
  return set->extents[EXTENT_NONEXEC];
}

static int make_room(struct orders *o, int i, long size, struct error *err) {
  o->order[i] = array_new((size_t)size, sizeof(int));
  o->place[i] = array_new((size_t)size, sizeof(int));
  return o->order[i] && o->place[i] ? OP_OK
                                    : error_memory(err, "a renumbering", 2 * (size_t)size * sizeof(int));
}

struct inversion {
  const int *order;
  int *place;
};

static void invert_range(void *argument, long begin, long end) {
  const struct inversion *v = argument;
  for (long i = begin; i < end; i++)
    v->place[v->order[i]] = (int)i;
}

static void invert(struct team *team, const int *order, int *place, long size) {
  ranges_run(team, size, invert_range, &(struct inversion){order, place});
}

/* Copies are taken out of an order, and stay behind the owned elements. */
static void settle(struct team *team, const struct set *set, int *order, int *place) {
  const bool all = owned(set) == known(set);
  long kept = all ? known(set) : 0;
  for (long i = 0; !all && i < known(set); i++)
    if (order[i] < owned(set))
      order[kept++] = order[i];
  for (long i = kept; i < known(set); i++)
    order[i] = (int)i;
  invert(team, order, place, known(set));
}

/* ---- the first set ---- */

typedef int space_order(int *order, long size, const double *coords, int dim, struct error *err);

static const struct {
  const char *name;
  space_order *by_coords; /* NULL: by the map */
} methods[] = {{"rcm", NULL}, {"hilbert", order_hilbert}, {"rcb", order_rcb}};
enum { METHODS = sizeof methods / sizeof *methods };

static int find_method(const char *name, struct error *err) {
  const char *names[METHODS];
  for (int i = 0; i < METHODS; i++) {
    names[i] = methods[i].name;
    if (name && strcmp(name, names[i]) == 0)
      return i;
  }
  struct text wrong = {0};
  nearest_tell("method", name, names, METHODS, &wrong);
  error_set(err, OP_ERR_METHOD, "op_renumber_by: %s; expected one of rcm, hilbert, rcb", text_str(&wrong));
  text_free(&wrong);
  return -1;
}

static int check_coords(const char *method, const struct map *base, const struct dat *coords,
                        struct error *err) {
  if (!coords)
    return error_set(
        err, OP_ERR_ARGUMENT,
        "op_renumber_by: the method \"%s\" needs coordinates; pass a dat on set \"%s\", or use \"rcm\"",
        method, base->to->name);
  if (coords->set != base->to || coords->dim > 3 ||
      (coords->type != TYPE_DOUBLE && coords->type != TYPE_FLOAT))
    return error_set(err, OP_ERR_ARGUMENT,
                     "op_renumber_by: dat \"%s\" (set \"%s\", dim %d, %s) cannot be the coordinates; "
                     "expected dim 1 to 3 of "
                     "type double or float on set \"%s\"",
                     coords->name, coords->set->name, coords->dim, type_info(coords->type)->name,
                     base->to->name);
  return OP_OK;
}

/* The rows that orders look at: up to the end of that part. */
#define TABLE_OF(map, extent)                                                                                \
  .table = (map)->table, .first = (map)->first, .rows = (map)->from->extents[extent], .arity = (map)->arity

static int order_first(struct op_context *ctx, int method, const struct map *base, struct dat *coords,
                       int *order, struct error *err) {
  if (!methods[method].by_coords)
    return order_rcm(order, known(base->to), &(struct order_table){TABLE_OF(base, EXTENT_EXEC)}, ctx->team,
                     err);
  for (long e = owned(base->to); e < known(base->to); e++)
    order[e] = (int)e;
  coords->read = true;
  if (dat_need(ctx, coords, SPACE_HOST, REGION_OWNED, err))
    return err->code;
  double *points = dat_numbers(coords);
  if (!points)
    return error_memory(err, "coordinates",
                        (size_t)owned(coords->set) * (size_t)coords->dim * sizeof *points);
  int code = methods[method].by_coords(order, owned(base->to), points, coords->dim, err);
  free(points);
  return code;
}

/* ---- the others, along the maps ---- */

/* Give an order to one more set that a map connects with an ordered one. *found: there was one. */
static int order_next(struct op_context *ctx, struct orders *o, bool *found, struct error *err) {
  *found = false;
  for (int m = 0; m < ctx->mesh->maps.count; m++) {
    const struct map *map = ctx->mesh->maps.items[m];
    int from = map->from->id, to = map->to->id;
    if (!o->order[from] == !o->order[to])
      continue;
    *found = true;
    int next = o->order[from] ? to : from;
    const struct set *set = next == to ? map->to : map->from;
    const struct order_table table = {TABLE_OF(map, EXTENT_OWNED)};
    int code = make_room(o, next, known(set), err);
    for (long e = owned(set); !code && e < known(set); e++)
      o->order[next][e] = (int)e;
    if (!code && next == from)
      code = order_by_targets(o->order[from], &table, o->place[to], known(map->to), ctx->team, err);
    else if (!code)
      code = order_by_sources(o->order[to], known(map->to), &table, o->order[from], err);
    if (!code)
      settle(ctx->team, set, o->order[next], o->place[next]);
    return code;
  }
  return OP_OK;
}

/* Entries follow their elements, whatever else leads to them: also by staying where they are. */
static int order_entries(struct op_context *ctx, struct orders *o, struct error *err) {
  for (int m = 0; m < ctx->mesh->maps.count; m++) {
    const struct map *map = ctx->mesh->maps.items[m];
    const int from = map->first ? map->from->id : -1;
    if (from < 0)
      continue;
    const int at = map->entries->id;
    free(o->order[at]);
    free(o->place[at]);
    o->order[at] = o->place[at] = NULL;
    if (!o->order[from])
      continue;
    o->place[at] = array_new((size_t)known(map->entries), sizeof(int));
    if (!ragged_reorder(map, o->order[from], &o->first[m], &o->order[at]) || !o->place[at])
      return error_memory(err, "a renumbering", 2 * (size_t)known(map->entries) * sizeof(int));
    invert(ctx->team, o->order[at], o->place[at], known(map->entries));
  }
  return OP_OK;
}

/* ---- applying: first everything that can fail, then what changes ---- */

struct fresh {
  int **tables;               /* per map, NULL: unchanged */
  void **rows;                /* per dat */
  int **to_user, **from_user; /* per set */
};

struct moving_table {
  const struct map *map;
  const int *order, *place; /* of the elements, and of the targets; NULL: they stay */
  const long long *first;   /* of a ragged map: where rows begin then */
  int *table;
};

static void move_table(void *argument, long begin, long end) {
  const struct moving_table *m = argument;
  const int *old = m->map->table;
  int *next = m->table + (m->first ? (long)m->first[begin] : map_begin(m->map, begin));
  for (long e = begin; e < end; e++) {
    const long from = m->order ? m->order[e] : e;
    for (long i = map_begin(m->map, from), behind = map_end(m->map, from); i < behind; i++)
      *next++ = m->place ? m->place[old[i]] : old[i];
  }
}

static int *moved_table(struct team *team, const struct orders *o, int number, const struct map *map,
                        int from, int to) {
  const size_t entries = (size_t)map_begin(map, map->from->size) + MAP_SLACK;
  struct moving_table m = {map, o->order[from], o->place[to], o->first[number],
                           data_memory(team, entries * sizeof *m.table, data_table_number(map->id))};
  if (m.table)
    ranges_run(team, map->from->size, move_table, &m);
  return m.table;
}

struct moving_rows {
  struct row_store from, to;
  const int *order;
};

static void move_rows(void *argument, long begin, long end) {
  const struct moving_rows *m = argument;
  for (long e = begin; e < end; e++)
    row_copy(&m->from, m->order[e], &m->to, e);
}

static void *moved_rows(struct team *team, const struct dat *dat, const int *order) {
  size_t bytes;
  struct moving_rows m = {.from = dat_rows(dat), .to = dat_rows(dat), .order = order};
  m.to.memory =
      data_bytes(dat, dat->set->extents[EXTENT_NONEXEC], &bytes) ? data_rows_memory(team, dat, bytes) : NULL;
  if (m.to.memory)
    ranges_run(team, dat->set->size, move_rows, &m);
  return m.to.memory;
}

struct numbers {
  const int *old, *order; /* old: NULL, they are the user's */
  int *to_user;
};

static void find_numbers(void *argument, long begin, long end) {
  const struct numbers *n = argument;
  for (long e = begin; e < end; e++)
    n->to_user[e] = n->old ? n->old[n->order[e]] : n->order[e];
}

static bool fresh_numbers(struct team *team, const struct set *set, const int *order, int **to_user,
                          int **from_user) {
  *to_user = array_new((size_t)set->size, sizeof(int));
  *from_user = array_new((size_t)set->size, sizeof(int));
  if (!*to_user || !*from_user)
    return false;
  ranges_run(team, set->size, find_numbers, &(struct numbers){set->to_user, order, *to_user});
  invert(team, *to_user, *from_user, set->size);
  return true;
}

static bool make_fresh(struct op_context *ctx, const struct orders *o, struct fresh *f) {
  const struct mesh *mesh = ctx->mesh;
  bool good = true;
  for (int i = 0; good && i < mesh->maps.count; i++) {
    const struct map *map = mesh->maps.items[i];
    int from = map->from->id, to = map->to->id;
    if (o->order[from] || o->order[to])
      good = (f->tables[i] = moved_table(ctx->team, o, i, map, from, to)) != NULL;
  }
  for (int i = 0; good && i < mesh->dats.count; i++) {
    const struct dat *dat = mesh->dats.items[i];
    int set = dat->set->id;
    if (o->order[set] && dat_has_memory(dat))
      good = (f->rows[i] = moved_rows(ctx->team, dat, o->order[set])) != NULL;
  }
  for (int i = 0; good && i < mesh->sets.count; i++)
    if (o->order[i])
      good = fresh_numbers(ctx->team, mesh->sets.items[i], o->order[i], &f->to_user[i], &f->from_user[i]);
  return good;
}

static void exchange(void **a, void **b) {
  void *other = *a;
  *a = *b;
  *b = other;
}

/* Exchange old and new, so that what is to be freed is in `f`. */
static void adopt(struct op_context *ctx, struct orders *o, struct fresh *f) {
  struct mesh *mesh = ctx->mesh;
  for (int i = 0; i < mesh->maps.count; i++)
    if (f->tables[i])
      exchange((void **)&((struct map *)mesh->maps.items[i])->table, (void **)&f->tables[i]);
  for (int i = 0; i < mesh->maps.count; i++)
    if (o->first[i])
      exchange((void **)&((struct map *)mesh->maps.items[i])->first, (void **)&o->first[i]);
  for (int i = 0; i < mesh->dats.count; i++)
    if (f->rows[i]) {
      struct dat *dat = mesh->dats.items[i];
      struct replica *host = &dat->replicas[SPACE_HOST];
      exchange(&host->memory, &f->rows[i]);
      data_bytes(dat, dat->set->extents[EXTENT_NONEXEC], &host->bytes);
      if (view_leave(dat, "its elements are renumbered") || dat->borrowed)
        f->rows[i] = NULL;
      dat->borrowed = false;
      dat_wrote(dat, SPACE_HOST);
    }
  for (int i = 0; i < mesh->sets.count; i++)
    if (f->to_user[i]) {
      struct set *set = mesh->sets.items[i];
      exchange((void **)&set->to_user, (void **)&f->to_user[i]);
      exchange((void **)&set->from_user, (void **)&f->from_user[i]);
    }
  subsets_number(ctx);
  mesh->epoch++;
}

static void fresh_free(const struct mesh *mesh, struct fresh *f) {
  for (int i = 0; f->tables && i < mesh->maps.count; i++)
    data_memory_free(f->tables[i]);
  for (int i = 0; f->rows && i < mesh->dats.count; i++)
    data_memory_free(f->rows[i]);
  for (int i = 0; i < mesh->sets.count; i++) {
    if (f->to_user)
      free(f->to_user[i]);
    if (f->from_user)
      free(f->from_user[i]);
  }
  free(f->tables);
  free(f->rows);
  free(f->to_user);
  free(f->from_user);
}

static int apply(struct op_context *ctx, struct orders *o, struct error *err) {
  const struct mesh *mesh = ctx->mesh;
  for (int i = 0; i < mesh->dats.count; i++) {
    struct dat *dat = mesh->dats.items[i];
    if (dat_has_memory(dat) && dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err))
      return err->code;
  }
  struct fresh f = {.tables = array_new((size_t)mesh->maps.count, sizeof(int *)),
                    .rows = array_new((size_t)mesh->dats.count, sizeof(void *)),
                    .to_user = array_new((size_t)mesh->sets.count, sizeof(int *)),
                    .from_user = array_new((size_t)mesh->sets.count, sizeof(int *))};
  int code = OP_OK;
  if (!f.tables || !f.rows || !f.to_user || !f.from_user || !make_fresh(ctx, o, &f))
    code = error_memory(err, "a renumbered mesh", 0);
  else
    adopt(ctx, o, &f);
  fresh_free(mesh, &f);
  return code;
}

int renumber_by(struct op_context *ctx, const char *method, struct map *base, struct dat *coords,
                struct error *err) {
  int chosen = find_method(method, err);
  if (chosen < 0)
    return err->code;
  if (methods[chosen].by_coords && check_coords(method, base, coords, err))
    return err->code;
  int code = mesh_distribute(ctx, err);
  if (!code)
    code = sums_leave_all(ctx, err);
  if (code)
    return code;
  struct orders o = {.count = ctx->mesh->sets.count, .maps = ctx->mesh->maps.count};
  o.order = array_new((size_t)o.count, sizeof *o.order);
  o.place = array_new((size_t)o.count, sizeof *o.place);
  o.first = array_new((size_t)o.maps, sizeof *o.first);
  code = o.order && o.place && o.first ? OP_OK
                                       : error_memory(err, "a renumbering", (size_t)o.count * sizeof(int *));
  int first = base->to->id;
  progress_step(ctx->log->progress, "numbering the mesh anew: set %s, %ld elements", base->to->name,
                base->to->size);
  if (!code)
    code = make_room(&o, first, known(base->to), err);
  if (!code)
    code = order_first(ctx, chosen, base, coords, o.order[first], err);
  if (!code)
    settle(ctx->team, base->to, o.order[first], o.place[first]);
  for (bool found = true; !code && found;)
    code = order_next(ctx, &o, &found, err);
  if (!code)
    code = order_entries(ctx, &o, err);
  if (spread_wanted(ctx))
    code = agree_on_success(ctx->comm, code, err);
  if (!code)
    code = spread_wanted(ctx) ? spread_apply(ctx, &(struct spread_change){.order = o.order}, err)
                              : apply(ctx, &o, err);
  progress_end(ctx->log->progress);
  orders_free(&o);
  return code;
}
