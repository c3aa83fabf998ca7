/* Sets, maps and constants. A set's elements have the user's numbers and the library's; tables and data
 * are kept in the library's. Renumbering and partitioning raise the mesh's epoch; whatever was derived from an
 * older one (plans, schedules, loop records) is dropped. */
#ifndef OP2JIT_MESH_H
#define OP2JIT_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/types.h"
#include "mesh/rows.h"

struct dat;
struct op_context;
struct distribution;
struct halo_exchange;
struct meeting_kept;

/* Ends of the parts of a set, in the library's numbering: [0, core) need no halo, [core, owned) do,
 * [owned, exec) are executed redundantly, [exec, nonexec) are only read. One process: all but the last two
 * parts are empty. */
enum extent { EXTENT_CORE, EXTENT_OWNED, EXTENT_EXEC, EXTENT_NONEXEC, EXTENTS };

/* How bridges number its elements: of an epoch. */
struct set_layout {
  unsigned epoch;
  long long first;
  long long *copies, *users;
};

struct set {
  int id; /* from 0, in order of declaration; of a subset: its parent's */
  char *name;
  op_set handle;
  long size;              /* elements that this rank declared */
  long long global_size;  /* of all ranks */
  long long global_first; /* the user's global number of the first element that this rank declared */
  long extents[EXTENTS];
  int *to_user;   /* library's number -> user's, NULL: the same; global under MPI, for all local elements */
  int *from_user; /* its inverse; NULL under MPI, where `spread` says where elements go */
  bool of_ranks;  /* several declared it */
  int first_said; /* what messages call the first element: 0, or 1 for programs in Fortran */
  long alike;     /* all of them declared so many elements; 0: they differ, or declared none */
  struct distribution *spread; /* over ranks (halo.h), NULL: one process, or nothing needed it yet */
  struct set_layout *layout;   /* how bridges number it (spread/coo.h); NULL: none asked */
  struct subset *sub; /* what it is of another set (subset.h): then `spread` is that set's. NULL: a set */
  const struct map *entries_of; /* a ragged map, whose entries are its elements; NULL: any other set */
};

struct map {
  int id; /* of no other map, also of none that is freed */
  char *name;
  op_map handle;
  struct set *from, *to;
  const struct map
      *of;    /* a map of a subset's elements: the parent's map that it is; NULL for the parent itself */
  int arity;  /* 0: ragged */
  int *table; /* extents[EXTENT_EXEC] rows in the library's numbering of both sets */
  /* Ragged: where each row begins in the table, and the end; as long as there is `global`, in those. Else NULL. */
  long long *first;
  long shortest, longest; /* ragged: rows, of all ranks once they are distributed */
  long equal;             /* ragged: all rows are so long; 0: they differ */
  struct set *entries;    /* ragged: the set of its entries, which follow their elements; else NULL */
  struct dat
      *targets; /* ragged: on the entries, the numbers of their targets; NULL: no loop asked for them */
  int *numbers; /* ragged, of a subset's elements: which of the entries these places are; else NULL */
  struct meeting_kept *meetings; /* what is known of elements that meet in it (meeting.h) */
  /* The part of the target's halo that the rank reaches through this map, from what it executes: all that a loop needs which
   * reads through it alone. NULL: one process. */
  struct halo_exchange *halo;
  struct rows global; /* with ranks, until mesh_distribute: the user's rows; then without entries */
};

struct constant {
  char *name;
  enum type_code type;
  int dim;
  size_t bytes;
  unsigned char *value;
  const void *live;     /* the program's own variable, which the value follows; NULL: none */
  const void *variable; /* the variable at file scope that the value was last copied from; NULL: none */
  bool several;         /* another variable of the name was declared too */
  int changes;          /* how often the value really changed */
};

/* True if its value is compiled into loops. One that changed more often than FOLD_CHANGES is passed to them instead, and so are
 * structs. */
enum { FOLD_CHANGES = 3 };
static inline bool constant_is_folded(const struct constant *c) {
  return c->changes <= FOLD_CHANGES && !type_is_struct(c->type);
}

