/* The example of "Advice" of docs/reports.md: a ring of cells in an order that caches do not like, and a dat too many. */
#include <stdlib.h>

#include <op2jit.h>

enum { CELLS = 1 << 19 };

static const char *flow = OP_KERNEL(void flow(const double *a, const double *b, double *da, double *db) {
  double flux = 0.1 * (*a - *b);
  *da -= flux;
  *db += flux;
});

/* The cell with this number of the ring: odd factors of numbers below a power of two meet each once. */
static int scattered(int i) {
  return (int)((unsigned)i * 2654435761u % CELLS);
}

int main(int argc, char **argv) {
  int *ends = malloc(2 * CELLS * sizeof *ends);
  if (!ends)
    return 1;
  for (int i = 0; i < CELLS; i++) {
    ends[2 * i] = scattered(i);
    ends[2 * i + 1] = scattered(i + 1);
  }
  op_init(argc, argv, 0);
  const int count = op_is_root() ? CELLS : 0;
  op_set cells = op_decl_set(count, "cells"), edges = op_decl_set(count, "edges");
  op_map edge_cells = op_decl_map(edges, cells, 2, ends, "edge_cells");
  op_dat value = op_decl_dat(cells, 1, "double", NULL, "value");
  op_dat change = op_decl_dat(cells, 1, "double", NULL, "change");
  op_decl_dat(cells, 1, "double", NULL, "old"); /* forgotten */
  const double start = op_wtime();
  do
    op_par_loop(flow, "flow", edges, op_arg_dat(value, 0, edge_cells, 1, "double", OP_READ),
                op_arg_dat(value, 1, edge_cells, 1, "double", OP_READ),
                op_arg_dat(change, 0, edge_cells, 1, "double", OP_INC),
                op_arg_dat(change, 1, edge_cells, 1, "double", OP_INC));
  while (op_rank_count() == 1 && op_wtime() < start + 0.5);
  free(ends);
  return op_exit();
}
