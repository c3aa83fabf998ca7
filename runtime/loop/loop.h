/* One op_par_loop: find its record or check and describe it, run it, hand the results back. */
#ifndef OP2JIT_LOOP_H
#define OP2JIT_LOOP_H

#include <stdarg.h>

#include "record/launch.h"
#include "record/record.h"

/* The call itself. */
int loop_run_call(struct op_context *ctx, const struct loop_call *call, struct error *err);
/* A launch of the call, with its place for the user's results; it has not begun. */
int loop_get_launch(struct op_context *ctx, const struct loop_call *call, struct launch **out,
                    struct error *err);
/* Forget all records that use the dat, map or set (NULL: all records). */
void loop_forget(struct op_context *ctx, const void *object);
/* Everything but the run, after which the launch may wait: what it starts from is copied, but for extrema with a
 * payload. Without `tries` in the best variant known: none is tried. */
int loop_make_ready(struct op_context *ctx, struct launch *launch, bool tries, struct error *err);
/* The same for one that runs as another launch of its loop does, which is ready and has not run yet. */
int loop_make_ready_like(struct op_context *ctx, struct launch *launch, const struct launch *like,
                         struct error *err);
/* After a run that is to be done again: results start anew. */
int loop_ready_again(struct op_context *ctx, struct launch *launch, struct error *err);
/* Run it from the data as they are, without messages. Versions of dats stay as they are. */
int loop_go(struct op_context *ctx, struct launch *launch, struct error *err);
/* The run of a launch that is ready, with messages, results, versions and times. Parts before `first` have run.
 * `exchanging`: launch->exchange is under way, and ends here, behind the elements that need nothing of it. */
int loop_run_ready(struct op_context *ctx, struct launch *launch, int first, bool exchanging,
                   struct error *err);
/* Its first parts, so many, where it needs no messages of its own; loop_run_ready runs all else later. */
int loop_run_ready_ahead(struct op_context *ctx, struct launch *launch, int parts, struct error *err);
/* The same for several in their order. A device may be given them at once, and is then waited for once. */
int loop_run_all_ready(struct op_context *ctx, struct launch *const *launches, int n, struct error *err);
/* Launches that ran at once share the time by the bytes that they would move. `kind`: in traces; NULL: they did not run in
 * tiles. `counted`: by hardware_read; NULL: nothing was. */
void loop_share_time(struct op_context *ctx, struct launch *const *launches, int n, const char *kind,
                     const double *counted, double start, double seconds);
/* Everything, in the loop's form. The call's memory is known to be there. */
int loop_run_now(struct op_context *ctx, struct launch *launch, struct error *err);
/* OP2_CHECK=list: a text that was refused with OP_ERR_VIOLATION, on all ranks, is listed and runs all the same, from when it
 * is described anew. False: `err` stays. */
bool loop_goes_on(struct op_context *ctx, struct loop *loop, int code, struct error *err);
/* One more run is about to begin: counted, and named at diagnostic level 3. */
void loop_count_run(struct op_context *ctx, struct loop *loop);

/* ---- parts, each in a file of its own ---- */

/* check.c: an error of that loop and argument (from 1; 0: of none). Returns the code. */
int loop_refuse(struct error *err, int code, const char *loop, int argument, const char *format, va_list args)
    __attribute__((format(printf, 5, 0)));
/* Everything that can be wrong with a call; fills loop->set and loop->args. */
int loop_check(struct op_context *ctx, struct loop *loop, struct error *err);
/* alias.c: dats that are passed several times. */
int loop_check_aliases(struct op_context *ctx, struct loop *loop, struct error *err);
/* describe.c: loop->desc from the arguments and the kernel; is the loop to leave the same bits, and cannot, as it runs by
 * what the program compiled, or on a device? */
