#include "loop/chain/watch.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "context/context.h"
#include "context/env.h"
#include "context/trace.h"
#include "loop/chain/queue.h"
#include "loop/chain/worth.h"
#include "loop/choose.h"
#include "loop/period.h"
#include "ranks/comm.h"

/* So many calls have to repeat, at first: more than a loop that is called twice in a period makes. Two periods are enough
 * otherwise, though what comes twice may be a part of a longer one (see grows). */
enum { SHORT_HISTORY = 3, LONG_HISTORY = WATCH_ROOM / 2 };
/* After so many runs in a row that gained nothing loops run as called; they are looked at again after so many calls,
 * doubled each time up to so often. Whether the program does something else by then is looked at after a few. */
enum { MOST_USELESS = 4, PAUSE = 64, MOST_FAILURES = 10, SHORT_PAUSE = 16 };
/* OP2_LAZY=on: a period that did not come for so many calls was left. */
enum { LEFT = 2 * QUEUE_MOST };
/* After so many runs a period runs as called, as long as variants of its loops are to be tried. */
enum { TURNS = 4 };
/* Loops of fewer bytes take less time than it takes to look; but none on a device, since a launch takes longer. */
static const double least_bytes = 1e6;

void watch_open(struct watch *w, const struct op_context *ctx) {
  enum { SHARE = 16 };
  const double cache = (double)env_number(ctx->env, ENV_L3, 0) / SHARE;
  *w = (struct watch){.on = true,
                      .forced = worth_is_forced(ctx),
                      .together = !comm_alone(ctx->comm),
                      .history = SHORT_HISTORY};
  /* Ranks have parts of different sizes, and look at the same calls. */
  const bool all = w->forced || w->together || ctx->backend->on_device;
  w->least = w->usual = all ? 0 : cache > 0 && cache < least_bytes ? cache : least_bytes;
}

/* ---- periods ---- */

static const struct loop *before(const struct watch *w, int back) {
  return w->seen[(w->calls - 1 - (unsigned long long)back) % WATCH_ROOM];
}

/* The last `need` calls are what came `period` before. */
static bool repeats(const struct watch *w, int period, int need) {
  for (int i = 0; i < need - period; i++)
    if (before(w, i) != before(w, i + period))
      return false;
  return true;
}

/* The shortest that explains the last calls, so many at least; 0: none. */
static int find_period(const struct watch *w, int history) {
  const unsigned long long known = w->calls - w->since;
  for (int period = 1; period <= WATCH_MOST; period++) {
    const int need = 2 * period > history ? 2 * period : history;
    if (need > WATCH_ROOM || (unsigned long long)need > known)
      return 0;
    if (repeats(w, period, need))
      return period;
  }
  return 0;
}

/* ---- what came of periods ---- */

/* The same on all ranks, and of no two loops, also where one is gone. */
static uint64_t number_of(const struct loop *loop) {
  return loop ? loop->key.order + 2 : 1;
}

/* A hash of the last n calls, whichever of them is first; not 0. */
static uint64_t sign(const struct watch *w, int n) {
  uint64_t sum = 1;
  for (int i = 0; i < n; i++) {
    const uint64_t pair = number_of(before(w, i)) * 0x9e3779b97f4a7c15u + number_of(before(w, (i + 1) % n));
    sum += (pair ^ pair >> 29) * 0xbf58476d1ce4e5b9u;
  }
  return sum ? sum : 1;
}

/* Its number; -1: none is known. */
static int find_verdict(const struct watch *w, uint64_t calls) {
  int i = WATCH_VERDICTS - 1;
  while (i >= 0 && w->verdicts[i].calls != calls)
    i--;
  return i;
}

/* The oldest gives way to a new one. */
static int judge(struct watch *w, uint64_t calls) {
  int i = find_verdict(w, calls);
  if (i < 0) {
    i = w->judged++ % WATCH_VERDICTS;
    w->verdicts[i] = (struct verdict){.calls = calls};
  }
  return i;
}

/* One that gained is known after two of them; of others as many calls have to repeat as are wanted by now. */
static int find_any(const struct watch *w) {
  const int shortest = find_period(w, w->forced ? 2 : SHORT_HISTORY);
  const int known = shortest ? find_verdict(w, sign(w, shortest)) : -1;
  return w->forced || (known >= 0 && w->verdicts[known].good) ? shortest : find_period(w, w->history);
}

/* One that may be looked at now; 0: there is none. */
static int find_next(struct watch *w) {
  const int n = w->calls < w->next_look ? 0 : find_any(w);
  const int known = n ? find_verdict(w, sign(w, n)) : -1;
  if (known < 0 || w->calls >= w->verdicts[known].next_look)
    return n;
  w->next_look = w->calls + SHORT_PAUSE;
  return 0;
}

