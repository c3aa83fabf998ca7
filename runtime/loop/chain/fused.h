/* Loops of a chain that run as one (fused): the record of such a loop, made from its members' records, and its
 * launches, made from theirs. A fused loop is in no table of records: nobody calls it. */
#ifndef OP2JIT_LOOP_CHAIN_FUSED_H
#define OP2JIT_LOOP_CHAIN_FUSED_H

#include "record/launch.h"
#include "record/record.h"

struct chain_way;

/* The members of a fused loop. */
struct fusion {
  struct loop *members[DESC_MOST_MEMBERS];
  int n;
  unsigned char number[DESC_MOST_MEMBERS][OP_MAX_ARGS]; /* of a member's argument among the loop's */
  uint64_t dropped;                                     /* a bit for each argument: it is not stored */
  bool failed;                                          /* it cannot be made: its members run one by one */
};

/* record.c: the record of these loops as one, found or made; NULL: there is none, as `err` says. The context owns
 * it. */
struct loop *fused_get(struct op_context *ctx, struct loop *const *members, int n, uint64_t dropped,
                       struct error *err);
/* describe.c: its description, but for the arguments': texts, constants, members. And what arguments have beside those of
 * others. */
int fused_describe(struct loop *loop, struct error *err);
void fused_describe_args(struct loop *loop);
/* The members' argument behind this one of the loop's: of the first member that has it. */
const struct loop_arg *fused_arg_of(const struct fusion *f, int number, int *member, int *arg);
/* Records of loops that use the dat, map or set (NULL: all) are about to go. */
void fused_forget(struct op_context *ctx, const void *object);

/* Launches that are ready, with those of groups as one launch each, in an order that leaves the same. */
struct fused_launches {
  struct launch **items;
  int n;
  bool trying; /* variants of some are being tried: their times say nothing about the chain */
  bool coming; /* the code of some is being compiled: they run one by one */
};
/* False: nothing can be fused, or not now; then there is nothing to end. */
bool fused_begin(struct op_context *ctx, struct launch *const *launches, int n, const struct chain_way *way,
                 struct fused_launches *out);
void fused_end(struct fused_launches *f);
/* Compile behind the program what the launches need as fused loops; of several ranks, which call this together, compile
 * nothing. True: the code is all there. `loops` has room for n, or is NULL: the loops that they would be then; *count: so many. */
bool fused_prepare(struct op_context *ctx, struct launch *const *launches, int n, struct loop **loops,
                   int *count);
/* Would any of them be? */
bool fused_any(struct loop *const *loops, int n);
/* Bytes that they move then, at least; 0: no memory. */
double fused_bytes(struct loop *const *loops, int n);

/* Groups of loops of a chain that can be one: loops over one set whose conflicts are direct on both sides, so that an
 * element needs nothing of another one. */
struct fused_group {
  int members[DESC_MOST_MEMBERS]; /* numbers of loops, in the order of their calls */
  int n;
};

/* Each loop is of one group; run group after group, each one's members in their order, they leave what they leave one
 * by one. A loop may pass over groups that it has no conflict with. `groups` has room for n; returns how many there are.
 */
int fused_groups(struct loop *const *loops, int n, struct fused_group *groups);

#endif
