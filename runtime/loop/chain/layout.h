/* Dats whose components lie apart because loops are faster so: on devices, where counts promise it and whole steps show it.
 * While the program runs, of one dat after the other: steps are timed with its rows whole, apart, whole and apart again. The
 * dat lies so everywhere, as if it was declared with ":soa"; nothing of it changes for the program. */
#ifndef OP2JIT_LOOP_CHAIN_LAYOUT_H
#define OP2JIT_LOOP_CHAIN_LAYOUT_H

#include <stdbool.h>

#include "backend/backend.h"
#include "base/error.h"

enum { LAYOUT_SIDES = 2, LAYOUT_ROUNDS = 2 };

struct layouts {
  bool off;                 /* the program has something that layouts must not change under */
  long long calls;          /* of loops on devices, since dats were looked at */
  long long look_after;     /* so many; 0: as many as at first */
  unsigned long long known; /* by dats' numbers, of the first 64: nothing is to be tried of them */

  struct dat *dat; /* that is tried; NULL: none. Compared only, until it is found among the mesh's */
  int id;
  const struct loop *step; /* from one call of it to the next is a step. Compared only */
  int warm, counted; /* steps of this side so far: those before its loops are known, those that are timed */
  double begun;
  double seconds[LAYOUT_ROUNDS][LAYOUT_SIDES]; /* of the timed steps; sides are rows, and apart */
  int runs;                                    /* of all sides so far */
};

/* Can dats lie otherwise for this loop? Then it is told of each call. */
static inline bool layout_wants(const struct layouts *l, const struct backend *backend) {
  return backend->promise && !l->off;
}
/* A call of the loop is over, or it waits. An error is that of loops that waited, or of memory. */
int layout_called(struct op_context *ctx, struct loop *loop, struct error *err);
/* Apart was faster each time, and by more than these times differ. */
bool layout_pays(double seconds[LAYOUT_ROUNDS][LAYOUT_SIDES]);

#endif
