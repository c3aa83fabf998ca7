/* Shared by watch.c and starts.c. Side 0 holds the results of a run. */
#ifndef OP2JIT_CHECK_WATCH_INNER_H
#define OP2JIT_CHECK_WATCH_INNER_H

#include <string.h>

#include "check/watch/watch.h"

static inline size_t watch_value_size(const struct loop_arg *arg) {
  return type_info(arg->type)->size;
}
static inline bool watch_is_extremum(const struct loop_arg *arg) {
  return (arg->form == DESC_GBL || arg->form == DESC_DAT) && access_is_extremum(arg->access);
}
/* The first component in which two rows differ; -1: none. */
static inline int watch_difference(const struct loop_arg *arg, const unsigned char *a,
                                   const unsigned char *b) {
  const size_t size = watch_value_size(arg);
  size_t i = 0;
  while (i < arg->bytes && a[i] == b[i])
    i++;
  int c = (int)(i / size);
  while (type_is_struct(arg->type) && c < arg->dim &&
         type_same(arg->type, a + (size_t)c * size, b + (size_t)c * size))
    c++;
  return c >= arg->dim ? -1 : c;
}

/* Both runs once more, where something was listed and spoilt what they left. */
void watch_run_again(struct look *look);

/* Increments. Before the second run: from where they start (`again`: far larger). Behind it what the kernel does more
 * than add. */
bool watch_has_increments(const struct cell *cell);
double watch_largest_input(const struct cell *cell);
void watch_start_increments(struct cell *cell, double scale, bool again);
int watch_increments(struct look *look);
/* Extrema, in a run of their own. */
bool watch_has_extrema(const struct cell *cell);
int watch_limits(struct look *look);

#endif
