/* Agreement of ranks on what they must have in common, by small collectives. Everything here is collective; one rank alone
 * always agrees with itself. It has a comm of its own, so that ranks that went different ways mix up no other
 * messages. */
#ifndef OP2JIT_AGREE_H
#define OP2JIT_AGREE_H

#include "ranks/comm.h"

struct op_context;

enum { AGREE_NUMBERS = 144 };

/* All ranks succeed or all fail. `code` is this rank's outcome, `err` its error. If some rank failed, all ranks
 * return the code of the lowest one that did, with its message, which names the ranks that failed; that one tells
 * it to the user. */
int agree_on_success(struct comm *c, int code, struct error *err);

/* All succeed or all fail, and each of a few values (at most AGREE_NUMBERS) becomes the largest of all ranks'. */
int agree_on_largest(struct comm *c, int code, double *values, int count, struct error *err);

/* The values that a rank brings along. */
struct agreement {
  int code; /* its outcome so far, with the error set */
  /* Lines "what TAB value", the first with the call ("loop res_calc"): the same on all ranks, or OP_ERR_MPI with
   * the first difference, and both ranks and values. */
  const struct text *facts;
  long long numbers[AGREE_NUMBERS]; /* each becomes the largest of all ranks' */
};
int agree(struct comm *c, struct agreement *a, struct error *err);
/* The same on the context's comm; who waits says for which call: the value of the first fact. */
int agree_named(struct op_context *ctx, struct agreement *a, struct error *err);

/* The facts of a public call: `format` makes the facts, of which the first is the call itself. Passes `code` on
 * when alone. */
int agree_on_call(struct op_context *ctx, int code, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* `type` and its `count` values, for the facts of a call. */
void agree_print_values(struct text *out, int type, int count, const void *values);

#endif
