#include "loop/chain/tiled.h"

#include <stdlib.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "include/op2jit.h"
#include "loop/chain/fused.h"
#include "loop/choose.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "record/launch.h"

/* So many different chains are remembered. */
enum { MOST_CHAINS = 64 };

/* ---- which chains there are ------------------------------------------------------------------------*/

static void tiled_free(struct op_context *ctx, struct tiled *t) {
  list_remove(ctx->chains, t);
  tiled_take_cut(ctx, t, true);
  tiles_free(&t->tiles);
  arrays_free(&t->memory);
  free(t);
}

void tiled_forget(struct op_context *ctx) {
  while (ctx->chains->count)
    tiled_free(ctx, ctx->chains->items[ctx->chains->count - 1]);
  list_free(ctx->chains);
}

void tiled_stay(struct op_context *ctx) {
  for (int i = 0; i < ctx->chains->count; i++)
    tiled_take_cut(ctx, ctx->chains->items[i], true);
}

/* Does it begin with this loop, by itself or as the first of several that are one? */
static bool begins_with(const struct tiled *t, const struct loop *first) {
  const struct fusion *f = t->loops[0]->fusion;
  return (f ? f->members[0] : t->loops[0]) == first;
}

static bool is_way(const struct tiled *t, const struct chain_way *way) {
  bool fused = false;
  for (int l = 0; l < t->n; l++)
    fused |= t->loops[l]->fusion != NULL;
  return fused == way->fused && t->tasks == way->tasks && !(t->bytes < way->bytes || t->bytes > way->bytes);
}

void tiled_forget_others(struct op_context *ctx, const struct loop *first, const struct chain_way *way) {
  for (int i = ctx->chains->count - 1; i >= 0; i--) {
    struct tiled *t = ctx->chains->items[i];
    if (begins_with(t, first) && !is_way(t, way))
      tiled_free(ctx, t);
  }
}

void tiled_forget_with(struct op_context *ctx, const struct loop *loop) {
  for (int i = ctx->chains->count - 1; i >= 0; i--) {
    struct tiled *t = ctx->chains->items[i];
    bool has = false;
    for (int l = 0; l < t->n; l++)
      has |= t->loops[l] == loop;
    if (has)
      tiled_free(ctx, t);
  }
}

/* A chain as launches, or where there are none yet as loops. */
struct members {
  struct launch *const *launches;
  struct loop *const *loops;
  int n;
};

static struct loop *loop_at(const struct members *m, int i) {
  return m->launches ? m->launches[i]->loop : m->loops[i];
}

static bool is_of(const struct tiled *t, const struct members *m, const struct chain_way *way) {
  bool same = t->n == m->n && is_way(t, way);
  for (int i = 0; same && i < m->n; i++)
    same = t->loops[i] == loop_at(m, i);
  return same;
}

static struct tiled *tiled_new(struct op_context *ctx, const struct members *m, const struct chain_way *way) {
  struct tiled *t = calloc(1, sizeof *t);
  if (!t)
    return NULL;
  *t = (struct tiled){.n = m->n, .bytes = way->bytes, .tasks = way->tasks};
  t->loops = arrays_add(&t->memory, (size_t)m->n, sizeof *t->loops);
  t->works = arrays_add(&t->memory, (size_t)m->n, sizeof *t->works);
  for (int i = 0; t->loops && i < m->n; i++)
    t->loops[i] = loop_at(m, i);
  if (t->memory.failed || !list_add(ctx->chains, t)) {
    tiled_free(ctx, t);
    return NULL;
  }
  return t;
}

static struct tiled *find(const struct op_context *ctx, const struct members *m,
                          const struct chain_way *way) {
  for (int i = 0; i < ctx->chains->count; i++)
    if (is_of(ctx->chains->items[i], m, way))
      return ctx->chains->items[i];
  return NULL;
}

/* NULL: there are too many already, or no memory. */
static struct tiled *find_or_make(struct op_context *ctx, const struct members *m,
                                  const struct chain_way *way) {
  struct tiled *t = find(ctx, m, way);
  return t || ctx->chains->count >= MOST_CHAINS ? t : tiled_new(ctx, m, way);
}

bool tiled_is_known(struct op_context *ctx, struct launch *const *launches, int n,
                    const struct chain_way *way) {
  struct tiled *t = find(ctx, &(struct members){.launches = launches, .n = n}, way);
  if (t)
    tiled_take_cut(ctx, t, false);
  return t && t->tried;
}

