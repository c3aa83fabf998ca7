/* Ranks that take different times share the mesh out anew while the program runs (OP2_BALANCE). Each keeps account of how long it
 * computed since its part is what it is; now and then, at the same call of a loop, they compare. */
#ifndef OP2JIT_LOOP_BALANCE_H
#define OP2JIT_LOOP_BALANCE_H

#include <stdbool.h>

#include "base/error.h"
#include "context/context.h"
#include "spread/parts/partition.h"

struct balance {
  long long left;   /* calls of loops until ranks compare */
  long long period; /* from one time to the next */
  bool on, once;    /* OP2_BALANCE=on; the first time only, where ranks have different backends */
  bool warm;        /* the first calls, which make everything ready, are over */
  bool told;        /* why nothing is dealt out anew */
  long long tried;  /* code that this rank had compiled, and trials of its loops, when it compared last */
  int passed;       /* how often ranks did not compare in a row, since some of them tried something */
  double begun;     /* seconds that this rank had computed when it got its part */
  double rate;      /* of its memory, bytes a second; 0: nobody measured it */
  double lost,
      cost; /* seconds that ranks waited for the slowest since the last time; that dealing out took then */
  int moves, in_a_row; /* how often it was dealt out; since the last op_partition */
  /* The last op_partition: what it named, and the numbers of that, for it may be gone. */
  char lib[32], method[32];
  struct partition_call last;
  int prime, map, coords; /* -1: none */
};

/* With several ranks: ctx->balance. */
void balance_open(struct op_context *ctx, struct balance *balance);

/* For op_partition, what this rank knows of its times: the caller frees call->times. Collective. */
void balance_fill(struct op_context *ctx, struct partition_call *call);
/* The mesh was dealt out so. Local, on all ranks. */
void balance_parted(struct op_context *ctx, const struct partition_call *call);

/* Ranks compare now. An error is one of all ranks. */
int balance_compare(struct op_context *ctx, struct error *err);
/* Before each call of a loop. */
static inline int balance_look(struct op_context *ctx, struct error *err) {
  return ctx->balance && ctx->balance->left > 0 && --ctx->balance->left == 0 ? balance_compare(ctx, err)
                                                                             : OP_OK;
}

#endif