static void pause_looking(struct watch *w) {
  struct verdict *v = &w->verdicts[w->verdict];
  v->good = false;
  if (w->forced)
    return;
  v->next_look = w->calls + ((unsigned long long)PAUSE << v->failures);
  v->failures += v->failures < MOST_FAILURES;
}

static void leave(struct watch *w) {
  struct verdict *v = &w->verdicts[w->verdict];
  if (w->waits && w->good > 0) {
    v->good = true;
    v->failures = 0;
  }
  w->waits = false;
}

/* The period ended, or was part of a longer one. If it gained, the program does something else now. */
static void give_up(struct watch *w) {
  leave(w);
  if (w->good > 0)
    return;
  w->history = 2 * w->history < LONG_HISTORY ? 2 * w->history : LONG_HISTORY;
  pause_looking(w);
}

/* As many as are cut together, twice, so that two of them are compared; and for so long that a clock can tell. A device is given
 * each period at once, since it stands as long as it has nothing to do. */
static void set_limit(struct watch *w, double seconds) {
  const double enough = 2e-3;
  int periods = w->gain > 0 ? 1 : 2 * w->guess.periods;
  while (!(w->gain > 0) && periods * seconds < enough && periods * w->nwaiting < QUEUE_MOST)
    periods *= 2;
  while (periods > 1 && periods * w->nwaiting > QUEUE_MOST)
    periods--;
  w->limit = periods * w->nwaiting < QUEUE_MOST ? periods * w->nwaiting : QUEUE_MOST;
}

static int begin(struct op_context *ctx, struct watch *w, int n, struct error *err) {
  struct waiting_worth worth;
  leave(w);
  w->n = n;
  w->verdict = judge(w, sign(w, n));
  w->failures = w->verdicts[w->verdict].failures;
  for (int i = 0; i < w->n; i++)
    w->period[i].loop = before(w, w->n - 1 - i);
  const int code = worth_waiting(ctx, w->period, w->n, &worth, err);
  w->guess = worth.guess;
  w->gain = worth.gain;
  w->nwaiting = w->at = w->lost = w->useless = w->turns = w->rest = w->good = w->rested = 0;
  w->may_rest = true;
  for (int i = 0; i < w->n; i++)
    w->nwaiting += w->period[i].waits;
  w->waits = worth.pays && w->nwaiting > 0;
  if (w->waits)
    set_limit(w, worth.seconds);
  else
    pause_looking(w);
  return code;
}

static bool wants_trials(const struct watch *w) {
  bool any = false;
  for (int i = 0; i < w->n && !any; i++)
    any = w->period[i].loop && tune_wants_turn(w->period[i].loop);
  return any;
}

static void pass(struct watch *w) {
  w->at = (w->at + 1) % w->n;
  if (w->at == 0)
    w->lost = 0;
}

/* At the beginning of a period, with nothing that waits. */
static void begin_period(const struct op_context *ctx, struct watch *w) {
  if (w->together || ctx->queue->count > 0 || ++w->turns % TURNS != 0 || !w->may_rest || !wants_trials(w))
    return;
  w->rest = w->n;
  w->rested++;
}

/* Something ran what waited in the middle of a chain: its rest runs as called, and the next one is whole again. */
static bool is_rest(const struct op_context *ctx, const struct watch *w) {
  return ctx->queue->count == 0 && w->at > 0 && !watched_ends(&w->period[w->at - 1]);
}

/* The found period is longer than this one, or has other calls: this one was a part of it. */
static bool grows(const struct watch *w, int found, const struct loop *loop) {
  bool has = false;
  for (int i = 0; i < w->n; i++)
    has |= w->period[i].loop == loop;
  return found > 0 && (found > w->n || !has);
}

static bool takes(const struct op_context *ctx, struct watch *w) {
  if (w->at == 0)
    begin_period(ctx, w);
  const bool waits = w->period[w->at].waits && w->rest == 0 && !is_rest(ctx, w);
  w->rest -= w->rest > 0;
  pass(w);
  return waits;
}