bool loop_is_disordered(const struct loop *loop);
int loop_describe(struct op_context *ctx, struct loop *loop, struct error *err);
/* One more of those that the kernel uses, for which d->consts has room; false: no memory. */
bool loop_describe_constant(struct desc *d, const struct constant *constant);
/* run.c: the same where the mesh or constants have changed since; its code is dropped. Collective. */
int loop_describe_anew(struct op_context *ctx, struct loop *loop, struct error *err);
/* Bytes that one call must move at least: every dat once, read, written or both, every map once. */
void loop_count_bytes(struct loop *loop);
/* Fill the frame's pointers: dats (host replicas), maps, strides, numbers, constants. Launches are to fit it. */
void loop_fill_frame(struct op_context *ctx, struct loop *loop);

/* agree.c: a loop's first call, or first after the mesh or a constant changed. `loop` may be NULL after a failure. Makes what
 * code is generated from the same on all ranks: they are given the same code. */
int agree_on_loop(struct op_context *ctx, struct loop *loop, const char *name, int code, struct error *err);

/* halo.c: what it needs of others' elements (once per epoch); bringing that up to date where it is not, in two
 * halves, or at once and all of it after everything else in the halos was spoilt (OP2_CHECK); the versions that a
 * loop leaves; without `copies`, as not all others' elements have run that the loop runs on by itself, copies of element
 * matrices alone are the newest. */
void loop_find_needs(struct loop *loop);
int loop_exchange_start(struct op_context *ctx, struct launch *launch, enum space space, bool *started,
                        struct error *err);
/* launch->exchange was started at that time: counted as the loop's. */
void loop_exchange_started(struct op_context *ctx, struct launch *launch, double start);
int loop_exchange_finish(struct op_context *ctx, struct launch *launch, struct error *err);
int loop_exchange_anew(struct op_context *ctx, struct launch *launch, struct error *err);
void loop_mark_written(struct op_context *ctx, const struct loop *loop, bool copies);

/* ---- make.c: records of loops, for loop.c, and for who looks at a loop that is not to run ---- */

/* A record of the call, checked and described, with its shadow if loops have one; in no table, so the caller frees
 * it. NULL: an error. */
struct loop *loop_new(struct op_context *ctx, const struct loop_call *call, struct error *err);
void loop_free(struct op_context *ctx, struct loop *loop);

/* The record that was added last, and which its call did not come to use: it is freed. */
void loop_take_back(struct op_context *ctx, struct loop *loop);

/* Loops that the environment names (OP2_CHECK=res_calc, OP2_VARIANT=res_calc:scalar, OP2_CAPTURE=res_calc:7:FILE) and
 * that never ran, and dats (OP2_VARIANT=soa=q) that were never declared: said at op_exit. */

/* A warning for each name that no loop or dat had, with the nearest that one had. */
void loop_names_warn(const struct op_context *ctx);

/* ---- ways to run a call that are not the backend's plain one; the rooms above loop/ fill them, and op_init hands them over ---- */

/* ctx->forms ends with a row without a name. A new record takes the first that is wanted for it. */
struct loop_form {
  const char *name;
  bool orders; /* it tells where the result depends on the order of elements */
  bool (*wanted)(const struct op_context *ctx, const struct loop *loop);
  /* A call, from the data as they are before messages to the new versions of dats. */
  int (*run)(struct op_context *ctx, struct launch *launch, struct error *err);
  /* Release what runs have kept with the loop. NULL: nothing. */
  void (*drop)(struct loop *loop);
};

/* The parts of such runs: make code ready and fit the launch, run plainly, bring halos up to date. */
int loop_prepare(struct op_context *ctx, struct launch *launch, struct error *err);
int loop_run_plainly(struct op_context *ctx, struct launch *launch, struct error *err);
int loop_exchange_now(struct op_context *ctx, struct launch *launch, enum space space, struct error *err);
/* Let `look` see the call: on the host, with one slot of results. Dats and the user's memory stay as they were. */
int loop_look(struct op_context *ctx, struct launch *launch,
              int (*look)(struct op_context *ctx, struct launch *launch, void *user, struct error *err),
              void *user, struct error *err);

#endif
