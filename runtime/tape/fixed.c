/* Rounds that converge, u = G(u, p). The last one stands for all: old values of the others are not kept. Backwards it is
 * gone through again and again, which adds up the bars of p as all rounds would, each with the converged u. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "ranks/agree.h"
#include "tape/tape.h"

/* ---- while it records ---- */

int fixed_begin(struct op_context *ctx, struct tape *tape, double tolerance, int most, struct error *err) {
  if (fixed_in_order(ctx, tape, false, "op_tape_fixed_begin", err))
    return err->code;
  struct fixed_point *all = array_more(tape->fixed, (size_t)tape->nfixed, sizeof *all);
  if (!all)
    return error_memory(err, "the fixed points of a tape", (size_t)tape->nfixed * sizeof *all);
  tape->fixed = all;
  all[tape->nfixed++] =
      (struct fixed_point){.begin = -1, .round = -1, .end = INT_MAX, .tolerance = tolerance, .most = most};
  tape->in_fixed = true;
  return OP_OK;
}

/* Derivatives of these events use nothing, for another round stands for them. */
static void skip(struct op_context *ctx, struct tape *tape, int from) {
  const struct list *things = &ctx->tapes->things;
  for (int e = from; e < tape->nevents; e++) {
    struct event *event = &tape->events[e];
    event->skipped = true;
    for (int c = 0; c < event->nchanges; c++) {
      struct change *change = &event->changes[c];
      if (change->wanted >= from)
        change->wanted = change->thing->wanted_before;
      if (!keep_is_needed(tape, e, change))
        keep_drop(ctx, tape, change);
    }
  }
  for (int i = 0; i < things->count; i++) {
    struct thing *thing = things->items[i];
    if (thing->wanted >= from)
      thing->wanted = thing->wanted_before;
    thing->wanted_before = thing->wanted;
  }
}

int fixed_round(struct op_context *ctx, struct tape *tape, struct error *err) {
  if (fixed_in_order(ctx, tape, true, "op_tape_round", err))
    return err->code;
  struct fixed_point *f = &tape->fixed[tape->nfixed - 1];
  skip(ctx, tape, f->begin < 0 ? tape->nevents : f->round);
  f->round = tape->nevents;
  f->begin = f->begin < 0 ? f->round : f->begin;
  return OP_OK;
}

static bool changes_reals(const struct event *event) {
  bool any = false;
  for (int c = 0; c < event->nchanges; c++)
    any |= event->changes[c].thing->real;
  return any;
}

static bool is_like(const struct event *a, const struct event *b) {
  return a->kind == b->kind && (a->kind == EVENT_CONSTANT ? strcmp(a->constant, b->constant) == 0
                                : a->kind == EVENT_LOOP   ? a->site == b->site
                                                          : a->changes[0].thing == b->changes[0].thing);
}

/* Where the last round leaves something as it is, bars would go to what was there before all rounds. */
static int check_rounds(const struct tape *tape, const struct fixed_point *f, struct error *err) {
  for (int e = f->begin; e < f->round; e++) {
    const struct event *event = &tape->events[e];
    bool found = event->kind != EVENT_CONSTANT && !changes_reals(event);
    for (int k = f->round; !found && k < f->end; k++)
      found = is_like(event, &tape->events[k]);
    if (!found)
      return error_set(
          err, OP_ERR_STATE,
          "op_tape_fixed_end: %s \"%s\" is in an earlier round and not in the last one, which stands for "
          "all; let it be in each round, or in none",
          event->kind == EVENT_LOOP  ? "loop"
          : event->kind == EVENT_PUT ? "op_put_data of"
                                     : "op_update_const of",
          event->kind == EVENT_LOOP  ? event->site->name
          : event->kind == EVENT_PUT ? thing_name(event->changes[0].thing)
                                     : event->constant);
  }
  return OP_OK;
}

int fixed_end(struct op_context *ctx, struct tape *tape, struct error *err) {
  if (fixed_in_order(ctx, tape, true, "op_tape_fixed_end", err))
    return err->code;
  struct fixed_point *f = &tape->fixed[tape->nfixed - 1];
  tape->in_fixed = false;
  f->end = tape->nevents;
  if (f->round < 0)
    error_set(err, OP_ERR_STATE, "op_tape_fixed_end: there is no round; begin each with op_tape_round");
  else
    check_rounds(tape, f, err);
  tape->broken |= err->code != OP_OK;
  return err->code ? agree_on_success(ctx->agreement, err->code, err) : OP_OK;
}

