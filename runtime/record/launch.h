/* One call of a loop: all that it has of its own, so that several calls of one loop can wait to be run. What is
 * the same for every call is the record's. Limits for launches that wait: `variant` is a number of the record's,
 * so nothing may unmake it or list the ways anew meanwhile (tune_next and tune_ran may); and the gather form, like
 * CUDA, keeps pointers of a run in the variant: two launches of one loop cannot stand in one schedule there. */
#ifndef OP2JIT_RECORD_LAUNCH_H
#define OP2JIT_RECORD_LAUNCH_H

#include "exec/executor.h"
#include "record/record.h"

struct launch {
  struct loop *loop;
  struct launch *next;     /* spare ones of the record */
  unsigned made;           /* the record that it fits, see loop->made */
  void *user[OP_MAX_ARGS]; /* the user's memory of globals and payloads */
  unsigned char *globals;  /* READ, WRITE and RW globals, and what extrema with a payload start from */
  void **frame;            /* the record's, with these globals */
  unsigned char *slots;    /* of reductions, those of the parts one behind the other */
  int slots_capacity;
  struct {
    int first, count;
  } part_slots[LOOP_PARTS];
  int variant;               /* of the backend: what is to run */
  bool timed;                /* for tuning, which a device does itself: */
  double seconds;            /* so long it took there */
  char *file;                /* the place of the call, of a launch that waited; NULL: no memory */
  int line;                  /* 0: it does not wait, or nobody knows */
  double ahead;              /* seconds that some of its parts took, which ran ahead of the others */
  struct exchange *exchange; /* of the needs that were stale when it last had some */
  uint64_t stale;            /* a bit for each need */
  const struct deep_loop
      *deep; /* of others' elements only these run, and all that it needs is there; NULL: its own parts
                                   and needs (loop/chain/deep.h) */
  enum space exchange_space;
};

/* NULL: OP_ERR_MEMORY. */
struct launch *launch_new(struct loop *loop, struct error *err);
void launch_free(struct launch *launch);

/* One of the record's spare ones, or a new one: a record has as many as have ever waited at once. */
static inline struct launch *launch_get(struct loop *loop, struct error *err) {
  struct launch *launch = loop->ready.spare;
  if (!launch)
    return launch_new(loop, err);
  loop->ready.spare = launch->next;
  return launch;
}

/* It is done, and spare. */
static inline void launch_put(struct launch *launch) {
  launch->line = 0;
  launch->next = launch->loop->ready.spare;
  launch->loop->ready.spare = launch;
}
/* The outcome. If the launch waited, the message begins with its place, since another call runs it. */
int launch_ended(const struct launch *launch, int code, struct error *err);
/* Let it fit its record, which was made anew, or which it is the first launch of. */
int launch_fit(struct launch *launch, struct error *err);
/* Set the number of a part's reduction slots, part after part. */
void launch_set_slots(struct launch *launch, int part, int nslots);
/* Globals and slots hold what the user's memory holds. */
int launch_start(struct launch *launch, struct error *err);
/* The slots alone, as many as launch_set_slots said. */
int launch_start_slots(struct launch *launch, struct error *err);
/* Start anew from globals with handles, since earlier loops have run. */
void launch_start_handles(struct launch *launch);
/* One slot alone. */
void launch_start_slot(const struct launch *launch, unsigned char *slot);

/* The user's results after a run. */
int launch_results(struct op_context *ctx, struct launch *launch, struct error *err);
/* The loop waited for other ranks' results from `start` until now, which is no time of its own. */
void loop_note_wait(struct loop *loop, double start);
/* Argument i is an extremum with a payload, and element `number` (the user's) left this value and payload: keep
 * them in the slot if they win. */
void launch_offer_extremum(const struct launch *launch, int i, unsigned char *slot, const void *value,
                           const void *payload, long long number);

#endif
