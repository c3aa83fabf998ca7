#include "loop/chain/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "include/op2jit.h"
#include "kernels-cache/store.h"
#include "loop/chain/queue.h"
#include "loop/choose.h"
#include "mesh/data.h"
#include "ranks/comm.h"
#include "record/record.h"

enum { FIRST_LOOK = 256, LATER = 4, KNOWN = 64, WARM = 3, WARM_MOST = 300, STEPS = 8 };
/* The part of the time of all loops that a trial must promise. */
static const double least_gain = 0.05;
/* A trial may take that part of the time that loops took so far; bytes a second through the host, about. */
static const double share = 0.05, host_rate = 2e9;

/* ---- what may lie otherwise ---- */

/* Ranks would have to agree; tapes and checks keep values as they lie, graphs of tasks loops, and bridges rows. */
static bool is_off(const struct op_context *ctx) {
  return !comm_alone(ctx->comm) || ctx->tapes || ctx->shadow || ctx->compiled || ctx->graphs->count ||
         ctx->mesh->lent || !ctx->store || !store_path(ctx->store) ||
         strcmp(env_value(ctx->env, ENV_CHECK), "off") != 0 ||
         strcmp(env_value(ctx->env, ENV_LAZY), "check") == 0 ||
         strcmp(env_value(ctx->env, ENV_TUNE), "auto") != 0;
}

/* Dats that are lent, structs, element matrices and dats with a layout that was asked for stay. */
static bool may_change(const struct op_context *ctx, const struct dat *dat) {
  bool asked;
  return dat->dim > 1 && !forced_layout(env_value(ctx->env, ENV_VARIANT), dat->name, &asked) &&
         !dat->asked_soa && !dat->temporary && !dat->dying && !dat->guest && !dat->segment &&
         !dat->borrowed && dat_has_memory(dat) && !type_is_struct(dat->type);
}

/* Rows behind ragged maps are whole. */
static bool is_ragged(const struct loop *loop, const struct dat *dat) {
  bool found = false;
  for (int i = 0; i < loop->nargs; i++)
    found |=
        loop->args[i].present && loop->args[i].dat == dat && loop->args[i].map && loop->args[i].map->first;
  return found;
}

/* ---- what is promised ---- */

struct promise {
  struct dat *dat;
  const struct loop *step; /* of those that use it, the one that gains most */
  double gain;             /* seconds of all calls so far */
};

/* Add up seconds of all calls so far by their counts, as they are and with the dat apart. False: a loop that uses it
 * has no counts. */
static bool add_up(struct op_context *ctx, struct loop *const *loops, size_t n, struct promise *p,
                   double *all) {
  double most = 0;
  *all = p->gain = 0;
  for (size_t i = 0; i < n; i++) {
    struct loop *loop = loops[i];
    double rows = 0, apart = 0;
    const bool used = loop_uses(loop, p->dat), counts = loop->backend->promise && loop->ready.prepared;
    if (used && !loop->backend->promise)
      return false;
    const bool known = counts && loop->stats.calls && loop->backend->promise(ctx, loop, NULL, &rows);
    if (used && (is_ragged(loop, p->dat) || loop->form || !known ||
                 !loop->backend->promise(ctx, loop, p->dat, &apart)))
      return false;
    const double calls = (double)loop->stats.calls, gain = used ? calls * (rows - apart) : 0;
    *all += known ? calls * rows : 0;
    p->gain += gain;
    if (gain > most) {
      most = gain;
      p->step = loop;
    }
  }
  return p->step;
}

static bool some_are_ragged(const struct op_context *ctx, const struct dat *dat) {
  bool found = false;
  for (const struct loop *loop = NULL; !found && (loop = loop_next(ctx->loops, loop));)
    found = is_ragged(loop, dat);
  return found;
}

/* Through the host and back, for each side; plans that are made anew. */
static double cost_of(const struct dat *dat, struct loop *const *loops, size_t n) {
  const int switches = LAYOUT_SIDES * LAYOUT_ROUNDS;
  double once = 2 * (double)dat->set->size * (double)dat->row_bytes / host_rate;
  for (size_t i = 0; i < n; i++)
    once += loops[i]->stats.plan_seconds;
  return switches * once;
}

/* The one that promises most of those that are worth a trial; gain 0: there is none. */
static struct promise best_promise(struct op_context *ctx) {
  struct promise best = {0};
  const size_t n = ctx->loops->count;
  struct loop **loops = loop_records(ctx);
  for (int i = 0; loops && i < ctx->mesh->dats.count; i++) {
    struct promise p = {.dat = ctx->mesh->dats.items[i]};
    double all = 0;
    const bool done = p.dat->apart || p.dat->id >= KNOWN || ctx->layouts->known >> p.dat->id & 1;
    if (!done && may_change(ctx, p.dat) && add_up(ctx, loops, n, &p, &all) && p.gain > least_gain * all &&
        cost_of(p.dat, loops, n) < share * all && p.gain > best.gain)
      best = p;
  }
  free(loops);
  return best;
}

/* ---- what is remembered ---- */

/* Look up, or store, whether it pays: by a dat like this one on such a device. */
static bool in_store(struct op_context *ctx, const struct dat *dat, double *pays, bool put) {
  struct text machine = {0}, name = {0};
  bool found = false;
  ctx->backend->target(ctx, backend_space(ctx->backend), &machine);
  text_addf(&name, "apart: %s, %d %s, %ld", dat->name, dat->dim, type_info(dat->type)->name,
            (long)dat->set->size);
  if (ctx->store && text_ok(&machine) && text_ok(&name))
    found = put ? store_put_fact(ctx->store, text_str(&machine), text_str(&name), *pays, "")
                : store_get_fact(ctx->store, text_str(&machine), text_str(&name), 0, pays, NULL);
  text_free(&machine);
  text_free(&name);
  return found;
}

