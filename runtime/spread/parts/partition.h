/* op_partition: which elements each rank owns. One set is parted by name, the others follow along the maps, and
 * everything moves. With one rank the arguments are checked and nothing moves. */
#ifndef OP2JIT_SPREAD_PARTS_PARTITION_H
#define OP2JIT_SPREAD_PARTS_PARTITION_H

#include <stdbool.h>

#include "base/error.h"

struct graph_partitioner;
struct op_context;
struct set;
struct map;
struct dat;

/* The arguments of op_partition; NULL where the user gave nothing. */
struct partition_call {
  const char *lib, *method;
  struct set *prime;
  struct map *map;
  struct dat *coords; /* "external": the parts themselves */
  long long *times;   /* nanoseconds that loops over each set took on this rank; NULL: no memory */
  long long busy;     /* that this rank computed since its part is what it is; 0: nobody knows */
  double rate;        /* bytes a second of its memory; 0: nobody knows */
  long long *moved;   /* is raised by how many of its elements of the prime set leave; NULL */
};

/* True for a library that cuts by coordinates. Local. */
bool partition_bisects(const char *lib);
/* The plugin for PT-Scotch; its errors name op_partition. Local. */
int partition_open(struct op_context *ctx, const struct graph_partitioner **out, struct error *err);

/* Collective. Nothing changes at an error that a user can make. */
int mesh_partition(struct op_context *ctx, const struct partition_call *call, struct error *err);

#endif
