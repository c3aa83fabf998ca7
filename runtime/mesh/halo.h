/* How the elements of a set are spread over ranks: which this rank owns, which copies of others' elements it keeps
 * behind them, and which messages bring those up to date. Plain values, made by pure functions on arrays
 * (spread/parts/).
 *
 * Local numbering of a set: [0, core) owned, reaching only owned elements through any map; [core, owned) owned;
 * [owned, exec) copies of elements that reach something owned here through a map, executed here as well; [exec,
 * nonexec) copies that are only read. Copies are sorted by owner, then by the owner's own number. */
#ifndef OP2JIT_MESH_HALO_H
#define OP2JIT_MESH_HALO_H

#include <stddef.h>

#include "mesh/mesh.h"

/* One direction of messages: for neighbour i, elements[first[i]] .. elements[first[i + 1] - 1] in local numbers. */
struct halo_side {
  int count;     /* neighbours */
  int *ranks;    /* ascending */
  long *first;   /* count + 1 */
  int *elements; /* first[count] */
};

/* The messages that bring one region of a set up to date. Of two ranks' sides that face each other the elements are the same,
 * in the same order. */
struct halo_exchange {
  struct halo_side send, receive;
};

/* Copies behind those that every mesh has, for loops that run deeper (spread/rings.h). */
struct ring_set {
  long long *numbers; /* the user's global numbers of all local elements */
  long *ends;         /* [v]: behind the elements of Dv, v = 0 .. 2 * layers; then behind the fringe */
  /* [v]: what brings the elements that Dv adds up to date; v = 3 .. 2 * layers, and the fringe */
  struct halo_exchange *exchanges;
};

/* A set over the ranks. NULL in struct set: one process. */
struct distribution {
  long long *numbers; /* extents[EXTENT_NONEXEC]: the user's global number of each local element */
  struct halo_exchange exec, nonexec;
  /* From where an element was declared to where it is owned: send.elements are the user's local numbers on this rank,
   * receive.elements the library's. Elements that stay are a message to oneself. */
  struct halo_exchange home;
  struct ring_set
      rings;  /* if layers: so many layers of copies there are in all, and maps have rows for them */
  int layers; /* 0: those of every mesh alone */
};

/* The number of rows that dats on the set have, with all copies. */
long set_rows(const struct set *set);
/* rank[e] of the elements that are received: who sends them. */
void halo_note_ranks(const struct halo_side *receive, int *rank);
void halo_side_free(struct halo_side *side);
void halo_exchange_free(struct halo_exchange *exchange);
void ring_set_free(struct ring_set *rings, int layers);
void distribution_free(struct distribution *d);
/* NULL is nothing; with the struct itself. */
void map_halo_free(struct halo_exchange *halo);

/* ---- how well the numbering of a mesh suits caches ---- */
/* How often a cache of so many bytes fetches each line of the targets' rows while the rows of a table are walked in
 * their order: 1 is the best that any numbering can do. From samples, as far as they tell. 0: the targets fit in the
 * cache, or there is no memory to find it out. A pure function of arrays. */
double reach_fetches(const int *table, long rows, int arity, long targets, size_t row_bytes,
                     size_t cache_bytes);

#endif
