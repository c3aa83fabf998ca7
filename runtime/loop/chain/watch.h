/* Loops that wait by themselves (OP2_LAZY=auto). Calls are noted as they come. Where they repeat, and waiting pays
 * (worth.h), the loops of the period wait from then on, until other calls come. */
#ifndef OP2JIT_LOOP_CHAIN_WATCH_H
#define OP2JIT_LOOP_CHAIN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "loop/chains.h"
#include "record/record.h"

/* Calls that are remembered, a power of two; and calls of a period, at most. */
enum { WATCH_ROOM = 512, WATCH_MOST = 128 };

/* Why nothing waits, whatever the calls are: bits. */
enum watch_hold { HOLD_HANDLER = 1, HOLD_TOOL = 2 }; /* of ranks: new periods only */

/* A call of a period. */
struct watched {
  const struct loop *loop; /* NULL: the program looks, so that the queue is empty */
  bool waits;
};
/* Chains end behind it. */
static inline bool watched_ends(const struct watched *w) {
  return !w->waits || w->loop->ready.tells;
}

/* The experience with a period, wherever it begins: one that does not pay is looked at ever more rarely. */
struct verdict {
  uint64_t calls;               /* says which they are; 0: none */
  unsigned long long next_look; /* not before so many calls */
  int failures;                 /* so often it did not pay, since it did */
  bool good;                    /* it gained when it waited last */
};
enum { WATCH_VERDICTS = 8 };

struct watch {
  bool on;     /* OP2_LAZY=auto, and a backend whose loops can wait */
  bool forced; /* for tests: what comes a second time waits */
  bool
      together; /* of several ranks, which decide alike: by the calls, and by what they agree on when a period is found */
  bool waits;  /* the loops of `period` do */
  bool gained; /* what waited ran otherwise than as called, or its ways are being measured */
  unsigned held;
  double least,
      usual; /* a loop that moves so many bytes is a reason to look for a period; INFINITY: none is */
  const struct loop *seen[WATCH_ROOM];
  unsigned long long calls, since, next_look; /* so far; those before `since` are forgotten */
  int history;                                /* so many calls have to repeat what came before */
  int failures;                               /* of the period that is looked at */
  struct verdict verdicts[WATCH_VERDICTS];    /* of the last periods */
  int judged, verdict;                        /* so many so far; the one of the period */

  struct watched period[WATCH_MOST];
  int n, nwaiting, at;    /* its calls, the loops of them that wait, and the call that is expected */
  int limit;              /* launches that wait at most */
  int lost, useless;      /* calls that were not expected, and runs that gained nothing, in a row */
  int good;               /* runs that gained */
  int turns, rest;        /* periods so far; loops that run as called, so that their own variants are tried */
  int rested;             /* periods that ran so, since somebody paid for them */
  bool may_rest;          /* another one can be paid for */
  struct chain_way guess; /* how to run it at first */
  double gain;            /* seconds of a period that a device gains; 0: clocks tell */
  double began;           /* where they do not: when the first one began to wait */
  bool late; /* and it stood longer than is gained: the program has other things to do between its loops */
};

/* The call of a loop. False: it runs at once, and there is nothing to think about. */
static inline bool watch_sees(struct watch *w, const struct loop *loop) {
  w->seen[w->calls++ % WATCH_ROOM] = loop;
  return w->waits || loop->stats.bytes >= w->least;
}

/* Begin to watch: before the first loop. */
void watch_open(struct watch *w, const struct op_context *ctx);
/* After watch_sees was true: does this call wait? What waits has to run before, if not. Of ranks OP_ERR_MEMORY of one is
 * the error of all. */
int watch_takes(struct op_context *ctx, const struct loop *loop, bool *waits, struct error *err);
/* OP2_LAZY=on, where all wait: these loops are a period whose ways are or were compared, which runs now. They wait in the
 * variants that are known, as long as it comes again and again. */
void watch_tunes(struct watch *w, struct loop *const *loops, int n);
/* OP2_LAZY=on: this call runs as called, as all of its period do now and then, so that other variants of its loops are tried. */
bool watch_rests(const struct op_context *ctx, struct watch *w, const struct loop *loop);
/* If it waits, the loop runs in the variant that is known, and none is tried while it does. */
bool watch_stays(const struct watch *w, const struct loop *loop);
/* The program looks at data, at a clock, or changes what loops need. */
void watch_mark(struct watch *w);
/* All that may wait does. */
bool watch_is_full(const struct watch *w, int waiting);
/* The first one waits. */
void watch_waits(struct watch *w);
/* The queue begins to run, and has run. */
void watch_runs(struct watch *w);
void watch_ran(struct watch *w);
/* Loops of the period, all of which wait, if the launches are whole ones; else 0. */
int watch_period(const struct watch *w, int launches);
/* A chain of so many loops comes again: it is no part of one that was cut short. */
bool watch_expects(const struct watch *w, int loops);
/* Nothing waits from now on, or that reason is gone. What waits has run. */
void watch_hold(struct watch *w, enum watch_hold why, bool held);
/* The record goes. */
void watch_forget(struct watch *w, const struct loop *loop);

#endif
