/* Derivatives of what a program does. A tape is a list of events: the calls that change data. Each event says which of the
 * old values are kept, because a derivative uses them; the others are gone. Backwards, each event first gives its old
 * values back, by changing places with what is there, and then its adjoint runs, which is a loop as any other.
 *
 *   things.c     dats and globals that derivatives know, and their companions: dots and bars
 *   sites.c      loops, with their arguments, and what their derivatives are
 *   derive.c     where the texts of those come from: by hand, or made by the deriver
 *   derived.c    a loop's tangent and adjoint as loops
 *   extremes.c   whose value it is that a MIN or MAX left
 *   record.c     the events, as the program runs
 *   keep.c       old values: kept, given back, counted
 *   run.c        small loops of the library's own, and how any of them runs
 *   reverse.c    backwards
 *   fixed.c      rounds that converge: one of them is gone back through again and again
 *   replay.c     forwards, once more
 *   steps.c      what is dropped when the budget is used up, and made again from checkpoints
 *   tangent.c    loops that carry tangents along, and the two loops without a tape
 *   check.c      the dot-product test */
#ifndef OP2JIT_TAPE_H
#define OP2JIT_TAPE_H

#include "op2jit_adjoint.h"

#include "base/list.h"
#include "jit/derivatives.h"
#include "jit/plugin.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "record/record.h"
#include "record/recorder.h"

struct tape;

/* Companions of a thing. */
enum beside { BESIDE_BAR, BESIDE_DOT, BESIDE_ROOM, BESIDE_WINNER, BESIDES };

/* A dat, a global or a constant that derivatives know. */
struct thing {
  struct dat *dat; /* or */
  struct gbl *gbl; /* or */
  const struct constant *constant;
  struct thing *bar, *dot; /* NULL: nobody asked for it yet */
  struct thing *room;      /* like it, for whoever needs it for a moment */
  struct thing *winner;    /* the same, of long integers: see DERIVE_WINNER */
  bool real;               /* it has numbers that can be differentiated */
  bool companion, is_dot;  /* it is one of those */
  size_t bytes;            /* that an old value takes: the most of all ranks, which decide alike */
  struct dat *twin;        /* where copies of it are made, without memory of its own; NULL: none was */
  /* In the tape that is alive: the last event that changed it, that read it, and whose derivative uses what it found; -1:
   * none. Its value is wanted if the third comes behind the first. */
  int changed, read, wanted;
  bool used;          /* an event has to do with it */
  bool input, varied; /* what it holds depends on an input */
  bool zero;          /* it is known to hold zeros */
  int wanted_before;  /* the last round of a fixed point */
  /* While steps are run again: what it held before the tape's event `home`, or at the end. */
  bool remade; /* nobody needs it: it is overwritten behind that, or */
  bool zeroed; /* it was full of zeros there */
  bool moved;  /* that value is no longer there, but in: */
  struct dat *last;
  unsigned char *last_value;
};

/* A kernel of which the program says something. */
struct said_kernel {
  char *text, *name;
  bool frozen;
  char *adjoint_text, *adjoint_name; /* NULL: nothing is said of it */
};

/* A loop: the same for all its calls, as long as the program says the same of its kernel. */
struct site {
  size_t order; /* of its record, which no other has */
  char *text, *name, *file;
  char *told[DERIVE_CANDIDATES + 1]; /* its derivatives in messages and reports: "flux (adjoint)" */
  int line;
  struct set *set;
  int nargs, nconstants;
  op_arg *args;          /* handles of dats and sets are put in where it runs */
  struct thing **things; /* of each argument; NULL: none, or absent. Behind them of each constant */
  struct loop_arg *are;  /* what they are */
  const struct constant **constants; /* that are in its text */
  size_t value_bytes;                /* of globals that are read by value */
  unsigned char
      *results; /* where it runs again: in place of the program's variables, each of so many bytes at most */
  size_t result_bytes;
  const struct said_kernel *said;
  bool *active; /* in some call, of each argument, and behind them of each constant */
  bool *wants;  /* its derivative uses the value from before the loop */
  bool *zeros;  /* its kernel leaves zeros in the row */
  bool known;   /* `wants` is found out */
  uint64_t
      made_for; /* stands for the values of integer constants when one was last made: they stand in the texts */
  struct derived made[DERIVE_CANDIDATES + 1];
  bool current[DERIVE_CANDIDATES +
               1]; /* it is made, and neither is more active than then, nor has an integer another value */
  bool refused;    /* it has none */
  bool tested;     /* OP2_ADJOINT=check */
};

