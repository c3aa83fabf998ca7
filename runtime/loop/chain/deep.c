#include "loop/chain/deep.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "exec/executor.h"
#include "loop/chain/depths.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "ranks/comm.h"
#include "record/launch.h"
#include "spread/halo.h"

struct import {
  struct dat *dat;
  bool renewed; /* earlier loops of the chain change it, so that it is old by then */
  bool changed; /* a loop of the chain changes it */
  struct halo_rows rows;
};

struct deep {
  struct arrays memory; /* of the arrays that follow */
  struct deep_copies copies;
  struct deep_loop *loops;
  int nloops;
  struct import *imports; /* of each dat of the chain */
  int nimports;
  long long *wanted;       /* rows of them, on the rank that needs most */
  struct halo_need *needs; /* room for what an exchange brings */
};

/* ---- making one ---- */

static int no_memory(struct error *err) {
  return error_memory(err, "the copies that a chain runs on", 0);
}

static long rows_of(const struct loop *loop) {
  return loop->set->extents[EXTENT_EXEC];
}

/* Rows of the map for these copies: what comes lies in their order. */
static int make_table(struct apart *a, const struct map *map, struct error *err) {
  const long arity = map->arity, first = map->from->extents[EXTENT_EXEC],
             rows = map->from->extents[EXTENT_NONEXEC] - first;
  a->first = first;
  a->table = array_new((size_t)(rows * arity + MAP_SLACK), sizeof *a->table);
  if (!a->table)
    return no_memory(err);
  for (long i = 0; i < a->count; i++)
    for (long c = 0; c < arity; c++)
      a->table[(a->copies[i] - first) * arity + c] = (int)(i * arity + c);
  return OP_OK;
}

static int make_apart(struct apart *a, const struct loop *loop, int arg, const struct copies_list *run,
                      struct error *err) {
  const struct map *map = loop->args[arg].map;
  size_t bytes;
  long begin = 0;
  while (begin < run->count && run->elements[begin] < rows_of(loop))
    begin++;
  *a = (struct apart){.arg = arg,
                      .dat = loop->args[arg].dat,
                      .map = map,
                      .values = *loop->args[arg].dat,
                      .rows = {.into = &a->values},
                      .copies = run->elements + begin,
                      .count = run->count - begin};
  const long rows = a->count * map->arity;
  memset(a->values.replicas, 0, sizeof a->values.replicas);
  a->values.stride = data_stride(rows);
  if (!data_bytes(&a->values, rows, &bytes))
    return no_memory(err);
  a->values.replicas[SPACE_HOST].memory = data_memory(NULL, bytes, 0);
  return a->values.replicas[SPACE_HOST].memory ? make_table(a, map, err) : no_memory(err);
}

/* rows: of maps, of the loop's set. apart: some copies may have none, on any rank. */
static int make_loop(struct deep *deep, int which, const struct loop *loop, long rows, bool apart,
                     struct error *err) {
  struct deep_loop *l = &deep->loops[which];
  const struct copies_list *run = &deep->copies.run[which];
  int code = deep_schedule_new(&l->schedule, rows, run, 0, err);
  l->aparts = arrays_add(&deep->memory, (size_t)loop->nargs, sizeof *l->aparts);
  if (!code && !l->aparts)
    code = no_memory(err);
  for (int i = 0; !code && apart && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    bool known = !arg->dat || !arg->map || !arg->present || loop->desc.args[i].dat < 0;
    for (int k = 0; k < l->naparts && !known; k++)
      known = loop->args[l->aparts[k].arg].dat == arg->dat;
    if (!known)
      code = make_apart(&l->aparts[l->naparts++], loop, i, run, err);
  }
  return code;
}

struct copies_set *deep_sets(const struct tiled_description *d, int layers) {
  struct copies_set *sets = array_new((size_t)d->chain.nsets, sizeof *sets);
  for (int s = 0; sets && s < d->chain.nsets; s++) {
    const struct set *set = d->known[0][s];
    const long *extents = set->extents, *ends = set->spread ? set->spread->rings.ends : NULL;
    const bool more = layers > 1 && ends && !set->sub;
    sets[s] = (struct copies_set){extents[EXTENT_CORE], extents[EXTENT_OWNED],
                                  more ? ends[2 * layers] : extents[EXTENT_EXEC],
                                  more ? ends[2 * layers + 1] : extents[EXTENT_NONEXEC]};
  }
  return sets;
}

