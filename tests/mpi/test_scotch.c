/* PT-Scotch makes no threads, since MPI was told of none, and its parts are good; also where one target is shared
 * by very many. With two threads for each rank it now and then overwrote its memory: "out of memory" on one rank,
 * and the others hung. */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>

#include "api/api.h"
#include "base/list.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "spread/spread.h"

static int rank, size;
static int threads; /* that this process made so far */

/* Everybody's call in this process, exported by this program. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *user) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
  return real(thread, attributes, work, user);
}

static void *nothing(void *user) {
  return user;
}

/* Are threads counted? */
static void try_one_thread(void) {
  pthread_t thread;
  check(!pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL));
  check(threads > 0);
}

static void part(op_set set, op_map map, long all) {
  const int before = threads;
  check(!op_partition("ptscotch", "", set, map, NULL));
  check(threads == before);
  const struct set *inside = handle_object(api_context()->handles, set, HANDLE_SET);
  const double even = (double)all / size;
  check((double)inside->extents[EXTENT_OWNED] < 1.1 * even + 1);
  check((double)inside->extents[EXTENT_OWNED] > 0.9 * even - 1);
}

/* A grid of quadrangles, by rows of them; large enough that PT-Scotch coarsens it on all ranks together. */
static void part_grid(void) {
  enum { WIDTH = 150, HEIGHT = 100 };
  const int begin = HEIGHT * rank / size, end = HEIGHT * (rank + 1) / size, cells = (end - begin) * WIDTH;
  const int nodes = (end - begin + (rank == size - 1)) * (WIDTH + 1);
  op_set cell = op_decl_set(cells, "cells"), node = op_decl_set(nodes, "nodes");
  int *corners = array_new(4 * (size_t)cells, sizeof *corners);
  for (int c = 0; c < cells; c++) {
    const int first = (begin + c / WIDTH) * (WIDTH + 1) + c % WIDTH;
    memcpy(&corners[4 * c], (int[]){first, first + 1, first + WIDTH + 1, first + WIDTH + 2}, 4 * sizeof(int));
  }
  op_map map = op_decl_map(cell, node, 4, corners, "corners");
  check(map);
  free(corners);
  for (int again = 0; again < 3; again++)
    part(cell, map, (long)WIDTH * HEIGHT);
}

/* All name the only target with all their entries. */
static void part_hub(void) {
  enum { SOURCES = 30011, ARITY = 8 };
  const int mine = SOURCES * (rank + 1) / size - SOURCES * rank / size;
  op_set source = op_decl_set(mine, "sources"), target = op_decl_set(rank == 0, "target");
  int *table = array_new((size_t)mine * ARITY, sizeof *table);
  op_map map = op_decl_map(source, target, ARITY, table, "hub");
  check(map);
  free(table);
  part(source, map, SOURCES);
}

int main(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(!op_init(argc, argv, 0));
  rank = op_rank();
  size = api_context()->comm->size;
  try_one_thread();
  part_grid();
  check(!op_exit());
  check(!op_init(argc, argv, 0));
  part_hub();
  check(!op_exit());
  if (rank == 0)
    puts("scotch: good");
  return 0;
}
