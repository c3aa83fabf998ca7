/* From global numbers to small ones: an element's place among those that this rank knows of. */
#ifndef OP2JIT_DISTRIBUTE_NUMBERS_H
#define OP2JIT_DISTRIBUTE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

struct numbers {
  long long *number; /* count: number[id] */
  long count, capacity;
  long run;   /* ids below it are number[0] + id, and not in the slots */
  int *slots; /* id + 1, 0: free */
  size_t mask, used;
};

/* The ids 0 .. count-1 are the numbers given, which must differ. False: no memory; to be freed in both cases. */
bool numbers_new(struct numbers *n, const long long *number, long count);
void numbers_free(struct numbers *n);
/* The id of a number, -1 if it is unknown. */
int numbers_find(const struct numbers *n, long long number);
/* The id of a number, a new one if it was unknown; -1: no memory, or more ids than an int holds. */
int numbers_add(struct numbers *n, long long number);

#endif
