/* Who looks at each call of a loop before it runs or waits, because derivatives are recorded or carried along: filled by
 * tape. */
#ifndef OP2JIT_RECORDER_H
#define OP2JIT_RECORDER_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;
struct loop;
struct loop_call;

struct recorder {
  /* The call is right as far as its descriptors go. *done: it was run, with more than it does itself. An error refuses it. */
  int (*loop)(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *done,
              struct error *err);
  /* That call failed. */
  void (*failed)(struct op_context *ctx);
};

#endif
