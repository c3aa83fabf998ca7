/* Events, as the program runs. */
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "loop/loop.h"
#include "ranks/agree.h"
#include "tape/tape.h"

/* ---- what a loop may not do ---- */

static bool is_varied(const struct site *site, int i) {
  const struct thing *thing = site->things[i];
  const struct loop_arg *arg = &site->are[i];
  return thing && thing->real && thing->varied && (arg_gets(arg) || access_is_extremum(arg->access));
}

static bool is_active(const struct site *site) {
  bool any = false;
  for (int i = 0; i < site->nargs; i++)
    any |= is_varied(site, i);
  for (int i = site->nargs; i < site->nargs + site->nconstants; i++)
    any |= site->things[i] && site->things[i]->varied;
  return any && !(site->said && site->said->frozen);
}

static int check_results(const struct site *site, struct error *err) {
  for (int i = 0; i < site->nargs; i++)
    if (type_is_real(site->are[i].type) && arg_is_result(&site->are[i]))
      return error_set(
          err, OP_ERR_STATE,
          "loop %s, argument %d: a value that depends on the tape's inputs goes into a C variable, "
          "where its derivative is lost; use op_arg_global, or say by op_tape_passive that what the "
          "program makes of such values is constant",
          site->name, i + 1);
  return OP_OK;
}

static int check_values(const struct site *site, struct error *err) {
  for (int i = 0; i < site->nargs; i++) {
    const struct loop_arg *arg = &site->are[i];
    if (type_is_real(arg->type) && arg_is_value(arg))
      return error_set(
          err, OP_ERR_STATE,
          "loop %s, argument %d: a value of the program goes in, and before it one left that depends "
          "on the tape's inputs; if this one does not depend on that one, say so by op_tape_passive; "
          "else compute it in a loop, over a set of one element, with op_arg_global",
          site->name, i + 1);
  }
  return OP_OK;
}

/* Elements that meet in what they write leave what the last one wrote; which one that was nobody knows. */
static int check_meetings(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (!loop_writes_through_map(loop) || !loop->ready.most_elements)
    return OP_OK;
  struct launch *launch = launch_get(loop, err);
  int code = launch ? loop_prepare(ctx, launch, err) : err->code;
  if (launch)
    launch_put(launch);
  if (!code && loop->meets)
    code = error_set(
        err, OP_ERR_ALIAS,
        "loop %s: elements meet in what it writes, so that its derivative would depend on their order; "
        "a tape takes no such loop: let its kernel add with OP_INC, or write each element once",
        loop->name);
  return code;
}

/* Bars have other values on the way back. */
static int check_companions(const struct site *site, struct error *err) {
  for (int i = 0; i < site->nargs; i++)
    if (site->things[i] && site->things[i]->companion)
      return error_set(err, OP_ERR_STATE,
                       "loop %s, argument %d: a tape takes no loop of bars or dots; give bars behind "
                       "op_tape_end",
                       site->name, i + 1);
  return OP_OK;
}

/* `own`: the library's own, which carries tangents. */
static int check(struct op_context *ctx, const struct tape *tape, const struct site *site, struct loop *loop,
                 bool active, bool own, struct error *err) {
  int code = OP_OK;
  if (loop->compiled)
    code = error_set(
        err, OP_ERR_STATE,
        "loop %s: its kernel is a function of the program, and a tape needs its text; use op_par_loop "
        "of op2jit.h",
        loop->name);
  if (!code && !own)
    code = check_companions(site, err);
  if (!code && active && !tape->passive)
    code = check_results(site, err);
  if (!code && tape->left && !tape->passive)
    code = check_values(site, err);
  if (!code && active)
    code = check_meetings(ctx, loop, err);
  return code;
}

/* ---- what it does ---- */

static void note_reads(const struct site *site, bool active, int e) {
  for (int i = 0; i < site->nargs; i++) {
    struct thing *thing = site->things[i];
    if (!thing)
      continue;
    thing->used = true;
    if (arg_gets(&site->are[i]))
      thing->read = e;
    if (active && site->wants[i])
      thing->wanted = e;
  }
}

static bool is_first(const struct site *site, int i) {
  for (int j = 0; j < i; j++)
    if (site->things[j] == site->things[i] && arg_leaves(&site->are[j]))
      return false;
  return arg_leaves(&site->are[i]);
}

static int note_changes(struct op_context *ctx, struct tape *tape, struct event *event,
                        const struct loop *loop, struct error *err) {
  const struct site *site = event->site;
  int code = OP_OK;
  for (int i = 0; !code && i < site->nargs; i++)
    if (site->things[i] && is_first(site, i))
      code = tape_change(ctx, tape, event, site->things[i], loop->ready.prepared && site_overwrites(site, i),
                         err);
  for (int i = 0; !code && i < site->nargs; i++)
    if (site->things[i] && site_leaves_zeros(site, i))
      site->things[i]->zero = true;
  return code;
}

