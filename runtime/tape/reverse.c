/* Backwards: each event gives back what it changed, and what it did is undone to the bars. */
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/chain/queue.h"
#include "tape/tape.h"

/* ---- bars ---- */

/* True if all bars that the adjoint starts from hold zeros, so that it would add nothing. */
static int comes_from_nothing(struct op_context *ctx, const struct site *site, bool *nothing,
                              struct error *err) {
  int code = OP_OK;
  *nothing = true;
  for (int i = 0; !code && *nothing && i < site->nargs; i++)
    if (site->things[i] && arg_leaves(&site->are[i]))
      code = thing_is_zero(ctx, site->things[i]->bar, nothing, err);
  return code;
}

static int reverse_loop(struct op_context *ctx, struct tape *tape, const struct event *event,
                        struct error *err) {
  struct site *site = event->site;
  bool nothing = false;
  if (!event->active)
    return tape_cut(ctx, site, BESIDE_BAR, err);
  int code = comes_from_nothing(ctx, site, &nothing, err);
  if (code || nothing)
    return code;
  tape->reversed++;
  if (!tape->carries && !site->tested && strcmp(env_value(ctx->env, ENV_ADJOINT), "check") == 0 &&
      (code = site_test(ctx, event, err)))
    return code;
  return tape_run_adjoint(ctx, site, event_values(event), err);
}

int reverse_event(struct op_context *ctx, struct tape *tape, const struct event *event, struct error *err) {
  const struct thing *thing = NULL;
  if (event->skipped)
    return OP_OK;
  if (event->kind == EVENT_LOOP)
    return reverse_loop(ctx, tape, event, err);
  if (event->kind == EVENT_PUT)
    thing = event->changes[0].thing;
  if (event->kind == EVENT_CONSTANT && event - tape->events < tape->end)
    thing = thing_find(ctx->tapes, mesh_find_constant(ctx->mesh, event->constant));
  return thing ? thing_clear(ctx, thing->bar, err) : OP_OK;
}

/* ---- all of it ---- */

/* One kernel is named once, whatever dats its loops are of. */
static bool is_first_refused(const struct tape *tape, int e) {
  const struct site *site = tape->events[e].site;
  for (int i = 0; i < e; i++) {
    const struct event *other = &tape->events[i];
    if (other->active && other->site->refused && strcmp(other->site->name, site->name) == 0 &&
        strcmp(other->site->text, site->text) == 0)
      return false;
  }
  return true;
}

int tape_derive(struct op_context *ctx, struct tape *tape, struct error *err) {
  struct text names = {0};
  int count = 0;
  for (int e = 0; e < tape->end; e++) {
    const struct event *event = &tape->events[e];
    struct site *site = event->site;
    if (!event->active || event->skipped || site->current[DERIVE_ADJOINT])
      continue;
    struct error own = {0};
    struct loop *loop = NULL;
    site->refused = site_loop(ctx, site, event_values(event), &loop, &own) ||
                    derive_site(ctx, site, loop, DERIVE_ADJOINT, &own);
    if (site->refused) {
      if (is_first_refused(tape, e))
        text_addf(&names, "%s%s", count++ ? "\n" : "", error_message(&own));
    }
    error_free(&own);
  }
  if (count)
    error_set(err, OP_ERR_KERNEL, "%s%s", count > 1 ? "several loops have no derivative:\n" : "",
              text_str(&names));
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

static int reverse_to(struct op_context *ctx, struct tape *tape, int to, bool keep, struct error *err) {
  int code = OP_OK;
  while (!code && tape->at > to) {
    if ((code = fixed_reverse(ctx, tape, keep, err)) || tape->at <= to)
      return code;
    struct event *event = &tape->events[--tape->at];
    code = keep ? event_exchange(ctx, event, true, err) : event_undo(ctx, tape, event, err);
    if (!code)
      code = reverse_event(ctx, tape, event, err);
    say(ctx, tape, tape->at);
  }
  return code;
}

/* Everything is there. Behind it old values change places once more, so that all is as it was. */
static int reverse_at_once(struct op_context *ctx, struct tape *tape, struct error *err) {
  struct error own = {0};
  const int code = reverse_to(ctx, tape, 0, true, err);
  int back = queue_flush(ctx, code ? &own : err);
  while (!back && tape->at < tape->nevents)
    back = event_exchange(ctx, &tape->events[tape->at++], false, code ? &own : err);
  error_free(&own);
  return code ? code : back;
}

/* The rest of the tape runs again, from where data are. */
static int run_on(struct op_context *ctx, struct tape *tape, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && tape->at == tape->home && i < ctx->tapes->things.count; i++) {
    struct thing *thing = ctx->tapes->things.items[i];
    code = thing->zeroed ? thing_clear(ctx, thing, err) : OP_OK;
  }
  for (int k = 0; k <= tape->nsteps; k++)
    tape->again += steps_begin(tape, k) >= tape->at && steps_begin(tape, k) < steps_begin(tape, k + 1);
  return code ? code : tape_replay(ctx, tape, tape->end, event_primal, err);
}

