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

/* Send so many items of `item_bytes` to each rank of `to`; receivers learn how many they get. `items` are
 * taken over (also at an error), `in` is overwritten. */
int mail_send(struct comm *comm, void *items, const struct tally *to, size_t item_bytes, struct mail *in,
              struct error *err);
/* The same where both sides know the counts already. */
int mail_send_known(struct comm *comm, const void *items, const struct tally *to, size_t item_bytes, void *in,
                    const struct tally *from, struct error *err);

/* A side of an exchange from counts by rank; `elements` is taken over (also at an error). */
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
  struct tally to;
  int *here;      /* the element of this rank that each item is about; NULL: none */
  struct mail in; /* empty before */
};
/* One item more, for a rank that is not below those of the others. False: no memory. */
bool parcel_add(struct parcel *p, int rank, const void *item);
/* All ranks give the same number of parcels, of the same kinds. Collective. */
int parcels_send(struct comm *comm, struct parcel *parcels, int n, struct error *err);
/* The sides of an exchange: of what this rank named (`here`), and of what others named, which `in` has as local numbers. Both
 * lists are taken over (also at an error). */
int parcel_sides(struct parcel *p, struct halo_side *here, struct halo_side *others, struct error *err);
void parcel_free(struct parcel *p);
/* With the array; NULL is nothing. */
void parcels_free(struct parcel *parcels, int n);

#endif
