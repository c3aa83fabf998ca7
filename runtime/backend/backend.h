/* The table that every backend fills. A new backend is one folder and one line in backend.c. */
#ifndef OP2JIT_BACKEND_H
#define OP2JIT_BACKEND_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "mesh/data.h"

struct op_context;
struct expected;
struct loop;
struct launch;
struct task_graph;
struct tasks_options;
struct work;

struct backend {
  const char *name, *help;
  bool on_device; /* it runs on devices; else on the host */
  /* May this backend run here? Acquires what it needs into ctx->backend_state. `err` says what is missing. NULL: it may, and
   * needs nothing. */
  int (*open)(struct op_context *ctx, struct error *err);
  void (*close)(struct op_context *ctx); /* NULL: there is nothing to release */
  /* The calls that follow come from this thread, until it is called again. NULL: they may come from any. */
  void (*enter)(struct op_context *ctx);
  /* Once per record, and again after the mesh or a folded constant changed: list the ways to run it, in
   * loop->nvariants, standard and threads; only the default unless `all`. Nothing is planned or compiled. */
  int (*variants)(struct op_context *ctx, struct loop *loop, bool all, struct error *err);
  const char *(*name_of)(const struct loop *loop, int variant);
  bool (*is_ready)(const struct loop *loop, int variant);
  /* Make one of them that is not ready: its plan, then its code. Ranks do both together. With `wait` false the
   * code may be compiled behind the program: it is not ready then, and both are called again. NULL if all are
   * ready. */
  int (*plan)(struct op_context *ctx, struct loop *loop, int variant, struct error *err);
  int (*code)(struct op_context *ctx, struct loop *loop, int variant, bool wait, struct error *err);
  /* Release what was made of it. */
  void (*unmake)(struct op_context *ctx, struct loop *loop, int variant);
  /* Seconds that making its code may take. */
  double (*cost)(const struct loop *loop, int variant);
  bool compiles_behind; /* it knows how, see `code` */
  bool times_itself;    /* a launch that is timed tells its seconds */
  bool
      may_wait; /* a launch that is ready depends on nothing that the program can change, and fails only for good */
  /* Would the loop be made otherwise if its few elements took long (code.h)? NULL: no. */
  bool (*may_be_heavy)(const struct op_context *ctx, const struct loop *loop);
  /* For a variant that is ready: how many threads, of two and more, are best for a run that takes one thread so many
   * seconds (0: by a guess), and whether one is better. 0: it gets those of its plan. NULL: always. */
  int (*crew)(struct op_context *ctx, const struct loop *loop, int variant, double seconds, bool *one);
  /* The expected time of a call of a loop that is described, by its bytes, its launches and facts of the device. The
   * program goes on while it runs, so that no clock of the host can tell. False: it is not known yet. NULL: a clock can
   * tell. */
  bool (*expect)(struct op_context *ctx, struct loop *loop, struct expected *out);
  /* The same by the best form of those that may be tried, and with the components of one of its dats apart (NULL: as they are);
   * without launches. False: it cannot be said. NULL: never. */
  bool (*promise)(struct op_context *ctx, struct loop *loop, struct dat *apart, double *seconds);
  /* The device has done all that it was given. There where `promise` is. */
  int (*wait)(struct op_context *ctx, struct error *err);
  /* Bytes a second that its memory moves, measured now; 0: nobody knows. Collective over the ranks of this backend. NULL: 0. */
  double (*bandwidth)(struct op_context *ctx);
  /* The machine that times of loops depend on; NULL: the host's processor. */
  void (*target)(const struct op_context *ctx, enum space space, struct text *out);
  /* For reports: the device's name. NULL: the host's processors. */
  const char *(*device)(const struct op_context *ctx);
  /* Before each run: set the slots of the parts for the launch's variant. */
  int (*select)(struct op_context *ctx, struct launch *launch, struct error *err);
  /* Run a part of it: dats are in the loop's space, the launch's frame is complete, its slots hold start values. A failure
   * leaves host data as it was. */
  int (*run)(struct op_context *ctx, struct launch *launch, int part, struct error *err);
  /* Run launches that are ready, each one part, one after the other; their results are in slots and globals at the end.
   * *ran is false where they have to run one by one: then nothing has happened. NULL: always. */
  int (*run_chain)(struct op_context *ctx, struct launch *const *launches, int n, bool *ran,
                   struct error *err);
  /* Chains of ranks: what the device is given between messages from now on (false: no longer) may be given together, once it is
   * waited for. NULL: needless. */
  int (*hold)(struct op_context *ctx, enum space space, bool on, struct error *err);
  /* A launch that is ready, as work on any ranges of its set's elements, one part: its function, frame and slots.
   * What several threads may run at once is the caller's to know. A variant that cannot be cut so gets code that
   * can, once. NULL: no launch can. */
  int (*work)(struct op_context *ctx, struct launch *launch, struct work *out, struct error *err);
  /* Has `work` all the code that it needs of a variant that is ready? If not, that is compiled behind the program. NULL:
   * always. */
  bool (*has_work)(struct op_context *ctx, struct loop *loop, int variant);
  /* Run a graph of tasks whose types have kernels. NULL: functions of the program do it. */
  int (*run_tasks)(struct op_context *ctx, struct task_graph *g, const struct tasks_options *options,
                   struct error *err);
  /* After all parts: the results are in the slots and globals. NULL: they are when `run` returns. */
  int (*finish)(struct op_context *ctx, struct launch *launch, struct error *err);
  /* Release everything of the loop. May be called for one that has no variants yet. */
  void (*drop)(struct op_context *ctx, struct loop *loop);
  /* For reports: the plan of a variant that is ready, a sentence without an end for each part. May be NULL. */
  void (*tell_plan)(const struct loop *loop, int variant, struct text *out);
  /* For `op2jit info`: what it has to say of this machine. May be NULL. */
  void (*describe)(struct op_context *ctx, struct text *out);
};

extern const struct backend backend_native, backend_seq, backend_openmp;

/* Where its loops run: of the devices the first one is used so far. */
static inline enum space backend_space(const struct backend *backend) {
  return backend->on_device ? space_of_device(0) : SPACE_HOST;
}

/* Does the list name several backends that cannot share one job? OP_ERR_BACKEND. Local. */
int backend_check_mixed(const char *list, struct error *err);
/* The one with that name, or, without any, the best that opens. */
int backend_choose(struct op_context *ctx, const char *wanted, struct error *err);
/* NULL-terminated, best first. */
const struct backend *const *backend_list(void);

#endif
