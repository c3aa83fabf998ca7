/* OP2_SHADOW=BACKEND[:N]: each (or each N-th) run of a loop is done a second time by another backend from the same
 * data, and the results are compared. The first backend's results stand. */
#ifndef OP2JIT_CHECK_SHADOW_H
#define OP2JIT_CHECK_SHADOW_H

#include "record/launch.h"

struct backend;

/* Copies of everything a loop changes, so that it can run several times from one state (copies.c). */
struct copies {
  void *dats[OP_MAX_ARGS]; /* host memory, by the first argument that changes the dat; else NULL */
  unsigned char *slots, *globals;
  size_t slot_bytes; /* 0: the launch had no slots yet */
};

/* The dats are in the host's memory; one slot counts. OP_ERR_MEMORY: *c is empty. */
int copies_take(struct copies *c, const struct launch *launch, struct error *err);
void copies_restore(const struct copies *c, const struct launch *launch);
void copies_free(struct copies *c);

/* Reads the value of OP2_SHADOW; *backend NULL: it is empty. OP_ERR_ENV, OP_ERR_BACKEND. */
int shadow_parse(const char *value, const struct backend **backend, int *every, struct error *err);

/* Between the two runs. */
struct shadow_run {
  struct copies before;
  struct launch *second;
  unsigned char *memory; /* its results, which start with the user's values; then these values */
  size_t bytes;          /* of either */
};

/* Before the first run: keep what the loop starts from. After an error there is nothing to drop. */
int shadow_begin(struct op_context *ctx, struct launch *launch, struct shadow_run *run, struct error *err);
/* After it: run loop->shadow from the same data, and compare. OP_ERR_VIOLATION: they differ; the data are the
 * first run's, unless this is to be undone. Any other error: data and results are as before the first run. */
int shadow_end(struct op_context *ctx, struct launch *launch, struct shadow_run *run, bool undo_it,
               struct error *err);
/* Comparisons, also for shadow_lazy.c. The largest of finite floating-point values; how much of it values may differ by; the first
 * value that differs by more, or `count`; "dat "q", element 3 of set "cells", component 0,", appended. */
double values_largest(enum type_code type, const unsigned char *values, size_t count, double so_far);
double values_tolerance(enum type_code type);
/* The same of sums of so many additions, each of which may round. */
double values_allowed(enum type_code type, double additions);
size_t values_differ(enum type_code type, const unsigned char *a, const unsigned char *b, size_t count,
                     double tolerance);
void values_place(const struct loop *loop, const struct dat *dat, size_t value, struct text *out);
/* Copies of others' elements are nobody's result: those of a dat from one memory in its layout to another. */
void values_take_halo(const struct dat *dat, const unsigned char *from, unsigned char *to);

/* In place of shadow_end after a first run that failed. */
void shadow_drop(struct shadow_run *run);

/* How much a loop adds, for sums in another order round by what was added, not by what came of it. */

/* By argument, of floating point that is added to: of the values that have most, the start value and what is added
 * as absolute values, and how many are added. The other arguments have zeros. */
struct sums {
  double size[OP_MAX_ARGS], count[OP_MAX_ARGS];
};

static inline bool is_sum(const struct loop_arg *arg) {
  return arg->present && arg->access == OP_INC && type_info(arg->type)->is_float;
}

/* OP2_LAZY=check: what waited runs a second time from the same data, one loop after the other, and the results are compared.
 * Those of the chains stand. Runs launches that are ready. OP_ERR_INTERNAL: their results differ. After an error data and
 * results are as before (shadow_lazy.c). */
int lazy_check(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);

#endif
