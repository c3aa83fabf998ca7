/* Chains of ranks that came before: their segments, and what those need. */
#ifndef OP2JIT_LOOP_CHAIN_KNOWN_H
#define OP2JIT_LOOP_CHAIN_KNOWN_H

#include "loop/chain/deep.h"
#include "loop/chain/regions.h"
#include "loop/chain/segments.h"
#include "record/launch.h"

/* Loops that came in this order, which all ranks agreed on. */
struct known_chain {
  unsigned epoch; /* of the mesh */
  uint64_t hash;
  int n;
  size_t *orders; /* of the loops: no two have the same, also where one was freed */
  struct depths depths;
  /* One for each segment. NULL: all loops run as deep as they do by themselves. */
  struct deep **deep;       /* NULL: its one loop does */
  struct regions **regions; /* that begins with it; NULL: none does here */
  bool early;               /* some rank has one */
  int *ahead;               /* of each loop, so many of its parts run before its segment waits (ahead.h) */
  struct launch **waits;    /* room for turns (turn.h) */
  /* The same where neighbours of its segments run as one (fused.h); NULL: they do not, or not yet. */
  struct known_chain *whole;
  bool fuses;                /* it may still be made */
  unsigned turns;            /* so often it ran */
  int layers;                /* loop_depths_find's */
  struct layers_facts facts; /* layers > 1 */
};

/* The chain of these launches, which belongs to the context. *out NULL: some rank has no memory. A known chain is
 * compared by the messages themselves, but for a device's; else OP_ERR_MPI: ranks differ. Collective. */
int known_chain_get(struct op_context *ctx, struct launch *const *launches, int n, struct known_chain **out,
                    struct error *err);
/* One that is found by nobody, for the caller to free. Collective. */
int known_chain_make(struct op_context *ctx, struct launch *const *launches, int n, struct known_chain **out,
                     struct error *err);
void known_chain_free(struct op_context *ctx, struct known_chain *k);

#endif
