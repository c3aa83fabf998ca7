/* Loops that leave the same bits whatever runs them (OP2_REPRODUCIBLE, and the word for one loop). */
#ifndef OP2JIT_REPRODUCIBLE_H
#define OP2JIT_REPRODUCIBLE_H

#include <stdbool.h>

struct error;
struct op_context;

/* The context's field. OP_ERR_ENV with OP2_FP=fast; a warning where loops are checked. */
int context_read_reproducible(struct op_context *ctx, struct error *err);
/* Not what is checked or compared: that runs element by element, and adds as it goes. */
bool context_reproduces(const struct op_context *ctx, const char *loop);
/* The word of the key for floating point: the compiler's freedom in such a loop, or in another one. */
const char *context_fp(const struct op_context *ctx, bool reproducible);

#endif
