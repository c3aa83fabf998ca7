/* Subsets: some elements of a set, to run loops over. What is on the parent belongs to its elements too: in a loop over a
 * subset each map from the parent is a map of its own, a row for each of its elements, and data on the parent are
 * reached by a map of arity 1, whose targets differ. So whatever runs, checks or plans loops sees a set with maps.
 *
 * A subset is in no list of sets: nothing is declared on it, and renumbering and ranks know its parent only. It is
 * told by the numbers that the user gave, and the library's are made of them anew when those change.
 *
 * A freed subset that loops ran over is kept for a while. The same elements under the same name bring it back, and
 * with it what is known of its loops. */
#ifndef OP2JIT_MESH_SUBSET_H
#define OP2JIT_MESH_SUBSET_H

#include "mesh/mesh.h"

/* The number of freed ones that are kept. */
enum { SUBSETS_RETIRED = 8 };

struct subset {
  struct set *parent;
  int *members;     /* as the user gave them: numbers of elements that this rank declared */
  struct map *own;  /* arity 1, to the parent; its rows ascend */
  struct list maps; /* the parent's maps that loops used, of struct map */
};

/* Elements as the user says them: a list of n, or the range first .. first + n - 1. */
struct chosen {
  int n;
  bool range;
  const int *elements;
  int first;
  int base; /* that of the first element in messages; the numbers here are from 0 */
};

/* OP_ERR_SIZE, OP_ERR_ARGUMENT, OP_ERR_RANGE; OP_ERR_MEMORY. */
int subset_check(const struct set *parent, const struct chosen *chosen, const char *name, struct error *err);
/* Make one that was checked. The library's numbers are not there yet: subset_number, or the ranks' subset_spread. NULL with the error set. */
struct set *subset_new(struct op_context *ctx, struct set *parent, const struct chosen *chosen,
                       const char *name, struct error *err);
/* Gone for good. What knows it has forgotten it. */
void subset_free(struct op_context *ctx, struct set *set);
void subsets_free(struct op_context *ctx);
/* Freed, but kept: its handle is no handle any more. */
bool subset_retire(struct op_context *ctx, struct set *set);
/* Retired ones: compare parent and name, compare the elements, and let it live again, under a new handle. */
bool subset_is_like(const struct set *set, const struct set *parent, const char *name);
bool subset_has(const struct set *set, const struct chosen *chosen);
int subset_revive(struct op_context *ctx, struct set *set, struct error *err);

/* One process: its elements in the library's numbers. Cannot fail once it has memory. */
int subset_number(struct op_context *ctx, struct set *set, struct error *err);
/* The same for all of them, after a renumbering. */
void subsets_number(struct op_context *ctx);
/* The ids of their parents. */
void subsets_take_ids(struct op_context *ctx);
/* Memory for as many elements as `extents` say, whose numbers are then written to own->table, ascending; and what
 * follows from them. OP_ERR_MEMORY. */
int subset_room(struct op_context *ctx, struct set *set, const long extents[EXTENTS], struct error *err);
int subset_follow(struct op_context *ctx, struct set *set, struct error *err);

/* A map of the parent for the subset's elements, made if it is not there. NULL: no memory. */
struct map *subset_map(struct op_context *ctx, struct set *set, const struct map *map, struct error *err);
/* The map is about to be freed. */
void subsets_forget_map(struct op_context *ctx, const struct map *map);

/* The parent's elements themselves: what goes through such a map is direct. */
static inline bool map_is_own(const struct map *map) {
  return map->from->sub && map == map->from->sub->own;
}
/* The map that says what ranks exchange; NULL: nothing but the elements themselves. */
static inline const struct map *map_origin(const struct map *map) {
  return map && map->from->sub ? map->of : map;
}
/* The set whose numbers its elements have. */
static inline const struct set *set_numbered(const struct set *set) {
  return set->sub ? set->sub->parent : set;
}

#endif
