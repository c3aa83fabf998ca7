/* Elements change owners. */
#ifndef OP2JIT_SPREAD_PARTS_MOVE_H
#define OP2JIT_SPREAD_PARTS_MOVE_H

#include "build.h"
#include "ranks/comm.h"

/* Collective. Each owned element e of set s goes to rank part[s][e], with its rows of maps; part[s] is freed. Entries of
 * ragged maps have the parts of their elements.
 * Afterwards the share holds what this rank owns now, by ascending number. routes[s] (nsets of them, to be freed
 * by the caller, also at an error) are the ways that rows of data take: from places in the old share to places in
 * the new one. */
int share_move(struct comm *comm, struct share *share, int **part, struct halo_exchange *routes,
               struct error *err);
/* The same where elements stay here: order[s], the old places of those of set s in their new order; NULL: as they are, without a
 * route. Entries of ragged maps have an order if their elements have one, and it follows that. */
int share_reorder(struct comm *comm, struct share *share, int *const *order, struct halo_exchange *routes,
                  struct error *err);
/* A route for elements that stay on this rank: from order[e] to e. The order is taken over (NULL: there was no memory for it). */
int route_here(struct halo_exchange *route, int rank, int *order, long count, struct error *err);

#endif
