/* The values that elements add to, for tests of plans by which a device's warps or blocks put sums together. */
#ifndef OP2JIT_TESTS_ADDED_H
#define OP2JIT_TESTS_ADDED_H

#include <string.h>

#include "mesh.h"
#include "plan/strategy.h"

enum { MAP_COLUMNS = 3, MOST_COLUMNS = 12, TARGETS = 90 };

/* A dataset that elements add to through three columns of a map, again and again, and one where the elements' own rows meet the
 * columns of another map. */
struct fixture {
  int *tables[2];
  struct plan_column columns[MOST_COLUMNS + 2];
  struct plan_staged staged[2];
  struct plan_wish wish;
};

static inline void make(struct fixture *f, long size, int ncolumns, int block,
                        const struct strategy *strategy, enum mesh_shape shape, uint64_t seed) {
  memset(f, 0, sizeof *f);
  f->tables[0] = mesh_table(size, MAP_COLUMNS, TARGETS, shape, seed);
  f->tables[1] = mesh_table(size, MAP_COLUMNS, size, shape, seed + 1);
  for (int c = 0; c < ncolumns; c++)
    f->columns[c] = (struct plan_column){.table = f->tables[0],
                                         .arity = MAP_COLUMNS,
                                         .column = c % MAP_COLUMNS,
                                         .target = 1,
                                         .target_size = TARGETS};
  f->columns[ncolumns] = (struct plan_column){.arity = 1, .target = 2, .target_size = size};
  f->columns[ncolumns + 1] = (struct plan_column){
      .table = f->tables[1], .arity = MAP_COLUMNS, .column = 1, .target = 2, .target_size = size};
  f->staged[0] = (struct plan_staged){0, ncolumns};
  f->staged[1] = (struct plan_staged){ncolumns, 2};
  f->wish = (struct plan_wish){.request = {.size = size,
                                           .block_size = block,
                                           .staged_columns = f->columns,
                                           .staged = f->staged,
                                           .nstaged = 2},
                               .strategy = strategy};
}

static inline void clear(struct fixture *f) {
  free(f->tables[0]);
  free(f->tables[1]);
}

static inline int target_of(const struct plan_column *c, long element) {
  return c->table ? c->table[element * c->arity + c->column] : (int)(c->column + element);
}

static inline int number(const struct plan_staging *s, const void *entries, long at) {
  return s->entry_bytes == 1 ? ((const unsigned char *)entries)[at] : ((const unsigned short *)entries)[at];
}

#endif
