/* The two mistakes of docs/checks.md: ./mistakes clip, ./mistakes hand. */
#include <stdio.h>
#include <string.h>

#include <op2jit.h>

static const char *clip = OP_KERNEL(void clip(const double *x, double *y) {
  if (*x > 0)
    *y = *x;
});

static const char *hand = OP_KERNEL(void hand(const double *length, double *longest) { *longest = *length; });

enum { NODES = 6 };

int main(int argc, char **argv) {
  const int ends[] = {0, 1, 1, 2, 2, 3, 2, 4, 4, 5};
  const double values[NODES] = {1, -2, 3, -4, 5, 2};
  const char *which = argc > 1 ? argv[1] : "clip";
  op_init(argc, argv, 0);
  op_set nodes = op_decl_set(NODES, "nodes");
  op_set edges = op_decl_set(5, "edges");
  op_map edge_nodes = op_decl_map(edges, nodes, 2, ends, "edge_nodes");
  op_dat x = op_decl_dat(nodes, 1, "double", values, "x");
  op_dat y = op_decl_dat(nodes, 1, "double", NULL, "y");
  op_dat length = op_decl_dat(edges, 1, "double", values, "length");
  op_dat longest = op_decl_dat(nodes, 1, "double", NULL, "longest");

  if (strcmp(which, "clip") == 0)
    op_par_loop(clip, "clip", nodes, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));
  else
    op_par_loop(hand, "hand", edges, op_arg_dat(length, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(longest, 0, edge_nodes, 1, "double", OP_WRITE));
  printf("it has run\n");
  return op_exit();
}
