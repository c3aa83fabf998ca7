/* OP2_CAPTURE=LOOP:CALL:FILE, LOOP:CALL+:FILE or LOOP:CALL+N:FILE: call number CALL of loops of that name, counted from 1 since
 * op_init, goes into a file; with all that follow until LOOP is called again, or N calls of whatever loops. On several ranks
 * each writes FILE.RANK. */
#ifndef OP2JIT_CAPTURE_TAKE_H
#define OP2JIT_CAPTURE_TAKE_H

#include "base/error.h"

struct op_context;

/* Begin to count, if it is asked for. OP_ERR_ENV, OP_ERR_FILE; OP_ERR_MEMORY. */
int capture_open(struct op_context *ctx, struct error *err);
/* Writes a capture that still goes on. A warning if its call never came. */
void capture_close(struct op_context *ctx);
/* Release what it has; also after an error of op_init. */
void capture_release(struct op_context *ctx);

#endif