enum event_kind {
  EVENT_LOOP,
  EVENT_PUT,      /* values came from outside: put, released, a temporary's first ones */
  EVENT_CONSTANT, /* a new value; behind the end of the tape too */
  EVENT_OUTSIDE   /* behind the end of the tape: of no interest but for what it changes */
};

/* A change of a thing by an event. */
struct change {
  struct thing *thing;
  struct dat
      *kept; /* what it held; NULL: it is not kept. While the event is undone: what it will hold again */
  unsigned char *value;      /* the same of a global */
  int changed, read, wanted; /* the thing's, before the event */
  bool whole;                /* nothing of what it held is left, nor was it read by the event */
  bool zero;                 /* it held zeros, of which nothing is kept for a checkpoint */
};

struct event {
  enum event_kind kind;
  bool active;       /* LOOP: something varied goes in, so that its adjoint has to run */
  bool skipped;      /* it belongs to a round that another one stands for: nothing is undone to bars */
  struct site *site; /* LOOP */
  unsigned char *
      values; /* LOOP: of globals that are read by value; PUT: all, NULL: zeros; CONSTANT: the old and the new */
  size_t value_bytes;
  char *constant;
  struct change *changes;
  int nchanges;
};

/* Old values of dats and globals, and what they take. */
struct store_of_versions {
  size_t bytes, most, budget; /* 0: no limit */
  size_t spare;               /* with a budget: what was kept, and is memory for what will be */
  long long versions, copied;
};

/* Rounds that converge: the last one, from event `round` on, stands for all. */
struct fixed_point {
  int begin, round, end;
  double tolerance;
  int most;
};

struct tape {
  op_tape handle;
  bool recording, spent, broken;
  bool carries;       /* it records tangents too: dots are data */
  bool left, passive; /* a varied value left the library; what comes in is constant */
  struct event *events;
  int nevents;
  int at, end; /* data are as before event `at`; the first event behind op_tape_end */
  int *steps;  /* events at which steps begin */
  int nsteps;
  int taped;        /* old values that derivatives use are kept of events from here on */
  int *checkpoints; /* events from which the program can be run again, ascending; the first is 0 */
  int ncheckpoints;
  int home; /* by steps backwards: at the end data come back as before this event, and the rest runs again */
  bool thinned; /* not all is kept */
  struct fixed_point *fixed;
  int nfixed;
  bool in_fixed; /* the last of them has no end yet */
  struct list sites;
  struct list held_dats, held_sets; /* freed by the program; with handles of the tape's own */
  struct store_of_versions store;
  long long again, reversed, rounds;
};

/* All tapes of a context. */
struct tapes {
  struct tape *tape;             /* that is alive; NULL: none */
  struct list things, said, all; /* `all`: tapes, also spent ones */
  bool busy;                     /* the loops that run are the library's own */
  bool tangents;
  bool
      carrying; /* the loops that run carry tangents, in place of the program's: a tape records them as any other */
  bool seeking;             /* ... look for winners, which is no derivative */
  struct list sites, alone; /* of tangents, and of loops without a tape */
  struct plugin plugin;     /* found at the first derivative */
  struct list spare;        /* dats of old values of tapes that are gone, for the next one without a budget */
  struct list candidates;   /* dats: what elements offer to a MIN or MAX */
  struct list nowhere;      /* globals: bars of what has none go there */
};

/* The one of the context, made at the first call. NULL: OP_ERR_MEMORY. */
struct tapes *tapes_get(struct op_context *ctx, struct error *err);
void tapes_free(struct op_context *ctx);

/* ---- things.c ---- */
bool type_is_real(enum type_code type);
struct thing *thing_of_dat(struct op_context *ctx, struct dat *dat, struct error *err);
struct thing *thing_of_gbl(struct op_context *ctx, struct gbl *gbl, struct error *err);
struct thing *thing_of_constant(struct op_context *ctx, const struct constant *constant, struct error *err);
/* NULL: not known. */
struct thing *thing_find(const struct tapes *tapes, const void *object);
/* The companion, made of zeros if need be. OP_ERR_TYPE of the bar and dot of a thing without real numbers. */
struct thing *thing_beside(struct op_context *ctx, struct thing *thing, enum beside which, struct error *err);
/* A dat of the library's own, full of zeros, on the same set, of the same dim and type; all ranks have it, or none. NULL with
 * the error set. */