bool tiled_prepare(struct op_context *ctx, struct loop *const *loops, int n, const struct chain_way *way) {
  struct tiled *t = n > 1 ? find_or_make(ctx, &(struct members){.loops = loops, .n = n}, way) : NULL;
  if (!t)
    return true;
  tiled_take_cut(ctx, t, false);
  return t->tried || (!t->cutting_behind && !tiled_cut_behind(ctx, t));
}

/* The first l loops, or the first i arguments of the next, have it. */
static bool is_used(struct loop *const *loops, int l, int i, const struct dat *dat, const struct map *map) {
  for (int k = 0; k <= l; k++)
    for (int j = 0; j < (k < l ? loops[k]->nargs : i); j++)
      if (dat ? loops[k]->args[j].dat == dat : loops[k]->args[j].map == map)
        return true;
  return false;
}

static double dat_bytes(const struct dat *dat) {
  return (double)dat->set->extents[EXTENT_OWNED] * (double)dat->row_bytes;
}

/* Also where the machine is said to have less (OP2_L3). */
double tiled_worth_bytes(const struct op_context *ctx) {
  const double worth = 16e6, said = (double)env_number(ctx->env, ENV_L3, 0);
  return said > 0 && said < worth ? said : worth;
}

static double bytes_of_dats(struct loop *const *loops, int n) {
  double bytes = 0;
  for (int l = 0; l < n; l++)
    for (int i = 0; i < loops[l]->nargs; i++) {
      const struct dat *dat = loops[l]->args[i].dat;
      if (dat && !is_used(loops, l, i, dat, NULL))
        bytes += dat_bytes(dat);
    }
  return bytes;
}

bool tiled_pays(const struct op_context *ctx, struct loop *const *loops, int n) {
  return bytes_of_dats(loops, n) >= tiled_worth_bytes(ctx);
}

bool tiled_pays_as_tasks(struct loop *const *loops, int n) {
  const double worth = 1e6;
  double bytes = 0;
  for (int l = 0; l < n; l++)
    bytes += loops[l]->stats.bytes;
  return loops_threads(loops, n) > 1 && bytes >= worth;
}

static bool is_changed(struct loop *const *loops, int n, const struct dat *dat) {
  for (int l = 0; l < n; l++)
    for (int i = 0; i < loops[l]->nargs; i++)
      if (loops[l]->args[i].dat == dat && loops[l]->args[i].access != OP_READ)
        return true;
  return false;
}

static double map_bytes(const struct map *map) {
  return (double)map_begin(map, map->from->extents[EXTENT_OWNED]) * (double)sizeof(int);
}

/* Each dat is read once, unless it is written first, and written once if it is changed; each map is read once. */
struct tiled_bytes tiled_bytes(struct loop *const *loops, int n) {
  struct tiled_bytes b = {.data = bytes_of_dats(loops, n)};
  for (int l = 0; l < n; l++)
    for (int i = 0; i < loops[l]->nargs; i++) {
      const struct loop_arg *arg = &loops[l]->args[i];
      if (arg->dat && !is_used(loops, l, i, arg->dat, NULL))
        b.moved += dat_bytes(arg->dat) * ((arg->access != OP_WRITE) + is_changed(loops, n, arg->dat));
      if (arg->map && !is_used(loops, l, i, NULL, arg->map)) {
        b.moved += map_bytes(arg->map);
        b.data += map_bytes(arg->map);
      }
    }
  for (int l = 0; l < n; l++)
    b.called += loops[l]->stats.bytes;
  return b;
}

bool tiled_tell(const struct op_context *ctx, int i, struct tiled_facts *out, bool *more) {
  *more = i < ctx->chains->count;
  const struct tiled *t = *more ? ctx->chains->items[i] : NULL;
  if (!t || t->runs == 0)
    return false;
  const struct tiled_bytes b = tiled_bytes(t->loops, t->n);
  *out = (struct tiled_facts){.first = t->loops[0]->name,
                              .last = t->loops[t->n - 1]->name,
                              .loops = t->n,
                              .tiles = t->tiles.ntiles,
                              .chunks = t->tiles.nchunks,
                              .runs = t->runs,
                              .tile_bytes = t->bytes,
                              .gap = (double)t->tiles.gap / (double)t->tiles.all,
                              .cutting = t->cutting,
                              .seconds = t->seconds,
                              .called_bytes = b.called,
                              .bytes = b.moved};
  return true;
}

double tiled_seconds(const struct op_context *ctx) {
  double seconds = 0;
  for (int i = 0; i < ctx->chains->count; i++)
    seconds += ((const struct tiled *)ctx->chains->items[i])->cutting;
  return seconds;
}

/* ---- running it ------------------------------------------------------------------------------------*/

