/* From global numbers to small ones: an element's place among those that this rank knows of. What a rank owns comes in
 * stretches of consecutive numbers, which take little memory and are found fast; the few others are hashed. */
#ifndef OP2JIT_SPREAD_PARTS_NUMBERS_H
#define OP2JIT_SPREAD_PARTS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "build.h"

struct numbers {
  long long *number; /* count: number[id] */
  long count, capacity;
  long sorted;    /* ids below it have ascending numbers, and are in no slots */
  int *stretches; /* the first id of each stretch of them, and `sorted` */
  int *buckets;   /* the stretch in which each range of 2^shift numbers begins, and the last stretch */
  long nstretches;
  int shift;
  int *slots; /* id + 1, 0: free */
  size_t mask, used;
};

/* The ids 0 .. count-1 are the numbers given, which must differ. False: no memory; to be freed in both cases. */
bool numbers_new(struct numbers *n, const long long *number, long count);
/* The same, taking the array over (NULL: no memory for it). */
bool numbers_take(struct numbers *n, long long *number, long count);
void numbers_free(struct numbers *n);
/* The id of a number, -1 if it is unknown. */
int numbers_find(const struct numbers *n, long long number);
/* The id of a number, a new one if it was unknown; -1: no memory, or more ids than an int holds. */
int numbers_add(struct numbers *n, long long number);

/* The places of the numbers in ascending order; NULL: no memory. Linear time for a few ascending stretches one
 * after the other. */
int *numbers_order(const long long *number, long count);

/* Elements of a set that rows of maps name: those that this rank owns have ids from 0 on, in the order of the share. */
struct targets {
  struct numbers ids;
  int *id; /* of each entry of the maps, one map after the other */
  long entries;
};
/* False: no memory; to be freed in both cases. */
bool targets_new(struct targets *t, const struct share_set *set);
bool targets_add(struct targets *t, const struct share *share, const struct share_map *map);
void targets_free(struct targets *t);

/* ---- in which order sets follow the one that is parted by name, and along which maps ---- */
/* Entries of ragged maps follow the elements that have them, whatever else leads to them. */
enum follow_kind { FOLLOW_TARGETS, FOLLOW_SOURCES, FOLLOW_NOTHING, FOLLOW_ELEMENTS };

struct follow_step {
  int set;
  enum follow_kind kind;
};

struct follow_plan {
  struct follow_step *steps; /* one for each set that follows */
  int count;
  int *place; /* of each set: 0 for the first ones, else the number of its step, from 1 */
};

/* placed[s]: set s is there from the beginning. A set that a map connects with a placed one is the next, by its
 * targets rather than by its sources; else any that is left. Local, and the same on all ranks. */
int follow_plan(const struct share *share, const bool *placed, struct follow_plan *plan, struct error *err);
void follow_plan_free(struct follow_plan *plan);

/* True if the map says something about where the step's set goes. */
bool follow_leads(const struct follow_plan *plan, const struct follow_step *step,
                  const struct share_map *map);

#endif
