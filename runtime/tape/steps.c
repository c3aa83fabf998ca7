/* Steps, and what a budget leaves of them. As long as everything fits, everything is kept. Then old values that only
 * derivatives use go, the oldest ones first, and checkpoints stay, each second of which goes when they do not fit any more.
 * Backwards, the steps from a checkpoint on run again. */
#include <limits.h>
#include <string.h>

#include "base/size.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "tape/schedule/schedule.h"
#include "tape/tape.h"

/* ---- figures: they follow from the events, whatever is kept ---- */

static size_t bytes_of_checkpoint(const struct tape *tape, int at) {
  size_t bytes = 0;
  for (int e = at; e < tape->nevents; e++)
    for (int c = 0; c < tape->events[e].nchanges; c++) {
      const struct change *change = &tape->events[e].changes[c];
      if (change->changed < at && (change->read >= at || !change->whole))
        bytes += change->thing->bytes;
    }
  return bytes;
}

/* What the derivatives of these events use. */
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

/* What is there at the end has to come back. */
static size_t bytes_of_last(const struct op_context *ctx) {
  size_t bytes = 0;
  for (int i = 0; i < ctx->tapes->things.count; i++) {
    const struct thing *thing = ctx->tapes->things.items[i];
    if (thing->used && thing->changed >= 0)
      bytes += thing->bytes;
  }
  return bytes;
}

/* Values that were put, and where copies are made: they stay. */
static size_t bytes_that_stay(const struct op_context *ctx, const struct tape *tape) {
  size_t bytes = 0;
  for (int e = 0; e < tape->nevents; e++)
    if (tape->events[e].kind != EVENT_CONSTANT)
      bytes += tape->events[e].value_bytes;
  for (int i = 0; i < ctx->tapes->things.count; i++) {
    const struct thing *thing = ctx->tapes->things.items[i];
    if (thing->copied)
      bytes += thing->bytes;
  }
  return bytes;
}

/* Segment k: from the k-th place where a step begins, counting the tape's own beginning, to the next one. */
static int begin_of(const struct tape *tape, int k) {
  return k == 0 ? 0 : k <= tape->nsteps ? tape->steps[k - 1] : tape->recording ? tape->nevents : tape->end;
}

/* The least that the tape can be reversed with: the state at the beginning, that at the end, and one step. */
static size_t bytes_needed(const struct op_context *ctx, const struct tape *tape) {
  size_t most = 0;
  for (int k = 0; k <= tape->nsteps; k++) {
    const size_t bytes = bytes_of_events(tape, begin_of(tape, k), begin_of(tape, k + 1));
    most = bytes > most ? bytes : most;
  }
  return most + bytes_of_checkpoint(tape, 0) + bytes_of_last(ctx) + bytes_that_stay(ctx, tape);
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
      "the tape may keep %zu bytes, but to go back by one step it needs %zu: what there is at the beginning "
      "and at the end, and what the derivatives of the step use; give op_tape_begin that many, or divide "
      "the program into smaller steps with op_tape_step",
      tape->store.budget, needed);
  return agree_on_success(ctx->agreement, err->code, err);
}

/* ---- room ---- */

static void drop_checkpoint(struct tape *tape, int c) {
  memmove(&tape->checkpoints[c], &tape->checkpoints[c + 1],
          (size_t)(--tape->ncheckpoints - c) * sizeof *tape->checkpoints);
}

static int add_checkpoint(struct tape *tape, int at, struct error *err) {
  int *checkpoints = array_resize(tape->checkpoints, (size_t)tape->ncheckpoints + 1, sizeof *checkpoints);
  if (!checkpoints)
    return error_memory(err, "the checkpoints of a tape",
                        ((size_t)tape->ncheckpoints + 1) * sizeof *checkpoints);
  tape->checkpoints = checkpoints;
  checkpoints[tape->ncheckpoints++] = at;
  return OP_OK;
}

/* Each second one stays. */
static void thin(struct tape *tape) {
  tape->stride *= 2;
  for (int c = tape->ncheckpoints - 1; c > 0; c--) {
    int k = 0;
    while (begin_of(tape, k) != tape->checkpoints[c])
      k++;
    if (k % tape->stride)
      drop_checkpoint(tape, c);
  }
}

