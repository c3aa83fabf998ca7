/* The checking form: the loop runs element by element on a mesh of one element at a time, in guarded buffers, and
 * what the kernel does is compared with what its descriptors promise. Afterwards all is as before, and the loop
 * runs plainly. */
#ifndef OP2JIT_CHECK_CHECK_H
#define OP2JIT_CHECK_CHECK_H

#include "base/error.h"
#include "loop/loop.h"
#include "record/record.h"

struct op_context;
struct loop;
struct launch;

/* Look at a call, with all halos brought up to date anew. Dats are in the host's memory, the launch's slots hold
 * start values (one slot); dats and the user's memory are as before at the end. OP_ERR_VIOLATION names loop,
 * argument, element and component; where all is to be listed it goes to ctx->findings, and the call succeeds. */
int check_run(struct op_context *ctx, struct launch *launch, void *unused, struct error *err);

/* ---- the forms of loops that OP2_CHECK and OP2_SHADOW ask for ---- */
/* For ctx->forms. */
extern const struct loop_form check_forms[];

#endif
