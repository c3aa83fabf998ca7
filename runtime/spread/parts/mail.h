/* Arrays between ranks, on top of a comm's exchange. All collective. */
#ifndef OP2JIT_SPREAD_PARTS_MAIL_H
#define OP2JIT_SPREAD_PARTS_MAIL_H

#include "mesh/halo.h"
#include "mesh/rows.h"
#include "ranks/comm.h"
#include "tally.h"

/* An array from each of some ranks, one after the other in rank order. A zeroed struct is an empty one. */
struct mail {
  struct tally from;
  long total;
  void *items;
};
void mail_free(struct mail *mail);

/* Send so many items of `item_bytes` to each rank of `to`, which is sorted; receivers learn how many they get. `items` are
 * taken over (also at an error), `in` is overwritten. */
int mail_send(struct comm *comm, void *items, const struct tally *to, size_t item_bytes, struct mail *in,
              struct error *err);
/* The same where both sides know the counts already. */
int mail_send_known(struct comm *comm, const void *items, const struct tally *to, size_t item_bytes, void *in,
                    const struct tally *from, struct error *err);

/* A side of an exchange from counts by rank, which are sorted; `elements` is taken over (also at an error). */
int side_from_tally(struct halo_side *side, const struct tally *counts, int *elements, struct error *err);

/* Rows along an exchange: those of a send element go to its receive element, from each of some stores into its own, in
 * one message. Swap the sides to go back. Many rows travel in several batches, so that little memory is needed beside
 * the stores. */
int carry(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
          const struct row_store *from, const struct row_store *into, int stores, struct error *err);
/* The same with rows of `row_bytes` one behind the other. */
int carry_rows(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
               size_t row_bytes, const void *from, void *into, struct error *err);

/* Several lists at once: what is for a rank travels in one message, so that sets share their messages. */

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
