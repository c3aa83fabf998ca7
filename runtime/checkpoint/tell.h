/* The public calls' reports to checkpoints: each call that lets values leave the library or brings some in, or that writes a
 * file, is an event, as each loop is. While a run is brought to where an earlier one was (docs/checkpoints.md) loops do
 * not run, and values are those that left then. Where OP2_CHECKPOINT is not set these do what they stand for, and
 * nothing else. All collective, as the calls are. */
#ifndef OP2JIT_CHECKPOINT_TELL_H
#define OP2JIT_CHECKPOINT_TELL_H

#include <stdbool.h>

#include "base/error.h"
#include "op2jit_checkpoint.h"

struct op_context;
struct dat;
struct gbl;

/* OP2_CHECKPOINT: reads what an earlier run left. OP_ERR_ENV, OP_ERR_NOT_BUILT, OP_ERR_FILE. */
int checkpoint_open(struct op_context *ctx, struct error *err);
/* The program has done its work: the file goes. OP_ERR_FILE: an earlier run had come farther. */
int checkpoint_end(struct op_context *ctx, struct error *err);
void checkpoint_close(struct op_context *ctx);

/* data_fetch. `whole`: of all elements that ranks declared; else each rank has its own range. */
int checkpoint_fetch(struct op_context *ctx, const char *call, struct dat *dat, bool whole, void *out,
                     long low, long high, struct error *err);
/* The host's value of a global. */
int checkpoint_value(struct op_context *ctx, struct gbl *gbl, void *out, struct error *err);
/* lend of a view's array. */
int checkpoint_lend(struct op_context *ctx, struct dat *dat, op_access access, void **array,
                    struct error *err);
/* All of a dat is about to be written by the program; a global is. */
int checkpoint_put(struct op_context *ctx, const char *call, struct dat *dat, struct error *err);
int checkpoint_put_gbl(struct op_context *ctx, struct gbl *gbl, struct error *err);
/* Declared just now, with the program's values: it may be one that was freed. */
int checkpoint_declared(struct op_context *ctx, const struct dat *dat, struct error *err);
/* About to be freed; and after that: `array` is a view's, which has its last values. NULL: no view. */
int checkpoint_free(struct op_context *ctx, const char *call, struct dat *dat, struct error *err);
/* The library reads dats for itself, as coordinates. */
int checkpoint_reads(struct op_context *ctx, const char *call, struct dat *dat, struct error *err);
/* A call of the library's writes files from the dats (NULL: from all). *skip: they were written by the run before. */
int checkpoint_writes(struct op_context *ctx, const char *call, int ndats, struct dat *const dats[],
                      bool *skip, struct error *err);
/* OP_ERR_STATE for what checkpoints cannot follow. */
int checkpoint_refuses(const struct op_context *ctx, const char *call, const char *what, struct error *err);

/* The public calls. */
int checkpoint_here(struct op_context *ctx, struct error *err);
void checkpoint_keep(struct op_context *ctx);
void checkpoint_facts(const struct op_context *ctx, op_checkpoint_facts_t *out);

#endif
