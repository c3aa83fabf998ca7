/* Inside build.c and grown.c: sets and maps while their halos are built. */
#ifndef OP2JIT_SPREAD_PARTS_GROWN_H
#define OP2JIT_SPREAD_PARTS_GROWN_H

#include "build.h"
#include "directory.h"
#include "numbers.h"
#include "tally.h"

struct grown_set {
  struct numbers ids;     /* owned first, in the share's order, then all others that are met */
  long long total, first; /* of all ranks; what this rank declared begins there */
  struct homes homes;
  struct directory owners;
  long owned, core, exec, nonexec;
  int *place; /* owned: id -> local number, until `final` is there */
  int *owner; /* of ids behind the owned ones; `asked` of them are known */
  long asked;
  int *exec_ids, *nonexec_ids; /* copies, in the order of their local numbers */
  struct tally exec_from, nonexec_from;
  int *remote;       /* exec + nonexec: the copies' local numbers at their owners */
  int *final;        /* id -> local number */
  bool *reaches_out; /* owned: an element's maps, or those of its entries, name others' */
  long long *begin;  /* of entries, as in the share; NULL: any other set */
  int of;
};

struct grown_map {
  int from, to, arity; /* a ragged one is from its entries */
  int *owned, *exec;   /* rows of ids */
};

struct growth {
  struct comm *comm;
  struct grown_set *sets;
  struct grown_map *maps;
  int nsets, nmaps;
  struct tally owners; /* of all that is reached here and owned elsewhere */
  long *seen, stamp;   /* those of them that were met in this step */
};

/* Entries of ragged maps (grown_entries.c): as their elements are, so are they. Elements of sets that lie behind theirs
 * reach what their entries reach. */
void grown_reach_up(struct growth *g);
int grown_order_entries(struct growth *g, int s, struct built *built, struct error *err); /* also again */
/* The entries of the elements that are executed elsewhere too, as list_exports has them. */
int grown_list_entries(const struct growth *g, int s, const struct built *built, struct tally *to, int **list,
                       struct error *err);
/* Find where entries of copies begin, and how long rows are on all ranks. */
int grown_first(struct growth *g, int s, struct built *built, struct error *err);

/* Core elements by how far they are from copies, the farthest first: of the set, or one that a map of it leads to, and then of those
 * that maps connect with them (inwards.c). The others, and those of sets that no map connects, stay as they are. */
int grown_inwards(struct growth *g, int set, struct built *built, struct error *err);

/* All owners are known: find the copies that are reached and not executed here, local numbers, tables and messages. */
int grown_finish(struct growth *g, struct built *built, struct error *err);

#endif
