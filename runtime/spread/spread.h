/* The mesh over ranks. What the program declares stays on the ranks that declared it until somebody needs more:
 * then local numbers, halos and messages are made of it (parts/), and made anew when maps are added or
 * elements change owners. With one rank nothing of this first part is called but mesh_distribute, which does nothing.
 * Collective but for what is marked local. */
#ifndef OP2JIT_SPREAD_H
#define OP2JIT_SPREAD_H

#include <stdbool.h>

#include "base/error.h"
#include "context/context.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"

struct op_context;
struct dat;
struct map;
struct set;
struct share;

/* True if there is more than one rank. Local. */
bool spread_wanted(const struct op_context *ctx);

/* True if nothing is left to do for mesh_distribute. The same on all ranks. Local. */
static inline bool mesh_is_distributed(const struct op_context *ctx) {
  return !ctx->comm || comm_alone(ctx->comm) || (!ctx->mesh->undistributed && !ctx->mesh->lost);
}

/* Make all sets and maps ready for loops: every set has its distribution, every map its local table. Cheap if
 * nothing was declared since. Raises the mesh's epoch if it did something. All ranks must have agreed on the call
 * that needs it. */
int mesh_distribute(struct op_context *ctx, struct error *err);

/* A change of the distribution. part[s], where elements of set s go; order[s], the old local numbers of owned
 * elements in their new order. One of them, or neither: only what maps need is done. What they hold is freed on
 * the way. */
struct spread_change {
  int **part, **order;
  int prime;           /* with parts: the set whose elements are numbered inwards first (parts/build.h) */
  struct share *share; /* what spread_share gave, to be taken over; NULL: it is still to be made */
};
int spread_apply(struct op_context *ctx, const struct spread_change *change, struct error *err);

/* OP_ERR_STATE if a change of the distribution failed half way. Local. */
int spread_check(const struct op_context *ctx, struct error *err);

/* The mesh as this rank has it, in global numbers; to be given back (share.c). */
int spread_share(struct op_context *ctx, struct share *share, struct error *err);
void spread_give_back(struct op_context *ctx, struct share *share);

/* Find the sizes of a new set over all ranks. */
int spread_declare(struct op_context *ctx, struct set *set, struct error *err);
/* The user's global number of an element that this rank declared. Local. */
static inline long long spread_number(const struct set *set, long element) {
  return set->global_first + element;
}

/* Rows in the order in which this rank declared the elements (data.c). `in` may be NULL: zeros, if all
 * ranks say so. */
int spread_put(struct op_context *ctx, struct dat *dat, const void *in, struct error *err);
/* A dat's elements low .. high, both included, none if low > high, in the user's order; and all of them. With
 * ranks those that this one declared, and collective. */
int data_fetch(struct op_context *ctx, struct dat *dat, void *out, long low, long high, struct error *err);
int data_put(struct op_context *ctx, struct dat *dat, const void *in, struct error *err);

/* The rows of a map for the elements that this rank declared, in the user's global numbers. */
int spread_fetch_map(struct op_context *ctx, const struct map *map, long long *out, struct error *err);
/* Where the targets of each element that this rank declared begin among those that all ranks declared, and the end: of a
 * ragged map. Also of one process. */
int spread_fetch_offsets(struct op_context *ctx, const struct map *map, long long *out, struct error *err);

/* Sizes, halos, neighbours, imbalance and cut rows, by ranks (report.c). */
struct text;
int spread_describe(struct op_context *ctx, struct text *out, struct error *err);

/* ---- dats as files (report.c) ---- */
/* A dat as a file, in the user's order. Written aside and renamed: the file is whole or not there. */

typedef int print_function(struct op_context *ctx, struct dat *dat, const char *path, struct error *err);
int print_text(struct op_context *ctx, struct dat *dat, const char *path, struct error *err);
int print_binary(struct op_context *ctx, struct dat *dat, const char *path, struct error *err);

/* ---- new numbers (renumber.c) ---- */
/* New numbers for the elements of all sets that maps connect; the user's own numbers stay what they are. */

/* method "rcm", "hilbert" or "rcb"; `coords` may be NULL for "rcm". Nothing changes at an error. */
int renumber_by(struct op_context *ctx, const char *method, struct map *base, struct dat *coords,
                struct error *err);

/* ---- subsets (subset_spread.c) ---- */
/* Subsets over ranks: each rank tells its elements to those that own them, and these to those that have copies. */

/* How many elements it has on all ranks. Collective. */
int subset_count(struct op_context *ctx, struct set *set, struct error *err);
/* Its elements in the library's numbers, for the parent's distribution as it is. Collective. */
int subset_spread(struct op_context *ctx, struct set *set, struct error *err);
/* The same for all subsets, after a change of the distribution. */
int subsets_spread(struct op_context *ctx, struct error *err);

/* ---- deeper copies (grow.c) ---- */
/* The mesh gets deeper copies: rings become its own, maps have rows for them, and dats room. */

/* True if a map has rows for deeper copies: ragged ones have none. */
static inline bool map_may_grow(const struct map *map) {
  return !map->first && !map->entries && !map->of;
}

/* In place of those that it has, if any. followed[m]: rings follow the mesh's m-th map (rings.h). The mesh is
 * distributed, no loop waits, and no dat is lent or placed. Raises the epoch. Collective; a failure changes nothing. */
int mesh_grow(struct op_context *ctx, int layers, const bool *followed, struct error *err);

#endif
