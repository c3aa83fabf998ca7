/* How the elements of a loop are dealt out: a row for each way. A new strategy is one file in this folder that
 * ends with its row, and one line in STRATEGIES below. What OP2_VARIANT takes, which plans loops share, how they
 * are made, checked and reported, and what tuning tries follow from the row. */
#ifndef OP2JIT_STRATEGY_H
#define OP2JIT_STRATEGY_H

#include "base/text.h"
#include "plan/gather.h"
#include "plan/plan.h"
#include "plan/tiles_prefix.h"

/* In the order in which they are named to users, and tried. */
#define STRATEGIES(ROW)                                                                                                   \
  ROW(whole)   /* all elements in order, on one thread */                                                                 \
  ROW(chunks)  /* chunks in any order: nothing is incremented through a map */                                            \
  ROW(colours) /* blocks by colour */                                                                                     \
  ROW(owners)  /* each thread its range of the targets, the elements between ranges by colour */                          \
  ROW(tasks)   /* blocks that wait for one another, without barriers */                                                   \
  ROW(gather)  /* each element writes its increments apart, each target collects its own */                               \
  ROW(turns) /* the same sums in the elements' order: each thread its range of the targets, the elements between apart */ \
  ROW(collect) /* no way to deal out: each target collects in the order of the user's numbers */                          \
  ROW(plan)    /* a plan without schedule: for devices */                                                                 \
  ROW(warps) /* nor has this: which targets the elements of each warp of a device add to, and which to each */            \
  ROW(ordered)  /* nor this: the same so that sums are made in the order of the elements */                               \
  ROW(straight) /* no way to deal out: where the elements' targets follow one another */                                  \
  ROW(prefix)   /* nor this: which targets the first elements of a map reach, for chains */                               \
  ROW(periodic) /* nor this: the same where what goes round a periodic mesh is kept apart */

/* A wish for a plan. A strategy reads only the members of the request that it looks at. */
struct plan_wish {
  struct plan_request request; /* read during the call; tables must live as long as the epoch */
  const struct strategy *strategy;
  int threads;
  const char *set_name; /* for the report; copied */
  unsigned epoch;       /* of the mesh */
};

/* Straight ranges (straight.c). */
/* Shorter ranges are of no use to strips, and would make the table large. */
enum { STRAIGHT_SHORTEST = 8 };

/* All ranges, as long as they can be. `words` is what generated code reads: how many there are; then for each, in
 * the order of elements, first element, the one behind the last (numbers of the set), target minus element for
 * each column; and one more that begins and ends at INT_MAX. */
struct straight {
  int *words;
  long count;
  int ncolumns;
};

/* Elements in strips of `width` that lie inside ranges: the mean over all elements that strips can begin at. */
long straight_covered(const struct straight *s, int width);

/* Figures of a schedule of owner ranges. */
struct owner_shares {
  long elements;   /* of the set */
  long listed;     /* run through a list, because their neighbours belong to others */
  long between;    /* between ranges: they wait for all owners */
  long alone;      /* among them those that run while all other threads wait */
  int colours;     /* of the elements between */
  long most, mean; /* elements of one thread's own: the largest and the average number */
};

/* Thread k of `threads` owns [n*k/threads, n*(k+1)/threads) of a set of n, unless the request says that elements differ in
 * their work: then as many entries lead to each range. */
static inline long owner_begin(long n, int k, int threads) {
  return n * k / threads;
}
static inline int owner_of(long n, long element, int threads) {
  return (int)(((element + 1) * threads - 1) / n);
}

/* The result of a strategy; members that it does not make stay empty. */
struct plan_entry {
  struct arrays arrays; /* of what follows the schedule */
  struct plan plan;
  struct schedule schedule;
  struct owner_shares shares;
  struct reverse_map *reverse; /* one per target set, in the order of the columns */
  int nreverse;
  struct straight straight;
  struct prefix prefix;
  int crowded; /* colours of the blocks in the set's order, where they were so many that elements run through a list */
  double seconds; /* to build it */
};

/* Through which columns of maps: the caller finds them, see record/columns.h. */
enum plan_columns {
  COLUMNS_NONE, /* it depends on the number of elements only, so that nobody need share it */
  /* those incremented, and elements themselves that meet them: they decide who may run at the same time */
  COLUMNS_WRITTEN,
  COLUMNS_TURNED, /* those incremented, in the order of arguments */
  COLUMNS_USED    /* all, in the order of generated code */
};

/* Members of a wish. */
enum {
  LOOKS_AT_BLOCKS = 1,
  LOOKS_AT_STAGING = 2,
  LOOKS_AT_THREADS = 4,
  LOOKS_AT_ORDER = 8,
  LOOKS_AT_NUMBERS = 16
};

struct strategy {
  const char *name;
  enum plan_columns columns;
  unsigned
      looks;   /* LOOKS_AT_..., beside the elements and columns: wishes that differ elsewhere are the same */
  bool deals;  /* makes a schedule: a loop can run so, and OP2_VARIANT may ask for it */
  bool serial; /* on one thread: neither block sizes nor threads mean anything */
  bool lists;  /* some elements may go through a list */
  bool apart;  /* increments are written apart, and works of their own collect them */
  bool unsafe; /* in any order: a loop that increments through a map goes wrong */
  const struct strategy *instead_of; /* tried where this one is the default; NULL: only if asked for */
  const int *sizes;                  /* of pieces that are worth a trial, up to a 0; may be NULL */
  /* The size of pieces that suits so many elements, with results of each to combine or without. NULL: the builder
   * chooses. */
  long (*piece)(long elements, bool combining);
  bool same_piece; /* all ranks cut their cores into pieces of one size */
  /* A failure leaves what is to be freed in the entry. */
  int (*build)(struct plan_entry *e, const struct plan_wish *wish, struct team *team, struct error *err);
  /* OP_ERR_PLAN unless it is what was wished for. Level 1: sizes and counts, 2: all. */
  int (*verify)(const struct plan_entry *e, const struct plan_wish *wish, int level, struct error *err);
  /* Adds its words behind the number of elements: ", 3 of that". May be NULL. */
  void (*describe)(const struct plan_entry *e, struct text *out);
};

#define STRATEGY_ROW(name) extern const struct strategy strategy_##name;
STRATEGIES(STRATEGY_ROW)
#undef STRATEGY_ROW
extern const struct strategy *const strategies[]; /* up to a NULL */

/* Make what is wished for, with the set's numbers. A failure leaves the entry empty. */
int plan_entry_build(struct plan_entry *e, const struct plan_wish *wish, struct team *team,
                     struct error *err);
void plan_entry_clear(struct plan_entry *e);
size_t plan_entry_bytes(const struct plan_entry *e);
/* Shared by rows: schedule_verify, and what is to be said of blocks. */
int verify_dealt(const struct plan_entry *e, const struct plan_wish *wish, int level, struct error *err);
void describe_blocks(const struct plan_entry *e, struct text *out);

#endif
