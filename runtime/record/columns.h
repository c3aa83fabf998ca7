/* The columns of maps that a part of a loop goes through, as plans are asked for them. */
#ifndef OP2JIT_RECORD_COLUMNS_H
#define OP2JIT_RECORD_COLUMNS_H

#include "plan/strategy.h"
#include "record/record.h"

/* The caller frees the array, which is never NULL with OP_OK. OP_ERR_MEMORY. */
int loop_columns(const struct loop *loop, const struct loop_part *part, enum plan_columns which,
                 struct plan_column **out, int *count, struct error *err);

/* True if there are elements that must not run at the same time, as far as descriptors say, and the look for those that write
 * one target. loop_arg_meets: it may be because of this argument. */
bool loop_meets(const struct loop *loop);
bool loop_arg_meets(const struct loop *loop, const struct loop_arg *arg);

/* The work of the part's elements, as plans are asked for it: how many targets they have. NULL: all have as many. */
const long long *loop_work(const struct loop *loop, const struct loop_part *part);

/* The ragged map of the loop whose elements have different numbers of targets, of several the one with most entries; NULL:
 * none. */
const struct map *loop_open_map(const struct loop *loop);

/* True if elements meet in its targets, to add to them or for an extremum. */
static inline bool arg_is_turned(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && !arg_is_direct(arg) && !arg->entry &&
         access_reduces(arg->access);
}
/* Columns of an argument with a map; one of a ragged map, in which each element has its own number of targets. */
static inline int arg_columns(const struct loop_arg *arg) {
  return arg->idx >= 0 || arg->map->first ? 1 : arg->map->arity;
}

#endif
