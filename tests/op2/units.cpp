// Kernels of every kind that C++ has, with the same names in two units; a kernel of 57 arguments; compiled by any
// standard from C++11.
#include "op_lib_cpp.h"

#include "op_seq.h"

#include "check.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace std;

static void own(double *x) {
  *x += 1;
}
void other_unit(op_set set, op_dat x);

struct pair_of {
  double a, b;
};
template <class T> static T larger(const T &a, const T &b) {
  return max(a, b);
}
static void cpp(const double *x, double *y) {
#if __cplusplus >= 202002L
  const auto square = []<class T>(T v) { return v * v; };
#else
  const auto square = [](double v) { return v * v; };
#endif
  const pair_of p = {square(*x), double(0.)};
  y[0] = larger(p.a, p.b);
  y[1] = isnan(*x) ? -1 : abs(-*x);
}
static void early(const int *n, int *least) noexcept {
  if (*n > 5)
    return;
  *least = min(*least, *n);
}

// clang-format off
#define EACH_OF_56(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15) M(16) M(17) M(18) M(19) M(20) \
  M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31) M(32) M(33) M(34) M(35) M(36) M(37) M(38) M(39) M(40) M(41) M(42)     \
  M(43) M(44) M(45) M(46) M(47) M(48) M(49) M(50) M(51) M(52) M(53) M(54) M(55)
// clang-format on
#define PARAMETER(i) , const double *x##i
#define TERM(i) +(i + 1) * *x##i
static void wide(double *sum EACH_OF_56(PARAMETER)) {
  *sum = 0 EACH_OF_56(TERM);
}
#define ARGUMENT(i) , op_arg_dat(i % 2 ? x : y, -1, OP_ID, 1, "double", OP_READ)

static void check_wide(op_set set, op_dat x, op_dat y, op_dat sum, int size) {
  vector<double> got(static_cast<size_t>(size)), xs(got), ys(got);
  op_par_loop(wide, "wide", set, op_arg_dat(sum, -1, OP_ID, 1, "double", OP_WRITE) EACH_OF_56(ARGUMENT));
  op_fetch_data(sum, got.data());
  op_fetch_data(x, xs.data());
  op_fetch_data(y, ys.data());
  for (size_t e = 0; e < got.size(); e++)
    CHECK(got[e] == 812 * xs[e] + 784 * ys[e]);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  const int size = 3000;
  vector<double> values(size);
  vector<int> numbers(size);
  for (int e = 0; e < size; e++) {
    values[static_cast<size_t>(e)] = e % 11 - 5;
    numbers[static_cast<size_t>(e)] = size - e;
  }
  op_set set = op_decl_set(size, "elements");
  op_dat x = op_decl_dat(set, 1, "double", values.data(), "x");
  op_dat y = op_decl_dat(set, 1, "double", values.data(), "y");
  op_dat sum = op_decl_dat(set, 1, "double", values.data(), "sum");
  op_dat two = op_decl_dat(set, 2, "double", nullptr, "two");
  op_dat n = op_decl_dat(set, 1, "int", numbers.data(), "n");
  op_par_loop(own, "own", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
  other_unit(set, x);
  op_par_loop(own, "own", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_RW));
  op_par_loop(cpp, "cpp", set, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(two, -1, OP_ID, 2, "double", OP_WRITE));
  vector<double> got(2 * values.size());
  op_fetch_data(two, got.data());
  for (size_t e = 0; e < values.size(); e++) {
    const double now = (values[e] + 1) * 10 + 1;
    CHECK(got[2 * e] == now * now && got[2 * e + 1] == fabs(now));
  }
  int least = 100;
  op_par_loop(early, "early", set, op_arg_dat(n, -1, OP_ID, 1, "int", OP_READ),
              op_arg_gbl(&least, 1, "int", OP_MIN));
  CHECK(least == 1);
  check_wide(set, x, y, sum, size);
  op_timing_output();
  op_exit();
  return wrong != 0;
}
