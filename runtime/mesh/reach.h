/* How well the numbering of a mesh suits caches. */
#ifndef OP2JIT_REACH_H
#define OP2JIT_REACH_H

#include <stddef.h>

/* How often a cache of so many bytes fetches each line of the targets' rows while the rows of a table are walked in
 * their order: 1 is the best that any numbering can do. From samples, as far as they tell. 0: the targets fit in the
 * cache, or there is no memory to find it out. A pure function of arrays. */
double reach_fetches(const int *table, long rows, int arity, long targets, size_t row_bytes,
                     size_t cache_bytes);

#endif
