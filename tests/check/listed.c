/* For list.sh: loops with mistakes, and one without. It prints the sums of what they leave, and ends with op_exit's
 * status. An argument "meet" and so on runs that loop alone. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op2jit.h"

enum { NODES = 120, EDGES = 120 };

/* The prover cannot tell whether one of the two conditions always holds. */
OP_KERNEL_DEF(
    gaps, void gaps(const int *e, double *a, double *b) {
      a[0] = 1;
      b[0] = 2;
      if (*e % 10 < 3)
        a[1] = 3;
      if (*e % 10 > 3)
        a[1] = 4;
      if (*e % 20 < 7)
        b[1] = 5;
      if (*e % 20 > 7)
        b[1] = 6;
    })

/* Each pair of edges writes one node, with other values; at the first target the same. */
OP_KERNEL_DEF(
    meets, void meets(const int *e, double *a) {
      a[0] = *e > 1 ? *e : 0;
      a[1] = 1;
    })

OP_KERNEL_DEF(
    right, void right(const double *a, double *sum) { *sum += a[0]; })

/* Violated by the text alone. */
OP_KERNEL_DEF(
    half, void half(const int *e, double *a) { a[0] = *e; })

OP_KERNEL_DEF(
    divides, void divides(const int *e, double *a) {
      a[0] = 10 / (*e - 7);
      a[1] = 0;
    })

static double sum_of(op_dat dat, int set_size) {
  double values[2 * NODES], sum = 0;
  op_fetch_data(dat, values);
  for (int i = 0; i < 2 * set_size; i++)
    sum += values[i] * (i + 1);
  return sum;
}

static bool wanted(int argc, char **argv, const char *name) {
  bool any = false, found = false;
  for (int i = 1; i < argc; i++) {
    any |= strncmp(argv[i], "OP2_", 4) != 0;
    found |= strcmp(argv[i], name) == 0;
  }
  return any ? found : strcmp(name, "half") != 0 && strcmp(name, "divides") != 0 && strcmp(name, "none") != 0;
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 2, "double", access);
}

int main(int argc, char **argv) {
  int table[EDGES];
  double ones[2 * NODES], sum = 0;
  for (int e = 0; e < EDGES; e++)
    table[e] = e / 2;
  for (int i = 0; i < 2 * NODES; i++)
    ones[i] = 1;
  op_init(argc, argv, 0);
  const bool root = op_is_root();
  op_set nodes = op_decl_set(root ? NODES : 0, "nodes"), edges = op_decl_set(root ? EDGES : 0, "edges");
  op_map map = op_decl_map(edges, nodes, 1, table, "map");
  op_dat a = op_decl_dat(nodes, 2, "double", ones, "a"), b = op_decl_dat(nodes, 2, "double", ones, "b");
  op_set none = op_decl_set(0, "none");
  op_dat c = op_decl_dat(none, 2, "double", ones, "c");
  for (int call = 0; call < 4; call++) {
    if (wanted(argc, argv, "gaps"))
      op_par_loop(OP_KERNEL_OF(gaps), "gaps", nodes, op_arg_idx(-1, OP_ID), own(a, OP_WRITE),
                  own(b, OP_WRITE));
    if (wanted(argc, argv, "meets"))
      op_par_loop(OP_KERNEL_OF(meets), "meets", edges, op_arg_idx(-1, OP_ID),
                  op_arg_dat(b, 0, map, 2, "double", OP_WRITE));
    if (wanted(argc, argv, "half"))
      op_par_loop(OP_KERNEL_OF(half), "half", nodes, op_arg_idx(-1, OP_ID), own(a, OP_WRITE));
    if (wanted(argc, argv, "none"))
      op_par_loop(OP_KERNEL_OF(half), "half", none, op_arg_idx(-1, OP_ID), own(c, OP_WRITE));
    if (wanted(argc, argv, "divides"))
      op_par_loop(OP_KERNEL_OF(divides), "divides", nodes, op_arg_idx(-1, OP_ID), own(a, OP_WRITE));
    if (wanted(argc, argv, "right"))
      op_par_loop(OP_KERNEL_OF(right), "right", nodes, own(a, OP_READ),
                  op_arg_gbl(&sum, 1, "double", OP_INC));
  }
  const double sums[2] = {sum_of(a, NODES), sum_of(b, NODES)};
  op_printf("%.17g %.17g %.17g\n", sum, sums[0], sums[1]);
  return op_exit();
}
