/* How far each loop of a chain may go, and must, for the others: what the builder of tiles reckons with. */
#ifndef OP2JIT_PLAN_TILES_CLOSURE_H
#define OP2JIT_PLAN_TILES_CLOSURE_H

#include "base/list.h"
#include "base/text.h"
#include "plan/tiles.h"
#include "plan/tiles_prefix.h"

static inline long larger(long a, long b) {
  return a > b ? a : b;
}

/* A small set runs round a large one, as the edges of a border do round a domain: in its own order one element could
 * pull in the whole mesh. It runs in the order of its targets instead, element by element; its positions there take
 * the place of its elements. */
struct order {
  bool small;
  const int *element; /* NULL: its own order */
  int *position;
  int map, column; /* by which it is ordered */
};

/* The targets of a dat that the loops before or behind reach: those below these. */
struct reach {
  long read, written;
};

struct closure {
  struct arrays arrays;      /* all of these */
  const struct chain *chain; /* which is `needed` */
  struct chain
      needed; /* the chain without accesses to dats that none of its loops changes: nobody minds them */
  struct chain_loop *loops;
  struct chain_access *accesses;
  struct order *orders;           /* of sets */
  struct prefix *own;             /* of maps that came without, or whose sets have another order */
  const struct prefix **prefixes; /* of maps; NULL: nobody uses it */
  long *step;                     /* of loops: ranges begin at multiples of it */
  long *block;                    /* of loops that combine: each slot has so many elements */
  bool *shares;        /* loops that get a share of their own, as no later one asks for much of them */
  struct reach *reach; /* of dats */
  long *first,
      *last; /* of loops: elements outside go round a periodic mesh, or depend on such; they come last */
};

int closure_new(struct closure *b, const struct chain *chain, const struct tiles_wish *wish,
                struct team *team, struct error *err);
/* For each loop where it ends, `part` of `parts` of the chain being done: whatever runs before needs nothing behind. */
void closure_left(const struct closure *b, long part, long parts, long *end);
/* For each loop where it begins, if everything before `left` runs at the same time: what is between waits. */
void closure_right(const struct closure *b, const long *left, long *begin);
/* Find what may go on at all: `first`, and `last` as a part of `parts`. */
int closure_open(const struct closure *b, int parts, int *part, struct error *err);
/* The end of the elements of the loop that add to what elements before `end` add to; `end` where none does. */
long closure_meet(const struct closure *b, int loop, long end);
/* True if a part of the mesh needs most of it; then it says which set's numbering is the cause. */
bool closure_refuse(const struct closure *b, struct text *why);

#endif
