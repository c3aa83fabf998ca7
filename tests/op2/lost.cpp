// For lost.sh: kernels that have their texts in spite of names, addresses and macros, and some that have none for a reason. An argument
// --texts leaves out those; with --once loops run whose warnings come once for each call.
#include "op_seq.h"

#define SPELLED op2_gam // by another name than the variable's
double op2gam = 2, op2_gam = 3, op2_l = 5, restrict = 7, _Large = 11;
int table[3 * 5], written[2] = {1, 2};
double changed = 1;
static double own = 13;
void declare_own();
void use_own(op_dat x);

static void names(double *x) {
  *x = op2gam + SPELLED * op2_l + restrict * _Large;
}
static int sum_of(int *m, int n);
static void points(const int *side, double *x) {
  int *m = &table[*side * 5], *last;
  const int *all = table;
  int &first = table[0];
  last = m + 4;
  for (int i = 0; i < 5; i++)
    *x += m[i] * all[i] + *last + first;
  *x += sum_of(m, 5);
}
static int sum_of(int *m, int n) {
  int sum = 0;
  for (int *at = m; at < m + n; at++)
    sum += *at;
  return sum;
}
static void writes(double *x) {
  int *w = written;
  w[0] = 1;
  *x += w[1];
}
static void changes(double *x) {
  changed += 1;
  *x += 1;
}
static void owns(double *x) {
  *x += own;
}
static void forced_in(double *x) {
  *x = FORCED(*x);
}
static void partly(double *x) {
  if (*x > 1)
    *x = 1;
}

static void once(op_set set) {
  double zeros[4] = {0};
  for (int i = 0; i < 3; i++) {
    op_dat one = op_decl_dat(set, 1, "double", zeros, "one"),
           other = op_decl_dat(set, 1, "double", zeros, "other");
    op_par_loop(partly, "partly", set, op_arg_dat(one, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(partly, "partly", set, op_arg_dat(other, -1, OP_ID, 1, "double", OP_WRITE));
  }
}

int main(int argc, char **argv) {
  const bool is_once = argc > 1 && strcmp(argv[1], "--once") == 0;
  const bool all = argc < 2 || strcmp(argv[1], "--texts") != 0;
  op_init(argc, argv, is_once ? 2 : 0);
  double values[4] = {1, 2, 3, 4};
  int side[4] = {0, 1, 2, 0};
  for (int i = 0; i < 15; i++)
    table[i] = i % 4;
  op_set set = op_decl_set(4, "set");
  op_dat x = op_decl_dat(set, 1, "double", values, "x"), s = op_decl_dat(set, 1, "int", side, "side");
  if (is_once) {
    once(set);
    op_exit();
    return 0;
  }
  op_decl_const(1, "double", &op2gam);
  op_decl_const(1, "double", &SPELLED);
  op_decl_const(1, "double", &(op2_l));
  op_decl_const(1, "double", &restrict);
  op_decl_const(1, "double", &_Large);
  op_decl_const(15, "int", table);
  op_decl_const(2, "int", written);
  op_decl_const(1, "double", &changed);
  op_decl_const(1, "double", &own);
  declare_own();
  for (int step = 0; step < 8; step++) { // values that change often are passed to loops
    op_par_loop(names, "names", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
    op_par_loop(points, "points", set, op_arg_dat(s, -1, OP_ID, 1, "int", OP_READ),
                op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    op2_l++, table[1]++;
  }
  if (all) {
    op_par_loop(writes, "writes", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    op_par_loop(changes, "changes", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    op_par_loop(owns, "owns", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
    use_own(x);
  }
  op_par_loop(forced_in, "forced_in", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
  op_fetch_data(x, values);
  printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
  op_exit();
}
