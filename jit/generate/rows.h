/* Strips of loops through ragged maps: their elements have as many targets each, so that the kernel's loop over targets is
 * written out and lanes hold elements, as behind a map of one arity. Where all elements have as many, all strips are
 * such. Else a strip is looked at before it runs: code is there for each number of targets up to ROWS_MOST, and what
 * has more of them, or is of several kinds, runs one element after the other. Sums keep their order. */
#ifndef OP2JIT_JIT_GENERATE_ROWS_H
#define OP2JIT_JIT_GENERATE_ROWS_H

#include "jit/generate/skeleton.h"

/* The loop as a strip has it whose elements have `targets` each by the map that differs: ragged maps have an arity, and
 * the entries of an element are one row. `d` itself if no map is ragged, else `room`, a shallow copy. */
const struct desc *rows_of_strip(const struct desc *d, int targets, struct desc *room);
/* The map whose elements differ, -1: none. */
static inline int rows_open_map(const struct desc *d) {
  for (int m = 0; m < d->nmaps; m++)
    if (d->maps[m].ragged && !d->maps[m].equal)
      return m;
  return -1;
}
/* The most targets that elements of a strip have: 1 where no map's differ, 0 if the loop has no strips. */
int rows_most(const struct desc *d);
/* Values from one entry, or target, to the next in the kernel's row. */
int rows_step(const struct desc *d, const struct desc_arg *a);
/* The first of a lane's entries of a map. */
void rows_first(const struct generator *g, int map, const char *lane, char *out, size_t size);
/* The first of a lane's entries, which an argument that has their rows begins with. */
void rows_entry(const struct generator *g, const struct desc_arg *a, const char *lane, char *out,
                size_t size);
/* How many targets, for the kernel. */
void put_rows_counts(struct generator *g);
/* All elements, where a map's elements differ. */
void put_rows_strips(struct generator *g);

#endif
