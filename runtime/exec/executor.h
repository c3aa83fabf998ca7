/* A schedule: what to run in which order, as a plain value. Plans become schedules by builders; one
 * executor runs any of them. Phases follow one another with a barrier between; the items of a phase
 * may run in any order and at the same time, those of one owner in their order, on one thread.
 *
 * What an item does is a piece of one of the execution's works: a function, what it works on, and its results. One
 * loop is a work for its elements, and another where some of them go through a list; the gather form has one more
 * for each set that collects; a chain of loops has those of all of them, and its tiles are items of one owner.
 * Items may wait for one another in place of phases: see waits.h. */
#ifndef OP2JIT_EXEC_EXECUTOR_H
#define OP2JIT_EXEC_EXECUTOR_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"
#include "exec/team.h"
#include "exec/waits.h"
#include "jit/kernel/kernel.h"

/* Works of a loop's schedules: elements in a range, and positions in the schedule's list; see also gather.h. */
enum { WORK_RANGE = 0, WORK_LIST = 1 };

struct item {
  long begin, end; /* elements, or positions in the work's list */
  int work;        /* which of the execution's */
  int owner;       /* thread that runs it (modulo the number of threads), -1: any */
  int slot; /* its work's: unique among the items of a loop, whose results are combined in this order */
};

struct phase {
  int first, count; /* items */
  bool owned;       /* each item has an owner; else none has */
};

struct schedule {
  struct arrays arrays; /* all of these, but the waits */
  struct item *items;
  int nitems;
  struct phase *phases;
  int nphases;
  int nslots;
  int *list; /* element numbers for a work that has a list, or NULL */
  long list_length;
  int threads; /* that it was built for, 0: any number */
  struct waits
      *waits; /* between the items of the only phase, in which no item has an owner; NULL: there are none */
};
void schedule_free(struct schedule *s);
/* Bytes that it holds. */
size_t schedule_bytes(const struct schedule *s);
/* How builders make one: room first (the list is NULL if its length is 0), then phases and items in order; slots
 * are numbered in the order of items. OP_ERR_MEMORY, OP_ERR_SIZE: then *s is empty. */
int schedule_new(struct schedule *s, long nitems, long nphases, long list_length, struct error *err);
void schedule_add_phase(struct schedule *s, bool owned);
/* To the last phase; owner -1: any. */
void schedule_add_item(struct schedule *s, int work, long begin, long end, int owner);
/* From elements that count from 0, as builders have them, to those of a part of a set that begins elsewhere. */
void schedule_shift(struct schedule *s, long begin);

/* A reduction or info argument: `bytes` of each slot, at `offset`, whose address goes to frame[index]. */
struct reduction {
  int index;
  size_t offset, bytes;
};

struct work {
  range_function function;
  void *const *frame; /* only read; with reductions each thread works on a copy on its stack */
  int nframe;
  const int *list;
  const struct reduction *reductions;
  int nreductions;
  unsigned char *slots; /* filled with start values by the caller */
  size_t slot_bytes;    /* of slots that follow one another in the order of items */
};

struct execution {
  const struct schedule *schedule;
  const struct work *works;
  int nworks;
  int threads; /* how many to use at most */
  /* Called by the caller's thread between items until it says false; NULL: nothing. */
  bool (*poll)(void *context);
  void *poll_context;
  struct trace_thread
      *watch; /* one for each thread, where it says what it did (context/trace.h); NULL: nowhere */
};

/* Run it. No allocation, no failure. With one thread no barrier and no team is touched; `team` may then be
 * NULL. Items without owner are dealt out in contiguous pieces, the same ones in each run of as many items:
 * over one set a thread meets the same elements from loop to loop, and has touched them first. */
void executor_run(struct team *team, const struct execution *e);

/* The number of threads that have something to do: no more than the widest phase has items. */
int executor_useful(const struct schedule *schedule, int threads);

/* How many threads a loop over so many elements should use, at most `wanted` (0: the team's). Small sets run on
 * one, as long as it is not known that each element takes long, see backend/code.h. */
int executor_threads(const struct team *team, long elements, int wanted);

#endif
