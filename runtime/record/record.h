/* The record of one loop, which all its calls share: arguments, description, parts. A call is a launch (launch.h). */
#ifndef OP2JIT_RECORD_H
#define OP2JIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "exec/executor.h"
#include "exec/hardware.h"
#include "jit/facts.h"
#include "jit/kernel/kernel.h"
#include "mesh/globals.h"
#include "mesh/mesh.h"
#include "mesh/subset.h"
#include "spread/exchange.h"

/* The idx of an argument that names a global by its handle, which is where dats' are: one loop for each. */
enum { ARG_BY_HANDLE = 0 };
/* The form of an op_arg that is a matrix: its handle is where dats' are, the columns' map is the data, the columns' dim the
 * idx. Loops get a dat in its place (loop/matrix.h). */
enum { ARG_MATRIX = DESC_INFO + 1 };

/* `pointed` of an op_arg whose array its loop cannot use: Fortran knows how long arrays are, and where sections lie. */
enum { POINTED_SECTION = -1, POINTED_SHORT = -2 };
/* Column 0 of a map where they count from 1: none. */
enum { NO_COLUMN = -1000000 };

struct loop_arg {
  enum desc_form form;
  struct dat *dat;
  struct gbl *gbl; /* NULL: a variable of the program, or no global */
  struct map *map; /* NULL: direct, or no dat */
  int idx, dim, access;
  enum type_code type;
  bool present;
  bool entry;    /* through a ragged map to data on its entries, not on its targets */
  bool started;  /* OP_WORK that starts from the user's values: of a compiled kernel */
  bool exact;    /* a result whose bits do not depend on the order of elements: base/exact.h */
  int ref, info; /* argument numbers from 0, -1: none; see struct desc_arg */
  size_t bytes;  /* globals and payloads: dim values */
  size_t offset; /* of a reduction or payload in its slot, else of a global in `globals` */
  size_t start;  /* in `globals`: the user's own value of an extremum with a payload */
};

/* It goes to the loop's own element: also where the loop is over a subset of the dat's set. */
static inline bool arg_is_direct(const struct loop_arg *arg) {
  return !arg->map || map_is_own(arg->map);
}

/* It goes to what only the loop's own element has: itself, or its entries. */
static inline bool arg_is_own(const struct loop_arg *arg) {
  return arg->entry || arg_is_direct(arg);
}

/* The places that element e reaches by the argument: one for each target; one without a map or by one column. */
static inline long arg_begin(const struct loop_arg *arg, long e) {
  return !arg->map ? e : map_begin(arg->map, e) + (arg->idx < 0 ? 0 : arg->idx);
}
static inline long arg_end(const struct loop_arg *arg, long e) {
  return arg->map && arg->idx < 0 ? map_end(arg->map, e) : arg_begin(arg, e) + 1;
}
/* The loop is over a subset: its elements' entries do not follow one another. */
static inline bool arg_is_scattered(const struct loop_arg *arg) {
  return arg->entry && arg->map->numbers;
}
/* The targets of places; NULL: the places themselves. */
static inline const int *arg_table(const struct loop_arg *arg) {
  return !arg->map ? NULL : arg->entry ? arg->map->numbers : arg->map->table;
}
/* The element, in the library's numbers, at a place. */
static inline long arg_target(const struct loop_arg *arg, long place) {
  const int *table = arg_table(arg);
  return table ? table[place] : place;
}
/* Places of the element that has most. */
static inline long arg_most(const struct loop_arg *arg) {
  return !arg->map || arg->idx >= 0 ? 1 : arg->map->first ? arg->map->longest : arg->map->arity;
}

static inline bool arg_is_reduction(const struct loop_arg *arg) {
  return arg->present && arg->form == DESC_GBL && access_reduces(arg->access);
}

static inline bool arg_is_global(const struct loop_arg *arg) {
  return arg->present && arg->form == DESC_GBL && (!access_reduces(arg->access) && arg->access != OP_WORK);
}

/* The launch has a copy of the user's values. */
static inline bool arg_is_copied(const struct loop_arg *arg) {
  return arg_is_global(arg) || arg->started;
}

