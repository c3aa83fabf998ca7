// Loops that OP2 runs, and whose descriptors say that their result depends on the order of elements: no element is
// lost. An argument --mapped or --aliased runs that loop alone, --guarded one that is right for the values that it gets,
// --equal one whose writers agree; --unmade asks for the size of no set.
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

// With made-up values it goes beyond `out`.
static void put(const int *in, int *out, const int *which) {
  if (*which & 2)
    out[1] = *in;
  if (*which & 8)
    *out = *in;
}
static void zero(int *x) {
  *x = 0;
}

static int run_right(bool guarded) {
  int table[] = {0, 0, 1, 1}, start[4] = {3, 4, 5, 6}, got[4] = {0};
  op_set from = op_decl_set(4, "from"), to = op_decl_set(2, "to");
  op_map map = op_decl_map(from, to, 1, table, "map");
  op_dat in = op_decl_dat(from, 1, "int", start, "in"), out = op_decl_dat(from, 1, "int", start, "out"),
         more = op_decl_dat(from, 1, "int", start, "more"), x = op_decl_dat(to, 1, "int", start, "x");
  int which = 8;
  for (int i = 0; i < 4; i++)
    if (guarded)
      op_par_loop(put, "put", from, op_arg_dat(in, -1, OP_ID, 1, "int", OP_READ),
                  op_arg_dat(i % 2 ? more : out, -1, OP_ID, 1, "int", OP_RW), op_arg_gbl(&which, 1, "int", OP_READ));
    else
      op_par_loop(zero, "zero", from, op_arg_dat(x, 0, map, 1, "int", OP_WRITE));
  op_fetch_data(guarded ? more : x, got);
  for (int i = 0; i < (guarded ? 4 : 2); i++)
    CHECK(got[i] == (guarded ? start[i] : 0));
  op_exit();
  return wrong != 0;
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
  if (argc > 1 && (strcmp(argv[1], "--guarded") == 0 || strcmp(argv[1], "--equal") == 0))
    return run_right(argv[1][2] == 'g');
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
