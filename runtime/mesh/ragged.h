/* Ragged maps: each element has as many targets as it likes, none too. The entries, target k of element e, are the
 * elements of a set of their own, on which data live. Nothing but the map says which entries there are and where: they
 * stand in the order of their elements, also when those are renumbered. So an element's entries lie behind each other in
 * memory, and its k-th target's entry is where its first one is, and k more. */
#ifndef OP2JIT_MESH_RAGGED_H
#define OP2JIT_MESH_RAGGED_H

#include "mesh/mesh.h"

/* `offsets`: size(from) + 1, from 0 on, none less than the one before; the targets of element e are
 * targets[offsets[e]] .. targets[offsets[e + 1] - 1]. NULL with the error set: OP_ERR_ARGUMENT for offsets,
 * OP_ERR_MAP_RANGE for targets, OP_ERR_SIZE, OP_ERR_MEMORY. */
struct map *mesh_ragged(struct op_context *ctx, struct set *from, struct set *to, const long long *offsets,
                        const int *targets, const char *name, struct error *err);

/* A dat on its entries, one for all loops, with the user's numbers of their targets: op_arg_idx is this dat. Collective.
 * NULL: OP_ERR_MEMORY. */
struct dat *ragged_targets(struct op_context *ctx, struct map *map, struct error *err);

/* The new places of a ragged map's rows and entries, where order[new number] = old number of its elements; NULL: as they
 * are. With ranks of what is owned here: copies of others' entries stay behind them. False: no memory, and nothing is changed. Both are the caller's to free. */
bool ragged_reorder(const struct map *map, const int *order, long long **first, int **entries);

#endif
