/* The public calls' reports to a tape, before they do their work, and what it refuses. Without a tape nothing is done. */
#ifndef OP2JIT_TAPE_TELL_H
#define OP2JIT_TAPE_TELL_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;
struct dat;
struct gbl;
struct map;
struct set;

/* Values come in from outside; `in` NULL: zeros. `call` is for messages. */
int tape_tell_put(struct op_context *ctx, struct dat *dat, const void *in, const char *call,
                  struct error *err);
int tape_tell_put_gbl(struct op_context *ctx, struct gbl *gbl, const void *in, const char *call,
                      struct error *err);
/* A view's array is about to be written by the program, until it is put. */
int tape_tell_lent(struct op_context *ctx, struct dat *dat, struct error *err);
/* Something new is declared with values of the program. */
int tape_tell_declared(struct op_context *ctx, const char *type, const char *name, const char *call,
                       struct error *err);
/* A constant is about to get a new value. */
int tape_tell_constant(struct op_context *ctx, const char *name, const void *value, const char *call,
                       struct error *err);
/* Values leave. */
void tape_tell_left(struct op_context *ctx, const void *object);
/* A temporary or a subset that the program frees lives on for the tape: true. */
bool tape_holds_dat(struct op_context *ctx, struct dat *dat);
bool tape_holds_set(struct op_context *ctx, struct set *set);
/* One that is held comes again. NULL: none is like it. */
struct dat *tape_gives_back(struct op_context *ctx, const struct set *set, int dim, const char *type,
                            const char *name, struct error *err);
/* OP_ERR_STATE where the tape needs the dat, map or set; NULL: all of them, as they are numbered. */
int tape_refuses(const struct op_context *ctx, const void *object, const char *call, struct error *err);
/* The same where a bridge is about to write the dat, of which no event tells: also while anything is recorded, or tangents are
 * carried along. */
int tape_refuses_bridge(const struct op_context *ctx, const struct dat *dat, const char *call,
                        struct error *err);
/* A set is about to be freed: what is only kept for the next tape goes. */
void tape_let_go(struct op_context *ctx);
/* The dat or global goes, and its companions with it. */
void tape_forget(struct op_context *ctx, const void *object);

#endif
