/* From what each rank owns to what each rank keeps: local numbers, copies of others' elements, and the messages
 * that bring them up to date, as halo.h defines them. Works on arrays alone; the comm may be MPI's or a test's. */
#ifndef OP2JIT_SPREAD_PARTS_BUILD_H
#define OP2JIT_SPREAD_PARTS_BUILD_H

#include "mesh/halo.h"
#include "mesh/rows.h"
#include "ranks/comm.h"

/* The ranks that declared the elements that a rank owns. Each declared numbers that follow one another, so that a number was
 * declared by the last of these ranks whose `first` is not above it. */
struct homes {
  struct home {
    long long first; /* a number that `rank` declared: the lowest of those owned, or one below it */
    int rank;
  } * list;
  int count;
};
void homes_free(struct homes *homes);
/* One number more; of neighbours in the list that are of one rank there is one. False: no memory. */
bool homes_note(struct homes *homes, long long number, int rank);
/* Behind the last one: sort them, each rank once. */
void homes_tidy(struct homes *homes);

/* A rank's share of a mesh, in the user's global numbers. */
struct share_set {
  long long total, first; /* of all ranks; this rank declared the numbers first .. */
  struct homes homes;     /* who declared what is owned; empty: this rank did */
  long owned;
  long long *numbers; /* owned: in the order that they are to keep */
  /* The entries of a ragged map: they stand behind each other in the order of their elements, owned ones of set `of`, which
   * lies before this one in the share, and begin[e] .. begin[e + 1] - 1 are element e's. NULL: any other set. */
  long long *begin;
  int of;
};
/* Sets by their place in the share. A ragged map is one of arity 1 from its entries, which go where their elements go. */
struct share_map {
  int from, to, arity; /* arity 0: ragged */
  int entries;         /* of a ragged one: the set of its entries */
  struct rows
      rows; /* a row for each owned element of `from`; ragged: a number for each owned one of `entries` */
};
struct share {
  struct share_set *sets;
  struct share_map *maps;
  int nsets, nmaps;
  /* For each set of entries that came here since: the way from where elements were declared; else empty. NULL: for none. */
  struct halo_exchange *brought;
};

/* The result of building. */
struct built_set {
  struct distribution *spread;
  long extents[EXTENTS];
  int *order; /* extents[EXTENT_OWNED]: the place in the share's numbers of each local number */
  /* Entries of a ragged map: where those of each executed element begin, and the end; of all ranks' elements the least and
   * the most that one has. */
  long long *first;
  long shortest, longest;
};
struct built_map {
  int *table; /* extents[EXTENT_EXEC] rows of the source set, and MAP_SLACK entries */
  struct halo_exchange *halo;
};
struct built {
  struct built_set *sets;
  struct built_map *maps;
  int nsets, nmaps;
};

/* The set whose elements a map's rows go with, and how long those are. */
static inline int share_rows_of(const struct share_map *map) {
  return map->arity ? map->from : map->entries;
}
static inline int share_width(const struct share_map *map) {
  return map->arity ? map->arity : 1;
}
/* The beginning of an owned element's targets in the rows. */
static inline long share_begin(const struct share *share, const struct share_map *map, long e) {
  return map->arity ? e * map->arity : (long)share->sets[map->entries].begin[e];
}
static inline long share_targets(const struct share *share, const struct share_map *map) {
  return share_begin(share, map, share->sets[map->from].owned);
}

/* Collective. Core elements of each set, and behind them the others that are owned, keep the order of the share's numbers; unless
 * `from` is a set: then the core is numbered inwards from its copies (grown.h). -1: it is none. The share's numbers and rows are freed
 * on the way, to keep memory low. */
int build_halos(struct comm *comm, struct share *share, int from, struct built *built, struct error *err);
void built_free(struct built *built);
void share_free(struct share *share);

/* ---- elements change owners (move.c) ---- */

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

/* ---- entries of ragged maps (grown_entries.c) ---- */
/* The entries of ragged maps go where their elements go, and stand there in their order. All but the first collective. */

/* Tell receivers where entries begin, from where they do at the sender: elements take a route that all of them take. */
int entries_carry_first(struct comm *comm, const struct halo_exchange *route, const long long *first,
                        long long **out, struct error *err);

/* The way of the entries themselves, when both sides know where they begin. */
int entries_route(const struct halo_exchange *route, const long long *from, const long long *into,
                  struct halo_exchange *out, struct error *err);

#endif