/* ---- a trial ---- */

/* Without memory for it the dat stays as it is, and the trial ends. */
static int lay(struct op_context *ctx, struct dat *dat, bool apart, struct error *err) {
  int code = queue_flush(ctx, err);
  if (code)
    return code;
  code = dat_lay_on_devices(ctx, dat, apart, err);
  if (code != OP_ERR_MEMORY)
    return code;
  error_clear(err);
  ctx->layouts->dat = NULL;
  return OP_OK;
}

static void begin_side(struct layouts *l) {
  l->warm = l->counted = 0;
}

static int begin(struct op_context *ctx, const struct promise *p, struct error *err) {
  struct layouts *l = ctx->layouts;
  double pays = 0;
  l->known |= 1ULL << p->dat->id;
  if (in_store(ctx, p->dat, &pays, false))
    return pays > 0 ? lay(ctx, p->dat, true, err) : OP_OK;
  log_line(ctx->log, LOG_INFO, "tune",
           "dat %s: components apart are tried, which promise %.3g s of all calls so far", p->dat->name,
           p->gain);
  l->dat = p->dat;
  l->id = p->dat->id;
  l->step = p->step;
  l->runs = 0;
  begin_side(l);
  return OP_OK;
}

bool layout_pays(double seconds[LAYOUT_ROUNDS][LAYOUT_SIDES]) {
  double slowest = 0, fastest = HUGE_VAL;
  for (int r = 0; r < LAYOUT_ROUNDS; r++) {
    fastest = fmin(fastest, seconds[r][0]);
    slowest = fmax(slowest, seconds[r][1]);
  }
  return slowest < 0.98 * fastest;
}

static int decide(struct op_context *ctx, struct error *err) {
  struct layouts *l = ctx->layouts;
  struct dat *dat = l->dat;
  const bool pays = layout_pays(l->seconds);
  double kept = pays;
  l->dat = NULL;
  log_line(ctx->log, LOG_INFO, "tune",
           "dat %s lies %s: %d steps took %.3g and %.3g s in rows, %.3g and %.3g s with components apart",
           dat->name, pays ? "apart" : "in rows", STEPS, l->seconds[0][0], l->seconds[1][0], l->seconds[0][1],
           l->seconds[1][1]);
  in_store(ctx, dat, &kept, true);
  return pays ? OP_OK : lay(ctx, dat, false, err);
}

/* The device has done all that it was given. */
static int wait(struct op_context *ctx, struct error *err) {
  const int code = queue_flush(ctx, err);
  return code ? code : ctx->backend->wait(ctx, err);
}

static int end_side(struct op_context *ctx, struct error *err) {
  struct layouts *l = ctx->layouts;
  const int code = wait(ctx, err);
  if (code)
    return code;
  if (some_are_ragged(ctx, l->dat)) { /* a loop came meanwhile that wants its rows whole, and has them */
    l->dat = NULL;
    return OP_OK;
  }
  l->seconds[l->runs / LAYOUT_SIDES][l->runs % LAYOUT_SIDES] = clock_seconds() - l->begun;
  if (++l->runs == LAYOUT_SIDES * LAYOUT_ROUNDS)
    return decide(ctx, err);
  begin_side(l);
  return lay(ctx, l->dat, l->runs % LAYOUT_SIDES, err);
}

static bool is_tuned(const struct op_context *ctx, const struct dat *dat) {
  bool tuned = !tune_is_disturbed(ctx);
  for (const struct loop *loop = NULL; tuned && (loop = loop_next(ctx->loops, loop));)
    tuned = !loop_uses(loop, dat) || !tune_wants(loop);
  return tuned;
}

/* A step has begun. The first ones of a side make code and look for variants, and are not timed. */
static int next_step(struct op_context *ctx, struct error *err) {
  struct layouts *l = ctx->layouts;
  if (l->warm < WARM || (l->warm < WARM_MOST && !is_tuned(ctx, l->dat))) {
    l->warm++;
    return OP_OK;
  }
  if (l->counted++ == STEPS)
    return end_side(ctx, err);
  if (l->counted > 1)
    return OP_OK;
  const int code = wait(ctx, err);
  l->begun = clock_seconds();
  return code;
}

/* It is gone, or something came that it must not change under: it stays as it is. */
static bool goes_on(const struct op_context *ctx) {
  const struct layouts *l = ctx->layouts;
  for (int i = 0; i < ctx->mesh->dats.count; i++)
    if (ctx->mesh->dats.items[i] == l->dat)
      return l->dat->id == l->id && may_change(ctx, l->dat) && !is_off(ctx);
  return false;
}

int layout_called(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct layouts *l = ctx->layouts;
  if (l->dat) {
    if (loop != l->step)
      return OP_OK;
    if (goes_on(ctx))
      return next_step(ctx, err);
    l->dat = NULL;
  }
  if (++l->calls < (l->look_after ? l->look_after : FIRST_LOOK))
    return OP_OK;
  l->look_after = LATER * l->calls;
  l->off = is_off(ctx);
  const struct promise p = l->off ? (struct promise){0} : best_promise(ctx);
  return p.gain > 0 ? begin(ctx, &p, err) : OP_OK;
}
