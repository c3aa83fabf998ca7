/* Ways to run a call that are not the backend's plain one. The rooms above loop/ fill them, and op_init hands them
 * over. */
#ifndef OP2JIT_LOOP_FORM_H
#define OP2JIT_LOOP_FORM_H

#include "loop/loop.h"

/* ctx->forms ends with a row without a name. A new record takes the first that is wanted for it. */
struct loop_form {
  const char *name;
  bool orders; /* it tells where the result depends on the order of elements */
  bool (*wanted)(const struct op_context *ctx, const struct loop *loop);
  /* A call, from the data as they are before messages to the new versions of dats. */
  int (*run)(struct op_context *ctx, struct launch *launch, struct error *err);
  /* Release what runs have kept with the loop. NULL: nothing. */
  void (*drop)(struct loop *loop);
};

/* The parts of such runs: make code ready and fit the launch, run plainly, bring halos up to date. */
int loop_prepare(struct op_context *ctx, struct launch *launch, struct error *err);
int loop_run_plainly(struct op_context *ctx, struct launch *launch, struct error *err);
int loop_exchange_now(struct op_context *ctx, struct launch *launch, enum space space, struct error *err);
/* Let `look` see the call: on the host, with one slot of results. Dats and the user's memory stay as they were. */
int loop_look(struct op_context *ctx, struct launch *launch,
              int (*look)(struct op_context *ctx, struct launch *launch, void *user, struct error *err),
              void *user, struct error *err);

#endif
