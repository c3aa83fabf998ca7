/* Steps, and what a budget leaves of them. As long as everything fits, everything is kept. Then old values that only
 * derivatives use go, the oldest ones first, and checkpoints stay. When these no longer fit, the one goes without which
 * the fewest steps run again. Backwards, the steps from a checkpoint on run again. From the newest one what there
 * is at the end is made again, since that takes less memory than to keep it. */
#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "tape/tape.h"

/* ---- figures: they follow from the events, whatever is kept ---- */

static size_t bytes_of_checkpoint(const struct tape *tape, int at) {
  size_t bytes = 0;
  for (int e = at; e < tape->nevents; e++)
    for (int c = 0; c < tape->events[e].nchanges; c++) {
      const struct change *change = &tape->events[e].changes[c];
      if (change->changed < at && (change->read >= at || !change->whole) && !keep_knows(change))
        bytes += change->thing->bytes;
    }
  return bytes;
}

/* Bytes that the derivatives of these events use. */
static size_t bytes_of_events(const struct tape *tape, int begin, int end) {
  size_t bytes = 0;
  for (int e = begin; e < end; e++)
    for (int c = 0; c < tape->events[e].nchanges; c++) {
      const struct change *change = &tape->events[e].changes[c];
      if (change->wanted > change->changed && change->wanted >= begin)
        bytes += change->thing->bytes;
    }
  return bytes;
}

/* True if the thing has a value, where data come back to, that is lost on the way. */
static bool comes_back(const struct tape *tape, const struct thing *thing) {
  return thing->used && thing->changed >= 0 && (tape->home == INT_MAX || (tape->home > 0 && !thing->remade));
}

/* Bytes of values that have to come back and are not saved yet, or, if `all`, of all that have to come back. */
static size_t bytes_of_last(const struct op_context *ctx, const struct tape *tape, bool all) {
  size_t bytes = 0;
  for (int i = 0; i < ctx->tapes->things.count; i++) {
    const struct thing *thing = ctx->tapes->things.items[i];
    if (comes_back(tape, thing) && (all || !thing->moved))
      bytes += thing->bytes;
  }
  return bytes;
}

/* Bytes of values that were put: they stay. */
static size_t bytes_that_stay(const struct tape *tape) {
  size_t bytes = 0;
  for (int e = 0; e < tape->nevents; e++)
    if (tape->events[e].kind != EVENT_CONSTANT)
      bytes += tape->events[e].value_bytes;
  return bytes;
}

int steps_begin(const struct tape *tape, int k) {
  return k == 0 ? 0 : k <= tape->nsteps ? tape->steps[k - 1] : tape->recording ? tape->nevents : tape->end;
}

/* The program has changed data since. */
static bool goes_on(const struct tape *tape) {
  bool any = false;
  for (int e = tape->end; !tape->recording && e < tape->nevents; e++)
    any |= tape->events[e].nchanges > 0;
  return any;
}

/* The least that the tape can be reversed with: the state at the beginning and one step. What the program has made since
 * cannot run again. */
static size_t bytes_needed(const struct op_context *ctx, const struct tape *tape) {
  size_t most = 0;
  for (int k = 0; k <= tape->nsteps; k++) {
    const size_t bytes = bytes_of_events(tape, steps_begin(tape, k), steps_begin(tape, k + 1));
    most = bytes > most ? bytes : most;
  }
  return most + bytes_of_checkpoint(tape, 0) + bytes_that_stay(tape) +
         (goes_on(tape) ? bytes_of_last(ctx, tape, true) : 0);
}

static int check_budget(const struct op_context *ctx, struct tape *tape, struct error *err) {
  if (!tape->thinned)
    return OP_OK;
  const size_t needed = bytes_needed(ctx, tape);
  if (needed <= tape->store.budget)
    return OP_OK;
  tape->broken = true;
  error_set(
      err, OP_ERR_SIZE,
      "the tape may keep %zu bytes, but to go back by one step it needs %zu so far: what there is at the "
      "beginning%s, "
      "and what the derivatives of the step use; give op_tape_begin that many, or divide the program into "
      "smaller steps with op_tape_step",
      tape->store.budget, needed,
      goes_on(tape) ? " and now, since the program has changed data behind op_tape_end" : "");
  return agree_on_success(ctx->agreement, err->code, err);
}

/* ---- room ---- */

