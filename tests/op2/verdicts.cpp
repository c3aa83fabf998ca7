// Loops that OP2 runs, and whose descriptors say that their result depends on the order of elements: no element is
// lost. An argument --mapped or --aliased runs that loop alone; --unmade asks for the size of no set.
#include "op_seq.h"

#include "check.h"

#include <vector>

static void rise(int **ends) {
  ends[0][0] += 1;
  ends[1][0] += 1;
}
// Whatever it reads, it adds one.
static void look_and_rise(const int *left, int *right) {
  *right += *left < 0 ? 2 : 1;
}

int main(int argc, char **argv) {
  const int size = 60000, few = 500;
  std::vector<int> table(2 * static_cast<size_t>(size)), values(static_cast<size_t>(few)), left(values),
      right(values);
  for (int e = 0; e < size; e++) {
    const int a = e % few, b = (e * 7 + 1) % few;
    table[2 * static_cast<size_t>(e)] = a;
    table[2 * static_cast<size_t>(e) + 1] = b;
    left[static_cast<size_t>(a)]++;
    right[static_cast<size_t>(b)]++;
  }
  op_init(argc, argv, 0);
  if (argc > 1 && strcmp(argv[1], "--unmade") == 0)
    return op_get_size(nullptr) == 0;
  const bool mapped = argc < 2 || strcmp(argv[1], "--aliased") != 0,
             aliased = argc < 2 || strcmp(argv[1], "--mapped") != 0;
  op_set edges = op_decl_set(size, "edges"), nodes = op_decl_set(few, "nodes");
  op_map ends = op_decl_map(edges, nodes, 2, table.data(), "ends");
  op_dat x = op_decl_dat(nodes, 1, "int", values.data(), "x");
  const int rounds = 20;
  for (int i = 0; i < rounds; i++) {
    if (mapped)
      op_par_loop(rise, "rise", edges, op_arg_dat(x, -2, ends, 1, "int", OP_RW));
    if (aliased)
      op_par_loop(look_and_rise, "look_and_rise", edges, op_arg_dat(x, 0, ends, 1, "int", OP_READ),
                  op_arg_dat(x, 1, ends, 1, "int", OP_RW));
  }
  op_fetch_data(x, values.data());
  for (size_t n = 0; n < values.size(); n++)
    CHECK(values[n] == rounds * ((mapped ? left[n] + right[n] : 0) + (aliased ? right[n] : 0)));
  op_exit();
  return wrong != 0;
}
