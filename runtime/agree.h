/* What ranks must have in common, found out by small collectives. Everything here is collective. */
#ifndef OP2JIT_AGREE_H
#define OP2JIT_AGREE_H

#include "comm.h"

/* All ranks succeed or all fail. `code` is this rank's outcome, `err` its error. If some rank failed, all ranks return the code
 * of the lowest one that did, with its message, which names the ranks that failed; that one tells it to the user. */
int agree_on_success(struct comm *c, int code, struct error *err);

#endif