/* ---- backwards ---- */

/* The bar of the i-th thing if the rounds change it, else NULL. */
static struct thing *bar_of(const struct op_context *ctx, const struct tape *tape,
                            const struct fixed_point *f, int i) {
  struct thing *thing = ctx->tapes->things.items[i];
  bool changed = false;
  for (int e = f->round; !changed && e < f->end; e++)
    for (int c = 0; c < tape->events[e].nchanges; c++)
      changed |= tape->events[e].changes[c].thing == thing;
  return changed ? thing->bar : NULL;
}

static int copy(struct op_context *ctx, struct thing *bar, struct error *err) {
  if (!thing_beside(ctx, bar, BESIDE_ROOM, err))
    return err->code;
  return bar->dat ? tape_run_copy(ctx, bar->dat, bar->room->dat, err)
                  : keep_copy_gbl(ctx, bar, bar->room, err);
}

static void add_differences(const struct gbl *a, const struct gbl *b, double sums[2]) {
  const size_t size = type_info(a->type)->size;
  for (size_t at = 0; at < a->bytes; at += size) {
    const double x = type_number(a->type, a->value + at), y = type_number(b->type, b->value + at);
    sums[0] += (x - y) * (x - y);
    sums[1] += x * x;
  }
}

/* Squares of what bars have changed by since they were copied, and of them. */
static int compare(struct op_context *ctx, const struct tape *tape, const struct fixed_point *f,
                   double sums[2], struct error *err) {
  int code = OP_OK;
  sums[0] = sums[1] = 0;
  for (int i = 0; !code && i < ctx->tapes->things.count; i++) {
    struct thing *bar = bar_of(ctx, tape, f, i);
    if (!bar || !bar->room)
      continue;
    if (bar->dat)
      code = tape_run_differences(ctx, bar->dat, bar->room->dat, sums, err);
    else if (!(code = tape_need_gbl(ctx, bar->gbl, err)))
      add_differences(bar->gbl, bar->room->gbl, sums);
  }
  return code;
}

static int pass_back(struct op_context *ctx, struct tape *tape, const struct fixed_point *f, double sums[2],
                     struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->tapes->things.count; i++) {
    struct thing *bar = bar_of(ctx, tape, f, i);
    code = bar ? copy(ctx, bar, err) : OP_OK;
  }
  while (!code && tape->at > f->round) {
    struct event *event = &tape->events[--tape->at];
    code = event_exchange(ctx, event, true, err);
    if (!code)
      code = reverse_event(ctx, tape, event, err);
  }
  tape->rounds++;
  return code ? code : compare(ctx, tape, f, sums, err);
}

static int pass_forwards(struct op_context *ctx, struct tape *tape, const struct fixed_point *f,
                         struct error *err) {
  int code = OP_OK;
  while (!code && tape->at < f->end)
    code = event_exchange(ctx, &tape->events[tape->at++], false, err);
  return code;
}

static int iterate(struct op_context *ctx, struct tape *tape, const struct fixed_point *f,
                   struct error *err) {
  double largest = 0, sums[2] = {0, 0};
  int code = OP_OK;
  for (int n = 0; !code && n < f->most; n++) {
    if (n)
      code = pass_forwards(ctx, tape, f, err);
    if (!code)
      code = pass_back(ctx, tape, f, sums, err);
    largest = sums[1] > largest ? sums[1] : largest;
    if (!code && n && sums[0] <= f->tolerance * f->tolerance * largest)
      return OP_OK;
  }
  if (code)
    return code;
  error_set(
      err, OP_ERR_STATE,
      "op_tape_reverse: the bars of a fixed point do not converge: behind %d rounds they change by %g of "
      "what they were, and the tolerance is %g; are these rounds that converge?",
      f->most, largest > 0 ? sqrt(sums[0] / largest) : 0.0, f->tolerance);
  return agree_on_success(ctx->agreement, err->code, err);
}

int fixed_reverse(struct op_context *ctx, struct tape *tape, bool keep, struct error *err) {
  const struct fixed_point *f = NULL;
  for (int i = 0; i < tape->nfixed; i++)
    if (tape->fixed[i].end == tape->at && tape->fixed[i].round < tape->at)
      f = &tape->fixed[i];
  if (!f)
    return OP_OK;
  int code = iterate(ctx, tape, f, err);
  if (code || keep)
    return code;
  code = pass_forwards(ctx, tape, f, err);
  return code ? code : tape_undo(ctx, tape, f->round, err);
}
