/* The example of "Kernels" of docs/manual.md as a whole: a field on a ring of nodes is smoothed until it stops changing. */
#include <math.h>
#include <stddef.h>

#include <op2jit.h>

static const char *spread = OP_KERNEL(
    static double weigh(double from, double to) {
      return rate * (from - to);
    } void spread(const double *a, const double *b, double *to_a, double *to_b) {
      *to_a += weigh(*b, *a);
      *to_b += weigh(*a, *b);
    });

static const char *apply = OP_KERNEL(void apply(double *change, double *value, double *largest) {
  *value += *change;
  if (fabs(*change) > *largest)
    *largest = fabs(*change);
  *change = 0;
});

enum { COUNT = 24 };

int main(int argc, char **argv) {
  int ends[2 * COUNT];
  double field[COUNT];
  for (int i = 0; i < COUNT; i++) {
    ends[2 * i] = i;
    ends[2 * i + 1] = (i + 1) % COUNT;
    field[i] = i;
  }
  op_init(argc, argv, 0);
  const int count = op_is_root() ? COUNT : 0;
  op_set nodes = op_decl_set(count, "nodes");
  op_set edges = op_decl_set(count, "edges");
  op_map edge_nodes = op_decl_map(edges, nodes, 2, ends, "edge_nodes");
  op_dat value = op_decl_dat(nodes, 1, "double", field, "value");
  op_dat change = op_decl_dat(nodes, 1, "double", NULL, "change");
  double rate = 0.1;
  op_decl_const("rate", 1, "double", &rate);

  double largest = 1;
  while (largest > 1e-9) {
    largest = 0;
    op_par_loop(spread, "spread", edges, op_arg_dat(value, 0, edge_nodes, 1, "double", OP_READ),
                op_arg_dat(value, 1, edge_nodes, 1, "double", OP_READ),
                op_arg_dat(change, 0, edge_nodes, 1, "double", OP_INC),
                op_arg_dat(change, 1, edge_nodes, 1, "double", OP_INC));
    op_par_loop(apply, "apply", nodes, op_arg_dat(change, -1, OP_ID, 1, "double", OP_RW),
                op_arg_dat(value, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&largest, 1, "double", OP_MAX));
  }
  op_fetch_data(value, field);

  double mean = (COUNT - 1) / 2.0, wrong = 0;
  for (int i = 0; i < count; i++)
    wrong = fmax(wrong, fabs(field[i] - mean));
  op_printf("largest distance from the mean: %.1e\n", wrong);
  return op_exit() || wrong > 1e-6;
}