/* Behind the first changes of all things behind event `at`: up to here something can be kept for a checkpoint there. */
static int end_of_checkpoint(const struct op_context *ctx, const struct tape *tape, int at) {
  int left = 0, e = at;
  for (int i = 0; i < ctx->tapes->things.count; i++)
    left += ((const struct thing *)ctx->tapes->things.items[i])->changed >= at;
  for (; left > 0 && e < tape->nevents; e++)
    for (int c = 0; c < tape->events[e].nchanges; c++)
      left -= tape->events[e].changes[c].changed < at;
  return e;
}

static void drop_checkpoint(struct op_context *ctx, struct tape *tape, int c) {
  const int at = tape->checkpoints[c];
  memmove(&tape->checkpoints[c], &tape->checkpoints[c + 1],
          (size_t)(--tape->ncheckpoints - c) * sizeof *tape->checkpoints);
  keep_prune(ctx, tape, at, end_of_checkpoint(ctx, tape, at));
}

/* Drops the values that only derivatives of earlier events use. */
static void keep_from(struct op_context *ctx, struct tape *tape, int taped) {
  const int was = tape->taped;
  tape->taped = taped;
  keep_prune(ctx, tape, was, tape->nevents);
}

int steps_add_checkpoint(struct tape *tape, int at, struct error *err) {
  int *checkpoints = array_resize(tape->checkpoints, (size_t)tape->ncheckpoints + 1, sizeof *checkpoints);
  if (!checkpoints)
    return error_memory(err, "the checkpoints of a tape",
                        ((size_t)tape->ncheckpoints + 1) * sizeof *checkpoints);
  tape->checkpoints = checkpoints;
  checkpoints[tape->ncheckpoints++] = at;
  return OP_OK;
}

