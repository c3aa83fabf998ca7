/* The table that every backend fills. A new backend is one folder and one line in backend.c. */
#ifndef OP2JIT_BACKEND_H
#define OP2JIT_BACKEND_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "mesh/data.h"

struct op_context;
struct loop;
struct launch;

struct backend {
  const char *name, *help;
  enum space space; /* where it wants dats */
  /* May this backend run here? Acquires what it needs into ctx->backend_state. `err` says what is missing. */
  int (*open)(struct op_context *ctx, struct error *err);
  void (*close)(struct op_context *ctx);
  /* Once per record, and again after the mesh or a folded constant changed: plan, code. */
  int (*prepare)(struct op_context *ctx, struct loop *loop, struct error *err);
  /* Before each run: decide how, and set the slots of the parts to match. */
  int (*select)(struct op_context *ctx, struct launch *launch, struct error *err);
  /* Run a part of it: dats are in `space`, the launch's frame is complete, its slots hold start values. A failure leaves host
   * data as it was. */
  int (*run)(struct op_context *ctx, struct launch *launch, int part, struct error *err);
  /* After all parts: the results are in the slots and globals. NULL: they are when `run` returns. */
  int (*finish)(struct op_context *ctx, struct launch *launch, struct error *err);
  /* What the run took, results included. May be NULL. */
  void (*ran)(struct op_context *ctx, const struct launch *launch, double seconds);
  /* Release what prepare made. May be called for a loop that was never prepared. */
  void (*drop)(struct op_context *ctx, struct loop *loop);
  /* For `op2jit info`: what it has to say of this machine. May be NULL. */
  void (*describe)(struct op_context *ctx, struct text *out);
};

/* Choose by OP2_BACKEND, or the best that opens. */
int backend_choose(struct op_context *ctx, struct error *err);
/* For backends that compile, which OP2_JIT=off forbids: OP_ERR_BACKEND. */
int backend_may_compile(const struct op_context *ctx, struct error *err);
/* NULL-terminated, best first. */
const struct backend *const *backend_list(void);

#endif
