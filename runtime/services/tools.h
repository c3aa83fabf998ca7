/* Tools that OP2_TOOLS names. */
#ifndef OP2JIT_TOOLS_OPEN_H
#define OP2JIT_TOOLS_OPEN_H

#include "base/error.h"

struct op_context;

/* Load the tools, which are finished with the context. OP_ERR_ENV. */
int tools_open(struct op_context *ctx, struct error *err);

#endif
