/* The life of a context, from op_init to op_exit. */
#ifndef OP2JIT_LIFE_H
#define OP2JIT_LIFE_H

#include "base/error.h"
#include "context/context.h"

struct context_start {
  int argc;
  char **argv;
  int diags;
  bool compiled;                  /* see context.h */
  const struct comm_given *given; /* of op_init_comm; NULL: op_init */
  struct comm *comm;              /* NULL: opened as OP2_MPI says */
};

/* Everything that op_init does. start->comm is the context's afterwards and belongs to the caller, who closes it
 * after the context; also after a failure, which has to be told to the other ranks. Nothing else is left then.
 * Collective: it succeeds on all ranks or on none. */
int context_open(struct op_context **out, struct handles *handles, struct context_start *start,
                 struct error *err);
/* Reports that were asked for, then the end. */
void context_close(struct op_context *ctx);
/* A program of OP2 does not touch dat->data: its loops may wait, as OP2_LAZY says. */
void ctx_let_wait(struct op_context *ctx);
/* Run all queued loops: by api_enter alone, which says before which calls. */
int ctx_flush(struct op_context *ctx, struct error *err);

#endif
