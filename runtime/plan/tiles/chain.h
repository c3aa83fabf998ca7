/* A chain: loops that follow one another, as plain arrays. What can be said of the order in which its elements may run
 * follows from this alone: the sizes of sets, the tables of maps, and for each loop which dats it reads, writes and
 * adds to through which columns. */
#ifndef OP2JIT_PLAN_CHAIN_H
#define OP2JIT_PLAN_CHAIN_H

#include <stdbool.h>

struct prefix;

struct chain_set {
  const char *name;
  long size;
};

struct chain_map {
  int from, to; /* sets */
  int arity;    /* of a ragged one 1: its targets are all in column 0 */
  const int
      *table; /* NULL, of a ragged one: an element's targets are its entries, which have these numbers */
  const long long
      *first; /* ragged: where the targets of each element begin in the table, and the end; else NULL */
  /* Prefixes of all its columns, in steps of PREFIX_STEP; and those that keep apart what goes round. NULL: found when it is
   * needed. */
  const struct prefix *prefix, *periodic;
  const bool *seen; /* elements that run in tiles at all: prefixes that are made see no others. NULL: all */
};

/* Adding elements, and those that write and are known to, meet each other in one target, the others only those of other
 * loops. What overwrites does not read the old value. */
enum chain_use { CHAIN_READS, CHAIN_WRITES, CHAIN_ADDS, CHAIN_OVERWRITES };

struct chain_access {
  int dat;
  enum chain_use use;
  int map;          /* -1: directly */
  int first, count; /* columns of the map */
  bool own;         /* the map leads to what only the loop's own element has, as if directly */
};

struct chain_loop {
  int set;
  const struct chain_access *accesses;
  int naccesses;
  bool combines; /* it has results that are kept apart by blocks of its set */
  bool
      whole; /* it runs over all elements of a set, and what it overwrites directly has nothing of its old values */
  bool gives; /* copies of elements run as well, whatever is needed of dats: they add to rows of a matrix */
};

struct chain {
  const struct chain_set *sets;
  int nsets;
  const struct chain_map *maps;
  int nmaps;
  const int *dats; /* of each dat, its set */
  int ndats;
  const struct chain_loop *loops; /* in the order in which they were called */
  int nloops;
};

/* Where the targets of an element that an access has begin, and how many they are; what stands at a place. */
static inline long chain_begin(const struct chain_map *map, const struct chain_access *a, long element) {
  return map->first ? (long)map->first[element] : element * map->arity + a->first;
}
static inline long chain_count(const struct chain_map *map, const struct chain_access *a, long element) {
  return map->first ? (long)(map->first[element + 1] - map->first[element]) : a->count;
}
static inline long chain_target(const struct chain_map *map, long place) {
  return map->table ? map->table[place] : place;
}

#endif