/* Elements that run at once. One process: one part, all of them. Ranks: the core, while messages travel; the
 * boundary; and, if the loop writes through a map, copies of others' elements: what they write to targets owned
 * here counts, their results do not. Empty parts are not run. */
struct loop_part {
  long begin, end;
};
enum { LOOP_PARTS = 3 };

struct loop_stats {
  long long calls;
  double seconds, slowest, fastest, plan_seconds, compile_seconds; /* fastest: 0 if no call ran alone */
  double tiled_seconds;                                            /* of the seconds, in chains in tiles */
  double bytes;  /* that one call must move, by the descriptors */
  double spared; /* of these, bytes of maps that what ran last need not read */
  double working_set;
  const char *variant; /* what ran last; owned by the backend */
  int spills;          /* values that its code keeps in memory for want of registers; -1: nobody knows */
  const char *scalar;  /* why its strips are not vector code; NULL or "": they are, or there are none */
  long long trials;
  double trial_seconds;      /* what they cost */
  bool compiled, from_cache; /* what runs, not what was only tried */
  long long tried;           /* variants that were compiled for the tuner */
  long long moved;           /* bytes between host and device, results included */
  /* Ranks. Of exchanges and results: packing, sending, waiting and unpacking; the waiting alone. */
  double exchange_seconds, waiting_seconds;
  long long exchanges, messages, bytes_sent;
  double redundant; /* copies executed here for each element owned */
  int blocks,
      colours; /* of blocks in the set's own order, which met so often that elements run through a list; else 0 */
  bool ordered;                   /* adds in the order of the user's numbers, and exactly */
  double collect_seconds;         /* of the seconds, of one that is ordered, to collect what was kept apart */
  double hardware[HARDWARE_MOST]; /* what was counted of all calls, see exec/hardware.h */
};

struct loop;
struct loop_call;

/* Functions for loops whose kernels are functions of the program: they find a text, or let the loop run by the
 * function. Filled by api/op2. */
struct loop_functions {
  int (*meet)(struct op_context *ctx, const struct loop_call *call,
              struct error *err); /* before a call's record is made */
  /* Sets loop->source and loop->ranged of a record whose arguments are checked. */
  int (*choose)(struct op_context *ctx, struct loop *loop, const struct loop_call *call, struct error *err);
  int (*describe)(struct op_context *ctx, struct loop *loop, struct error *err); /* by loop->source */
  int (*place)(struct loop *loop, struct error *err); /* where it is loop->ranged */
  /* Makes another reading of a loop that cannot run as it is described, because of `code` and `err`, which is cleared; false:
   * there is none. The loop is to be described anew. */
  bool (*reread)(struct op_context *ctx, struct loop *loop, int code, struct error *err);
  /* From now on it runs by the function, because of `why`; `code` is its code, or OP_OK. OP_ERR_MEMORY. */
  int (*give_up)(struct op_context *ctx, struct loop *loop, int code, const char *why, struct error *err);
  /* The backend with which a text that is in doubt is compared. */
  const struct backend *(*second)(void);
};

/* The call that a record is for: the record is found by it. */
struct loop_key {
  uint64_t hash;
  size_t order;      /* of the first call */
  op_arg *args;      /* as the user passed them */
  char *text, *name; /* the kernel's */
  op_set set;
  char *file; /* of the first call */
  int line;
};

/* The part of a loop that is made from its description at the first call, and anew when that changes. */
struct loop_ready {
  bool prepared;
  unsigned epoch, constant_epoch; /* of the mesh, when it was described */
  unsigned moved;                 /* of the mesh, when its frame was filled */
  /* On any rank: what is chosen by these must be the same on all ranks. */
  long most_elements; /* executed */
  int most_threads;   /* that it may use */
  bool straight; /* on some rank most elements lie in straight ranges: set by backends that look for them */
  bool large;    /* on some rank the data are far larger than the caches: likewise */
  /* On some rank most elements have as many targets as those around them, by a ragged map that differs; and most targets
   * are those of elements with many: likewise. */
  bool even, long_rows;
  bool heavy; /* few elements that take long, and cut for that: likewise, see backend/code.h */
  int long_calls;

