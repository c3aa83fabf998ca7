/* The ranks run the same loop. */
#ifndef OP2JIT_LOOP_AGREE_H
#define OP2JIT_LOOP_AGREE_H

#include "base/error.h"

struct loop;
struct op_context;

/* A loop's first call, or first after the mesh or a constant changed. `loop` may be NULL after a failure. Makes
 * what code is generated from the same on all ranks: they are given the same code. */
int agree_on_loop(struct op_context *ctx, struct loop *loop, const char *name, int code, struct error *err);

#endif
