/* Loops as tasks: the blocks of a loop, or of several loops that follow one another, are items that wait for one another,
 * and there is no barrier. Where two blocks touch one target and one of them changes it, the later one waits: that of the
 * later loop, and of one loop the one with the higher colour. So each target changes in an order that follows from the
 * mesh alone, and its bits do not depend on threads. */
#ifndef OP2JIT_PLAN_TASKS_H
#define OP2JIT_PLAN_TASKS_H

#include "base/error.h"
#include "exec/executor.h"
#include "plan/plan.h"
#include "plan/tiles.h"

/* One column through which a loop reaches a dat; `at.target` is the number of the dat. */
struct tasks_access {
  struct plan_column at;
  enum chain_use use;
};

struct tasks_loop {
  const struct plan *plan; /* blocks, and colours such that blocks of one colour change nothing in common */
  const struct tasks_access *accesses;
  int naccesses;
  int nslots; /* of results that are kept apart; 0: there are none */
};

/* One item for each block: its work is the number of its loop, its slot the number of the block. Items stand in the
 * order in which they lie in the mesh, from its beginning to its end, those of several loops among one another. Elements
 * count from 0. OP_ERR_MEMORY, OP_ERR_SIZE: then *s is empty. */
int tasks_build(struct schedule *s, const struct tasks_loop *loops, int nloops, struct error *err);
/* OP_ERR_PLAN unless each element of each loop runs once, after what it needs and before what needs others' values, and no two
 * items add to one target, or have one slot, at the same time. Of any schedule: with items that wait for one another, or with phases.
 * `sizes`: elements of each loop; `begin`: the number of their first one. It looks at the schedule and the accesses only. */
int tasks_verify(const struct schedule *s, const struct tasks_loop *loops, const long *sizes, int nloops,
                 long begin, struct error *err);

/* ---- a chain of loops, without a barrier between them (tasks_chain.c) ---- */

struct tasks_wish {
  int blocks; /* of each set, at least 1 */
  int least;  /* elements of a block; blocks begin at multiples of it */
};

/* In place of tiles: t->schedule has items that wait for one another, t->ntiles says how many, and there are no chunks.
 * The same for any number of threads; `team` (may be NULL) helps. OP_ERR_MEMORY, OP_ERR_SIZE: then *t is empty. */
int tasks_of_chain(struct tiles *t, const struct chain *chain, const struct tasks_wish *wish,
                   struct team *team, struct error *err);
/* Verifies tiles, or blocks that wait: see tasks_verify. */
int chain_verify(const struct tiles *t, const struct chain *chain, struct error *err);

#endif
