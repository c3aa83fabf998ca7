/* What op_partition costs under mpirun, on a grid like airfoil's of which each rank declares a block: seconds of each
 * partitioner with the moving of all data and the making of halos, and the most memory that a rank had.
 *
 *   mpirun -n RANKS partition [CELLS] OP2_BACKEND=native [OP2_...=...]
 *
 * With OP2_LOG=mpi a line of each partitioner says how long its parts took. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "grid.h"
#include "op2jit.h"

static long long total[SETS];

static long long first_of(int set, int rank, int ranks) {
  return total[set] * rank / ranks;
}

static void *must(void *memory) {
  if (!memory) {
    fputs("partition: no memory\n", stderr);
    exit(1);
  }
  return memory;
}

static op_map declare_map(const struct grid *grid, const op_set *sets, int m, int rank, int ranks) {
  const struct grid_map *map = &grid_maps[m];
  const long long first = first_of(map->from, rank, ranks), last = first_of(map->from, rank + 1, ranks);
  long long *rows = must(malloc((size_t)(last - first + 1) * (size_t)map->arity * sizeof *rows));
  for (long long e = first; e < last; e++)
    grid_row(grid, m, e, rows + (e - first) * map->arity);
  op_map handle = op_decl_map_long(sets[map->from], sets[map->to], map->arity, rows, "map");
  free(rows);
  return handle;
}

static op_dat declare_nodes(const struct grid *grid, op_set nodes, int rank, int ranks) {
  const long long first = first_of(NODES, rank, ranks), last = first_of(NODES, rank + 1, ranks);
  double *x = must(malloc((size_t)(last - first + 1) * 2 * sizeof *x));
  for (long long e = first; e < last; e++) {
    const long long row = e / (grid->width + 1);
    x[2 * (e - first)] = (double)(e % (grid->width + 1));
    x[2 * (e - first) + 1] = (double)row;
  }
  op_dat handle = op_decl_dat(nodes, 2, "double", x, "x");
  free(x);
  return handle;
}

static double megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

OP_KERNEL_DEF(
    largest, void largest(const double *x, double *most) {
      if (*x > *most)
        *most = *x;
    })

/* Of all ranks: the set has an element of each. */
static double most_megabytes(op_set ranks, op_dat peak) {
  double mine = megabytes(), most = 0;
  op_put_data(peak, &mine);
  op_par_loop(OP_KERNEL_OF(largest), "largest", ranks, op_arg_dat(peak, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&most, 1, "double", OP_MAX));
  return most;
}

int main(int argc, char **argv) {
  const struct grid grid = grid_of(argc > 1 && atoll(argv[1]) > 0 ? atoll(argv[1]) : 720000);
  op_set sets[SETS];
  op_map maps[MAPS];
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (op_init(argc, argv, 0))
    return 1;
  const int rank = op_rank();
  int ranks = 0;
  /* Each rank declares one element. */
  op_set each = op_decl_set(1, "ranks");
  op_dat peak = op_decl_dat(each, 1, "double", NULL, "peak");
  ranks = (int)op_get_global_size(each);
  for (int s = 0; s < SETS; s++) {
    total[s] = grid.size[s];
    sets[s] = op_decl_set((int)(first_of(s, rank + 1, ranks) - first_of(s, rank, ranks)), "set");
  }
  for (int m = 0; m < MAPS; m++)
    maps[m] = declare_map(&grid, sets, m, rank, ranks);
  op_dat x = declare_nodes(&grid, sets[NODES], rank, ranks);
  op_decl_dat(sets[CELLS], 4, "double", NULL, "q");
  op_decl_dat(sets[CELLS], 4, "double", NULL, "qold");
  op_decl_dat(sets[CELLS], 4, "double", NULL, "res");
  op_decl_dat(sets[CELLS], 1, "double", NULL, "adt");
  op_printf("%lld cells on %d ranks; %.0f MB on rank 0 when declared\n", total[CELLS], ranks, megabytes());
  const struct {
    const char *lib;
    op_map map;
    op_dat coords;
  } calls[] = {{"rcb", maps[CELL_NODES], x},
               {"inertial", maps[CELL_NODES], x},
               {"ptscotch", maps[EDGE_CELLS], NULL},
               {"block", NULL, NULL}};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    op_barrier();
    const double start = op_wtime();
    if (op_partition(calls[i].lib, "", sets[CELLS], calls[i].map, calls[i].coords)) {
      op_printf("%-10s %s\n", calls[i].lib, op_last_error()->message);
      continue;
    }
    op_barrier();
    const double seconds = op_wtime() - start;
    op_printf("%-10s %6.3f s, %.0f MB at most on any rank\n", calls[i].lib, seconds,
              most_megabytes(each, peak));
  }
  return op_exit();
}
