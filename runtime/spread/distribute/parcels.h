/* Several lists at once: what is for a rank travels in one message, so that sets share their messages. */
#ifndef OP2JIT_DISTRIBUTE_PARCELS_H
#define OP2JIT_DISTRIBUTE_PARCELS_H

#include "mail.h"

/* A list of items for each of some ranks, and what comes of the others' lists. */
struct parcel {
  void *items;
  size_t item_bytes;
  struct tally to; /* sorted */
  struct mail in;  /* empty before */
};
/* All ranks give the same number of parcels, of the same kinds. Collective. */
int parcels_send(struct comm *comm, struct parcel *parcels, int n, struct error *err);
/* With the array; NULL is nothing. */
void parcels_free(struct parcel *parcels, int n);

#endif