/* Notes which things are varied behind the loop. */
static void note_activity(struct site *site, bool active) {
  for (int i = 0; i < site->nargs; i++) {
    const struct thing *thing = site->things[i];
    const bool now = active && thing && thing->real && (is_varied(site, i) || arg_leaves(&site->are[i]));
    if (now)
      site_is_active(site, i);
  }
  for (int i = site->nargs; active && i < site->nargs + site->nconstants; i++)
    if (site->things[i] && site->things[i]->varied)
      site_is_active(site, i);
  for (int i = 0; i < site->nargs; i++) {
    struct thing *thing = site->things[i];
    if (!thing || !arg_leaves(&site->are[i]))
      continue;
    if (active)
      thing->varied |= thing->real;
    else if (site_overwrites(site, i))
      thing->varied = false;
  }
}

static int take_values(struct op_context *ctx, struct tape *tape, struct event *event,
                       const struct loop_call *call, struct error *err) {
  const size_t bytes = event->site->value_bytes;
  const int code = bytes ? keep_room(ctx, tape, bytes, err) : OP_OK;
  if (code)
    return code;
  event->values = bytes ? malloc(bytes) : NULL;
  if (bytes && !event->values)
    return error_memory(err, "the globals of a loop that is recorded", bytes);
  event->value_bytes = bytes;
  keep_count(ctx, tape, bytes);
  if (bytes)
    site_take_values(ctx, event->site, call, event->values);
  return OP_OK;
}

static int record(struct op_context *ctx, struct tape *tape, struct loop *loop, const struct loop_call *call,
                  const struct tapes *now, struct error *err) {
  struct site *site = site_of(ctx, &tape->sites, loop, call, err);
  if (!site)
    return err->code;
  memcpy(site->are, loop->args, (size_t)loop->nargs * sizeof *site->are);
  const bool active = is_active(site) && !now->seeking;
  int code = check(ctx, tape, site, loop, active, now->carrying, err);
  if (code) /* on all ranks alike */
    return agree_on_success(ctx->agreement, code, err);
  memcpy(site->are, loop->args, (size_t)loop->nargs * sizeof *site->are); /* OP_WRITE may have become OP_RW */
  if (active && !site->known)
    code = derive_wants(ctx, site, loop, err);
  struct event *event = code ? NULL : tape_event(tape, EVENT_LOOP, err);
  if (!event)
    return err->code;
  event->site = site;
  event->active = active;
  code = take_values(ctx, tape, event, call, err);
  note_reads(site, active, (int)(event - tape->events));
  if (!code)
    code = note_changes(ctx, tape, event, loop, err);
  note_activity(site, active);
  tape->broken |= code != OP_OK;
  return code;
}

/* Behind the end: old values are kept all the same, until the tape goes. */
static int listen(struct op_context *ctx, struct tape *tape, const struct loop *loop, struct error *err) {
  struct event *event = NULL;
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    const void *object = arg->dat ? (const void *)arg->dat : arg->gbl;
    struct thing *thing = arg_leaves(arg) ? thing_find(ctx->tapes, object) : NULL;
    if (!thing || !thing->used || thing->changed >= tape->end)
      continue;
    if (!event && !(event = tape_event(tape, EVENT_OUTSIDE, err)))
      return err->code;
    code = tape_change(ctx, tape, event, thing, false, err);
  }
  return code;
}

static int look(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *done,
                struct error *err) {
  struct tapes *tapes = ctx->tapes;
  if (tapes->busy)
    return OP_OK;
  const struct tapes now = *tapes;
  int code = OP_OK;
  if (tapes->tangents && !tapes->carrying)
    code = tangent_loop(ctx, loop, call, done, err);
  if (code || *done || !tapes->tape || tapes->tape->broken)
    return code;
  tapes->carrying = false; /* what is copied meanwhile is nobody's loop */
  code = tapes->tape->recording ? record(ctx, tapes->tape, loop, call, &now, err)
                                : listen(ctx, tapes->tape, loop, err);
  tapes->carrying = now.carrying;
  return code;
}

/* Those that waited were recorded when they were called. */
static void failed(struct op_context *ctx, bool waited) {
  struct tapes *tapes = ctx->tapes;
  (void)waited;
  if (!tapes->busy && tapes->tape && tapes->tape->recording)
    tapes->tape->broken = true;
}

const struct recorder tape_recorder = {
    .derives = true,
    .loop = look,
    .failed = failed,
    .no_matrix = "which no tape and no tangent follows; end them before",
    .no_graph = "loops of a graph have no derivatives; while there is a tape, or op_tangent is on, call "
                "op_par_loop, or call op_tape_free first"};
