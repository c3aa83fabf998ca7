/* Functions that backends that compile share: the permission to compile, and the code of a loop, counted. */
#ifndef OP2JIT_BACKEND_CODE_H
#define OP2JIT_BACKEND_CODE_H

#include "jit/jit.h"

struct op_context;
struct loop;

/* For backends that compile, which OP2_JIT=off forbids: OP_ERR_BACKEND. */
int backend_may_compile(const struct op_context *ctx, struct error *err);
/* jit_code, and where the code came from in what is told of the loop (NULL: of none, and its name is not put in
 * front of errors). */
int backend_code(struct op_context *ctx, struct loop *loop, struct jit *jit, const struct desc *desc,
                 const void *shape, struct jit_code *out, struct error *err);
/* Facts of the loop's text replace those that its words suggest. Not with ranks: one of them alone may know the
 * facts, and all must describe the loop alike. */
void loop_tell_facts(const struct op_context *ctx, struct loop *loop);

#endif
