/* Arrays between ranks, on top of a comm's exchange. All collective. */
#ifndef OP2JIT_DISTRIBUTE_MAIL_H
#define OP2JIT_DISTRIBUTE_MAIL_H

#include "mesh/halo.h"
#include "mesh/rows.h"
#include "ranks/comm.h"

/* An array from each rank, one after the other in rank order. A zeroed struct is an empty one. */
struct mail {
  long *counts; /* items of each rank */
  long total;
  void *items;
};
void mail_free(struct mail *mail);

/* Send `counts[r]` items of `item_bytes` to each rank r; receivers learn how many they get. Where nothing is to be
 * sent no message goes. `items` are taken over (also at an error), `in` is overwritten. */
int mail_send(struct comm *comm, void *items, const long *counts, size_t item_bytes, struct mail *in,
              struct error *err);
/* The same where both sides know the counts already. */
int mail_send_known(struct comm *comm, const void *items, const long *counts, size_t item_bytes, void *in,
                    const long *in_counts, struct error *err);

/* Sides of an exchange from counts per rank; `elements` is taken over (also at an error). */
int side_from_counts(struct halo_side *side, int ranks, const long *counts, int *elements, struct error *err);

/* Rows along an exchange: those of a send element go to its receive element, from each of some stores into its own, in
 * one message. Swap the sides to go back. Many rows travel in several batches, so that little memory is needed beside
 * the stores. */
int carry(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
          const struct row_store *from, const struct row_store *into, int stores, struct error *err);
/* The same with rows of `row_bytes` one behind the other. */
int carry_rows(struct comm *comm, const struct halo_side *send, const struct halo_side *receive,
               size_t row_bytes, const void *from, void *into, struct error *err);

/* first[0] = 0, first[r + 1] = first[r] + counts[r]. */
void running_sum(long *first, const long *counts, int ranks);

/* The order that brings items together by rank and otherwise keeps them: order[first[r]] .. are those of rank r. */
void sort_by_rank(const int *rank_of, long count, int ranks, long *counts, long *first, long *order);

#endif