struct dat *dat_like(struct op_context *ctx, const struct dat *like, const char *name, struct error *err);
const char *thing_name(const struct thing *thing);
/* Behind what waits, the global's newest value is on the host. */
int tape_need_gbl(struct op_context *ctx, struct gbl *gbl, struct error *err);
/* *zero: all values of a companion are zero, as nobody wrote any. NULL is zero. */
int thing_is_zero(struct op_context *ctx, struct thing *thing, bool *zero, struct error *err);
/* All are zero from now on; NULL is. */
int thing_clear(struct op_context *ctx, struct thing *thing, struct error *err);
/* The value that it is to have at the end, which is not the thing's from now on. */
static inline struct change thing_take_last(struct thing *thing) {
  const struct change last = {.thing = thing, .kept = thing->last, .value = thing->last_value};
  thing->last = NULL;
  thing->last_value = NULL;
  thing->moved = false;
  return last;
}
/* The dat or the global is about to go. */
void things_forget(struct op_context *ctx, const void *object);

/* ---- sites.c ---- */
void said_free(struct said_kernel *said);
/* The loop's, made if need be: another one from where the program says something else of the kernel. */
struct site *site_of(struct op_context *ctx, struct list *sites, const struct loop *loop,
                     const struct loop_call *call, struct error *err);
void tape_site_free(struct site *site);
/* Values of globals that are read by value, one behind the other: from the call. */
void site_take_values(const struct op_context *ctx, const struct site *site, const struct loop_call *call,
                      unsigned char *values);
/* The call again. `args`: room for all of them, which have to stay as long as the call. `values` NULL: the program's
 * variables, of the call that is under way. */
struct loop_call site_call(const struct site *site, unsigned char *values, op_arg *args);
/* The record of the loop, found again. */
int site_loop(struct op_context *ctx, const struct site *site, unsigned char *values, struct loop **out,
              struct error *err);
/* Derivatives are old where the site's integers have other values than when they were made, or where it is not. */
void site_look_at_integers(struct site *site);
static inline bool constant_is_integer(const struct constant *constant) {
  return !type_is_real(constant->type) && !type_is_struct(constant->type);
}
void site_is_active(struct site *site, int i);
/* Structs may be defined in the kernel's own text: texts of its derivatives stand behind it. */
int site_add_types(const struct site *site, char **text, struct error *err);
/* A text in which a type of the program is defined, if not all kernels share it; "" for another type. */
const char *site_text_with(const struct tapes *tapes, enum type_code type);
/* The argument is a whole dat, which the loop leaves full of zeros. */
bool site_leaves_zeros(const struct site *site, int arg);
/* The whole of a set is overwritten by the argument, without its being read. */
bool site_overwrites(const struct site *site, int arg);
/* True if the argument gets, or leaves, a value that is differentiated. */
bool arg_gets(const struct loop_arg *arg);
bool arg_leaves(const struct loop_arg *arg);
/* True if a number of the program goes in; if a result goes into a variable of the program, which may be gone when the loop
 * runs again. */
bool arg_is_value(const struct loop_arg *arg);
bool arg_is_result(const struct loop_arg *arg);

/* True for a MIN or MAX whose winners are sought. */
bool site_seeks(const struct site *site, int arg);
bool site_seeks_any(const struct site *site);

/* ---- derive.c ---- */
int said_kernel(struct op_context *ctx, const char *source, const char *name, const char *adjoint_source,
                const char *adjoint_name, struct error *err);
/* Which old values its adjoint uses, if all that can be active is. A kernel without a derivative wants none. */
int derive_wants(struct op_context *ctx, struct site *site, struct loop *loop, struct error *err);
/* The derivative for what is active, made if need be; and candidates, where it has winners. OP_ERR_KERNEL. */
int derive_site(struct op_context *ctx, struct site *site, struct loop *loop, enum derive_mode mode,
                struct error *err);

/* ---- extremes.c ---- */
/* The candidates of an argument: a dat on the set of the loop, or of which that is a subset. */
struct dat *extremes_candidates(struct op_context *ctx, const struct site *site, int arg, struct error *err);
/* With data as they are before the loop: winners are known behind it. */
int extremes_find(struct op_context *ctx, const struct site *site, unsigned char *values, struct error *err);
/* Bars or dots of what somebody won are zero behind it. */
int extremes_clear(struct op_context *ctx, const struct site *site, enum beside which, struct error *err);

