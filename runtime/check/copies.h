/* Copies of everything a loop changes, so that it can run several times from one state. */
#ifndef OP2JIT_CHECK_COPIES_H
#define OP2JIT_CHECK_COPIES_H

#include "record/launch.h"

struct copies {
  void *dats[OP_MAX_ARGS]; /* host memory, by the first argument that changes the dat; else NULL */
  unsigned char *slots, *globals;
  size_t slot_bytes; /* 0: the launch had no slots yet */
};

/* The dats are in the host's memory; one slot counts. OP_ERR_MEMORY: *c is empty. */
int copies_take(struct copies *c, const struct launch *launch, struct error *err);
void copies_restore(const struct copies *c, const struct launch *launch);
void copies_free(struct copies *c);

#endif
