/* Linked so, the library expects that waiting pays for whatever comes a third time, though the data are small, and that tiles do: all
 * else is as in a program whose data no cache holds. What may not wait does not. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "backend/backend.h"
#include "context/context.h"
#include "jit/jit.h"
#include "loop/chain/queue.h"
#include "loop/chain/tiled.h"
#include "loop/chain/worth.h"

enum { TILE_BYTES = 1000 };
static int history;

void __real_watch_open(struct watch *w, const struct op_context *ctx);
void __wrap_watch_open(struct watch *w, const struct op_context *ctx);
int __real_watch_takes(struct op_context *ctx, const struct loop *loop, bool *waits, struct error *err);
int __wrap_watch_takes(struct op_context *ctx, const struct loop *loop, bool *waits, struct error *err);
int __real_worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                         struct error *err);
int __wrap_worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                         struct error *err);
bool __real_jit_prepare(struct jit *jit, const struct desc *d, const void *shape);
bool __wrap_jit_prepare(struct jit *jit, const struct desc *d, const void *shape);
bool __wrap_tiled_pays(const struct op_context *ctx, struct loop *const *loops, int n);
double __wrap_tiled_worth_bytes(const struct op_context *ctx);
double __wrap_worth_tile_bytes(const struct op_context *ctx);
bool __real_worth_is_forced(const struct op_context *ctx);
bool __wrap_worth_is_forced(const struct op_context *ctx);
bool __real_loop_may_wait(const struct op_context *ctx, const struct loop *loop);
bool __wrap_loop_may_wait(const struct op_context *ctx, const struct loop *loop);
int __wrap_team_cpus(void);

/* The functions of these programs look at nothing else, so that they wait, too. */
static bool is_native(const struct op_context *ctx) {
  return strcmp(ctx->backend->name, "native") == 0;
}

bool __wrap_worth_is_forced(const struct op_context *ctx) {
  return is_native(ctx) || __real_worth_is_forced(ctx);
}

bool __wrap_loop_may_wait(const struct op_context *ctx, const struct loop *loop) {
  return is_native(ctx) ? !loop->form && loop->ready.most_elements > 0 : __real_loop_may_wait(ctx, loop);
}

/* One of them is free: tiles are cut beside the loops. */
int __wrap_team_cpus(void) {
  return INT_MAX;
}

/* Loops of few bytes are a reason to look, too. */
void __wrap_watch_open(struct watch *w, const struct op_context *ctx) {
  __real_watch_open(w, ctx);
  w->least = w->usual = 0;
  history = w->history;
}

/* These programs are short: nobody stops looking for a while, or wants to see more, because a period did not pay. */
int __wrap_watch_takes(struct op_context *ctx, const struct loop *loop, bool *waits, struct error *err) {
  struct watch *w = &ctx->queue->watch;
  w->next_look = 0;
  w->history = history;
  for (int i = 0; i < WATCH_VERDICTS; i++)
    w->verdicts[i].next_look = 0;
  return __real_watch_takes(ctx, loop, waits, err);
}

int __wrap_worth_waiting(struct op_context *ctx, struct watched *period, int n, struct waiting_worth *worth,
                         struct error *err) {
  const int code = __real_worth_waiting(ctx, period, n, worth, err);
  for (int i = 0; is_native(ctx) && i < n; i++)
    period[i].waits = period[i].loop && loop_may_wait(ctx, period[i].loop);
  worth->guess.bytes = TILE_BYTES;
  worth->pays = true;
  return code;
}

/* Code that is compiled behind them would come too late. */
bool __wrap_jit_prepare(struct jit *jit, const struct desc *d, const void *shape) {
  if (__real_jit_prepare(jit, d, shape))
    return true;
  jit_finish(jit);
  return __real_jit_prepare(jit, d, shape);
}

bool __wrap_tiled_pays(const struct op_context *ctx, struct loop *const *loops, int n) {
  (void)ctx, (void)loops;
  return n > 1;
}

double __wrap_tiled_worth_bytes(const struct op_context *ctx) {
  (void)ctx;
  return 0;
}

double __wrap_worth_tile_bytes(const struct op_context *ctx) {
  (void)ctx;
  return TILE_BYTES;
}
