/* The copies of others' elements that a segment (depth.h) runs on and needs, element by element, on one rank. They are fewer than
 * the depths say, which know no mesh: a copy runs only if somebody here needs what it changes, or if its loop gives to a
 * matrix and the copy has rows of maps. At one layer all that runs on copies changes them directly, or adds to what is
 * owned. Pure: arrays in, arrays out. */
#ifndef OP2JIT_PLAN_COPIES_H
#define OP2JIT_PLAN_COPIES_H

#include "base/error.h"
#include "plan/tiles.h"

/* Local numbers of a set: [0, core) reach owned elements only, [owned, rows) are copies with rows of maps, [rows, all) are
 * copies without: they run only where maps lead to what no loop of the chain changes. */
struct copies_set {
  long core, owned, rows, all;
};

/* Copies, ascending. */
struct copies_list {
  int *elements;
  long count;
};

struct deep_copies {
  struct arrays arrays;     /* all of these */
  struct copies_list *run;  /* of each loop of the segment: on which it runs */
  struct copies_list *need; /* of each dat: those whose newest values the segment begins with */
  int ndats;
};

/* Finds the copies for the loops first .. end-1. Maps are not ragged; no loop runs over a subset. OP_ERR_MEMORY. */
int deep_copies_find(struct deep_copies *c, const struct chain *chain, const struct copies_set *sets,
                     int first, int end, struct error *err);
void deep_copies_free(struct deep_copies *c);

#endif
