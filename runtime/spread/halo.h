/* Maps that need nothing more, once another map's part of the halo was exchanged. */
#ifndef OP2JIT_SPREAD_HALO_H
#define OP2JIT_SPREAD_HALO_H

#include "base/error.h"
#include "mesh/halo.h"

struct op_context;
struct map;

/* Other maps whose part of the halo is contained in this one's, on all ranks. */
struct halo_cover {
  struct halo_cover *next;
  const struct map *map;
  int count;
  const struct map *others[];
};

/* Find it in the list, or make it and put it there. Collective, once per map and epoch. */
int halo_cover_get(struct op_context *ctx, struct halo_cover **covers, const struct map *map,
                   const struct halo_cover **out, struct error *err);
void halo_covers_free(struct halo_cover *covers);

/* Rows of others' elements that somebody chose here: from the lists of those that need them to the sides of messages. */

struct op_context;
struct set;
struct map;

/* Messages that bring these copies of the set up to date: each rank names its own, ascending. Collective. */
int halo_rows_connect(struct op_context *ctx, const struct set *set, const int *copies, long count,
                      struct halo_exchange *out, struct error *err);
/* The same for the targets of these copies, which have no rows here: what arrives are rows 0, 1, .. of memory of their own,
 * as many for each copy as the map has columns. Of targets that the owner of a copy has as copies itself it sends these.
 * Collective. */
int halo_rows_connect_targets(struct op_context *ctx, const struct map *map, const int *copies, long count,
                              struct halo_exchange *out, struct error *err);

#endif
