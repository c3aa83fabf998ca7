/* All state of the library between op_init and op_exit. Only api.c knows the default one. */
#ifndef OP2JIT_CONTEXT_H
#define OP2JIT_CONTEXT_H

#include "backend/backend.h"
#include "base/error.h"
#include "base/log.h"
#include "loop/loop.h"
#include "loop/loop_past.h"
#include "loop/missing.h"
#include "mesh/handles.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "report/report.h"
#include "run/team.h"
#include "services/env.h"

/* Rows behind the end of tables and dats that vector code may read (never use). */
enum { MAP_SLACK = 16 };

struct jit;
struct store;
struct plan_cache;
struct plan_entry;
struct plan_wish;
struct mover;
struct io;
struct kind;
struct exchanges;
struct layouts;
struct tuning_report;

/* Calls of loops, for OP2_TIMING=trace. */
struct trace {
  bool wanted;
  struct report_event *events;
  int count, capacity;
  char **names; /* of loops: an event outlives its loop's record */
  int nnames;
};

struct op_context {
  struct env env;
  struct log log;
  int diags;
  struct comm *comm;       /* the ranks; of one process alone without MPI. Borrowed */
  struct comm *agreement;  /* the same ranks, for what they must have in common (agree.h) */
  struct kind *kind;       /* the ranks with the same code (kind.h); NULL: one process */
  struct kind *gpus;       /* the ranks with such a GPU, whose leaders have the stores then; NULL: none */
  struct handles *handles; /* outlives the context */
  struct mesh mesh;
  struct loop_table loops;
  struct loop_pasts pasts; /* records that are gone */
  const struct backend *backend;
  void *backend_state;
  const struct backend *shadow; /* OP2_SHADOW; NULL: none */
  int shadow_every;
  bool dump_told;                  /* that OP2_DUMP does not work; the jit has its own */
  const struct mover *mover;       /* NULL without a device */
  struct layouts *layouts[SPACES]; /* of dats, the backends'; NULL where none has them */
  /* Lets messages get on while a loop runs; NULL: none travel. */
  void (*poll)(void *ctx);
  struct exchanges *exchanges; /* NULL until ranks exchange halos */
  struct team *team;           /* NULL until a backend wants threads */
  size_t cache_bytes;          /* of its last-level caches; 0: nobody asked yet */
  struct store *store;         /* NULL until a backend compiles */
  struct jit *jit;
  struct missing missing; /* of OP2_JIT=load */
  struct plan_cache *plans;
  struct native_table natives;
  struct list kernel_files;
  struct trace trace;
  struct text loop_names, dat_names; /* see loop_names.h */
  struct io *io;                     /* files; NULL until one is wanted */
  struct tuning_report *tuned;       /* of OP2_TUNE=force; NULL: no loop has ended yet */
  op_counters_t counters;
};

struct context_start {
  int argc;
  char **argv;
  int diags;
  const struct comm_given *given; /* of op_init_comm; NULL: op_init */
  struct comm *comm;              /* NULL: opened as OP2_MPI says */
};

/* Everything that op_init does. start->comm is the context's afterwards and belongs to the caller, who closes it after the
 * context; also after a failure, which has to be told to the other ranks. Nothing else is left then. Collective: it succeeds
 * on all ranks or on none. */
int context_open(struct op_context **out, struct handles *handles, struct context_start *start,
                 struct error *err);
/* Reports that were asked for, then the end. */
void context_close(struct op_context *ctx);
/* Wait for all queued loops whose results or data the user is about to see. Nothing is queued today; but loops that were
 * left out because one of them is missing (missing.h) are reported. */
int ctx_flush(struct op_context *ctx, struct error *err);

/* Is there a compiler for this process: its own, or that of the rank that leads? OP_ERR_NOT_BUILT. */
int context_compiler(struct op_context *ctx, struct error *err);
/* Of the ranks that share code the leaders have a store: of the kinds of GPU where those are used, else of processor. NULL: one
 * process. */
const struct kind *context_leaders(const struct op_context *ctx);
/* The jit and the store, opened at the first loop that needs them. */
int context_jit(struct op_context *ctx, struct jit **out, struct error *err);
/* The threads and the plans, opened at the first use. */
int context_team(struct op_context *ctx, struct team **out, struct error *err);
int context_plans(struct op_context *ctx, struct plan_cache **out, struct error *err);
/* A plan for a loop, counted; at diagnostic levels a new one is described and checked (2), an old one named (4). */
int context_plan(struct op_context *ctx, const char *loop, const struct plan_wish *wish,
                 const struct plan_entry **out, bool *built, struct error *err);

#endif
