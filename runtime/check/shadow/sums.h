/* How much a loop adds, for sums in another order round by what was added, not by what came of it. */
#ifndef OP2JIT_CHECK_SHADOW_SUMS_H
#define OP2JIT_CHECK_SHADOW_SUMS_H

#include "record/launch.h"

struct op_context;

/* By argument, of floating point that is added to: of the values that have most, the start value and what is added
 * as absolute values, and how many are added. The other arguments have zeros. */
struct sums {
  double size[OP_MAX_ARGS], count[OP_MAX_ARGS];
};

static inline bool is_sum(const struct loop_arg *arg) {
  return arg->present && arg->access == OP_INC && type_info(arg->type)->is_float;
}

/* A look (loop/form.h): runs the loop element by element on the host, from one slot; dats and slots hold nothing
 * to be used afterwards. Collective. */
int sums_find(struct op_context *ctx, struct launch *launch, void *sums, struct error *err);

#endif