int deep_new(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
             int layers, const struct depths *depths, int segment, struct deep **out, struct error *err) {
  const int first = depths->first[segment], end = depths->first[segment + 1];
  struct deep *deep = *out = array_new(1, sizeof *deep);
  if (!deep)
    return no_memory(err);
  deep->nloops = end - first;
  deep->nimports = d->chain.ndats;
  deep->loops = arrays_add(&deep->memory, (size_t)deep->nloops, sizeof *deep->loops);
  deep->imports = arrays_add(&deep->memory, (size_t)deep->nimports, sizeof *deep->imports);
  deep->wanted = arrays_add(&deep->memory, (size_t)deep->nimports, sizeof *deep->wanted);
  int code = deep->memory.failed ? no_memory(err)
                                 : deep_copies_find(&deep->copies, &d->chain, sets, first, end, err);
  for (int i = 0; !code && i < deep->nloops; i++)
    code = make_loop(deep, i, loops[first + i], sets[d->chain.loops[first + i].set].rows,
                     layers == 1 && runs_apart(depths->run[first + i]), err);
  size_t most = (size_t)deep->nimports;
  for (int i = 0; i < deep->nloops && !code; i++)
    most += (size_t)deep->loops[i].naparts;
  deep->needs = arrays_add(&deep->memory, most, sizeof *deep->needs);
  if (!code && !deep->needs)
    code = no_memory(err);
  for (int i = 0; !code && i < deep->nimports; i++)
    deep->imports[i] = (struct import){.dat = (struct dat *)(uintptr_t)d->known[2][i],
                                       .renewed = chain_changes(&d->chain, i, first),
                                       .changed = chain_changes(&d->chain, i, d->chain.nloops)};
  return code;
}

/* Dats that no rank wants have no messages. */
static int agree_on_wanted(struct op_context *ctx, struct deep *deep, struct error *err) {
  for (int i = 0; i < deep->nimports; i++)
    deep->wanted[i] = deep->copies.need[i].count;
  return ctx->comm->table->reduce_all(ctx->comm, deep->wanted, deep->nimports, COMM_LLONG, COMM_MAX, err);
}

int deep_connect(struct op_context *ctx, struct deep *deep, struct error *err) {
  int code = agree_on_wanted(ctx, deep, err);
  for (int i = 0; !code && i < deep->nimports; i++) {
    const struct copies_list *need = &deep->copies.need[i];
    struct halo_rows *rows = &deep->imports[i].rows;
    if (deep->wanted[i])
      code = halo_rows_connect(ctx, deep->imports[i].dat->set, need->elements, need->count, &rows->exchange,
                               err);
  }
  for (int l = 0; l < deep->nloops; l++)
    for (int k = 0; !code && k < deep->loops[l].naparts; k++) {
      struct apart *a = &deep->loops[l].aparts[k];
      code = halo_rows_connect_targets(ctx, a->map, a->copies, a->count, &a->rows.exchange, err);
    }
  return code;
}

static void apart_free(struct op_context *ctx, struct apart *a) {
  exchanges_forget_rows(ctx, &a->rows);
  halo_exchange_free(&a->rows.exchange);
  data_memory_free(a->values.replicas[SPACE_HOST].memory);
  free(a->table);
}

void deep_free(struct op_context *ctx, struct deep *deep) {
  if (!deep)
    return;
  for (int l = 0; deep->loops && l < deep->nloops; l++) {
    for (int k = 0; k < deep->loops[l].naparts; k++)
      apart_free(ctx, &deep->loops[l].aparts[k]);
    schedule_free(&deep->loops[l].schedule);
  }
  for (int i = 0; deep->imports && i < deep->nimports; i++) {
    exchanges_forget_rows(ctx, &deep->imports[i].rows);
    halo_exchange_free(&deep->imports[i].rows.exchange);
  }
  deep_copies_free(&deep->copies);
  arrays_free(&deep->memory);
  free(deep);
}

/* ---- messages ---- */

static bool is_old(const struct dat *dat, const struct halo_rows *rows) {
  return rows->version != dat->version + 1;
}

/* Imports that are old: all, or those of dats that no loop of the chain changes. */
static int find_old(const struct deep *deep, bool all) {
  int count = 0;
  for (int i = 0; i < deep->nimports; i++) {
    struct import *import = &deep->imports[i];
    if (deep->wanted[i] && (all || !import->changed) &&
        (import->renewed || is_old(import->dat, &import->rows)))
      deep->needs[count++] = (struct halo_need){.dat = import->dat, .rows = &import->rows};
  }
  return count;
}

