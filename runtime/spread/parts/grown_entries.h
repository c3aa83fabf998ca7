/* The entries of ragged maps go where their elements go, and stand there in their order. All but the first collective. */
#ifndef OP2JIT_SPREAD_PARTS_GROWN_ENTRIES_H
#define OP2JIT_SPREAD_PARTS_GROWN_ENTRIES_H

#include "mesh/halo.h"
#include "ranks/comm.h"

/* Tell receivers where entries begin, from where they do at the sender: elements take a route that all of them take. */
int entries_carry_first(struct comm *comm, const struct halo_exchange *route, const long long *first,
                        long long **out, struct error *err);

/* The way of the entries themselves, when both sides know where they begin. */
int entries_route(const struct halo_exchange *route, const long long *from, const long long *into,
                  struct halo_exchange *out, struct error *err);

#endif
