/* The example of "Extrema through maps" of docs/manual.md: around each node of a ring the least and the largest value of
 * its neighbours. */
#include <stddef.h>

#include <op2jit.h>

enum { COUNT = 12 };

static int fails(int count, const double *field, const double *low, const double *high) {
  for (int i = 0; i < count; i++) {
    const double before = field[(i + COUNT - 1) % COUNT], behind = field[(i + 1) % COUNT];
    double least = field[i], most = field[i];
    least = before < least ? before : least;
    most = before > most ? before : most;
    least = behind < least ? behind : least;
    most = behind > most ? behind : most;
    if (low[i] != least || high[i] != most)
      return 1;
  }
  return 0;
}

static const char *widen = OP_KERNEL(void widen(const double *a, const double *b, double *low_a,
                                                double *low_b, double *high_a, double *high_b) {
  if (*b < *low_a)
    *low_a = *b;
  if (*a < *low_b)
    *low_b = *a;
  if (*b > *high_a)
    *high_a = *b;
  if (*a > *high_b)
    *high_b = *a;
});

int main(int argc, char **argv) {
  int ends[2 * COUNT];
  double field[COUNT], low_was[COUNT], high_was[COUNT];
  for (int i = 0; i < COUNT; i++) {
    ends[2 * i] = i;
    ends[2 * i + 1] = (i + 1) % COUNT;
    field[i] = 7 * i % COUNT;
  }
  op_init(argc, argv, 0);
  const int count = op_is_root() ? COUNT : 0;
  op_set nodes = op_decl_set(count, "nodes"), edges = op_decl_set(count, "edges");
  op_map edge_nodes = op_decl_map(edges, nodes, 2, ends, "edge_nodes");
  op_dat value = op_decl_dat(nodes, 1, "double", field, "value");
  op_dat low = op_decl_dat(nodes, 1, "double", field, "low");
  op_dat high = op_decl_dat(nodes, 1, "double", field, "high");
  op_par_loop(widen, "widen", edges, op_arg_dat(value, 0, edge_nodes, 1, "double", OP_READ),
              op_arg_dat(value, 1, edge_nodes, 1, "double", OP_READ),
              op_arg_dat(low, 0, edge_nodes, 1, "double", OP_MIN),
              op_arg_dat(low, 1, edge_nodes, 1, "double", OP_MIN),
              op_arg_dat(high, 0, edge_nodes, 1, "double", OP_MAX),
              op_arg_dat(high, 1, edge_nodes, 1, "double", OP_MAX));
  op_fetch_data(low, low_was);
  op_fetch_data(high, high_was);
  const int failed = fails(count, field, low_was, high_was);
  return op_exit() || failed;
}
