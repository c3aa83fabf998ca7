/* Backwards: each event gives back what it changed, and what it did is undone to the bars. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/progress/progress.h"
#include "base/text.h"
#include "context/context.h"
#include "loop/queue.h"
#include "mesh/mesh.h"
#include "tape/tape.h"

/* ---- bars ---- */

/* Do all bars that the adjoint starts from hold zeros, so that it would add nothing? */
static int comes_from_nothing(struct op_context *ctx, const struct site *site, bool *nothing, struct error *err) {
  int code = OP_OK;
  *nothing = true;
  for (int i = 0; !code && *nothing && i < site->nargs; i++)
    if (site->things[i] && arg_leaves(&site->are[i]))
      code = thing_is_zero(ctx, site->things[i]->bar, nothing, err);
  return code;
}

/* A loop of constants: what it writes depends on no input any more. */
static int cut_off(struct op_context *ctx, const struct event *event, struct error *err) {
  const struct site *site = event->site;
  int code = OP_OK;
  for (int i = 0; !code && i < site->nargs; i++) {
    const struct thing *thing = site->things[i];
    bool zero = true;
    if (!thing || !thing->bar || !access_assigns(site->are[i].access))
      continue;
    if (thing->gbl || site_overwrites(site, i))
      code = thing_clear(ctx, thing->bar, err);
    else if (!(code = thing_is_zero(ctx, thing->bar, &zero, err)) && !zero)
      code = tape_run_zero(ctx, site, i, thing->bar, err);
  }
  return code;
}

static int reverse_loop(struct op_context *ctx, struct tape *tape, const struct event *event, struct error *err) {
  struct site *site = event->site;
  bool nothing = false;
  if (!event->active)
    return cut_off(ctx, event, err);
  int code = comes_from_nothing(ctx, site, &nothing, err);
  if (code || nothing)
    return code;
  tape->reversed++;
  return tape_run_adjoint(ctx, site, event->values, err);
}

static int reverse_event(struct op_context *ctx, struct tape *tape, const struct event *event,
                         struct error *err) {
  switch (event->kind) {
  case EVENT_LOOP: return reverse_loop(ctx, tape, event, err);
  case EVENT_PUT: return thing_clear(ctx, event->changes[0].thing->bar, err);
  default: return OP_OK;
  }
}

/* ---- data ---- */

/* Forwards, or back. */
int event_set_constant(struct op_context *ctx, const struct event *event, bool old, struct error *err) {
  if (event->kind != EVENT_CONSTANT)
    return OP_OK;
  return mesh_update_constant(ctx, event->constant, event->values + (old ? 0 : event->value_bytes), "", err);
}

/* What waits may use what changes places. */
static int exchange(struct op_context *ctx, struct event *event, bool back, struct error *err) {
  int code = event->kind == EVENT_CONSTANT ? queue_flush(ctx, err) : OP_OK;
  for (int c = 0; !code && c < event->nchanges; c++) {
    struct change *change = &event->changes[back ? event->nchanges - 1 - c : c];
    if (change->kept || change->value)
      code = queue_flush(ctx, err);
    if (!code)
      code = keep_exchange(ctx, change, err);
  }
  return code ? code : event_set_constant(ctx, event, back, err);
}

/* ---- all of it ---- */

/* Before anything runs: all loops without a derivative are named. */
static int derive_all(struct op_context *ctx, struct tape *tape, struct error *err) {
  struct text names = {0};
  int count = 0;
  for (int e = 0; e < tape->end; e++) {
    const struct event *event = &tape->events[e];
    struct site *site = event->site;
    if (!event->active || (site->adjoint && !site->grown))
      continue;
    struct error own = {0};
    if (derive_adjoint(ctx, site, event->values, &own)) {
      bool told = false;
      for (int before = 0; before < e; before++)
        told |= tape->events[before].active && tape->events[before].site == site;
      if (!told)
        text_addf(&names, "%s%s", count++ ? "\n" : "", error_message(&own));
    }
    error_free(&own);
  }
  if (count)
    error_set(err, OP_ERR_KERNEL, "%s%s", count > 1 ? "several loops have no derivative:\n" : "", text_str(&names));
  text_free(&names);
  return err->code;
}

static void say(const struct op_context *ctx, const struct tape *tape, int e) {
  int step = 0;
  while (step < tape->nsteps && tape->steps[step] <= e)
    step++;
  if (tape->nsteps && step > 0)
    progress_more(ctx->log->progress, "reversing step %d of %d", step, tape->nsteps);
}

/* Bars of what is no input have done their work. */
static int clear_bars(struct op_context *ctx, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->tapes->things.count; i++) {
    const struct thing *thing = ctx->tapes->things.items[i];
    if (thing->used && !thing->input)
      code = thing_clear(ctx, thing->bar, err);
  }
  return code;
}

/* Forwards again, so that all is as it was before. */
static int go_back(struct op_context *ctx, struct tape *tape, struct error *err) {
  int code = queue_flush(ctx, err);
  while (!code && tape->at < tape->nevents)
    code = exchange(ctx, &tape->events[tape->at++], false, err);
  return code;
}

static int go(struct op_context *ctx, struct tape *tape, struct error *err) {
  int code = OP_OK;
  tape->at = tape->nevents;
  while (!code && tape->at > 0) {
    struct event *event = &tape->events[--tape->at];
    code = exchange(ctx, event, true, err);
    if (!code)
      code = reverse_event(ctx, tape, event, err);
    say(ctx, tape, tape->at);
  }
  return code;
}

int tape_reverse(struct op_context *ctx, struct tape *tape, bool last, struct error *err) {
  struct error ignored = {0};
  int code = derive_all(ctx, tape, err);
  if (code)
    return code;
  progress_step(ctx->log->progress, "reversing %d loops", tape->nevents);
  code = go(ctx, tape, err);
  const int back = go_back(ctx, tape, code ? &ignored : err);
  error_free(&ignored);
  if (!code && !back)
    code = clear_bars(ctx, err);
  progress_end(ctx->log->progress);
  tape->broken |= code || back;
  if (last && !code && !back)
    tape_spend(ctx, tape);
  return code ? code : back;
}
