/* Processes that run the same code: one of them, the leader, asks the store and the compiler, and gives the
 * others what it gets. The runtime transports the bytes. All make the same calls in the same order. */
#ifndef OP2JIT_JIT_SHARE_H
#define OP2JIT_JIT_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct jit_share {
  void *ranks; /* for broadcast */
  bool leads;
  const char *compiler; /* identity of the leader's compiler plugin; NULL: it has none */
  /* The leader's bytes become everybody's. */
  int (*broadcast)(void *ranks, void *data, size_t bytes, struct error *err);
  /* *yes becomes whether all of them say so. */
  int (*all)(void *ranks, bool *yes, struct error *err);
};

/* The outcome of one compile. */
struct jit_outcome {
  bool failed;          /* the text does not compile; `messages` say why */
  struct text binary;   /* none after a failure */
  struct text messages; /* of the compiler */
};
void jit_outcome_free(struct jit_outcome *o);

/* The leader's outcome becomes everybody's. `code` is this process's own outcome, with the error set; the leader's
 * failure becomes everybody's, with its message. OP_ERR_MEMORY if there is no memory for the outcome. */
int jit_share_outcome(const struct jit_share *share, struct jit_outcome *o, int code, struct error *err);

/* After an outcome was taken. `code` of this process; *kept: whether it keeps what it got, and then whether all
 * do. If not, the failure of others becomes this process's error too, so that all ask together the next time. */
int jit_share_kept(const struct jit_share *share, int code, bool *kept, struct error *err);

#endif