/* ---- run.c: loops of the library's own; recorded only while they carry tangents along that a tape records ---- */
int tape_run(struct op_context *ctx, const struct loop_call *call, struct error *err);
/* The primal once more. */
int tape_run_primal(struct op_context *ctx, const struct site *site, unsigned char *values,
                    struct error *err);
/* Companions of arguments are zero where the loop writes something else. */
int tape_run_zero(struct op_context *ctx, const struct site *site, int arg, const struct thing *companion,
                  struct error *err);
/* `to` is a dat like `from`. */
int tape_run_copy(struct op_context *ctx, struct dat *from, struct dat *to, struct error *err);
/* sums[0] += the sum of all squares of differences, sums[1] += that of all squares of a, where they are alike. */
int tape_run_differences(struct op_context *ctx, struct dat *a, struct dat *b, double sums[2],
                         struct error *err);
/* A kernel of the library's own, with a name in messages and reports. The text goes. */
int tape_run_text(struct op_context *ctx, struct text *text, const char *name, const char *told,
                  const struct set *set, int nargs, const op_arg *args, struct error *err);
op_arg tape_direct(const struct dat *dat, op_access access);
op_arg tape_by_handle(const struct gbl *gbl, op_access access);
/* The argument, but of what its thing has beside it. */
op_arg tape_beside(const op_arg *arg, const struct thing *beside, op_access access);

/* ---- derived.c ---- */
/* Runs a derived text of the site's loop. */
int tape_run_derived(struct op_context *ctx, const struct site *site, enum derive_mode mode,
                     unsigned char *values, struct error *err);
/* The adjoint; the tangent, which is the primal too. */
int tape_run_adjoint(struct op_context *ctx, const struct site *site, unsigned char *values,
                     struct error *err);
int tape_run_tangent(struct op_context *ctx, const struct site *site, unsigned char *values,
                     struct error *err);

/* ---- keep.c ---- */
/* True if the value that event `e` found is kept, for a derivative or for a checkpoint. */
bool keep_is_needed(const struct tape *tape, int e, const struct change *change);
/* True if the value would be kept for a checkpoint alone and is zeros, which are made anew. */
static inline bool keep_knows(const struct change *change) {
  return change->zero && change->wanted <= change->changed;
}
/* Event `e` is about to change the thing: keeps its value if it is needed. */
int keep_change(struct op_context *ctx, struct tape *tape, int e, struct change *change, struct error *err);
/* Keeps the thing's value. */
int keep_now(struct op_context *ctx, struct tape *tape, struct change *change, struct error *err);
/* It changes places with what is kept. */
int keep_exchange(struct op_context *ctx, struct change *change, struct error *err);
/* A global gets the values of another one like it. */
int keep_copy_gbl(struct op_context *ctx, struct thing *from, struct thing *to, struct error *err);
void keep_drop(struct op_context *ctx, struct tape *tape, struct change *change);
/* Frees the values that these events found and nobody needs now. */
void keep_prune(struct op_context *ctx, struct tape *tape, int begin, int end);
/* So many bytes more fit into the budget, or room is made for them. */
int keep_room(struct op_context *ctx, struct tape *tape, size_t bytes, struct error *err);
void keep_free_spare(struct op_context *ctx);
/* They are kept from now on. */
void keep_count(struct op_context *ctx, struct tape *tape, size_t bytes);
/* A new event; NULL with the error set. */
struct event *tape_event(struct tape *tape, enum event_kind kind, struct error *err);
/* The event is about to change the thing, which has not been said of it before. */
int tape_change(struct op_context *ctx, struct tape *tape, struct event *event, struct thing *thing,
                bool whole, struct error *err);

/* ---- life.c ---- */
struct tape *tape_begin(struct op_context *ctx, int ninputs, struct dat *const inputs[], size_t bytes,
                        struct error *err);
/* Frees all of it but its facts. */
void tape_spend(struct op_context *ctx, struct tape *tape);
void tape_free(struct op_context *ctx, struct tape *tape);

/* ---- steps.c ---- */
/* OP_ERR_STATE where a fixed point has not begun that should have, or the other way round. */
int fixed_in_order(struct op_context *ctx, const struct tape *tape, bool inside, const char *call,
                   struct error *err);
