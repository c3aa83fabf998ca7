/* Several lists at once: what is for a rank travels in one message, so that sets share their messages. */
#ifndef OP2JIT_DISTRIBUTE_PARCELS_H
#define OP2JIT_DISTRIBUTE_PARCELS_H

#include "mail.h"

/* As mail_send's arguments. */
struct parcel {
  const void *items;
  const struct tally *to; /* sorted */
  size_t item_bytes;
  struct mail *in; /* overwritten; empty after an error */
};
/* All ranks give the same number of parcels, of the same kinds. Collective. */
int parcels_send(struct comm *comm, const struct parcel *parcels, int n, struct error *err);

#endif
