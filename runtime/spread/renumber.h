/* New numbers for the elements of all sets that maps connect; the user's own numbers stay what they are. */
#ifndef OP2JIT_RENUMBER_H
#define OP2JIT_RENUMBER_H

#include "base/error.h"

struct op_context;
struct map;
struct dat;

/* method "rcm", "hilbert" or "rcb"; `coords` may be NULL for "rcm". Nothing changes at an error. */
int renumber_by(struct op_context *ctx, const char *method, struct map *base, struct dat *coords,
                struct error *err);

#endif
