/* OP2_JIT=load: the loops that are not in the cache. If an error ends the program, the first of them alone would be a poor answer:
 * loops need not run until somebody looks, so from the first miss on none runs, each is only looked up, and the whole list is
 * the error of the first call that would show data: a loop with a result, a fetch, op_exit. Every line is a key that was really
 * asked for. Where errors are returned each loop reports its own at once. */
#ifndef OP2JIT_MISSING_H
#define OP2JIT_MISSING_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;
struct loop;

struct missing {
  bool gather;   /* an error ends the program: collect */
  bool reshaped; /* some loop runs in another shape than the one that suits its data: said once */
  int count;     /* loops so far; from 1 on no loop runs */
  struct text list;
};

/* The loop's look-up ended with `code`, its message in err. OP_OK: noted, or nothing is missing and nothing has to be said. Else the
 * code to return: another error, one that is not to be collected, or the list if the loop has a result. */
int missing_note(struct op_context *ctx, struct loop *loop, int code, struct error *err);
/* Somebody looks: OP_ERR_CACHE_MISS with the list if there is one. */
int missing_tell(const struct missing *missing, struct error *err);

#endif
