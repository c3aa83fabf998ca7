/* How dats lie on the GPU: in rows, or with components apart. The host's layout does not matter; the mover converts.
 * A dat has what OP2_VARIANT says, else what an earlier run found, else what it was declared with. Where tuning is allowed, and once
 * the loops that matter have found their variants, each dat of long rows is tried the other way round in the running program: its
 * loops are timed, the dat is turned, they are timed again, and the better layout stays and is remembered. One at a time. */
#ifndef OP2JIT_BACKEND_CUDA_LAYOUT_H
#define OP2JIT_BACKEND_CUDA_LAYOUT_H

#include <stdbool.h>

#include "base/error.h"

struct op_context;
struct cuda;
struct dat;
struct loop;
struct cuda_layouts;

/* Reads OP2_VARIANT and OP2_TUNE; OP_ERR_ENV, OP_ERR_MEMORY. */
int cuda_layouts_open(struct op_context *ctx, struct cuda_layouts **out, struct error *err);
void cuda_layouts_free(struct cuda_layouts *all);
/* Is it a word of OP2_VARIANT about layouts: soa, aos, soa=DAT, aos=DAT? */
bool cuda_layout_word(const char *word);

/* Settle the dat's layout, at its first use; OP_ERR_MEMORY. */
int cuda_layout_settle(struct op_context *ctx, const struct dat *dat, struct error *err);
/* The layout as settled; as declared before that. */
bool cuda_layout_is_soa(const struct cuda_layouts *all, const struct dat *dat);

/* Raised whenever a dat is turned: whoever keeps a layout or an address of a dat looks again. */
unsigned cuda_layouts_epoch(const struct cuda_layouts *all);

/* Before each run of a loop: begin a trial, turn its dat, or end it. */
int cuda_layout_step(struct op_context *ctx, struct error *err);
/* A loop cannot be made for the new layout, `err` says why: turn the dat back, or return the error if no dat was turned. */
int cuda_layout_refuse(struct op_context *ctx, struct error *err);
/* Is this run to be timed? What it took, then. */
bool cuda_layout_times(const struct cuda_layouts *all, const struct loop *loop);
void cuda_layout_record(struct cuda_layouts *all, const struct loop *loop, double seconds);
/* The loop is gone. */
void cuda_layout_forget(struct cuda_layouts *all, const struct loop *loop);

/* ---- remember.c: by the dat's name and shape, the GPU and the size of the mesh ---- */
struct cuda_layout_found {
  double rows, apart; /* seconds of one round of the loops that use it */
  bool soa;
};
/* False if nothing is remembered. */
bool cuda_layout_recall(struct op_context *ctx, const struct dat *dat, bool *soa);
void cuda_layout_keep(struct op_context *ctx, const struct dat *dat, const struct cuda_layout_found *found);

/* The loop's variant was found in the other layout; the next run starts with both. */
void cuda_layout_keep_variant(struct op_context *ctx, const struct loop *loop, double seconds);

#endif
