/* How deep ranks go into each other's parts, so that loops one behind the other run without messages. Pure arithmetic
 * on what loops say of their arguments: no mesh, no sizes and no ranks, so that all ranks find the same.
 *
 * Depths are half layers. D0 is what a rank owns. D(2k-1) adds the elements that have a target in D(2k-2); D(2k) adds
 * the targets of D(2k-1). So many layers L are D(2L): of these elements a rank has copies, and it has rows of maps for
 * those of D(2L-1). A dat is valid to depth v: its copies in D(v) are the newest.
 *
 * A segment is some loops of a chain that need no message but those before its first. */
#ifndef OP2JIT_PLAN_DEPTH_H
#define OP2JIT_PLAN_DEPTH_H

#include "base/error.h"
#include "plan/tiles.h"

/* The depth of a dat that is overwritten whole: a rank needs not even its own part. */
enum { DEPTH_NONE = -1 };

/* ---- one loop ---- */

/* need[dat]: how deep each dat must be valid behind the loop, and then, before it. Returns how deep its elements run: 0:
 * those that the rank owns. */
int depth_before(const struct chain_loop *loop, int *need);
/* valid[dat]: how deep each dat is valid before the loop, which runs so deep, and then, behind it. */
void depth_behind(const struct chain_loop *loop, int run, int *valid);
/* How deep an access of elements that run so deep reads: directly, or through a map. */
int depth_read(int run, bool mapped);

/* ---- a chain ---- */

/* Limits of a loop. */
struct depth_limit {
  bool apart; /* be in a segment with others */
  bool own;   /* run where what it adds through maps counts but on elements that a rank owns */
};

struct depth_wish {
  int layers; /* at least 1 */
  bool
      alone; /* no loop runs deeper than it does by itself, where nobody needs more of it than what ranks own */
  /* Dats that no loop of the chain changes are there wherever elements of D(2L) reach them, with the rows of the maps that lead
   * there: it asks for no depth. */
  bool fringe;
  const size_t *bytes;              /* of a row of each dat; NULL: all alike */
  const struct depth_limit *limits; /* of each loop; NULL: there are none */
};

struct depths {
  struct arrays arrays; /* all of these */
  int nsegments;
  int *first; /* of each segment its first loop, and the end */
  int *run;   /* of each loop */
  /* How deep each dat must be valid before the first loop of each segment. A dat that is valid to less is brought up to
   * date from there on, by one message to each neighbour for all dats. */
  int *need;
  int ndats;
  int exchanges; /* segments before which something travels */
  double weight; /* bytes that travel, by half layers */
};

/* The cost of loops that run one by one, as deep as they do by themselves, turn after turn: of one turn. */
struct depth_cost {
  int exchanges;
  double weight; /* as that of struct depths */
};
/* OP_ERR_MEMORY. */
int depths_of_single_loops(const struct chain *chain, const size_t *bytes, struct depth_cost *out,
                           struct error *err);

/* Segments with as few exchanges as can be, and as few bytes in them. OP_ERR_MEMORY. */
int depths_build(struct depths *d, const struct chain *chain, const struct depth_wish *wish,
                 struct error *err);
void depths_free(struct depths *d);

#endif