  struct reduction reductions[OP_MAX_ARGS];
  int nreductions;
  bool hands_on; /* it reads or changes a global with a handle */
  bool tells;    /* a result goes to a variable of the program, which may look at it when the call is over */
  size_t slot_bytes;
  struct loop_part parts[LOOP_PARTS];
  int nparts, nresults; /* parts whose results count come first */
  struct halo_need needs[OP_MAX_ARGS];
  int nneeds;
  size_t global_bytes;  /* READ, WRITE and RW globals of a launch */
  void **frame;         /* what a launch's starts from: desc_slots() pointers, see jit/kernel/kernel.h */
  unsigned made;        /* changes whenever launches have to be fitted to the record anew */
  struct launch *spare; /* launches that wait for a call, see launch_get */

  void *backend_state;
  /* Its ways to run, by numbers of the backend's; the default, and the one that runs. */
  int nvariants, standard, variant;
  int threads;         /* that it may use: its times are remembered by them */
  int crew;            /* that a run gets, of those that its plan has; 0: all (loop/crew.h) */
  double code_seconds; /* that the longest compile of its code took, in this run or an earlier one */
  double
      behind_seconds; /* that a processor took for compiles behind the program, as far as nobody paid for them */
  bool trying;        /* code that is asked for now is for the tuner to try */
  bool behind;        /* its code may come later, compiled behind the program */
  struct expected {
    int variant;         /* that it is said of, from 1; 0: of none */
    double seconds;      /* of a call */
    double saved;        /* less, where it is part of a graph */
    double graph;        /* that giving one takes */
  } expected;            /* of a device (loop/chain/worth.h) */
  struct tuning *tuning; /* loop/choose.c's */
};

struct loop {
  struct loop *next; /* with the same hash bucket */
  struct loop_key key;

  /* Identity. */
  char *name; /* in messages and reports */
  struct set *set;
  int nargs;
  struct loop_arg args[OP_MAX_ARGS];
  unsigned char values[OP_MAX_ARGS]; /* arguments that have memory of the user: globals and payloads */
  int nvalues;
  struct kernel kernel;
  struct desc desc;
  struct facts facts;        /* of the described kernel, where somebody asked */
  op_kernel_function native; /* NULL: no native form */
  /* The kernel is a function of the program, and its text is empty; where the arguments are, as it is told. NULL:
   * a text. */
  const struct op2jit_compiled *compiled;
  const struct loop_functions *functions; /* NULL: a text */
  struct op2jit_placed *places;
  struct fusion *fusion; /* of a loop made of several (loop/chain/fused.h); else NULL */
  const struct read_kernel
      *source;     /* the text of that function, found in the program's sources; NULL: none */
  bool doubted;    /* the text may not be the program's: some calls are compared */
  char *no_source; /* why not, or why it is not used; NULL */
  bool unproved;   /* its text breaks a promise, and it runs all the same (OP2_CHECK=list) */
  bool forgiven;   /* elements meet in a way that its arguments do not allow */
  bool meets;      /* that, or elements meet in what it writes: no two such run at a time, nor in one strip */
  bool reproducible; /* the same bits, whatever runs it (context/forced.h) */
  bool ordered; /* that, and its elements may meet: in floating point, or in what they write through maps */
  bool ranged;  /* it runs by that function's forms over ranges, not by a text */
  range_function range[2]; /* its forms for WORK_RANGE and WORK_LIST */
  bool looked_at;          /* over an empty set: its text was read, and nothing is wrong with it */
  const struct backend *backend;
  enum space space;             /* where it runs */
  const struct loop_form *form; /* NULL: it runs plainly */
  struct loop *shadow;          /* the same loop for another backend (OP2_SHADOW), NULL: none */
  struct check_state *check;    /* what the checking form keeps */
  struct error failure;         /* a loop that cannot run says so at every call */

  struct loop_ready ready;
  struct loop_site *site; /* where its statistics go; NULL: nowhere */
  struct loop_stats stats;
};