static int find_old_aparts(const struct deep *deep) {
  int count = 0;
  for (int l = 0; l < deep->nloops; l++)
    for (int k = 0; k < deep->loops[l].naparts; k++) {
      struct apart *a = &deep->loops[l].aparts[k];
      if (is_old(a->dat, &a->rows))
        deep->needs[count++] = (struct halo_need){.dat = a->dat, .rows = &a->rows};
    }
  return count;
}

static int get(struct op_context *ctx, const struct deep *deep, int count,
               const struct exchange_header *header, struct exchange **out, struct error *err) {
  *out = NULL;
  return count ? exchange_get(ctx, deep->needs, count, SPACE_HOST, header, out, err) : OP_OK;
}

static int bring(struct op_context *ctx, const struct deep *deep, int count,
                 const struct exchange_header *header, struct error *err) {
  struct exchange *x = NULL;
  double waited = 0;
  int code = get(ctx, deep, count, header, &x, err);
  if (!code && x)
    code = exchange_start(ctx, x, err);
  return code || !x ? code : exchange_finish(ctx, x, &waited, err);
}

/* Before the first loop of the chain: *out: NULL, or the exchange that will bring what its loops need and is old by then.
 * What is apart travels now; early: so does what no loop of the chain changes. Collective. */
static int deep_prepare(struct op_context *ctx, const struct deep *deep, bool early,
                        const struct exchange_header *header, struct exchange **out, struct error *err) {
  int code = OP_OK;
  *out = NULL;
  /* Owners of copies may have copies of their targets themselves, which come first. */
  if (early || find_old_aparts(deep))
    code = bring(ctx, deep, find_old(deep, false), header, err);
  if (!code)
    code = bring(ctx, deep, find_old_aparts(deep), header, err);
  return code ? code : get(ctx, deep, find_old(deep, true), header, out, err);
}

bool deep_awaits_constants(const struct deep *deep) {
  return find_old(deep, false) > 0;
}

/* ---- running ---- */

const struct deep_copies *deep_copies(const struct deep *deep) {
  return &deep->copies;
}

void deep_sent(const struct deep *deep, struct copies_list *sent) {
  for (int i = 0; i < deep->nimports; i++) {
    const struct halo_side *send = &deep->imports[i].rows.exchange.send;
    sent[i] = (struct copies_list){send->elements, send->count ? send->first[send->count] : 0};
  }
}

/* Code that any elements run by is there for its launches, or is made now. Collective, as ranks get code together. */
static int deep_get_code(struct op_context *ctx, const struct deep *deep, struct launch *const *launches,
                         struct error *err) {
  struct work ignored;
  int code = OP_OK;
  for (int l = 0; !code && l < deep->nloops; l++)
    code = launches[l]->loop->backend->work(ctx, launches[l], &ignored, err);
  return code;
}

/* The first of the segment's loops that reaches others' elements or runs on them. */
static struct launch *first_to_wait(const struct turn *turn, int segment) {
  const struct depths *d = turn->depths;
  for (int l = d->first[segment]; l < d->first[segment + 1]; l++)
    if (turn->launches[l]->loop->ready.nparts > 1 || d->run[l] > 0)
      return turn->launches[l];
  return turn->launches[d->first[segment + 1] - 1];
}

static int prepare(struct op_context *ctx, struct turn *turn, int segment,
                   const struct exchange_header *header, struct error *err) {
  const struct deep *deep = turn->deep[segment];
  struct launch *launch = first_to_wait(turn, segment);
  struct launch *const *launches = turn->launches + turn->depths->first[segment];
  struct exchange *x = NULL;
  ctx->comm->where = launch->loop->name;
  int code = deep_get_code(ctx, deep, launches, err);
  if (!code)
    code = deep_prepare(ctx, deep, turn->early, header, &x, err);
  ctx->comm->where = NULL;
  if (code)
    return code;
  for (int l = 0; l < deep->nloops; l++)
    launches[l]->deep = &deep->loops[l];
  turn->waits[segment] = x ? launch : NULL;
  if (x) {
    launch->exchange = x;
    launch->stale = 0;
  }
  return OP_OK;
}

int turn_begin(struct op_context *ctx, struct turn *turn, const struct exchange_header *header,
               struct error *err) {
  int code = OP_OK;
  for (int s = 0; s < turn->depths->nsegments; s++)
    turn->waits[s] = NULL;
  for (int s = 0; !code && s < turn->depths->nsegments; s++)
    if (turn->deep[s])
      code = prepare(ctx, turn, s, header, err);
  return code;
}

