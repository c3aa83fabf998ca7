/* The gather form of a loop: every argument that is incremented through a map gets a row of its own per element, so
 * that generated code writes nothing that elements share; then each target collects its rows. The code is that of a
 * loop with direct increments, made from a description derived from the loop's own. */
#ifndef OP2JIT_BACKEND_CPU_GATHER_H
#define OP2JIT_BACKEND_CPU_GATHER_H

#include "exec/executor.h"
#include "plan/strategy.h"
#include "record/record.h"

struct op_context;
struct launch;
struct gather;

/* Which arguments are turned round: those with maps, exact results. `entry` is the part's plan of a strategy that keeps
 * increments apart, and outlives the gather; NULL: no columns. OP_ERR_MEMORY. */
struct gather_wish {
  struct loop_part part;
  const struct plan_entry *entry;
  bool columns, results;
  bool listed; /* of the elements only those of the plan's list get rows */
};
int gather_new(struct gather **out, struct op_context *ctx, const struct loop *loop,
               const struct gather_wish *wish, struct error *err);
void gather_free(struct gather *g);

/* The description that the elements' work is compiled from. */
const struct desc *gather_desc(const struct gather *g);
/* The works of an execution that is complete else: the elements', made of the loop's own, and one for each set
 * that collects. */
void gather_works(struct gather *g, const struct launch *launch, const struct work *own, struct execution *e);

/* ---- for cpu_gather.c and cpu_ordered.c ---- */

/* to[0], to[step], ... += from[0], from[1], ... */
typedef void add_row(void *to, const void *from, int dim, long step);

/* An argument whose increments or extrema are turned round; or an exact result, for which each element gets a row
 * too. */
struct turned {
  int arg;
  const struct loop_arg *from;
  enum type_code type;
  int ncolumns;
  size_t row_bytes;
  unsigned char *
      rows; /* ncolumns rows for each element up to the end of the part; or one for each target. NULL: an exact result, whose
                          * rows last for some elements only */
};

/* Where one column of a target set's reverse map finds its rows, and whom it adds them to. */
struct source {
  const struct turned *turned;
  const unsigned char *rows; /* the column's first */
  size_t row_bytes;          /* from one to the next */
  add_row *add;              /* NULL: an extremum */
  unsigned char *target;     /* of this run: component 0 of element 0 */
  size_t target_bytes;       /* from element to element */
  long step;                 /* from component to component, in values */
};

/* A target set: what collects there. */
struct group {
  const struct gather *gather;
  const struct set *set;
  const struct reverse_map *reverse;
  void *frame[1]; /* of its work: itself */
  struct source *sources;
  int nsources, nextrema; /* of the sources */
};

enum { SUMMED_MOST = 2 };
struct gather {
  bool columns, results; /* which arguments are turned: those with maps, exact results */
  int nsummed; /* components of exact sums that strips add up along the way, at most SUMMED_MOST: more lack registers */
  bool streams; /* generated code writes past the caches */
  struct desc desc;
  const struct plan_entry *entry;
  long begin; /* the plan's first element */
  struct turned turned[OP_MAX_ARGS];
  int nturned;
  struct group groups[OP_MAX_ARGS];
  int ngroups;
  struct work works[OP_MAX_ARGS + 2]; /* of this run: the elements', then the groups'; of turns see there */
  range_function function;            /* of this run: generated code */
  int *identity;                      /* 0, 1, 2, ...: the map from an element's entries to its rows */
  /* Numbers in the loop's own description; what is new is negative. */
  int old_set[OP_MAX_ARGS + 1], old_map[OP_MAX_ARGS], old_dat[OP_MAX_ARGS];
  void **frame; /* of the elements' work: the gather, then generated code's */
  struct reduction reductions[OP_MAX_ARGS];
};

/* The row that an element left for one source; `entry` is the reverse map's. */
const struct source *gather_source(const struct group *group, int entry, const unsigned char **row);
/* The rows of elements with maps begin as sums do, or with what extrema start from. */
void gather_start_rows(const struct gather *g, long begin, long end);

#endif
