/* Recorders of calls: tape, which records or carries along derivatives, and checkpoint. They look at each call before
 * it runs or waits. */
#ifndef OP2JIT_RECORDER_H
#define OP2JIT_RECORDER_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;
struct loop;
struct loop_call;

struct recorder {
  bool derives; /* tape's; else checkpoint's */
  void *state;  /* of who filled it */
  /* The call is right as far as its descriptors go. *done: it was run, with more than it does itself. An error refuses it. */
  int (*loop)(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *done,
              struct error *err);
  /* It has run, or waits; the program's variables have its results. NULL: nobody asks. */
  int (*ran)(struct op_context *ctx, const struct loop *loop, const struct loop_call *call,
             struct error *err);
  /* That call failed; `waited`: one of those that waited did, whoever let them run. NULL: nobody asks. */
  void (*failed)(struct op_context *ctx, bool waited);
  const char *no_matrix, *no_graph; /* ends of messages: why it takes no loops of these */
};

/* The keeper of calls for `op2jit replay`: filled by capture. */
struct catcher {
  /* A call is about to run. *caught: `after` is to be told when it has run. An error refuses it. */
  int (*before)(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *caught,
                struct error *err);
  /* `code`: how it went, with the error set; it is returned. */
  int (*after)(struct op_context *ctx, struct loop *loop, const struct loop_call *call, int code,
               struct error *err);
  /* In place of both: a call that a recorder has done, or that an earlier run has. It counts. */
  void (*passed)(struct op_context *ctx, const struct loop *loop);
};

#endif
