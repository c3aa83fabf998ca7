#include "loop/balance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "context/env.h"
#include "include/op2jit.h"
#include "loop/chain/queue.h"
#include "loop/chain/tiled.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/data.h"
#include "spread/parts/speeds.h"

/* Calls of loops: those that make loops ready, which say nothing of ranks, and those between comparisons. */
enum { FIRST = 64, MOST = 4096, MOST_GIVEN = 4, PATIENCE = 16 };
static const double least_seconds = 10e-3, drifted = 1.1;

void balance_open(struct op_context *ctx, struct balance *balance) {
  const char *wanted = env_value(ctx->env, ENV_BALANCE);
  if (comm_alone(ctx->comm))
    return;
  ctx->balance = balance;
  *balance = (struct balance){.on = strcmp(wanted, "on") == 0,
                              .once = strcmp(wanted, "auto") == 0 && ctx->peers && speeds_are_measured(ctx),
                              .period = FIRST,
                              .prime = -1,
                              .map = -1,
                              .coords = -1};
  balance->left = balance->on || balance->once ? FIRST : 0;
}

/* ---- the account of this rank ---- */

/* Seconds, from some time on. A device computes while the program goes on: there all time counts that others did not make this
 * rank wait, and that it did not spend on code. */
static double computed(const struct op_context *ctx) {
  const bool device = ctx->backend->on_device;
  double seconds = device ? clock_seconds() : 0;
  for (const struct loop *loop = NULL; (loop = loop_next(ctx->loops, loop));) {
    const struct loop_stats *s = &loop->stats;
    seconds += device ? -s->waiting_seconds - s->plan_seconds - s->compile_seconds
                      : fmax(0, s->seconds - s->exchange_seconds);
  }
  return seconds;
}

/* Since the last time; what that took says nothing of later. */
static bool tried(struct op_context *ctx) {
  long long now = ctx->counters->compiles;
  for (const struct loop *loop = NULL; (loop = loop_next(ctx->loops, loop));)
    now += loop->stats.trials + loop->stats.tried;
  const bool any = now != ctx->balance->tried;
  ctx->balance->tried = now;
  return any;
}

static double own_seconds(const struct op_context *ctx) {
  return fmax(0, computed(ctx) - ctx->balance->begun);
}

/* All ranks of one machine at once. */
static double measured_rate(struct op_context *ctx) {
  const struct peers_all all = peers_enter(ctx);
  const double rate = ctx->backend->bandwidth ? ctx->backend->bandwidth(ctx) : 0;
  peers_leave(ctx, &all, OP_OK, NULL);
  return rate > 0 ? rate : -1;
}

void balance_fill(struct op_context *ctx, struct partition_call *call) {
  struct balance *b = ctx->balance;
  call->times = loop_times(ctx);
  if (!b)
    return;
  if (ctx->peers && b->rate == 0 && speeds_are_measured(ctx))
    b->rate = measured_rate(ctx);
  call->busy = (long long)(own_seconds(ctx) * 1e9);
  call->rate = b->rate;
}

/* ---- the last op_partition ---- */

static void keep_word(char *to, size_t room, const char *word) {
  snprintf(to, room, "%s", word ? word : "");
}

void balance_parted(struct op_context *ctx, const struct partition_call *call) {
  struct balance *b = ctx->balance;
  if (!b)
    return;
  b->begun = computed(ctx);
  b->in_a_row = 0;
  b->last = (struct partition_call){.prime = call->prime, .map = call->map, .coords = call->coords};
  b->prime = call->prime ? call->prime->id : -1;
  b->map = call->map ? call->map->id : -1;
  b->coords = call->coords ? call->coords->id : -1;
  keep_word(b->lib, sizeof b->lib, call->lib);
  keep_word(b->method, sizeof b->method, call->method);
}

/* The map with most rows that says which elements of a set are neighbours: of the named one, or of any. */
static const struct map *find_map(const struct mesh *mesh, const struct set *prime) {
  const struct map *best = NULL;
  for (int m = 0; m < mesh->maps.count; m++) {
    const struct map *map = mesh->maps.items[m];
    const bool joins = map->to != map->from && (!prime || map->to == prime || map->from == prime);
    if (joins && !map->to->entries_of && !map->from->entries_of &&
        (!best || map->from->global_size > best->from->global_size))
      best = map;
  }
  return best;
}

/* Bisection moves its cuts by a little; all others go on from the parts that are. False: there is no map to go along. */
static bool find_way(const struct op_context *ctx, struct partition_call *call) {
  const struct balance *b = ctx->balance;
  const struct mesh *mesh = ctx->mesh;
  *call = b->last;
  if (!list_has(&mesh->sets, call->prime) || call->prime->id != b->prime)
    call->prime = NULL;
  if (!call->prime || !list_has(&mesh->maps, call->map) || call->map->id != b->map)
    call->map = NULL;
  if (!call->prime || !list_has(&mesh->dats, call->coords) || call->coords->id != b->coords)
    call->coords = NULL;
  call->lib = b->lib;
  call->method = b->method;
  if (call->coords && partition_bisects(call->lib))
    return true;
  if (!call->map)
    call->map = (struct map *)find_map(mesh, call->prime);
  if (!call->map)
    return false;
  if (!call->prime)
    call->prime = call->map->to;
  call->lib = "diffusive";
  call->method = "";
  return true;
}

/* ---- what is in the way ---- */

enum { NOTHING, LENT, RECORDED, KEPT, POINTED, NUMBERED, NO_MAP, REASONS };