struct mesh {
  struct list sets, maps, dats, constants, globals;
  struct list subsets, retired; /* the second: freed ones that may come again (subset.h) */
  struct list matrices;         /* matrix/ */
  struct pattern *patterns;     /* of matrices: spread/coo.h */
  long long next_pattern;
  struct list spare; /* temporaries that were freed and may come again: loop/temporary.h */
  int dying;         /* temporaries that were freed while loops wait that use them */
  int next_set, next_map, next_dat;
  unsigned epoch;          /* numbering of the sets */
  unsigned constant_epoch; /* values of the constants */
  /* Sets or maps are new since the last mesh_distribute (spread.h). Set where all ranks agreed on a declaration,
   * so that it is the same on all of them. */
  bool undistributed;
  bool copies_told; /* the user was warned that each rank declared the whole mesh */
  bool lost;        /* a change of the distribution failed half way */
  int lent;         /* dats that the program has acquired, or that are lent or placed (guest.h) */
  unsigned moved;   /* how often dats got other memory, by dat_swap: loops fill their frames anew */
};

/* All return NULL with the error set. Names may be NULL. */
struct set *mesh_set(struct op_context *ctx, long size, const char *name, struct error *err);
/* Exactly one of `table` and `long_table` is not NULL, unless `from` is empty. `given`: the table lies in these rows, which the
 * map may keep as they are; they are its own then, and `given` has none any more. May be NULL. */
struct map *mesh_map(struct op_context *ctx, struct set *from, struct set *to, int arity, const int *table,
                     const long long *long_table, struct rows *given, const char *name, struct error *err);
/* `dim` values of that type: *bytes, or OP_ERR_DIM, OP_ERR_TYPE, OP_ERR_SIZE. `what` and `name` are for messages. */
int mesh_check_values(const char *what, const char *name, int dim, const char *type, size_t *bytes,
                      struct error *err);
/* `is`: the type that the program's value has, "" if it is not known. OP_ERR_TYPE if it cannot hold the constant's. */
int mesh_constant(struct op_context *ctx, const char *name, int dim, const char *type, const void *value,
                  const char *is, struct error *err);
/* Constants that follow a variable of the program take its value; has any of these changed? */
bool mesh_constants_moved(const struct mesh *mesh);
void mesh_look_at_constants(struct op_context *ctx);
int mesh_update_constant(struct op_context *ctx, const char *name, const void *value, const char *is,
                         struct error *err);
/* OP_ERR_TYPE if a C variable of the type `is` cannot hold a constant of this type. A type that is none is found
 * later. */
int mesh_check_pointed(const struct op_context *ctx, const char *name, enum type_code declared,
                       const char *is, struct error *err);
/* Take back what was declared last, because another rank could not declare it. */
void mesh_undo_set(struct op_context *ctx, struct set *set);
void mesh_undo_map(struct op_context *ctx, struct map *map);
/* Free a set that has no maps, dats and subsets, and a map that no subset has made its own of. The sets behind it get
 * new ids, which their subsets then take. What knows them has forgotten them. */
void mesh_free_set(struct op_context *ctx, struct set *set);
void mesh_free_map(struct op_context *ctx, struct map *map);
void set_layout_free(struct set_layout *layout);
/* In no list. NULL: no memory. */
struct map *map_new(int id, struct set *from, struct set *to, int arity, const char *name);
/* The inside of a set and of a map, which is in no list. NULL is nothing. */
void set_free(struct set *set);
void map_free(struct map *map);
struct constant *mesh_find_constant(const struct mesh *mesh, const char *name);
void mesh_free(struct op_context *ctx);

/* The beginning of element e's targets in the table, and their end. */
static inline long map_begin(const struct map *map, long e) {
  return map->first ? (long)map->first[e] : e * map->arity;
}
static inline long map_end(const struct map *map, long e) {
  return map->first ? (long)map->first[e + 1] : (e + 1) * map->arity;
}

/* The number that a message gives an element, which is given by the library's number. */
static inline long set_said(const struct set *set, long element) {
  return (set->to_user ? set->to_user[element] : element) + set->first_said;
}

/* The set whose elements its rows, or of a ragged one its targets, belong to, and how many each has. */
static inline struct set *map_rows_of(const struct map *map) {
  return map->entries ? map->entries : map->from;
}
static inline int map_width(const struct map *map) {
  return map->entries ? 1 : map->arity;
}

/* A copy of a name for messages: "unnamed" for NULL. */
static inline char *name_copy(const char *name) {
  return strdup(name ? name : "unnamed");
}

#endif
