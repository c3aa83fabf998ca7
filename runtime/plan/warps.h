/* Numbers of summands, of one byte or two, which plans of sums share. */
#ifndef OP2JIT_PLAN_WARPS_H
#define OP2JIT_PLAN_WARPS_H

#include "plan/gather.h"

static inline int sum_entry(const struct plan_staging *s, const void *entries, long at) {
  return s->entry_bytes == 1 ? ((const unsigned char *)entries)[at] : ((const unsigned short *)entries)[at];
}

static inline void sum_set(const struct plan_staging *s, void *entries, long at, int value) {
  if (s->entry_bytes == 1)
    ((unsigned char *)entries)[at] = (unsigned char)value;
  else
    ((unsigned short *)entries)[at] = (unsigned short)value;
}

/* Room for `targets` of all blocks, and for all summands. OP_ERR_MEMORY; OP_ERR_SIZE for blocks with too many. */
int sums_new(struct plan *plan, struct plan_staging *s, long targets, struct error *err);
/* OP_ERR_PLAN unless entries have the bytes that blocks of that size need. */
int sums_verify_bytes(const struct plan *plan, const struct plan_staging *s, struct error *err);
/* A plan without colours, for sums alone: what of the wish it is made from. */
struct plan_request sums_request(const struct plan_request *r);
/* OP_ERR_PLAN unless its blocks are those of the request, with sums of as many datasets. */
int sums_verify_blocks(const struct plan *plan, const struct plan_request *r, int level, struct error *err);

/* The plan's list: its elements in blocks of neighbours, each block's in their own order. `map`: who reaches each target by the
 * columns. OP_ERR_MEMORY. */
int plan_patches(struct plan *plan, const struct plan_column *columns, const struct reverse_map *map,
                 struct error *err);

#endif
