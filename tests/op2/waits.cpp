/* waits [MODE]: loops of a program of OP2 that may wait, or may not: prints what came of them, and behind it how many chains ran in tiles.
 *
 *   plain     it promises nothing
 *   promise   op_loops_wait
 *   raw       the same, with a loop of its own over dat->data between op_mpi_halo_exchanges and op_mpi_set_dirtybit
 *   handler   the same, with an error handler of the program
 *   function  the same, with a kernel that has no text
 *   refused   the same, with one whose text is not what it declares, so that it runs as a function in the end */
#include <cstdio>
#include <cstring>
#include <vector>

#include "op_seq.h"
#include <op2jit.h>

static const int cells_count = 30000, width = 8, steps = 24;
static double rate = 1;
static double undeclared = 1;

static void spread(const double *a, const double *b, double *ra, double *rb) {
  for (int d = 0; d < 8; d++) {
    ra[d] -= rate * (a[d] - b[d]);
    rb[d] += rate * (a[d] - b[d]);
  }
}

static void settle(double *r, double *q) {
  for (int d = 0; d < 8; d++) {
    q[d] += r[d] > 0 ? 1 : r[d] < 0 ? -1 : 0;
    r[d] = 0;
  }
}

/* Its variable is no constant. */
static void add(double *q) {
  q[0] += undeclared;
}

/* It is declared to add. */
static void halve(double *q) {
  q[0] = 0.5 * q[0] + rate;
}

static void total(const double *q, double *sum) {
  *sum += q[0] + q[7];
}

static void handle(const op_error *error, void *) {
  std::printf("error %d\n", error->code);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "plain";
  op_init(argc, argv, 0);
  std::vector<double> values(cells_count * width), zeros(cells_count * width);
  std::vector<int> pairs(2 * (cells_count - 1));
  for (int i = 0; i < cells_count * width; i++)
    values[i] = (i * 7) % 1009;
  for (int e = 0; e < cells_count - 1; e++) {
    pairs[2 * e] = e;
    pairs[2 * e + 1] = e + 1;
  }
  op_set cells = op_decl_set(cells_count, "cells"), edges = op_decl_set(cells_count - 1, "edges");
  op_map ends = op_decl_map(edges, cells, 2, pairs.data(), "ends");
  op_dat q = op_decl_dat(cells, width, "double", values.data(), "q");
  op_dat r = op_decl_dat(cells, width, "double", zeros.data(), "r");
  op_decl_const(1, "double", &rate);
  if (std::strcmp(mode, "handler") == 0)
    op_set_error_handler(handle, nullptr);
  if (std::strcmp(mode, "plain") != 0)
    op_loops_wait();
  long long most = 0;
  for (int step = 0; step < steps; step++) {
    rate = std::strcmp(mode, "refused") == 0 ? 1 + step % 5 : step < 15 ? 1 : -2; /* what waits runs with the old value */
    undeclared = step;
    op_par_loop(spread, "spread", edges, op_arg_dat(q, 0, ends, width, "double", OP_READ),
                op_arg_dat(q, 1, ends, width, "double", OP_READ),
                op_arg_dat(r, 0, ends, width, "double", OP_INC),
                op_arg_dat(r, 1, ends, width, "double", OP_INC));
    op_par_loop(settle, "settle", cells, op_arg_dat(r, -1, OP_ID, width, "double", OP_RW),
                op_arg_dat(q, -1, OP_ID, width, "double", OP_RW));
    most = op_counters()->waiting > most ? op_counters()->waiting : most;
    if (std::strcmp(mode, "function") == 0)
      op_par_loop(add, "add", cells, op_arg_dat(q, -1, OP_ID, width, "double", OP_RW));
    if (std::strcmp(mode, "refused") == 0)
      op_par_loop(halve, "halve", edges, op_arg_dat(q, 0, ends, width, "double", OP_INC));
    if (std::strcmp(mode, "raw") == 0 && step % 5 == 4) {
      op_arg args[] = {op_arg_dat(q, -1, OP_ID, width, "double", OP_RW)};
      const int size = op_mpi_halo_exchanges(cells, 1, args);
      for (int i = 0; i < size * width; i++)
        ((double *)q->data)[i] += 1;
      op_mpi_set_dirtybit(1, args);
    }
  }
  double sum = 0;
  op_par_loop(total, "total", cells, op_arg_dat(q, -1, OP_ID, width, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  std::printf("sum %.17g\n", sum);
  std::printf("waited %d tiled %d\n", most > 0, op_counters()->tiled > 0);
  op_exit();
}