static const char *const reasons[REASONS] = {
    [LENT] = "data are acquired, lent or placed (op_acquire, op_lend, op_place)",
    [RECORDED] = "derivatives or checkpoints record what the program does",
    [KEPT] = "calls of loops are captured (OP2_CAPTURE)",
    [POINTED] = "a program of OP2 may look at dat->data at any time",
    [NUMBERED] = "a bridge to a solver knows where elements lie (op_layout, op_solve)",
    [NO_MAP] = "no map says which elements are neighbours",
};

/* Local: what others hold of the mesh would be wrong behind their back. */
static int find_reason(const struct op_context *ctx) {
  struct error said = {0};
  struct partition_call call;
  const bool lent = lend_check_all(ctx, "OP2_BALANCE", &said) != OP_OK;
  bool numbered = false;
  error_free(&said);
  for (int s = 0; s < ctx->mesh->sets.count; s++)
    numbered |= ((const struct set *)ctx->mesh->sets.items[s])->layout != NULL;
  return lent                               ? LENT
         : ctx->recorder                    ? RECORDED
         : ctx->catcher                     ? KEPT
         : ctx->compiled && !ctx->untouched ? POINTED
         : numbered                         ? NUMBERED
         : !find_way(ctx, &call)            ? NO_MAP
                                            : NOTHING;
}

static void tell_reason(struct op_context *ctx, int reason, double drift) {
  if (!ctx->balance->told && ctx->comm->rank == 0)
    log_line(ctx->log, ctx->balance->on ? LOG_WARN : LOG_INFO, "mesh",
             "the slowest rank computes %.2f times as long as the mean, and the mesh stays as it is: %s",
             drift, reasons[reason]);
  ctx->balance->told = true;
}

/* ---- dealing out ---- */

static int deal_out(struct op_context *ctx, double drift, struct error *err) {
  struct balance *b = ctx->balance;
  struct partition_call call;
  long long moved = 0;
  const double start = clock_seconds();
  int code = queue_flush(ctx, err);
  if (code)
    return code;
  tiled_stay(ctx);
  find_way(ctx, &call);
  balance_fill(ctx, &call);
  call.moved = &moved;
  code = mesh_partition(ctx, &call, err);
  free(call.times);
  if (!code)
    code = ctx->comm->table->reduce_all(ctx->comm, &moved, 1, COMM_LLONG, COMM_SUM, err);
  if (code)
    return error_prefix(err, "OP2_BALANCE=%s: ", env_value(ctx->env, ENV_BALANCE));
  b->cost = clock_seconds() - start;
  b->lost = 0;
  b->period = FIRST;
  b->left = b->once ? 0 : FIRST;
  b->moves++;
  b->in_a_row++;
  b->begun = computed(ctx);
  if (ctx->comm->rank == 0)
    log_line(
        ctx->log, LOG_INFO, "mesh",
        "the slowest rank computed %.2f times as long as the mean: %lld of %lld elements of \"%s\" go to "
        "other ranks (%s), in %.3g ms",
        drift, moved, call.prime->global_size, call.prime->name, call.lib, b->cost * 1e3);
  return OP_OK;
}

/* Speeds that the program gives are believed: no clock is asked. */
static double seconds_to_compare(const struct op_context *ctx) {
  const double speed = speeds_given(ctx);
  struct partition_call call;
  if (!(speed > 0))
    return own_seconds(ctx);
  find_way(ctx, &call);
  return call.prime ? (double)call.prime->extents[EXTENT_OWNED] / speed : 0;
}

/* The same on all ranks, by what they told. */
static int decide(struct op_context *ctx, double slowest, double mean, double cost, int reason,
                  struct error *err) {
  struct balance *b = ctx->balance;
  const bool given = speeds_given(ctx) > 0;
  const double drift = slowest / mean;
  b->lost += given ? 0 : slowest - mean;
  b->cost = cost;
  b->period = b->period < MOST ? 2 * b->period : MOST;
  b->left = b->once ? 0 : b->period;
  if (drift >= drifted && reason != NOTHING)
    tell_reason(ctx, reason, drift);
  else if (drift >= drifted && (given ? b->in_a_row < MOST_GIVEN : b->lost >= b->cost))
    return deal_out(ctx, drift, err);
  b->begun = computed(ctx);
  return OP_OK;
}

/* All ranks compare, if none tried anything meanwhile; in the end all the same. */
static bool is_disturbed(struct balance *b, bool any) {
  b->passed = any && b->passed < PATIENCE ? b->passed + 1 : 0;
  return b->passed > 0;
}

int balance_compare(struct op_context *ctx, struct error *err) {
  enum { SECONDS, COST, REASON, TRIED, VALUES };
  struct balance *b = ctx->balance;
  const bool given = speeds_given(ctx) > 0;
  double values[VALUES] = {seconds_to_compare(ctx), b->cost, find_reason(ctx), tried(ctx)},
         mean = values[SECONDS];
  b->left = b->period;
  int code = b->warm ? agree_on_largest(ctx->agreement, OP_OK, values, VALUES, err) : OP_OK;
  if (!b->warm || (!code && !given && is_disturbed(b, values[TRIED] > 0))) {
    b->warm = true;
    b->begun = computed(ctx);
    return OP_OK;
  }
  if (!code)
    code = ctx->agreement->table->reduce_all(ctx->agreement, &mean, 1, COMM_DOUBLE, COMM_SUM, err);
  mean /= ctx->comm->size;
  if (code || !(mean > (given ? 0 : least_seconds)))
    return code;
  return decide(ctx, values[SECONDS], mean, values[COST], (int)values[REASON], err);
}
