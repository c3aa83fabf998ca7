/* The variant of a loop that runs, and those that are tried: drives every backend through its table. The stages of a
 * loop's first call, in this order: tune_choose, tune_plan, tune_code. */
#ifndef OP2JIT_LOOP_CHOOSE_H
#define OP2JIT_LOOP_CHOOSE_H

#include <stdbool.h>

#include "base/error.h"

struct launch;
struct loop;
struct op_context;

/* With the record, and with it gone. OP_ERR_MEMORY. */
int tune_new(struct loop *loop, struct error *err);
void tune_free(struct loop *loop);

/* List the loop's variants and name the one that runs first: what an earlier run found, else the default.
 * Collective. */
int tune_choose(struct op_context *ctx, struct loop *loop, struct error *err);
/* Its plan, and then its code. One that was remembered and cannot be made is no failure: the default takes its
 * place. */
int tune_plan(struct op_context *ctx, struct loop *loop, struct error *err);
int tune_code(struct op_context *ctx, struct loop *loop, struct error *err);
/* The code of a loop that may come later (ready.behind) is there, or cannot be made, as making it will say. */
bool tune_is_made(struct op_context *ctx, struct loop *loop);

/* The next run begins by making the loop anew: nothing of it may wait to be run then. */
bool tune_turns(const struct loop *loop);
/* Before each run: the launch's variant, which may be one to try. Without `tries` it is the best one known, and nothing is made
 * anew. */
int tune_next(struct op_context *ctx, struct launch *launch, bool tries, struct error *err);
/* A loop that waits: a run as called would be of use now, since its tuner can pay for a trial, and has not measured half of
 * the variants yet, which is enough to choose by. */
bool tune_wants_turn(const struct loop *loop);
/* It is not the best variant known, but one to try. */
bool tune_tries(const struct launch *launch);
/* Something is compiled behind the program now, so that runs take longer. */
bool tune_is_disturbed(const struct op_context *ctx);
/* Its runs are to be timed one by one, until it is known which variant is best or there is no time to spend on that. */
bool tune_wants(const struct loop *loop);
/* After a run that says nothing of its own variant: about so long it took. */
void tune_passed(const struct launch *launch, double seconds);
/* After it: so long it took. */
void tune_ran(struct op_context *ctx, const struct launch *launch, double seconds);
/* The loop ends, or is made anew: remember what is known. May be called for a loop that was never begun. */
void tune_drop(struct op_context *ctx, struct loop *loop);

#endif