static int make_works(struct op_context *ctx, const struct tiled *t, struct launch *const *launches,
                      struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < t->n; i++) {
    struct launch *launch = launches[i];
    launch_set_slots(launch, 0, t->tiles.nslots[i]);
    code = launch_start_slots(launch, err);
    if (!code)
      code = launch->loop->backend->work(ctx, launch, &t->works[i], err);
  }
  return code;
}

/* As before: for a run of each loop on its own. */
static int take_back(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; i++)
    code = loop_ready_again(ctx, launches[i], err);
  return code;
}

/* Room for the items of one loop, and for the order in which items wait for one another. */
struct one_by_one {
  struct arrays memory;
  struct item *items;
  int *order, *left;
};

static bool make_room(struct one_by_one *room, size_t items) {
  room->items = arrays_add(&room->memory, items, sizeof *room->items);
  room->order = arrays_add(&room->memory, items, sizeof *room->order);
  room->left = arrays_add(&room->memory, items, sizeof *room->left);
  return !room->memory.failed;
}

static void execute(struct op_context *ctx, const struct tiled *t, const struct schedule *s, int threads) {
  struct trace_thread *watch = trace_threads(ctx->trace, threads);
  executor_run(ctx->team,
               &(struct execution){
                   .schedule = s, .works = t->works, .nworks = t->n, .threads = threads, .watch = watch});
  if (watch)
    trace_threads_ran(ctx->trace, t->loops[0]->name, t->tasks ? "tasks" : "tiles");
}

/* Items keep their order, or that in which they wait for one another, and with it sums theirs. */
static void execute_loop_by_loop(struct op_context *ctx, const struct tiled *t,
                                 const struct one_by_one *room) {
  const struct schedule *all = &t->tiles.schedule;
  struct item *items = room->items;
  if (all->waits)
    waits_order(all->waits, room->order, room->left);
  for (int l = 0; l < t->n; l++) {
    struct phase phase = {0};
    for (int i = 0; i < all->nitems; i++) {
      const struct item *item = &all->items[all->waits ? room->order[i] : i];
      if (item->work == l)
        items[phase.count++] = *item;
    }
    execute(ctx, t, &(struct schedule){.items = items, .nitems = phase.count, .phases = &phase, .nphases = 1},
            1);
  }
}

/* `room`: for the loops one by one; its items are NULL if they run together. */
static int run(struct op_context *ctx, struct tiled *t, struct launch *const *launches,
               const struct one_by_one *room, struct error *err) {
  const double start = clock_seconds();
  double counted[HARDWARE_MOST];
  int code = OP_OK;
  if (ctx->hardware)
    hardware_read(ctx->hardware, counted);
  if (room->items)
    execute_loop_by_loop(ctx, t, room);
  else
    execute(ctx, t, &t->tiles.schedule, loops_threads(t->loops, t->n));
  for (int i = 0; !code && i < t->n; i++) {
    code = launch_results(ctx, launches[i], err);
    loop_mark_written(ctx, t->loops[i], true);
  }
  const double seconds = clock_seconds() - start;
  loop_share_time(ctx, launches, t->n, t->tasks ? "tasks" : "tiles", counted, start, seconds);
  if (room->items)
    return code;
  if (t->tasks)
    ctx->counters->tasked++;
  else
    ctx->counters->tiled++;
  t->runs++;
  t->seconds += seconds;
  return code;
}

/* A failure here comes before anything has changed: loops run one by one. Only wrong tiles are an error. */
int tiled_run(struct op_context *ctx, struct launch *const *launches, int n, const struct chain_way *way,
              bool *ran, struct error *err) {
  struct tiled *t = n > 1 ? find_or_make(ctx, &(struct members){.launches = launches, .n = n}, way) : NULL;
  struct one_by_one room = {0};
  *ran = false;
  if (!t)
    return OP_OK;
  tiled_take_cut(ctx, t, true);
  int code = t->tried ? OP_OK : tiled_cut(ctx, t, way->forced, err);
  if (code == OP_ERR_PLAN)
    return code;
  if (!code && t->tiles.schedule.nitems) {
    const size_t count = (size_t)t->tiles.schedule.nitems;
    if (way->loop_by_loop && !make_room(&room, count))
      code = error_memory(err, "the loops of a chain", count * sizeof *room.items);
    if (!code)
      code = make_works(ctx, t, launches, err);
    *ran = !code;
  }
  if (*ran)
    code = run(ctx, t, launches, &room, err);
  arrays_free(&room.memory);
  if (!*ran && code) {
    error_clear(err);
    return take_back(ctx, launches, n, err);
  }
  return code;
}
