/* One pass over the elements of a checked loop. */
#ifndef OP2JIT_CHECK_PASS_H
#define OP2JIT_CHECK_PASS_H

#include <stdint.h>

#include "check/cell.h"
#include "check/shadow.h"
#include "record/findings.h"

struct meets;

struct check_state {
  struct cell *cell;
  long calls; /* before this one; those that found nothing, unless all is listed */
  bool meets; /* elements meet in what they write */
  bool warned, noted;
};

/* One pass over the elements. */
struct pass {
  struct op_context *ctx;
  struct launch *launch;
  struct loop *loop;
  struct check_state *state;
  struct notes notes;
  struct findings found; /* of notes */
  bool watched;          /* compare each element with its promises, else just run it */
  bool adds;             /* what elements add is noted */
  long stride;           /* each so manieth element thoroughly */
  struct meets
      *meets[OP_MAX_ARGS]; /* of dats that are written through maps, by their first argument that writes */
  uint64_t added[OP_MAX_ARGS]; /* a sum over elements of what they add, hashed */
};

static inline bool arg_is_extreme(const struct loop_arg *arg) {
  return access_is_extremum(arg->access);
}

/* Notes a finding of no single element, and frees the words. `elsewhere`: another rank lists it. */
int pass_note(const struct pass *p, enum rule rule, int argument, bool elsewhere, struct text *words);
/* One element; all of them. What note() returns. */
int pass_element(struct pass *p, long element);
int pass_forwards(struct pass *p);
/* order.c: the loop backwards and shuffled, from the state of `before`, with what the pass left, where that differs. */
int pass_order(struct pass *p, const struct copies *before);

/* meets.c: elements that write one target. That is right if they write the same, or if what they make of it does not
 * depend on their order. Equal values may differ by rounding (values_tolerance). */
int meets_open(struct pass *p, struct error *err);
void meets_forget(struct pass *p);
void meets_free(struct pass *p);
/* Before the rows of an element are stored: OP_WRITE of another value than an element before it wrote. */
int meets_write(struct pass *p, long element);
/* True if two elements write that target of the argument's dat. */
bool meets_at(const struct pass *p, int i, long target);
/* The order decides what argument i leaves there: said once for each target. `said` has the values. */
int meets_tell(struct pass *p, int i, long target, const char *said);
/* "elements 3 and 5 of set "edges" both write element 2 of set "nodes" (map "ends")": the first that meet; false: none
 * do. */
bool meets_first(const struct pass *p, struct text *out);

#endif