struct loop_table {
  struct loop **buckets;
  size_t nbuckets, count, next_order;
};
/* The record behind this one, the first one behind NULL; NULL: there is none. In no order. */
struct loop *loop_next(const struct loop_table *table, const struct loop *loop);
/* The most threads that one of the loops may use. */
static inline int loops_threads(struct loop *const *loops, int n) {
  int most = 1;
  for (int i = 0; i < n; i++)
    most = loops[i]->ready.threads > most ? loops[i]->ready.threads : most;
  return most;
}

/* One op_par_loop as the user wrote it, valid while the call lasts. */
struct loop_call {
  const char *text, *name; /* the kernel's */
  const char *told;        /* its name in messages and reports; NULL: the kernel's */
  op_set set;
  int nargs;
  const op_arg *args;
  const char *file;
  int line;
  const struct op2jit_compiled *compiled; /* NULL: a text; else the text is empty */
  const struct loop_functions *functions; /* of a compiled one */
  const struct op2jit_origin *origin;     /* of a compiled one */
};

/* The call of a loop whose kernel is a text. */
static inline struct loop_call loop_call_of(const char *text, const char *name, op_set set, int nargs,
                                            const op_arg *args, const char *file, int line) {
  return (struct loop_call){
      .text = text, .name = name, .set = set, .nargs = nargs, .args = args, .file = file, .line = line};
}
static inline const char *loop_call_told(const struct loop_call *call) {
  return call->told ? call->told : call->name;
}
uint64_t loop_hash(const struct loop_call *call);
/* NULL: there is none. */
struct loop *loop_find(const struct loop_table *table, uint64_t hash, const struct loop_call *call);
/* Its hash is set. The table owns it then; after an error it is still the caller's. */
int loop_add(struct op_context *ctx, struct loop *loop, struct error *err);
/* The dat, map or set is one of its arguments, or the loop's set, or the parent of one of these. */
bool loop_uses(const struct loop *loop, const void *object);
/* Calls that name the set as `to` find the records of those that named it as `from`; whether there are any. */
bool loops_rename(struct op_context *ctx, op_set from, op_set to);
/* The same for a dat. */
void loops_rename_dat(struct op_context *ctx, op_dat from, op_dat to);
/* Records in the order of their first call. The caller frees the array only. NULL: no memory. */
struct loop **loop_records(const struct op_context *ctx);
/* For each set the nanoseconds that loops over it took, without exchanging and waiting, which are no element's
 * own. The caller frees the array. NULL: no memory. */
long long *loop_times(const struct op_context *ctx);

/* parts.c: which elements run, in which parts. */
void loop_make_parts(struct loop *loop);
/* Behind the last element that runs. */
static inline long loop_end(const struct loop *loop) {
  return loop->ready.parts[loop->ready.nparts - 1].end;
}
/* Code of a variant is there, compiled or from the cache: counted as the loop's, or as a trial's. */
static inline void loop_count_code(struct loop *loop, bool compiled) {
  if (loop->ready.trying) {
    loop->stats.tried += compiled;
    return;
  }
  loop->stats.compiled |= compiled;
  loop->stats.from_cache |= !compiled;
}
/* Its elements add to rows of a matrix by a map: as an increment through it, so that copies run too. */
bool loop_fills_matrix(const struct loop *loop);
/* Its elements add to the rows of a matrix at once (spread/sums.h): it waits for no others. */
bool loop_adds_to_rows(const struct loop *loop);
/* A dat is written through a map, or a matrix is. */
bool loop_writes_through_map(const struct loop *loop);
/* launch.c: where things are in slots and globals. */
int loop_layout(struct loop *loop, struct error *err);
/* ---- native forms ---- */
struct native_table {
  struct native_form {
    char *text, *name;
    op_kernel_function function;
  } * items;
  int count;
};
/* `function` is the compiled form of the kernel `name` of that text; NULL: of any kernel of it that is not named. */
int native_add(struct native_table *table, const char *text, const char *name, op_kernel_function function,
               struct error *err);
op_kernel_function native_find(const struct native_table *table, const char *text, const char *name);
void native_free(struct native_table *table);

#endif
