// Maps that count from 1, as OP_MAPS_BASE_INDEX=1 says; and those that count from 0 after a second op_init. No loop waits by itself,
// since programs look at the memory of dats.
#include "op_seq.h"

#include "check.h"

static void take(const double *x, double *y) {
  *y = *x;
}

static void run(int base) {
  char name[] = "base", word[] = "OP_MAPS_BASE_INDEX=1", nothing[] = "OP_PART_SIZE=64";
  char *words[] = {name, base ? word : nothing};
  const int table[] = {base + 2, base + 0, base + 1};
  const long long longer[] = {base + 1, base + 2, base + 0};
  double x[] = {5, 6, 7}, y[3] = {0, 0, 0};
  op_init(2, words, 0);
  op_set set = op_decl_set(3, "set");
  op_map map = op_decl_map(set, set, 1, table, "map"),
         second = op_decl_map_long(set, set, 1, longer, "longer");
  op_dat from = op_decl_dat(set, 1, "double", x, "x"), to = op_decl_dat(set, 1, "double", y, "y");
  CHECK(map->map[0] == 2 && second->map[0] == 1);
  op_par_loop(take, "take", set, op_arg_dat(from, 0, map, 1, "double", OP_READ),
              op_arg_dat(to, -1, OP_ID, 1, "double", OP_WRITE));
  op_fetch_data(to, y);
  CHECK(y[0] == 7 && y[1] == 5 && y[2] == 6);
  op_exit();
}

static void run_again() {
  char name[] = "again", backend[] = "OP2_BACKEND=seq", tiles[] = "OP2_TILES=1000";
  char *words[] = {name, backend, tiles};
  double values[100] = {0};
  op_init(3, words, 0);
  op_set set = op_decl_set(100, "set");
  op_dat from = op_decl_dat(set, 1, "double", values, "from"),
         to = op_decl_dat(set, 1, "double", values, "to");
  for (int i = 0; i < 40; i++) {
    op_par_loop(take, "take", set, op_arg_dat(from, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(to, -1, OP_ID, 1, "double", OP_WRITE));
    CHECK(op2jit_counters()->waiting == 0);
  }
  CHECK(op2jit_counters()->tiled == 0);
  op_exit();
}

int main() {
  run(1);
  run(0);
  run_again();
  return wrong != 0;
}
