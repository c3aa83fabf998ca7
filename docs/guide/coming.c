/* The loop of docs/guide/coming.md in C, as OpenMP has it and as op2jit has it; both give the same. */
#include <math.h>
#include <stdlib.h>

#include <op2jit.h>

OP_KERNEL_DEF(
    spread, void spread(const double *x1, const double *x2, double *sum1, double *sum2) {
      double d = x2[0] - x1[0];
      sum1[0] += d;
      sum2[0] -= d;
    })

static void by_hand(int nedges, int (*ends)[2], const double *x, double *sum) {
#pragma omp parallel for
  for (int e = 0; e < nedges; e++) {
    const int a = ends[e][0], b = ends[e][1];
    double d = x[b] - x[a];
#pragma omp atomic
    sum[a] += d;
#pragma omp atomic
    sum[b] -= d;
  }
}

enum { NODES = 1000, EDGES = 3000 };

int main(int argc, char **argv) {
  static int ends[EDGES][2];
  static double x[NODES], sum[NODES], found[NODES];
  double worst = 0;
  for (int i = 0; i < NODES; i++)
    x[i] = sin(i);
  for (int e = 0; e < EDGES; e++) {
    ends[e][0] = e % NODES;
    ends[e][1] = (e * 7 + 1) % NODES;
  }
  by_hand(EDGES, ends, x, sum);

  op_init(argc, argv, 1);
  op_set nodes = op_decl_set(NODES, "nodes"), edges = op_decl_set(EDGES, "edges");
  op_map ends_of = op_decl_map(edges, nodes, 2, ends[0], "ends");
  op_dat value = op_decl_dat(nodes, 1, "double", x, "x");
  op_dat total = op_decl_dat(nodes, 1, "double", NULL, "sum");
  op_par_loop(OP_KERNEL_OF(spread), "spread", edges, op_arg_dat(value, 0, ends_of, 1, "double", OP_READ),
              op_arg_dat(value, 1, ends_of, 1, "double", OP_READ),
              op_arg_dat(total, 0, ends_of, 1, "double", OP_INC),
              op_arg_dat(total, 1, ends_of, 1, "double", OP_INC));
  op_fetch_data(total, found);
  for (int i = 0; i < NODES; i++)
    worst = fmax(worst, fabs(found[i] - sum[i]));
  op_printf("largest difference %.1e\n", worst);
  return op_exit() || worst > 1e-12;
}
