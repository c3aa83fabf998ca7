/* Records of loops: making and freeing one. For loop.c, and for who looks at a loop that is not to run; everybody else
 * needs loop.h only. */
#ifndef OP2JIT_LOOP_MAKE_H
#define OP2JIT_LOOP_MAKE_H

#include "record/record.h"

/* A record of the call, checked and described, with its shadow if loops have one; in no table, so the caller frees
 * it. NULL: an error. */
struct loop *loop_new(struct op_context *ctx, const struct loop_call *call, struct error *err);
void loop_free(struct op_context *ctx, struct loop *loop);

/* The record that was added last, and which its call did not come to use: it is freed. */
void loop_take_back(struct op_context *ctx, struct loop *loop);

/* Loops that the environment names (OP2_CHECK=res_calc, OP2_VARIANT=res_calc:scalar, OP2_CAPTURE=res_calc:7:FILE) and
 * that never ran, and dats (OP2_VARIANT=soa=q) that were never declared: said at op_exit. */

struct op_context;

/* A warning for each name that no loop or dat had, with the nearest that one had. */
void loop_names_warn(const struct op_context *ctx);

#endif
