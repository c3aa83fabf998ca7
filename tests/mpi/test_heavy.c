/* RANKS: long calls over few elements are cut finer for all threads in one process, also under mpirun; ranks,
 * which would have to agree on that, leave them as they are. */
#include <string.h>

#include "api/api.h"
#include "check.h"
#include "context/context.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "record/record.h"

enum { ROWS = 300, CALLS = 30 };

static int rank;

/* Each operation waits for the one before. */
static const char cook[] = OP_KERNEL(void cook(const double *x, double *left, double *right, double *sum) {
  double y = *x;
  for (int i = 0; i < 4000; i++)
    y = 0.5 * y + *x;
  *left += y;
  *right += y;
  *sum += y;
});

/* A share of a ring for each rank; what comes of a value is twice that but for the last bit. */
static void run(int ranks) {
  long long table[2 * ROWS];
  double ones[ROWS], sum = 0;
  for (int i = 0; i < ROWS; i++) {
    table[2 * i] = (long long)rank * ROWS + i;
    table[2 * i + 1] = ((long long)rank * ROWS + i + 1) % ((long long)ranks * ROWS);
    ones[i] = 1;
  }
  op_set edges = op_decl_set(ROWS, "edges"), nodes = op_decl_set(ROWS, "nodes");
  op_map map = op_decl_map_long(edges, nodes, 2, table, "map");
  op_dat x = op_decl_dat(edges, 1, "double", ones, "x"), y = op_decl_dat(nodes, 1, "double", NULL, "y");
  for (int call = 0; call < CALLS; call++)
    op_par_loop(cook, "cook", edges, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(y, 0, map, 1, "double", OP_INC), op_arg_dat(y, 1, map, 1, "double", OP_INC),
                op_arg_gbl(&sum, 1, "double", OP_INC));
  const double expected = 2.0 * ROWS * ranks * CALLS;
  check(sum > expected * (1 - 1e-12) && sum < expected * (1 + 1e-12));
}

static void check_variant(bool alone) {
  struct loop **loops = loop_records(api_context());
  check(loops != NULL);
  check(loops[0]->ready.heavy == alone);
  check((strstr(loops[0]->stats.variant, "/threads2") != NULL) == alone);
  op_printf("%s\n", loops[0]->stats.variant);
  free(loops);
}

int main(int argc, char **argv) {
  const int ranks = argc > 1 ? atoi(argv[1]) : 0;
  char tune[] = "OP2_TUNE=use", threads[] = "OP2_THREADS=2";
  char *arguments[] = {argv[0], tune, threads, NULL};
  op_init(3, arguments, 0);
  rank = op_rank();
  check(ranks > 0);
  run(ranks);
  check_variant(ranks == 1);
  op_exit();
  return 0;
}
