/* Lending a view's array to the program, and taking it back (mesh/view.h). Collective, as all that moves data. */
#ifndef OP2JIT_SPREAD_DATA_H
#define OP2JIT_SPREAD_DATA_H

#include "base/error.h"
#include "include/op2jit.h"

struct op_context;
struct dat;

/* The array holds the dat's values, unless `access` is OP_WRITE, and is the program's until it is taken back.
 * *array is not NULL. */
int lend(struct op_context *ctx, struct dat *dat, op_access access, void **array, struct error *err);
/* The values that the program wrote become the dat's. */
int lend_end(struct op_context *ctx, struct dat *dat, struct error *err);
/* The end of a view: the array holds the dat's values. One that is lent is left as it is. */
int lend_last(struct op_context *ctx, struct dat *dat, struct error *err);
/* The same for all views. */
int lend_all(struct op_context *ctx, struct error *err);
/* OP_ERR_STATE, with a message that begins with `who`, if the dat is lent. Local. */
int lend_check(const struct dat *dat, const char *who, struct error *err);
/* The same if it is placed: for those that lose it otherwise. Local. */
int lend_check_placed(const struct dat *dat, const char *who, struct error *err);
/* Both, of any dat, where a call is about all of them. Local. */
int lend_check_all(const struct op_context *ctx, const char *who, struct error *err);
/* OP_ERR_STATE if a dat is lent or placed, where the library is about to move all rows: what others know of their memory would
 * be wrong. The same on all ranks. */
int lend_check_guests(const struct op_context *ctx, struct error *err);

#endif
