/* Others' elements: which a loop over distributed sets needs, and which it leaves up to date. */
#include <string.h>

#include "base/clock.h"
#include "context/context.h"
#include "context/trace.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "plan/depth.h"
#include "ranks/comm.h"
#include "spread/exchange.h"

static void add_need(struct loop *loop, struct dat *dat, const struct map *map) {
  for (int n = 0; n < loop->ready.nneeds; n++)
    if (loop->ready.needs[n].dat == dat && loop->ready.needs[n].map == map)
      return;
  loop->ready.needs[loop->ready.nneeds++] = (struct halo_need){.dat = dat, .map = map};
}

/* The depth to which its elements run: 1, with copies, where they change what others own. */
static int run_of(const struct loop *loop) {
  return loop->ready.nparts > loop->ready.nresults;
}

/* Old values that elements executed here read: increments and writes need none. */
void loop_find_needs(struct loop *loop) {
  const int run = run_of(loop);
  loop->ready.nneeds = 0;
  for (int i = 0; loop->set->spread && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_DAT && arg->present && access_reads(arg->access) &&
        depth_read(run, !arg_is_own(arg)) > 0)
      add_need(loop, arg->dat, arg->entry ? NULL : map_origin(arg->map));
  }
}

static int find_exchange(struct op_context *ctx, struct launch *launch, enum space space, uint64_t stale,
                         struct error *err) {
  const struct loop *loop = launch->loop;
  struct halo_need needs[OP_MAX_ARGS];
  int count = 0;
  if (launch->exchange && launch->stale == stale && launch->exchange_space == space)
    return OP_OK;
  for (int n = 0; n < loop->ready.nneeds; n++)
    if (stale >> n & 1u)
      needs[count++] = loop->ready.needs[n];
  launch->stale = stale;
  launch->exchange_space = space;
  return exchange_get(ctx, needs, count, space, NULL, &launch->exchange, err);
}

int loop_exchange_start(struct op_context *ctx, struct launch *launch, enum space space, bool *started,
                        struct error *err) {
  struct loop *loop = launch->loop;
  uint64_t stale = 0;
  *started = false;
  int code = OP_OK;
  for (int n = 0; !code && n < loop->ready.nneeds; n++) {
    const struct halo_need *need = &loop->ready.needs[n];
    if (!halo_is_current(ctx, need->dat, need->map))
      stale |= (uint64_t)1 << n;
    else
      code = halo_bring(ctx, need->dat, space, err);
  }
  if (code || !stale)
    return code;
  const double start = clock_seconds();
  ctx->comm->where = loop->name;
  code = find_exchange(ctx, launch, space, stale, err);
  if (!code)
    code = exchange_start(ctx, launch->exchange, err);
  if (code)
    return error_prefix(err, "loop %s: ", loop->name);
  *started = true;
  loop_exchange_started(ctx, launch, start);
  return OP_OK;
}

void loop_exchange_started(struct op_context *ctx, struct launch *launch, double start) {
  struct loop *loop = launch->loop;
  loop->stats.messages += exchange_messages(launch->exchange);
  loop->stats.bytes_sent += (long long)exchange_bytes(launch->exchange);
  loop->stats.exchanges++;
  loop->stats.exchange_seconds += clock_seconds() - start;
  trace_until_now(ctx->trace, TRACE_EXCHANGE, loop->name, "begin", start,
                  (double)exchange_bytes(launch->exchange));
}

int loop_exchange_finish(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const double start = clock_seconds();
  double waited = 0;
  int code = exchange_finish(ctx, launch->exchange, &waited, err);
  loop->stats.exchange_seconds += clock_seconds() - start;
  loop->stats.waiting_seconds += waited;
  trace_span(ctx->trace, TRACE_WAIT, loop->name, "messages", start, waited, 0);
  trace_until_now(ctx->trace, TRACE_EXCHANGE, loop->name, "end", start, 0);
  ctx->comm->where = NULL;
  return code ? error_prefix(err, "loop %s: ", loop->name) : OP_OK;
}

static bool writes(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && arg->access != OP_READ;
}

static enum chain_use use_of(const struct loop_arg *arg) {
  return access_reduces(arg->access) ? CHAIN_ADDS
         : arg->access == OP_WRITE   ? CHAIN_OVERWRITES
         : arg->access == OP_RW      ? CHAIN_WRITES
                                     : CHAIN_READS;
}

/* A dat's number: of the first argument that has it. */
static int number_of(const struct loop *loop, const struct dat *dat) {
  int first = 0;
  while (loop->args[first].dat != dat)
    first++;
  return first;
}

/* The depth to which each dat is valid behind the loop, by the dat's number. */
static void find_depths(struct op_context *ctx, const struct loop *loop, int depths[OP_MAX_ARGS]) {
  struct chain_access accesses[OP_MAX_ARGS];
  /* A compiled function may write on some paths only. */
  struct chain_loop described = {.accesses = accesses, .whole = !loop->set->sub && !loop->compiled};
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!writes(arg))
      continue;
    const int dat = number_of(loop, arg->dat);
    depths[dat] = halo_depth(ctx, arg->dat);
    accesses[described.naccesses++] = (struct chain_access){
        .dat = dat, .use = use_of(arg), .map = arg->map ? 0 : -1, .own = arg_is_own(arg)};
  }
  depth_behind(&described, run_of(loop), depths);
}

void loop_mark_written(struct op_context *ctx, const struct loop *loop, bool copies) {
  int depths[OP_MAX_ARGS];
  const bool deep = run_of(loop) > 0 && (copies || loop_fills_matrix(loop));
  if (deep)
    find_depths(ctx, loop, depths);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!writes(arg))
      continue;
    dat_wrote(arg->dat, loop->space);
    if (deep && (copies || arg->dat->segment))
      halo_computed(ctx, arg->dat, loop->space, depths[number_of(loop, arg->dat)]);
  }
}

/* Halo copies of a dat hold what nobody can take for a value: NaN, or -1; of bool there is no such value. */
static void poison(struct dat *dat) {
  const long *extents = dat->set->extents;
  const int pattern = dat->type == TYPE_BOOL ? 1 : 0xff;
  for (long e = extents[EXTENT_OWNED]; e < extents[EXTENT_NONEXEC]; e++)
    for (int c = 0; c < dat->dim; c++)
      memset(dat_value(dat, e, c), pattern, dat->value_size);
}

int loop_exchange_anew(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  bool started = false;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form != DESC_DAT || !arg->present || !arg->dat->set->spread)
      continue;
    poison(arg->dat);
    halo_is_old(arg->dat);
  }
  int code = loop_exchange_start(ctx, launch, SPACE_HOST, &started, err);
  return code || !started ? code : loop_exchange_finish(ctx, launch, err);
}
