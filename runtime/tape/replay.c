/* Data go to an earlier or a later place of the tape: what was changed is given back, or events happen once more. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "loop/chain/queue.h"
#include "mesh/mesh.h"
#include "spread/spread.h"
#include "tape/tape.h"

unsigned char *event_values(const struct event *event) {
  static unsigned char none; /* of a loop that reads no global by value */
  return event->values ? event->values : &none;
}

static int set_constant(struct op_context *ctx, const struct event *event, bool old, struct error *err) {
  return mesh_update_constant(ctx, event->constant, event->values + (old ? 0 : event->value_bytes), "", err);
}

int event_exchange(struct op_context *ctx, struct event *event, bool back, struct error *err) {
  const bool constant = event->kind == EVENT_CONSTANT;
  int code = constant ? queue_flush(ctx, err) : OP_OK;
  for (int c = 0; !code && c < event->nchanges; c++) {
    struct change *change = &event->changes[back ? event->nchanges - 1 - c : c];
    if (change->kept || change->value)
      code = queue_flush(ctx, err);
    if (!code)
      code = keep_exchange(ctx, change, err);
  }
  return code || !constant ? code : set_constant(ctx, event, back, err);
}

/* True if the thing's value is needed at the end, when event `e` changes it. */
static bool is_last(const struct tape *tape, int e, const struct thing *thing) {
  return !thing->moved && (tape->home == INT_MAX || (e < tape->home && !thing->remade));
}

static void put_last(struct thing *thing, const struct change *end) {
  thing->last = end->kept;
  thing->last_value = end->value;
  thing->moved = true;
}

/* Saves a value before event `e`, or its undoing, overwrites it. */
static int save_last(struct op_context *ctx, struct tape *tape, int e, const struct change *change,
                     bool whole, struct error *err) {
  struct thing *thing = change->thing;
  struct change end = {.thing = thing, .whole = whole};
  int code = is_last(tape, e, thing) ? keep_room(ctx, tape, thing->bytes, err) : OP_OK;
  if (code || !is_last(tape, e, thing)) /* without room it is no longer needed */
    return code;
  code = keep_now(ctx, tape, &end, err);
  put_last(thing, &end);
  thing->moved = !code;
  return code;
}

int event_undo(struct op_context *ctx, struct tape *tape, struct event *event, struct error *err) {
  const int e = (int)(event - tape->events);
  int code = event_exchange(ctx, event, true, err);
  for (int c = 0; !code && c < event->nchanges; c++) {
    struct change *change = &event->changes[c];
    struct thing *thing = change->thing;
    if (!change->kept && !change->value) {
      if (keep_knows(change) && keep_is_needed(tape, e, change) &&
          !(code = save_last(ctx, tape, e, change, true, err)))
        code = thing_clear(ctx, thing, err);
      continue;
    }
    if (is_last(tape, e, thing)) {
      put_last(thing, change);
      change->kept = NULL;
      change->value = NULL;
    } else
      keep_drop(ctx, tape, change);
  }
  return code;
}

int tape_undo(struct op_context *ctx, struct tape *tape, int to, struct error *err) {
  int code = OP_OK;
  while (!code && tape->at > to)
    code = event_undo(ctx, tape, &tape->events[--tape->at], err);
  return code;
}

static int put_again(struct op_context *ctx, const struct event *event, struct error *err) {
  struct thing *thing = event->changes[0].thing;
  int code = queue_flush(ctx, err);
  if (code)
    return code;
  if (!event->values)
    return thing_clear(ctx, thing, err);
  if (thing->dat)
    return data_put(ctx, thing->dat, event->values, err);
  return gbl_put(ctx, thing->gbl, event->values, err);
}

/* Event `e`, before which data are, happens again. */
static int event_again(struct op_context *ctx, struct tape *tape, int e, replay_loop *run,
                       struct error *err) {
  struct event *event = &tape->events[e];
  int code = event->kind == EVENT_CONSTANT ? queue_flush(ctx, err) : OP_OK;
  for (int c = 0; !code && c < event->nchanges; c++) {
    code = save_last(ctx, tape, e, &event->changes[c], event->changes[c].whole, err);
    if (!code)
      code = keep_change(ctx, tape, e, &event->changes[c], err);
  }
  if (code)
    return code;
  if (event->kind == EVENT_PUT)
    code = put_again(ctx, event, err);
  if (event->kind == EVENT_CONSTANT)
    code = set_constant(ctx, event, false, err);
  return code ? code : run(ctx, event, err);
}

int event_primal(struct op_context *ctx, struct event *event, struct error *err) {
  return event->kind == EVENT_LOOP ? tape_run_primal(ctx, event->site, event_values(event), err) : OP_OK;
}

int tape_replay(struct op_context *ctx, struct tape *tape, int to, replay_loop *run, struct error *err) {
  int code = OP_OK;
  while (!code && tape->at < to) {
    code = event_again(ctx, tape, tape->at, run, err);
    tape->at += !code;
  }
  return code;
}

/* ---- the end ---- */

/* Gives the thing its last value again; `change` gets the value that it held before. */
static int bring_back(struct op_context *ctx, struct tape *tape, struct thing *thing, struct change *change,
                      struct error *err) {
  struct change last = thing_take_last(thing);
  int code = queue_flush(ctx, err);
  if (!code)
    code = keep_exchange(ctx, &last, err);
  if (change) {
    change->kept = last.kept;
    change->value = last.value;
  } else
    keep_drop(ctx, tape, &last);
  return code;
}

/* Sets the constants of events from `at` to where data come back. */
static int set_constants(struct op_context *ctx, const struct tape *tape, struct error *err) {
  int code = OP_OK;
  for (int e = tape->at; !code && e < tape->nevents && e < tape->home; e++)
    if (tape->events[e].kind == EVENT_CONSTANT && !(code = queue_flush(ctx, err)))
      code = set_constant(ctx, &tape->events[e], false, err);
  return code;
}

int tape_bring_back(struct op_context *ctx, struct tape *tape, struct error *err) {
  int code = set_constants(ctx, tape, err);
  for (int e = tape->end; e < tape->nevents; e++)
    for (int c = 0; !code && c < tape->events[e].nchanges; c++) {
      struct change *change = &tape->events[e].changes[c];
      if (change->thing->moved && !change->kept && !change->value && keep_is_needed(tape, e, change))
        code = bring_back(ctx, tape, change->thing, change, err);
    }
  for (int i = 0; !code && i < ctx->tapes->things.count; i++) {
    struct thing *thing = ctx->tapes->things.items[i];
    if (thing->moved)
      code = bring_back(ctx, tape, thing, NULL, err);
  }
  const int to = tape->home < tape->nevents ? tape->home : tape->nevents;
  tape->at = tape->at < to ? to : tape->at;
  return code;
}