/* The segment that begins with the checkpoint. */
static int segment_of(const struct tape *tape, int c) {
  int low = 0, high = tape->nsteps;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (steps_begin(tape, middle) < tape->checkpoints[c])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Steps that run again between two checkpoints: `behind` checkpoints are there in front of the first of them, which are so
 * many slots less of what there is room for. */
static long long runs(const struct tape *tape, int from, int to, int behind) {
  return schedule_runs(segment_of(tape, to) - segment_of(tape, from), tape->ncheckpoints - 3 - behind);
}

/* Neither the first one nor the newest: without it the fewest steps run again. */
static int least_useful(const struct tape *tape) {
  const int newest = tape->ncheckpoints - 1;
  long long before = 0, after = 0, least = -1;
  int best = 1;
  for (int c = 0; c + 1 < newest; c++)
    before += runs(tape, c, c + 1, c);
  for (int c = newest - 1; c > 0; c--) {
    if (c + 1 < newest)
      after += runs(tape, c + 1, c + 2, c);
    before -= c + 1 < newest ? runs(tape, c, c + 1, c) : 0;
    const long long all = before - runs(tape, c - 1, c, c - 1) + runs(tape, c - 1, c + 1, c - 1) + after;
    if (least < 0 || all <= least) {
      least = all;
      best = c;
    }
  }
  return best;
}

/* Drops the saved values of the end: all steps will run once more. */
static void leave_home(struct op_context *ctx, struct tape *tape) {
  for (int i = 0; i < ctx->tapes->things.count; i++) {
    struct thing *thing = ctx->tapes->things.items[i];
    struct change last = thing_take_last(thing);
    keep_drop(ctx, tape, &last);
    thing->zeroed = false;
  }
  tape->home = 0;
}

static bool let_go_backwards(struct op_context *ctx, struct tape *tape) {
  if (tape->ncheckpoints > 1 && tape->checkpoints[tape->ncheckpoints - 1] <= tape->taped)
    drop_checkpoint(ctx, tape, tape->ncheckpoints - 1);
  else if (tape->home > 0 && tape->home <= tape->end)
    leave_home(ctx, tape);
  else
    return false;
  return true;
}

/* False: there is nothing left that could go. */
static bool let_go(struct op_context *ctx, struct tape *tape) {
  const int current = steps_begin(tape, tape->nsteps);
  tape->thinned = true;
  if (!tape->recording)
    return let_go_backwards(ctx, tape);
  if (tape->taped < current)
    keep_from(ctx, tape, current);
  else if (tape->ncheckpoints > 1)
    drop_checkpoint(ctx, tape, least_useful(tape));
  else if (tape->taped != INT_MAX)
    keep_from(ctx, tape, INT_MAX);
  else if (tape->ncheckpoints)
    drop_checkpoint(ctx, tape, 0);
  else
    return false;
  return true;
}

int keep_room(struct op_context *ctx, struct tape *tape, size_t bytes, struct error *err) {
  while (tape->store.budget && tape->store.bytes + bytes > tape->store.budget)
    if (!let_go(ctx, tape))
      return tape->recording ? OP_OK : check_budget(ctx, tape, err);
  return OP_OK;
}

/* On all ranks alike, as all errors here but those of memory. */
int fixed_in_order(struct op_context *ctx, const struct tape *tape, bool inside, const char *call,
                   struct error *err) {
  if (tape->in_fixed == inside)
    return OP_OK;
  error_set(err, OP_ERR_STATE,
            inside ? "%s: there is no fixed point; call op_tape_fixed_begin first"
                   : "%s: a fixed point has begun, and has no end; call op_tape_fixed_end first",
            call);
  return agree_on_success(ctx->agreement, err->code, err);
}

int tape_step(struct op_context *ctx, struct tape *tape, struct error *err) {
  enum { SEEN = 3 }; /* steps that show what all need */
  if (fixed_in_order(ctx, tape, false, "op_tape_step", err))
    return err->code;
  int code = tape->nsteps >= SEEN ? check_budget(ctx, tape, err) : OP_OK;
  int *steps = code ? NULL : array_more(tape->steps, (size_t)tape->nsteps, sizeof *steps);
  if (code || !steps)
    return code ? code : error_memory(err, "the steps of a tape", (size_t)tape->nsteps * sizeof *steps);
  tape->steps = steps;
  steps[tape->nsteps++] = tape->nevents;
  if (!tape->ncheckpoints) /* too little room even for one step, as the end says */
    return OP_OK;
  const bool again = tape->nevents == tape->checkpoints[tape->ncheckpoints - 1];
  return tape->store.budget && !again ? steps_add_checkpoint(tape, tape->nevents, err) : OP_OK;
}

/* A checkpoint and what the derivatives of its step use have values in common, but only where the step is the last one:
 * backwards there is room for fewer checkpoints. */
static void fit_checkpoints(struct op_context *ctx, struct tape *tape) {
  size_t used = bytes_needed(ctx, tape);
  for (int c = 1; c < tape->ncheckpoints; c++)
    used += bytes_of_checkpoint(tape, tape->checkpoints[c]);
  while (tape->ncheckpoints > 2 && used > tape->store.budget) {
    const int c = least_useful(tape);
    used -= bytes_of_checkpoint(tape, tape->checkpoints[c]);
    drop_checkpoint(ctx, tape, c);
  }
}

int tape_end(struct op_context *ctx, struct tape *tape, struct error *err) {
  if (fixed_in_order(ctx, tape, false, "op_tape_end", err))
    return err->code;
  tape->recording = false;
  tape->end = tape->nevents;
  if (tape->thinned)
    fit_checkpoints(ctx, tape);
  return check_budget(ctx, tape, err);
}

/* ---- backwards ---- */

void steps_find_home(struct op_context *ctx, struct tape *tape, bool last) {
  const int newest = tape->ncheckpoints ? tape->checkpoints[tape->ncheckpoints - 1] : 0;
  tape->home = INT_MAX;
  if (goes_on(tape))
    return;
  const size_t kept = bytes_needed(ctx, tape) + bytes_of_last(ctx, tape, true);
  if (!last || newest > 0 || kept > tape->store.budget)
    tape->home = last ? newest : 0;
  for (int i = 0; i < ctx->tapes->things.count; i++) {
    struct thing *thing = ctx->tapes->things.items[i];
    thing->remade = thing->zeroed = false;
  }
  for (int e = tape->end - 1; e >= tape->home; e--)
    for (int c = 0; c < tape->events[e].nchanges; c++) {
      const struct change *change = &tape->events[e].changes[c];
      change->thing->zeroed = change->zero;
      change->thing->remade = change->zero || (change->whole && change->read < tape->home);
    }
}

int steps_free_slots(const struct op_context *ctx, const struct tape *tape, int first, int k) {
  const int from = steps_begin(tape, first), begin = steps_begin(tape, k), end = steps_begin(tape, k + 1);
  const size_t state = bytes_of_checkpoint(tape, begin); /* the first one may be larger */
  const size_t used = tape->store.bytes + bytes_of_checkpoint(tape, from) +
                      bytes_of_events(tape, begin, end) + bytes_of_last(ctx, tape, false);
  return used >= tape->store.budget ? 0 : state ? (int)((tape->store.budget - used) / state) : INT_MAX / 2;
}

void steps_passed(struct op_context *ctx, struct tape *tape) {
  while (tape->ncheckpoints > 1 && tape->checkpoints[tape->ncheckpoints - 1] >= tape->at)
    drop_checkpoint(ctx, tape, tape->ncheckpoints - 1);
}
