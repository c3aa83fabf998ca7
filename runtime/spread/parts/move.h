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

#endif
