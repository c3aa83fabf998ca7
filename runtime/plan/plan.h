/* Blocks and colours: how the elements of a set can be worked on in parallel although some of them
 * increment the same targets. A plan is a function of arrays only. Blocks are contiguous ranges of
 * elements; blocks of one colour share no written target; elements of one block and one element colour
 * share none either. Built in linear time. */
#ifndef OP2JIT_PLAN_H
#define OP2JIT_PLAN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"
#include "exec/executor.h"

/* One column of a map through which something is incremented (or written by promise: not listed). */
struct plan_column {
  /* Its first row is that of the request's first element. NULL: the element itself, for a dat that is incremented
   * both directly and through a map. */
  const int *table;
  /* For a ragged map: where the targets of each of the request's elements begin in the table, and the end. Then arity is
   * 1 and column 0. NULL: one target for each element. */
  const long long *first;
  int arity, column; /* without a table: column is the number of the first element */
  int target;        /* number of the target set, to tell the columns that can meet apart */
  long target_size;
};

/* A dataset that is staged: all columns through which it is reached. */
struct plan_staged {
  int first, count; /* columns in `staged_columns` */
};

struct plan_request {
  long
      begin; /* the set's number of the first element. Plans count from it, schedules have the set's numbers */
  long size; /* elements */
  int block_size;
  /* The work of the elements before each of the request's, and at the end that of all: blocks and chunks are cut by
   * it. NULL: all elements are alike. */
  const long long *work;
  const struct plan_column *columns; /* written ones: they make the colours */
  int ncolumns;
  const struct plan_column *staged_columns; /* staging renumbering, only if a strategy stages */
  const struct plan_staged *staged;
  int nstaged;
  /* Where the order of sums counts: the user's numbers, of element e that of place `through[e]` (NULL: e); NULL: as the
   * elements are. */
  const int *numbers, *through;
  bool in_order;        /* there is no code for a list */
  bool element_colours; /* wanted by strategies that colour inside a block */
};

static inline long plan_number(const struct plan_request *r, long element) {
  const long place = r->through ? r->through[element] : element;
  return r->numbers ? r->numbers[place] : place;
}
/* True if the numbers rise with the elements. */
bool plan_in_numbers(const struct plan_request *r);

struct plan {
  struct arrays arrays, locals; /* all of these, but `local` of staging; and that */
  long size;
  int block_size, nblocks;
  int ncolours;
  long *block_first;              /* nblocks + 1, where blocks are cut by work; NULL: all of block_size */
  int *list;                      /* strategy_ordered: the element at each place; NULL: their own order */
  int *block_map;                 /* blocks sorted by colour */
  int *colour_first;              /* ncolours + 1: where each colour begins in block_map */
  unsigned short *element_colour; /* per element, colours inside its block; NULL if not wanted */
  int *block_ncolours;            /* element colours per block; NULL if not wanted */
  int max_element_colours;
  struct plan_staging {
    long *first;            /* nblocks + 1: where each block's targets begin in `targets` */
    int *targets;           /* sorted, no duplicates */
    unsigned short **local; /* per column of the dataset, per element: position in its block's targets */
    int ncolumns;
    int max_targets; /* in one block */
    /* The other way round, in place of `local` (strategy_warps): the summands of each target of a block. Entries of
     * entry_bytes: 1 where blocks have up to 256 summands, else 2 (unsigned short). NULL: not wanted. */
    void *last; /* per target: where its summands end, counted in the block's from 0; that of the last one */
    void *
        slots; /* per summand, by target, in the order of elements: column * block_size + element, in its block */
    int entry_bytes;
    /* strategy_ordered: a target below 0 is ~place of a summand that is added later. The targets of these, in rising order,
     * and where the places of each begin; nlate + 1. */
    int *late, *late_first;
    int nlate;
  } * staging;
  int nstaging;
};

/* The same plan for any number of threads; `team` may be NULL. Errors: OP_ERR_MEMORY; OP_ERR_ARGUMENT for a block size
 * below 1; OP_ERR_SIZE for element colours or staging of blocks with more than 65536 colours or targets. */
int plan_build(struct plan *plan, const struct plan_request *request, struct team *team, struct error *err);
void plan_free(struct plan *plan);
/* Verify everything that the plan claims, against the request: OP_ERR_PLAN names what does not hold. level 1: sizes
 * and counts, 2: all. */
int plan_verify(const struct plan *plan, const struct plan_request *request, int level, struct error *err);

/* Elements of a chunk that suits a direct loop, with results of each chunk to combine or without. */
long schedule_chunk_size(long size, bool combining);
/* Items of the last phase. */
void schedule_add_chunks(struct schedule *s, int work, long size, long chunk);
/* Chunks of the request's elements, in its block size (0: the size for loops without results); as many, but with the same work each, where it says that of
 * elements. One may be empty, beside an element with much work. */
int schedule_request_chunks(struct schedule *s, const struct plan_request *request, struct error *err);
/* The first element of piece k of n with about the same work each. An element counts once beside its work. */
long work_cut(const long long *work, long size, long k, long n);
/* `list`: of elements, where the plan's are places in it; NULL: they are the plan's. */
int schedule_colours(struct schedule *s, const struct plan *plan, const int *list, struct error *err);
/* The same items, with the elements of each sorted by their work, as far as they lie near each other; all go through a
 * list. Element e of the set has the work first[e + 1] - first[e]. What waits of `in` there are stay its own: the caller
 * takes them out of `out` before freeing it. */
int schedule_sorted(struct schedule *out, const struct schedule *in, const long long *first,
                    struct error *err);
/* All elements in the order of their numbers, through a list, on one thread. What those below `owned` result in goes to the
 * first slot; the rest are copies of other ranks' elements, whose results count there, and here go to the slot `copies`. */
int schedule_numbered(struct schedule *s, const struct plan_request *request, long owned, int copies,
                      struct error *err);
/* OP_ERR_PLAN unless each element of the request runs once, and items that may run at the same time share no
 * target. For schedules whose items are ranges and parts of the list: whole, chunks, block colours, owner ranges. */
int schedule_verify(const struct schedule *s, const struct plan_request *request, struct error *err);

#endif