int watch_takes(struct op_context *ctx, const struct loop *loop, bool *waits, struct error *err) {
  enum { PATIENCE = 16 };
  struct watch *w = &ctx->queue->watch;
  *waits = false;
  if (w->held && !w->together)
    return OP_OK;
  const int found = w->waits ? 0 : find_next(w), code = found ? begin(ctx, w, found, err) : OP_OK;
  if (code || !w->waits)
    return code;
  if (loop != w->period[w->at].loop) {
    const int other = find_next(w);
    w->at = w->rest = 0;
    if (grows(w, other, loop))
      return begin(ctx, w, other, err);
    if (++w->lost > 2 * w->n + PATIENCE)
      give_up(w);
    if (!w->waits || loop != w->period[0].loop)
      return OP_OK;
  }
  *waits = takes(ctx, w);
  return OP_OK;
}

/* ---- OP2_LAZY=on ---- */

static void take_period(struct watch *w, struct loop *const *loops, int n) {
  w->n = n <= WATCH_MOST ? n : 0;
  for (int i = 0; i < w->n; i++)
    w->period[i].loop = loops[i];
}

void watch_tunes(struct watch *w, struct loop *const *loops, int n) {
  if (w->on)
    return;
  take_period(w, loops, n);
  w->lost = 0;
}

bool watch_stays(const struct watch *w, const struct loop *loop) {
  bool stays = w->on;
  for (int i = 0; i < w->n && !stays; i++)
    stays = w->period[i].loop == loop;
  return stays;
}

/* Another one may begin with this call. */
static void follow(const struct op_context *ctx, struct watch *w, const struct loop *loop) {
  const struct period *other = period_tuned_from(ctx, loop);
  if (!other || w->rest > 0)
    return;
  take_period(w, other->loops, other->n);
}

bool watch_rests(const struct op_context *ctx, struct watch *w, const struct loop *loop) {
  const int waiting = ctx->queue->count;
  if (w->on || w->n == 0)
    return false;
  if (++w->lost > LEFT)
    w->n = w->rest = 0;
  else if (waiting == 0 && loop != w->period[0].loop)
    follow(ctx, w, loop);
  if (w->n == 0)
    return false;
  if (w->rest == 0 && loop == w->period[0].loop && waiting % w->n == 0 &&
      (waiting == 0 || waiting + w->n > QUEUE_MOST) && ++w->turns % TURNS == 0 && w->may_rest &&
      wants_trials(w)) {
    w->rest = w->n;
    w->rested++;
  }
  const bool rests = w->rest > 0;
  w->rest -= rests;
  return rests;
}

/* Twice in a row is once. */
void watch_mark(struct watch *w) {
  if (!w->on || (w->held && !w->together) || w->calls == w->since || !before(w, 0))
    return;
  w->seen[w->calls++ % WATCH_ROOM] = NULL;
  if (!w->waits)
    return;
  w->rest -= w->rest > 0;
  if (!w->period[w->at].loop)
    pass(w);
  else if (w->at != 0)
    w->at = w->rest = 0;
}

bool watch_is_full(const struct watch *w, int waiting) {
  return w->on && waiting >= w->limit;
}

void watch_waits(struct watch *w) {
  w->began = w->gain > 0 ? clock_seconds() : 0;
}

void watch_runs(struct watch *w) {
  w->late = w->gain > 0 && clock_seconds() - w->began > w->gain;
}

void watch_ran(struct watch *w) {
  w->useless = w->gained && !w->late ? 0 : w->useless + 1;
  w->good = w->useless ? 0 : w->good < INT_MAX ? w->good + 1 : w->good;
  w->gained = false;
  if (w->waits && w->useless >= MOST_USELESS)
    give_up(w);
}

/* No chain ends in it. */
static bool is_whole(const struct watch *w) {
  bool ends = false;
  for (int i = 0; i < w->n; i++)
    ends |= watched_ends(&w->period[i]);
  return !ends;
}

int watch_period(const struct watch *w, int launches) {
  return w->waits && is_whole(w) && launches % w->n == 0 ? w->n : 0;
}

bool watch_expects(const struct watch *w, int loops) {
  return w->waits && (!is_whole(w) || loops == w->n);
}

void watch_hold(struct watch *w, enum watch_hold why, bool held) {
  const unsigned bit = (unsigned)why;
  if (!w->on || !!(w->held & bit) == held)
    return;
  w->held ^= bit;
  if (w->together)
    return;
  w->waits = false;
  w->since = w->next_look = w->calls;
  w->least = w->held ? INFINITY : w->usual;
}

void watch_forget(struct watch *w, const struct loop *loop) {
  const unsigned long long known = w->calls - w->since;
  const int room = known < WATCH_ROOM ? (int)known : WATCH_ROOM;
  if (!w->on)
    w->n = w->rest = 0;
  for (int i = 0; w->on && i < room; i++)
    if (before(w, i) == loop) {
      w->since = w->calls;
      w->waits = false;
      return;
    }
}