int tape_step(struct op_context *ctx, struct tape *tape, struct error *err);
/* OP_ERR_SIZE: the budget is too small. */
int tape_end(struct op_context *ctx, struct tape *tape, struct error *err);
/* Segment k: from the k-th place where a step begins, counting the tape's own beginning, to the next one. */
int steps_begin(const struct tape *tape, int k);
/* Where data come back to, behind a reversal by steps; `last`: it is the last one. */
void steps_find_home(struct op_context *ctx, struct tape *tape, bool last);
/* The event is the beginning of a step that runs again. */
int steps_add_checkpoint(struct tape *tape, int at, struct error *err);
/* So many checkpoints fit beside what has to be there, so that segment k is made again from the beginning of segment `first`:
 * that one, where data are, too. */
int steps_free_slots(const struct op_context *ctx, const struct tape *tape, int first, int k);
/* Checkpoints behind where data are now are of no use. */
void steps_passed(struct op_context *ctx, struct tape *tape);

/* ---- replay.c ---- */
/* How a replayed event runs; values that it puts are there. */
typedef int replay_loop(struct op_context *ctx, struct event *event, struct error *err);
unsigned char *event_values(const struct event *event);
/* Data are as before the event, or, if not `back`, as behind it; nothing is lost. */
int event_exchange(struct op_context *ctx, struct event *event, bool back, struct error *err);
/* The same, and what comes behind the event is lost, but for what data have at the end. */
int event_undo(struct op_context *ctx, struct tape *tape, struct event *event, struct error *err);
int tape_undo(struct op_context *ctx, struct tape *tape, int to, struct error *err);
int event_primal(struct op_context *ctx, struct event *event, struct error *err);
int tape_replay(struct op_context *ctx, struct tape *tape, int to, replay_loop *run, struct error *err);
/* Data have again what the program had. */
int tape_bring_back(struct op_context *ctx, struct tape *tape, struct error *err);

/* ---- check_tape.c, check.c ---- */
int tape_check(struct op_context *ctx, struct tape *tape, unsigned seed, double *difference,
               struct error *err);
/* OP2_ADJOINT=check: one loop, with data as they are before it, from bars and dots of noise. OP_ERR_VIOLATION if its tangent
 * and its adjoint differ. Data, bars and dots have the values of before. */
int site_test(struct op_context *ctx, const struct event *event, struct error *err);

/* ---- reverse.c ---- */
/* Before anything runs: OP_ERR_KERNEL names all loops without a derivative. */
int tape_derive(struct op_context *ctx, struct tape *tape, struct error *err);
int tape_reverse(struct op_context *ctx, struct tape *tape, bool last, struct error *err);

/* Event `e` is undone to the bars. */
int reverse_event(struct op_context *ctx, struct tape *tape, const struct event *event, struct error *err);

/* ---- fixed.c ---- */
int fixed_begin(struct op_context *ctx, struct tape *tape, double tolerance, int most, struct error *err);
int fixed_round(struct op_context *ctx, struct tape *tape, struct error *err);
int fixed_end(struct op_context *ctx, struct tape *tape, struct error *err);
/* Data are as behind event at - 1. If fixed rounds end there, their bars converge, and data are as before the last round;
 * `keep` as of event_exchange. */
int fixed_reverse(struct op_context *ctx, struct tape *tape, bool keep, struct error *err);

/* ---- tangent.c ---- */
/* A loop of constants: what it writes depends on no input, so bars or dots of that are zero. */
int tape_cut(struct op_context *ctx, const struct site *site, enum beside which, struct error *err);
int tangent_loop(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *done,
                 struct error *err);
int tape_alone(struct op_context *ctx, const struct loop_call *call, enum derive_mode mode,
               struct error *err);
/* A recorded loop, with the values of then. */
int tangent_of_event(struct op_context *ctx, struct event *event, bool *ran, struct error *err);

/* ---- record.c ---- */
extern const struct recorder tape_recorder;

/* ---- tell.c ---- */
/* Zeros come from outside. */
int tape_put_zeros(struct op_context *ctx, struct thing *thing, struct error *err);

/* ---- schedule.c: where checkpoints go, if there is room for a few of them: numbers of steps alone ---- */
/* `steps` are to be gone through backwards, from a checkpoint in front of them, and there is room for `slots` more: how many
 * steps behind the first one the next one goes. So that steps run again as seldom as can be (Griewank and Walther's revolve).
 * 0: there is none. */
int schedule_next(int steps, int slots);
/* So many steps run on the way back then. */
long long schedule_runs(int steps, int slots);

#endif
