/* Results: partial ones are combined, on this rank and then over ranks. Within this room. */
#ifndef OP2JIT_RESULTS_H
#define OP2JIT_RESULTS_H

#include <stdint.h>

#include "record/launch.h"

/* A payload's slot: the number of the element that won, then its values. */
enum { PAYLOAD_NUMBER = sizeof(long long) };

/* Partial results, one behind the other: of parts and blocks, or of ranks. */
struct partial {
  const unsigned char *first;
  size_t distance;
  int count;
};

/* The loop changes what the argument names: a reduction, or a global that is assigned. */
static inline bool arg_is_result(const struct loop_arg *arg) {
  return arg_is_reduction(arg) || (arg_is_global(arg) && arg->access != OP_READ);
}

/* A reduction without payload: `into` and the partial results, in their order. */
void results_combine(const struct loop_arg *arg, const struct partial *from, unsigned char *into);
/* The launch's partial results in one slot. */
void results_merge(const struct launch *launch, unsigned char *slot);
/* Into the user's memory. `globals` has what is assigned. */
void results_hand_back(const struct launch *launch, const struct partial *from, const unsigned char *globals);
/* The same with the launch's own, on one process. */
void results_here(const struct launch *launch);
/* After those of earlier loops that are on their way, and with those of other ranks. */
int results_with_others(struct op_context *ctx, struct launch *launch, struct error *err);

/* ---- ranks (results_ranks.c): each one's results in one slot, then these in the order of the ranks, so that all
 * have the same bits ---- */

/* The bytes that a rank brings: its slot, its globals, the loop's name, a hash of its start, and whether the globals
 * count. */
struct brought {
  size_t slot, globals, bytes; /* bytes: all of it, 0: the loop has no results */
};

struct brought results_brought(const struct loop *loop);
/* Into `mine`. `start`: of what the loop starts from, which must be the same on all ranks. */
void results_bring(const struct launch *launch, const struct brought *b, uint64_t start, unsigned char *mine);
/* Known loops do not agree on each call; what came of another one's must not be taken for a result. */
int results_check_names(const struct op_context *ctx, const struct brought *b, const unsigned char *all,
                        struct error *err);
/* The one element that wrote the globals is owned by one rank; NULL: there is none. */
const unsigned char *results_of_owner(const struct brought *b, const unsigned char *all, int ranks);

#endif
