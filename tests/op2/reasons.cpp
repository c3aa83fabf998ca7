// For reasons.sh: a kernel that depends on -D and on a header behind -I, one with a header that kernels have not, a plain one, and one that shows what it does from its second call on.
#include "op_seq.h"

#include "inner/deep.h"

#include <complex>
#include <vector>

#ifdef NEEDED
NEEDED thing;
#endif
#ifndef SCALE
#define SCALE 1
#endif

static void scaled(const double *x, double *y) {
  *y = SCALE * deeper(*x);
}
static void turned(const double *x, double *y) {
  *y += std::norm(std::complex<double>(*x, 1));
}
static void later(const double *x, double *y) {
  *y += SCALE * *x;
}
static void plain(const double *x, double *y) {
  *y += *x;
}

int main(int argc, char **argv) {
  const int size = 100;
  op_init(argc, argv, 0);
  std::vector<double> values(size);
  for (int i = 0; i < size; i++)
    values[static_cast<size_t>(i)] = i % 7;
  op_set set = op_decl_set(size, "set");
  std::vector<double> zeros(size);
  op_dat zero = op_decl_dat(set, 1, "double", zeros.data(), "zero"),
         x = op_decl_dat(set, 1, "double", values.data(), "x"),
         y = op_decl_dat(set, 1, "double", values.data(), "y");
  op_par_loop(scaled, "scaled", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE));
  op_par_loop(turned, "turned", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
  for (int step = 0; step < 2; step++) {
    op_par_loop(later, "later", set, op_arg_dat(zero, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(y, -1, OP_ID, 1, "double", OP_RW));
    op_par_loop(plain, "plain", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
                op_arg_dat(zero, -1, OP_ID, 1, "double", OP_RW));
  }
  op_fetch_data(y, values.data());
  double sum = 0;
  for (double value : values)
    sum += value;
  printf("%g\n", sum);
  op_exit();
}
