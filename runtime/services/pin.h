/* Ranks on CPUs of their own (OP2_PIN). */
#ifndef OP2JIT_PIN_H
#define OP2JIT_PIN_H

#include "base/error.h"

struct op_context;

/* Ranks of a machine that are allowed on the same CPUs share these out: each gets some that lie together, as hwloc says, for the
 * calling thread and those that start later. Where the launcher gave each rank its own, or there are fewer CPUs than ranks,
 * nothing happens. OP_ERR_NOT_BUILT without hwloc. Local. */
int pin_rank(struct op_context *ctx, struct error *err);

#endif
