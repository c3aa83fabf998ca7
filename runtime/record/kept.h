/* Values that an argument of a loop has of its own: those that a global had when the argument was made, of a program in
 * Fortran, where the variable may be an expression, a section or a procedure's own, and gone when the loop runs. Few
 * values are in the argument itself. More are copied; the newest copies are kept, and an argument whose copy is gone
 * knows it. */
#ifndef OP2JIT_KEPT_H
#define OP2JIT_KEPT_H

#include <stdbool.h>

#include "op2jit.h"

struct op_context;

/* One for the context; made with the first copy. */

/* Copy the values that `data` of a global points to. Without memory, or before op_init, there is no copy: the loop
 * fails. */
void kept_take(struct op_context *ctx, op_arg *arg);
static inline bool kept_has(const op_arg *arg) {
  return arg->reserved_[0] != 0;
}
/* NULL: they are gone. */
void *kept_values(const struct op_context *ctx, const op_arg *arg);
/* Copies for arguments that stay as long as one block of memory, which is the caller's: `data` points into it. 0, or the
 * number of the argument whose values are gone; `memory` is NULL if there is none. */
int kept_move(const struct op_context *ctx, op_arg *args, int nargs, unsigned char **memory);
/* The loop's message, with its name and the argument's number. */
#define KEPT_GONE                                                                                            \
  "loop %s, argument %d: the values that op_arg_gbl took are gone, since many arguments were made behind "   \
  "it or "                                                                                                   \
  "op_init was called behind it; make it in the call of its loop"
void kept_free(struct op_context *ctx);

#endif
