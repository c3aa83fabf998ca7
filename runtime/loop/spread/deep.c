#include "loop/spread/deep.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/size.h"
#include "context/context.h"
#include "loop/spread/copies.h"
#include "loop/spread/depths.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "ranks/comm.h"
#include "run/schedule.h"
#include "spread/halo_rows.h"

struct import {
  struct dat *dat;
  bool renewed; /* earlier loops of the chain change it, so that it is old by then */
  bool changed; /* a loop of the chain changes it */
  struct halo_rows rows;
};

struct deep {
  struct copies copies;
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
static int make_loop(struct deep_loop *l, const struct loop *loop, const struct copies_list *run, long rows,
                     bool apart, struct error *err) {
  int code = deep_schedule_new(&l->schedule, rows, run, err);
  l->aparts = array_new((size_t)loop->nargs, sizeof *l->aparts);
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

/* Find the dats that loops of the chain change, and those that loops before the segment do. */
static void find_changed(struct deep *deep, const struct chain *chain, int first) {
  for (int l = 0; l < chain->nloops; l++)
    for (int i = 0; i < chain->loops[l].naccesses; i++) {
      const struct chain_access *a = &chain->loops[l].accesses[i];
      deep->imports[a->dat].changed |= a->use != CHAIN_READS;
      deep->imports[a->dat].renewed |= a->use != CHAIN_READS && l < first;
    }
}

int deep_new(struct loop *const *loops, const struct tiled_description *d, const struct copies_set *sets,
             int layers, const struct depths *depths, int segment, struct deep **out, struct error *err) {
  const int first = depths->first[segment], end = depths->first[segment + 1];
  struct deep *deep = *out = array_new(1, sizeof *deep);
  if (!deep)
    return no_memory(err);
  deep->nloops = end - first;
  deep->nimports = d->chain.ndats;
  deep->loops = array_new((size_t)deep->nloops, sizeof *deep->loops);
  deep->imports = array_new((size_t)deep->nimports, sizeof *deep->imports);
  deep->wanted = array_new((size_t)deep->nimports, sizeof *deep->wanted);
  int code = deep->loops && deep->imports && deep->wanted
                 ? deep_copies_find(&deep->copies, &d->chain, sets, first, end, err)
                 : no_memory(err);
  for (int i = 0; !code && i < deep->nloops; i++)
    code = make_loop(&deep->loops[i], loops[first + i], &deep->copies.run[i],
                     sets[d->chain.loops[first + i].set].rows,
                     layers == 1 && runs_apart(depths->run[first + i]), err);
  size_t most = (size_t)deep->nimports;
  for (int i = 0; i < deep->nloops && !code; i++)
    most += (size_t)deep->loops[i].naparts;
  deep->needs = array_new(most, sizeof *deep->needs);
  if (!code && !deep->needs)
    code = no_memory(err);
  for (int i = 0; !code && i < deep->nimports; i++)
    deep->imports[i].dat = (struct dat *)(uintptr_t)d->known[2][i];
  if (!code)
    find_changed(deep, &d->chain, first);
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
    free(deep->loops[l].aparts);
    schedule_free(&deep->loops[l].schedule);
  }
  for (int i = 0; deep->imports && i < deep->nimports; i++) {
    exchanges_forget_rows(ctx, &deep->imports[i].rows);
    halo_exchange_free(&deep->imports[i].rows.exchange);
  }
  deep_copies_free(&deep->copies);
  free(deep->loops);
  free(deep->imports);
  free(deep->wanted);
  free(deep->needs);
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

int deep_prepare(struct op_context *ctx, const struct deep *deep, bool early,
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

const struct copies *deep_copies(const struct deep *deep) {
  return &deep->copies;
}

void deep_sent(const struct deep *deep, struct copies_list *sent) {
  for (int i = 0; i < deep->nimports; i++) {
    const struct halo_side *send = &deep->imports[i].rows.exchange.send;
    sent[i] = (struct copies_list){send->elements, send->count ? send->first[send->count] : 0};
  }
}

int deep_get_code(struct op_context *ctx, const struct deep *deep, struct launch *const *launches,
                  struct error *err) {
  struct work ignored;
  int code = OP_OK;
  for (int l = 0; !code && l < deep->nloops; l++)
    code = launches[l]->loop->backend->work(ctx, launches[l], &ignored, err);
  return code;
}

void deep_begin(const struct deep *deep, struct launch *const *launches) {
  for (int l = 0; l < deep->nloops; l++)
    launches[l]->deep = &deep->loops[l];
}

void deep_end(const struct deep *deep, struct launch *const *launches) {
  for (int l = 0; l < deep->nloops; l++)
    launches[l]->deep = NULL;
}
