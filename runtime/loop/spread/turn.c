#include "loop/spread/turn.h"

#include "base/clock.h"
#include "context/context.h"
#include "loop/loop.h"
#include "ranks/comm.h"
#include "record/late.h"

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
  deep_begin(deep, launches);
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
  for (int s = 0; s < turn->depths->nsegments; s++)
    if (turn->deep[s])
      deep_end(turn->deep[s], turn->launches + turn->depths->first[s]);
  return code;
}
