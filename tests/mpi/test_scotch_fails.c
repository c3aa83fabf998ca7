/* PT-Scotch fails on the last rank: every rank gets an error, and if the others wait for it inside PT-Scotch, the
 * job ends.
 *
 *   test-mpi-scotch-fails comes-back|stays [OP2_...=...] */
#include "check.h"

#include <unistd.h>

#include "api/api.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"

static int rank, size;
static bool stays;

/* The plugin finds this program's before the library's. */
int SCOTCH_dgraphPart(void *graph, int parts, void *strategy, int *part);

int SCOTCH_dgraphPart(void *graph, int parts, void *strategy, int *part) {
  (void)graph;
  (void)parts;
  (void)strategy;
  (void)part;
  while (stays && rank < size - 1)
    pause();
  return rank == size - 1;
}

int main(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(argc > 1);
  stays = strcmp(argv[1], "stays") == 0;
  check(!op_init(argc, argv, 0));
  rank = op_rank();
  size = api_context()->comm->size;
  op_set cells = op_decl_set(20, "cells");
  int next[20];
  for (int i = 0; i < 20; i++)
    next[i] = (20 * rank + i + 1) % (20 * size);
  op_map map = op_decl_map(cells, cells, 1, next, "next");
  check(map);
  char words[80];
  snprintf(words, sizeof words, "rank %d: ", size - 1);
  check(op_partition("ptscotch", "", cells, map, NULL) == OP_ERR_MPI);
  check(strstr(op_last_error()->message, words) && strstr(op_last_error()->message, "SCOTCH_dgraphPart"));
  check(!op_partition("block", "", cells, NULL, NULL)); /* it goes on */
  check(!op_exit());
  if (rank == 0)
    puts("scotch: went well");
  return 0;
}
