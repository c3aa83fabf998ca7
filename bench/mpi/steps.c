/* One rank of ./dev bench mpi (mpi.py): steps of airfoil on its part of the mesh, in batches that all begin with the same
 * values. A line for each batch, but for the first, which compiles: seconds, and what the library counted on this rank.
 *
 *   mpi_steps unread|read CELLS STEPS BATCHES [OP2_...=...]
 *
 * Each step leaves two sums over the cells in globals with handles. unread: nobody looks at them before the batch is
 * over; read: one is looked at in each step. */
#include <dlfcn.h>

#include "figures.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/airfoil/airfoil.c"
#undef main

struct figures {
  double seconds;
  struct waiting waiting;
  op_counters_t counted;
  long long delayed; /* by an MPI in between */
};

static long long delayed(void) {
  long long (*count)(void) = NULL;
  void *found = dlsym(RTLD_DEFAULT, "delayed_count");
  memcpy(&count, &found, sizeof count);
  return found ? count() : 0;
}

static struct figures look(void) {
  return (struct figures){op_wtime(), waiting_so_far(), *op_counters(), delayed()};
}

/* The sum at the end: the same in each batch. */
static double run_batch(const struct airfoil *a, const double *start, int steps, int reads, int shown) {
  double zero = 0, squares = 0;
  op_put_data(a->q, start);
  op_put_gbl(a->squares[1], &zero);
  op_barrier();
  const struct figures before = look();
  for (int i = 0; i < steps; i++) {
    iterate(a, NULL);
    if (reads)
      op_get_gbl(a->squares[1], &squares);
  }
  op_barrier(); /* runs what waits */
  const struct figures after = look();
  op_get_gbl(a->squares[1], &squares);
  const op_counters_t *b = &before.counted, *c = &after.counted;
  if (shown)
    printf("batch %d %.9e %.9e %.9e %lld %lld %lld %lld %lld %lld %.17e\n", op_rank(),
           after.seconds - before.seconds, after.waiting.seconds - before.waiting.seconds,
           after.waiting.exchanging - before.waiting.exchanging, c->exchanges - b->exchanges,
           c->messages - b->messages, c->bytes_sent - b->bytes_sent, c->late - b->late,
           c->awaited - b->awaited, after.delayed - before.delayed, squares);
  fflush(stdout);
  return squares;
}

int main(int argc, char **argv) {
  struct airfoil_mesh mesh;
  if (argc < 5 || op_init(argc, argv, 0))
    return 2;
  const int reads = strcmp(argv[1], "read") == 0, steps = atoi(argv[3]), batches = atoi(argv[4]);
  mesh_generate_share(&mesh, atoi(argv[2]), op_rank(), op_rank_count());
  declare_constants();
  const double begin = op_wtime();
  const struct airfoil a = declare_mesh(&mesh);
  mesh_free(&mesh);
  op_printf("declared %.6f\n", op_wtime() - begin);
  double *start = calloc(4 * (size_t)a.cell_count + 1, sizeof *start);
  if (!start || op_fetch_data(a.q, start))
    return 1;
  for (int i = 0; i <= batches; i++)
    run_batch(&a, start, steps, reads, i > 0);
  free(start);
  return op_exit() ? 1 : 0;
}
