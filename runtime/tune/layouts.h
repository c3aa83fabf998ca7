/* How dats lie where a backend runs: in rows, or with components apart. A dat has what OP2_VARIANT says, else what an earlier run
 * found, else what it was declared with. Where tuning is allowed, and once the loops that matter have found their variants, a
 * dat is tried the other way round in the running program (layout_trial.h): its loops are timed, it is turned, they are timed
 * again, and the better layout stays and is remembered. One dat at a time. Programs see rows in any case. */
#ifndef OP2JIT_LAYOUTS_H
#define OP2JIT_LAYOUTS_H

#include <stdbool.h>

#include "base/error.h"
#include "mesh/data.h"
#include "tune/tuning.h"

struct op_context;
struct layouts;
struct loop;

/* What a backend says. */
struct layout_table {
  const char *where; /* for people: "on the GPU" */
  enum space space;
  bool (*is_free)(const struct dat *dat); /* may trials find its layout? */
  bool needs_direct;                      /* it can gain only where a loop uses it without a map */
  bool (*is_made)(const struct loop *loop);
  bool (*is_found)(const struct loop *loop); /* its variant: no more trials */
  /* Bring the dat's newest values to where they are not in the way of another layout; then its loops are to be made anew. The
   * host's own replica changes its layout. */
  int (*turn)(struct op_context *ctx, struct dat *dat, bool soa, struct error *err);
  struct tuning_of (*variants)(const struct loop *loop);
  int (*current)(const struct loop *loop);
  void (*target)(const struct op_context *ctx, struct text *out);
  int (*threads)(const struct op_context *ctx);
  /* Seconds that a trial costs for each loop, and for each byte of the dat in each turn. */
  double loop_cost, byte_cost;
};

/* Reads OP2_VARIANT and OP2_TUNE; OP_ERR_ENV, OP_ERR_MEMORY. */
int layouts_open(struct layouts **out, const struct op_context *ctx, const struct layout_table *table,
                 struct error *err);
void layouts_free(struct layouts *all);
/* Is it a word of OP2_VARIANT about layouts: soa, aos, soa=DAT, aos=DAT? */
bool layout_word(const char *word);

/* Settle the dat's layout, at its first use, for devices at the same place on all ranks; OP_ERR_MEMORY. */
int layouts_settle(struct op_context *ctx, struct layouts *all, struct dat *dat, struct error *err);
/* The layout as settled; as declared before that. */
bool layouts_is_soa(const struct layouts *all, const struct dat *dat);
void layouts_forget_dat(struct layouts *all, const struct dat *dat);

/* Raised whenever a dat is turned: whoever keeps a layout or an address of a dat looks again. */
unsigned layouts_epoch(const struct layouts *all);

/* Before each run of a loop of the backend: begin a trial, turn its dat, or end it. */
int layouts_step(struct op_context *ctx, struct layouts *all, struct error *err);
/* A loop cannot be made, `err` says why: if the dat of a trial is turned, turn it back, and the loop may be tried again. Else
 * the same error. */
int layouts_refuse(struct op_context *ctx, struct layouts *all, struct error *err);
/* Is this run to be timed? What it took, then. */
bool layouts_times(const struct layouts *all, const struct loop *loop);
void layouts_record(struct layouts *all, const struct loop *loop, double seconds);
/* The variant that a loop of a trial runs as, in either layout; NULL: it has no part in one. */
const char *layouts_held(const struct layouts *all, const struct loop *loop);
/* Seconds that trials took, all runs on the way included. */
double layouts_spent(const struct layouts *all);
/* The loop is gone. */
void layouts_forget(struct layouts *all, const struct loop *loop);

/* ---- layouts_remember.c: by the dat's name and shape, the machine and the size of the mesh ---- */
struct layout_found {
  double rows, apart; /* seconds of one round of the loops that use it */
  bool soa;
};
/* False if nothing is remembered; ranks ask together, and one looks for all. */
bool layout_recall(struct op_context *ctx, const struct layout_table *table, const struct dat *dat,
                   bool *soa);
void layout_keep(struct op_context *ctx, const struct layout_table *table, const struct dat *dat,
                 const struct layout_found *found);

#endif
