/* Parts of a context that are opened when they are first wanted: the compiler and its store, the threads, the plans.
 * */
#ifndef OP2JIT_SERVICES_H
#define OP2JIT_SERVICES_H

#include <stdbool.h>

#include "base/error.h"
#include "context/context.h"

struct plan_entry;
struct plan_wish;
struct target;

/* This process has a compiler: its own, or that of the rank that leads. OP_ERR_NOT_BUILT. */
int context_compiler(struct op_context *ctx, struct error *err);
/* The groups of ranks that share code, whose leaders have a store: by kind of GPU where those are used, else by
 * processor. NULL: one process. */
const struct kind *context_leaders(const struct op_context *ctx);
/* The jit and the store, opened at the first loop that needs them. */
int context_jit(struct op_context *ctx, struct jit **out, struct error *err);
/* A jit of its own for another target (jit/targets.h), whose code the ranks of `kind` share, after that one. */
int context_jit_of(struct op_context *ctx, const struct target *target, void *device, const struct kind *kind,
                   struct jit **out, struct error *err);
/* The threads and the plans, opened at the first use. */
int context_team(struct op_context *ctx, struct team **out, struct error *err);
int context_plans(struct op_context *ctx, struct plan_cache **out, struct error *err);
/* A plan for a loop, counted; at diagnostic levels a new one is described and checked (2), an old one named (4). */
int context_plan(struct op_context *ctx, const char *loop, const struct plan_wish *wish,
                 const struct plan_entry **out, bool *built, struct error *err);

/* pin.c: ranks on CPUs of their own (OP2_PIN). */
/* Ranks of a machine that are allowed on the same CPUs share these out: each gets some that lie together, as hwloc says, for the
 * calling thread and those that start later. Where the launcher gave each rank its own, or there are fewer CPUs than ranks,
 * nothing happens. OP_ERR_NOT_BUILT without hwloc. Local. */
int pin_rank(struct op_context *ctx, struct error *err);
/* tools.c: tools that OP2_TOOLS names. */
/* Load the tools, which are finished with the context. OP_ERR_ENV. */
int tools_open(struct op_context *ctx, struct error *err);

#endif