/* False: there is nothing left that could go. */
static bool let_go(struct tape *tape) {
  const int current = begin_of(tape, tape->nsteps);
  tape->thinned = true;
  if (!tape->recording && tape->ncheckpoints > 1 && tape->checkpoints[tape->ncheckpoints - 1] <= tape->taped)
    drop_checkpoint(tape, tape->ncheckpoints - 1);
  else if (!tape->recording)
    return false;
  else if (tape->taped < current)
    tape->taped = current;
  else if (tape->ncheckpoints > 1)
    thin(tape);
  else if (tape->taped != INT_MAX)
    tape->taped = INT_MAX;
  else if (tape->ncheckpoints)
    tape->ncheckpoints = 0;
  else
    return false;
  return true;
}

int keep_room(struct op_context *ctx, struct tape *tape, size_t bytes, struct error *err) {
  while (tape->store.budget && tape->store.bytes + bytes > tape->store.budget) {
    if (!let_go(tape))
      return tape->recording ? OP_OK : check_budget(ctx, tape, err);
    keep_prune(ctx, tape);
  }
  return OP_OK;
}

int tape_step(struct op_context *ctx, struct tape *tape, struct error *err) {
  enum { SEEN = 3 }; /* steps that show what all need */
  if (fixed_refuses(ctx, tape, "op_tape_step", err))
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
  return tape->store.budget && !again && tape->nsteps % tape->stride == 0
             ? add_checkpoint(tape, tape->nevents, err)
             : OP_OK;
}

int tape_end(struct op_context *ctx, struct tape *tape, struct error *err) {
  if (fixed_refuses(ctx, tape, "op_tape_end", err))
    return err->code;
  tape->recording = false;
  tape->end = tape->nevents;
  return check_budget(ctx, tape, err);
}

/* ---- backwards ---- */

/* So many checkpoints fit beside what has to be there. */
static int free_slots(const struct op_context *ctx, const struct tape *tape, int from, int begin, int end) {
  const size_t state = bytes_of_checkpoint(tape, from);
  size_t used = bytes_of_events(tape, begin, end) + bytes_of_last(ctx) + bytes_that_stay(ctx, tape);
  for (int c = 0; c < tape->ncheckpoints; c++)
    used += bytes_of_checkpoint(tape, tape->checkpoints[c]);
  return used >= tape->store.budget ? 0 : state ? (int)((tape->store.budget - used) / state) : INT_MAX / 2;
}

/* The segment's derivatives have what they use: from the last checkpoint in front of it on everything runs again. */
int steps_make_again(struct op_context *ctx, struct tape *tape, int k, struct error *err) {
  const int begin = begin_of(tape, k), end = begin_of(tape, k + 1);
  int first = k;
  while (begin_of(tape, first) != tape->checkpoints[tape->ncheckpoints - 1])
    first--;
  int code = tape_undo(ctx, tape, begin_of(tape, first), err);
  tape->taped = begin;
  while (!code && first < k) {
    const int slots = free_slots(ctx, tape, begin_of(tape, first), begin, end);
    const int next = schedule_next(k - first + 1, slots);
    const int to = next > 0 && first + next <= k ? first + next : k;
    code = tape_replay(ctx, tape, begin_of(tape, to), event_primal, err);
    tape->again += to - first;
    first = to;
    if (!code && next > 0 && tape->at > tape->checkpoints[tape->ncheckpoints - 1])
      code = add_checkpoint(tape, tape->at, err);
  }
  if (!code)
    code = tape_replay(ctx, tape, end, event_primal, err);
  tape->again += !code;
  return code;
}

int steps_segments(const struct tape *tape) {
  return tape->nsteps + 1;
}

int steps_begin(const struct tape *tape, int k) {
  return begin_of(tape, k);
}

void steps_passed(struct op_context *ctx, struct tape *tape) {
  while (tape->ncheckpoints > 1 && tape->checkpoints[tape->ncheckpoints - 1] >= tape->at)
    drop_checkpoint(tape, tape->ncheckpoints - 1);
  keep_prune(ctx, tape);
}