int turn_start(struct op_context *ctx, struct turn *turn, int segment, struct error *err) {
  struct launch *launch = turn->waits[segment];
  const double start = clock_seconds();
  if (turn->started > segment)
    return OP_OK;
  turn->started = segment + 1;
  if (!launch)
    return OP_OK;
  ctx->comm->where = launch->loop->name;
  const int code = exchange_start(ctx, launch->exchange, err);
  if (code)
    turn->waits[segment] = NULL;
  else
    loop_exchange_started(ctx, launch, start);
  return code;
}

int turn_finish(struct op_context *ctx, struct turn *turn, int segment, struct error *err) {
  struct launch *launch = turn->waits[segment];
  turn->waits[segment] = NULL;
  return launch ? loop_exchange_finish(ctx, launch, err) : OP_OK;
}

int turn_leave_results(struct op_context *ctx, struct turn *turn, int end, struct error *err) {
  int code = OP_OK;
  for (; !code && turn->left < end; turn->left++) {
    struct launch *launch = turn->launches[turn->left];
    if (launch->deep)
      code = (results_come_late(ctx, launch->loop) ? late_begin : launch_results)(ctx, launch, err);
  }
  return code;
}

int turn_end(struct op_context *ctx, struct turn *turn, int code) {
  struct error ignored = {0};
  if (turn->started && turn->waits[turn->started - 1])
    turn_finish(ctx, turn, turn->started - 1, &ignored);
  error_free(&ignored);
  for (int l = 0; l < turn->depths->first[turn->depths->nsegments]; l++)
    turn->launches[l]->deep = NULL;
  return code;
}

/* The launch's frame, where maps and dats are those apart. NULL: no memory. */
static void **make_frame(const struct launch *launch, const struct deep_loop *l) {
  const struct desc *d = &launch->loop->desc;
  const size_t slots = (size_t)desc_slots(d);
  void **frame = array_new(slots, sizeof *frame);
  if (!frame)
    return NULL;
  memcpy(frame, launch->frame, slots * sizeof *frame);
  for (int k = 0; k < l->naparts; k++) {
    const struct apart *a = &l->aparts[k];
    const struct desc_arg *described = &d->args[a->arg];
    const uintptr_t before = (uintptr_t)(a->first * a->map->arity) * sizeof *a->table;
    frame[desc_slot_dat(d, described->dat)] = a->values.replicas[SPACE_HOST].memory;
    frame[desc_slot_stride(d, described->dat)] = (void *)(uintptr_t)a->values.stride;
    frame[desc_slot_map(d, described->map)] = (void *)((uintptr_t)a->table - before);
  }
  return frame;
}

int deep_schedule_new(struct schedule *out, long rows, const struct copies_list *run, int slot,
                      struct error *err) {
  if (schedule_new(out, run->count, 1, 0, err))
    return err->code;
  schedule_add_phase(out, false);
  for (long i = 0, end; i < run->count; i = end) {
    const int first = run->elements[i];
    for (end = i + 1;
         end < run->count && run->elements[end] == first + (end - i) && run->elements[end] != rows;)
      end++;
    schedule_add_item(out, first < rows ? WITH_ROWS : APART, first, first + (end - i), -1);
  }
  for (int i = 0; i < out->nitems; i++)
    out->items[i].slot = slot;
  return OP_OK;
}

int deep_loop_run_some(const struct launch *launch, const struct schedule *schedule, const struct work *work,
                       struct error *err) {
  const struct loop *loop = launch->loop;
  struct work works[WORKS] = {[WITH_ROWS] = *work, [APART] = *work};
  if (!schedule->nitems)
    return OP_OK;
  unsigned char *slot = array_new(1, loop->ready.slot_bytes);
  void **frame = make_frame(launch, launch->deep);
  const bool all = slot && frame;
  if (all) {
    if (loop->ready.nreductions)
      launch_start_slot(launch, slot);
    works[WITH_ROWS].slots = works[APART].slots = slot;
    works[APART].frame = frame;
    executor_run(NULL,
                 &(struct execution){.schedule = schedule, .works = works, .nworks = WORKS, .threads = 1});
  }
  free(slot);
  free(frame);
  return all ? OP_OK : no_memory(err);
}

int deep_loop_run(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct work work;
  const int code = launch->loop->backend->work(ctx, launch, &work, err);
  return code ? code : deep_loop_run_some(launch, &launch->deep->schedule, &work, err);
}
