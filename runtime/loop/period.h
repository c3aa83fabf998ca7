/* Periods: loops that come again and again in one order, and which way of running them is next. */
#ifndef OP2JIT_LOOP_PERIOD_H
#define OP2JIT_LOOP_PERIOD_H

#include "loop/chains.h"
#include "record/launch.h"

/* Loops that come again and again in this order. */
struct period {
  struct loop **loops;
  int n, seen;
  unsigned epoch;   /* of the mesh */
  bool pays;        /* its data are large enough for tiles */
  bool tasks;       /* and there are threads for which it may be worth while to be tasks */
  bool fuses, made; /* some of its loops can be one; and are made so */
  bool aside;       /* what its ways need is made beside the loops, on a processor that these leave free */
  bool spent;       /* compiling loops that are one is paid for, and begun */
  int periods;      /* that waited in a row when its ways were listed: tiles are cut over no more */
  double begun;     /* when that was begun which is being made; 0: nothing is */
  double trials;    /* seconds that trials of its loops cost, as far as they were paid for */
  struct chain_tuning *tuner; /* NULL: the first guess, or no memory */
};

/* NULL: there are too many already, or no memory. */
struct period *period_get(struct op_context *ctx, struct launch *const *launches, int n);
/* One whose ways are or were compared, that begins with the loop; NULL: there is none. */
const struct period *period_tuned_from(const struct op_context *ctx, const struct loop *loop);
/* Forget all. */
void periods_forget(struct op_context *ctx);
bool periods_use(const struct op_context *ctx, const void *object);

/* Loops that come again and again, for reports: which of the ways to run them were tried, and which one is the best. */
struct chain_facts {
  const char *first, *last; /* its loops */
  int loops;
  struct chain_tried tried;
};
/* Facts of period number i, from 0; false: no ways are tried, or there is none (*more is false). */
bool period_tell(const struct op_context *ctx, int i, struct chain_facts *out, bool *more);

/* OP2_LAZY=auto; NULL: it is not. */
const struct watch *period_watch(const struct op_context *ctx);
/* No clock can tell how to run them: what is known of the device does. */
bool period_on_device(struct launch *const *launches);

/* choose.c: the way in which so many periods that wait run next, as far as what it needs is made or can be paid for. `way` has no
 * bytes and is not fused where what comes next is still being made: false. */
bool period_choose(struct op_context *ctx, struct period *p, struct launch *const *launches, int times,
                   struct chain_way *way);

#endif
