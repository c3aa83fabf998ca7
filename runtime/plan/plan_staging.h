/* Functions that only files of this folder share. */
#ifndef OP2JIT_PLAN_PLAN_STAGING_H
#define OP2JIT_PLAN_PLAN_STAGING_H

#include <stdint.h>

#include "plan/plan.h"

/* One mark for each element of each target set that a plan's columns write to; columns with the same target share. */
struct marks {
  uint32_t **of_column; /* per column, the marks of its target set */
  uint32_t *all;
  size_t count;
};

/* All zero. OP_ERR_MEMORY, also if there was none for earlier ones of the arrays. */
int marks_new(struct marks *m, struct arrays *arrays, const struct plan_column *columns, int ncolumns,
              struct error *err);

/* Elements begin .. end-1 of block b. */
static inline long block_begin(const struct plan *plan, int b) {
  return plan->block_first ? plan->block_first[b] : (long)b * plan->block_size;
}
static inline long block_end(const struct plan *plan, int b) {
  long begin = block_begin(plan, b);
  if (plan->block_first)
    return plan->block_first[b + 1];
  return plan->size - begin > plan->block_size ? begin + plan->block_size : plan->size;
}
/* The places of an element's targets in a column: from this one on, up to that of the next element. */
static inline long column_place(const struct plan_column *c, long element) {
  return c->first ? (long)c->first[element] : element;
}
/* The target at a place. */
static inline int column_target(const struct plan_column *c, long place) {
  return c->table ? c->table[place * c->arity + c->column] : (int)(c->column + place);
}

/* The request's columns, those of one target set together. NULL: no memory. */
struct plan_column *plan_by_target(struct arrays *arrays, const struct plan_request *r);

/* Sorts a list by the key of each; NULL: by the numbers themselves. Those with equal keys stay in their order. */
void plan_sort_list(int *list, int *spare, long n, const int *keys);
/* The request's elements by plan_number. NULL: OP_ERR_MEMORY. */
int *plan_sorted(struct arrays *arrays, const struct plan_request *r, struct error *err);

/* How many threads work on a plan's blocks: 1 .. PLAN_MOST_THREADS. */
int plan_threads(const struct plan *plan, const struct team *team);
#define PLAN_MOST_THREADS 16

int plan_build_staging(struct plan *plan, const struct plan_request *request, struct team *team,
                       struct error *err);
/* A staged dataset's columns and blocks are those asked for; its targets are sorted, unique and in range. OP_ERR_PLAN. */
int plan_verify_staged_counts(const struct plan *plan, const struct plan_request *request, int dataset,
                              struct error *err);
int plan_verify_staged_targets(const struct plan *plan, const struct plan_request *request, int dataset,
                               struct error *err);
/* All targets of the columns are in range. OP_ERR_PLAN. */
int plan_verify_columns(const struct plan_column *columns, int ncolumns, long size, struct error *err);

#endif
