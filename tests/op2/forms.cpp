// For forms.sh: what a kernel may be, and what it may have in it.
#include "op_seq.h"

#include "check.h"

#include <algorithm>
#include <array>
#include <vector>

struct point {
  double x, y;
  double sum() const {
    return x + y;
  }
  point operator-(const point &other) const {
    return point{x - other.x, y - other.y};
  }
};
struct box {
  point low, high;
};
static void takes_struct(const point *a, double *b) {
  *b = a->x - 2 * a->y + a->sum();
}
static void gives_struct(const point *a, point *b) {
  b->x = a->y;
  b->y = a[0].x;
}
static void copies_struct(const point *a, point *b) {
  const point d = *a - point{1, 2};
  *b = d;
}
static void nested_struct(const point *a, const point *b, box *c) {
  c->low = *a;
  c->high.x = b->x;
  c->high.y = std::max({a->y, b->y, 0.5});
}
static void half_struct(const point *a, point *b) {
  b->x = a->x;
}

class solver {
public:
  static double twice(double a) {
    return 2 * a;
  }
  static void method(const double *x, double *y);
};
void solver::method(const double *x, double *y) {
  *y = twice(x[1]);
}
template <class T> struct of_type {
  static void method(const T *x, T *y) {
    *y = x[0] + T(0.5);
  }
};
template <int n> void instance(const double *x, double *y) {
  *y = x[0] * n;
}
namespace inner {
template <class T, class U = point> void other(const T *x, T *y) {
  const U u = {x[0], x[1]};
  *y = u.sum();
}
} // namespace inner
template <int n> void half(const double *x, double *y) {
  if (x[0] > n)
    *y = 1;
}
static void throws(const double *x, double *y) {
  if (*x < -1)
    throw 1;
  *y = *x;
}
static void takes_memory(const double *x, double *y) {
  double *p = new double(*x);
  *y = *p;
  delete p;
}
static double undeclared = 4;
static void names_variable(const double *x, double *y) {
  *y = *x * undeclared;
}
static void sets_inc(const double *x, double *left, double *right) {
  *left = std::max(*left, x[0]);
  *right = std::max(*right, x[1]);
}
static void has_file(const double *x, double *y) {
  *y = x[0] + sizeof(__FILE__);
}
#define ALIAS instance<5>

int main(int argc, char **argv) {
  const int size = 100;
  op_init(argc, argv, 0);
  std::vector<double> values(2 * size), zeros(4 * size);
  for (size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<double>(i % 7) - 1.0 / 3;
  op_set set = op_decl_set(size, "set");
  op_dat x = op_decl_dat(set, 2, "double", values.data(), "x"),
         y = op_decl_dat(set, 1, "double", zeros.data(), "y"),
         z = op_decl_dat(set, 2, "double", zeros.data(), "z"),
         w = op_decl_dat(set, 4, "double", zeros.data(), "w");
  double sums[20] = {0};
  int loops = 0;
  const auto add = [&](op_dat result) {
    std::vector<double> got(4 * size);
    op_fetch_data(result, got.data());
    for (size_t i = 0; i < got.size(); i++)
      sums[loops] += got[i] * static_cast<double>(1 + i % 5);
    loops++;
  };
#define X op_arg_dat(x, -1, OP_ID, 2, "double", OP_READ)
#define Y op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE)
#define Z op_arg_dat(z, -1, OP_ID, 2, "double", OP_WRITE)
  op_par_loop(takes_struct, "takes_struct", set, X, Y);
  add(y);
  op_par_loop(gives_struct, "gives_struct", set, X, Z);
  add(z);
  op_par_loop(copies_struct, "copies_struct", set, X, Z);
  add(z);
  op_par_loop(nested_struct, "nested_struct", set, X, op_arg_dat(z, -1, OP_ID, 2, "double", OP_READ),
              op_arg_dat(w, -1, OP_ID, 4, "double", OP_WRITE));
  add(w);
  op_par_loop(solver::method, "method", set, X, Y);
  add(y);
  op_par_loop(of_type<double>::method, "of_type", set, X, Y);
  add(y);
  op_par_loop(instance<3>, "instance", set, X, Y);
  add(y);
  op_par_loop(instance<4>, "instance4", set, X, Y);
  add(y);
  op_par_loop((inner::other<double, point>), "other", set, X, Y);
  add(y);
  op_par_loop(ALIAS, "alias", set, X, Y);
  add(y);
  if (argc > 1 && strncmp(argv[1], "--meet", 6) == 0) { // --meet, --meet-itself
    std::vector<int> table(2 * size);
    for (int e = 0; e < size; e++) {
      table[2 * static_cast<size_t>(e)] = e;
      table[2 * static_cast<size_t>(e) + 1] = argv[1][6] && e == 7 ? e : (e + 1 + e % 7) % size;
    }
    op_map map = op_decl_map(set, set, 2, table.data(), "map");
    op_par_loop(sets_inc, "sets_inc", set, X, op_arg_dat(y, 0, map, 1, "double", OP_INC),
                op_arg_dat(y, 1, map, 1, "double", OP_INC));
    add(y);
  }
  if (argc < 2) {
    op_par_loop(has_file, "has_file", set, X, Y);
    add(y);
    op_par_loop(throws, "throws", set, X, Y);
    add(y);
    op_par_loop(takes_memory, "takes_memory", set, X, Y);
    add(y);
    op_par_loop(names_variable, "names_variable", set, X, Y);
    add(y);
    op_par_loop(half_struct, "half_struct", set, X, Z);
    add(z);
    op_par_loop(half<1>, "half", set, X, Y);
    add(y);
  }
  for (int i = 0; i < loops; i++)
    printf("%.12g ", sums[i]);
  printf("\n");
  op_exit();
  return wrong != 0;
}
