/* Groups of loops of a chain that can be one: loops over one set whose conflicts are direct on both sides, so that an
 * element needs nothing of another one. */
#ifndef OP2JIT_LOOP_CHAIN_FUSED_GROUP_H
#define OP2JIT_LOOP_CHAIN_FUSED_GROUP_H

#include "record/record.h"

struct fused_group {
  int members[DESC_MOST_MEMBERS]; /* numbers of loops, in the order of their calls */
  int n;
};

/* Each loop is of one group; run group after group, each one's members in their order, they leave what they leave one
 * by one. A loop may pass over groups that it has no conflict with. `groups` has room for n; returns how many there are.
 */
int fused_groups(struct loop *const *loops, int n, struct fused_group *groups);

#endif