/* All old values that derivatives of segment k use are there, and data are as behind it: from the last checkpoint in front
 * of it on everything runs again. */
static int make_again(struct op_context *ctx, struct tape *tape, int k, struct error *err) {
  int first = k;
  while (steps_begin(tape, first) != tape->checkpoints[tape->ncheckpoints - 1])
    first--;
  int code = tape_undo(ctx, tape, steps_begin(tape, first), err);
  tape->taped = steps_begin(tape, k);
  while (!code && first < k) {
    const int next = schedule_next(k - first + 1, steps_free_slots(ctx, tape, first, k));
    const int to = next > 0 && first + next <= k ? first + next : k;
    code = tape_replay(ctx, tape, steps_begin(tape, to), event_primal, err);
    tape->again += to - first;
    first = to;
    if (!code && next > 0 && tape->at > tape->checkpoints[tape->ncheckpoints - 1])
      code = steps_add_checkpoint(tape, tape->at, err);
  }
  if (!code)
    code = tape_replay(ctx, tape, steps_begin(tape, k + 1), event_primal, err);
  tape->again += !code;
  return code;
}

/* Data have again what they had at the end. */
static int come_back(struct op_context *ctx, struct tape *tape, bool failed, bool last, struct error *err) {
  int code = OP_OK;
  if (failed && tape->home != INT_MAX)
    code = tape_undo(ctx, tape, 0, err);
  if (!code && !failed && !last)
    code = run_on(ctx, tape, err);
  if (!code)
    code = tape_bring_back(ctx, tape, err);
  if (!code)
    code = run_on(ctx, tape, err);
  tape->home = INT_MAX;
  return !code && tape->at < tape->nevents ? tape_bring_back(ctx, tape, err) : code; /* constants behind it */
}

/* Steps run again, where what they use is not there. */
static int reverse_by_steps(struct op_context *ctx, struct tape *tape, bool last, struct error *err) {
  steps_find_home(ctx, tape, last);
  int code = tape_undo(ctx, tape, tape->end, err);
  for (int k = tape->nsteps; !code && k >= 0; k--) {
    if (steps_begin(tape, k) < tape->taped && steps_begin(tape, k) < steps_begin(tape, k + 1))
      code = make_again(ctx, tape, k, err);
    if (!code)
      code = reverse_to(ctx, tape, steps_begin(tape, k), false, err);
    steps_passed(ctx, tape);
  }
  tape->taped = INT_MAX;
  struct error own = {0};
  const int back = come_back(ctx, tape, code != OP_OK, last, code ? &own : err);
  error_free(&own);
  return code ? code : back;
}

int tape_reverse(struct op_context *ctx, struct tape *tape, bool last, struct error *err) {
  int code = tape_derive(ctx, tape, err);
  if (code)
    return code;
  progress_step(ctx->log->progress, "reversing %d loops", tape->nevents);
  tape->at = tape->nevents;
  code = tape->thinned ? reverse_by_steps(ctx, tape, last, err) : reverse_at_once(ctx, tape, err);
  if (!code)
    code = clear_bars(ctx, err);
  progress_end(ctx->log->progress);
  tape->broken |= code != OP_OK;
  if (last && !code)
    tape_spend(ctx, tape);
  return code;
}
