/* Loops that were called and wait to be run (OP2_LAZY). What can be refused was refused at the call, what they
 * start from is copied. They run before anything that lets the program tell: calls that flush (api.h), and loops
 * that hand a result to a variable of the program, which are the last of their chain. */
#ifndef OP2JIT_LOOP_CHAIN_QUEUE_H
#define OP2JIT_LOOP_CHAIN_QUEUE_H

#include "base/list.h"
#include "loop/chain/watch.h"
#include "loop/chains.h"
#include "record/launch.h"

enum { QUEUE_MOST = 256, QUEUE_SINGLES = 16 };

/* A loop that ends chains of ranks, as it shares no copies with other loops: why, in words, and how often it did. */
struct queue_single {
  const char *name, *why;
  long long times;
};

struct queue {
  /* Runs what waits, and compares it with what its loops do one by one (OP2_LAZY=check). NULL: it just runs. */
  int (*check)(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
  struct watch watch;    /* OP2_LAZY=auto: which loops wait; else all do that can */
  struct list known;     /* chains of ranks (loop/chain/) */
  struct layers *layers; /* NULL: none were wanted (loop/chain/) */
  uint32_t flushes;      /* of them */
  long long waited;      /* calls, so far */
  struct queue_single singles[QUEUE_SINGLES];
  int nsingles; /* the first ones that came */
  int count;
  struct launch *launches[QUEUE_MOST]; /* ready, in the order of their calls */
};

/* A call whose memory is known to be there: it waits, or runs after all that wait. The launch is the queue's from
 * now on. */
int queue_call(struct op_context *ctx, struct launch *launch, const struct loop_call *call,
               struct error *err);
/* Run launches that are ready: as chains, or one by one. */
int queue_run(struct op_context *ctx, struct launch *const *launches, int n, bool singly, struct error *err);
/* Run all that wait. After an error the queue is empty, and data are as they were before. */
int queue_flush(struct op_context *ctx, struct error *err);

/* A chain: loops whose calls followed one another, and between which nobody looked. It has the outcome of its
 * loops one by one. */
/* Run the launches, which are ready, in the order of their calls, or in tiles that nobody can tell from it.
 * Nothing of it may fail once a dat has changed: what needs memory is made first, and where there is none the
 * loops run one by one. */
int chain_run(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
/* The same one by one, always; in the pieces that tiles would have, so that sums have the same bits. */
int chain_run_singly(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);

/* The number of launches, from the first on, that are whole periods, with what comes before them; all, if nothing
 * repeats. */
int chain_whole_periods(const struct op_context *ctx, struct launch *const *launches, int n);

#endif
