// Kernels that do other than their arguments say, by methods, lambdas and references, and some that keep their word: for safe.sh.
#include "op_seq.h"

#include "check.h"

#include <array>
#include <vector>

struct point {
  double x, y;
  point(double a, double b) : x(a), y(b) {
  }
  double dot(const point &other) const {
    return x * other.x + y * other.y;
  }
  point &shift(double by) {
    x += by;
    return *this;
  }
};
struct adder {
  double &to;
  void add(double value) {
    to += to > 0 ? value : 2 * value;
  }
};

static void whole(const double *a, double *out) {
  point p(a[0], a[1]);
  auto put = [&](int i, double value) { out[i] = value; };
  put(0, p.dot(p));
  put(1, p.shift(1).x);
}
static void each(const double *a, double *out) {
  std::array<double, 2> parts = {{a[0], a[1]}};
  int i = 0;
  for (double &part : parts)
    out[i++] = 2 * part;
}
static void half(const double *a, double *out) {
  auto put = [out](int i, double value) { out[i] = value; };
  put(0, a[0]);
}
static void reads_inc(const double *a, double *left, double *right) {
  adder to_left{*left}, to_right{*right};
  to_left.add(a[0]);
  to_right.add(a[1]);
}
static void sets_inc(const double *a, double *out) {
  out[0] = a[0];
  out[1] += 1;
}
static void writes_read(double *a, double *out) {
  *a += 1;
  *out += *a;
}
static void only_reads(const double *a, double *out) {
  *out = *a;
}

static bool is_mapped() {
  char line[4096];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    found |= strstr(line, "op2jit-clang.so") != nullptr;
  if (maps)
    fclose(maps);
  return found;
}

static op_map ends_of(op_set edges, op_set nodes, int size) {
  std::vector<int> table(2 * static_cast<size_t>(size));
  for (int e = 0; e < size; e++) {
    table[2 * static_cast<size_t>(e)] = e;
    table[2 * static_cast<size_t>(e) + 1] = (e * 7 + 1) % size;
  }
  return op_decl_map(edges, nodes, 2, table.data(), "ends");
}

int main(int argc, char **argv) {
  const int size = 3000;
  op_init(argc, argv, 0);
  std::vector<double> a(2 * size), start(2 * size, 100.0), ones(size, 1.0);
  for (size_t i = 0; i < a.size(); i++)
    a[i] = static_cast<double>(i % 13);
  op_set edges = op_decl_set(size, "edges"), nodes = op_decl_set(size, "nodes");
  op_map ends = ends_of(edges, nodes, size);
  op_dat pa = op_decl_dat(edges, 2, "double", a.data(), "a"),
         out = op_decl_dat(edges, 2, "double", start.data(), "out"),
         sum = op_decl_dat(nodes, 1, "double", ones.data(), "sum"),
         one = op_decl_dat(edges, 1, "double", ones.data(), "one"),
         two = op_decl_dat(edges, 1, "double", ones.data(), "two");
  double all[7] = {0};
  for (int loop = 0; loop < 7; loop++) {
    op_dat result = loop == 3 ? sum : loop > 4 ? two : out;
    if (loop == 0)
      op_par_loop(whole, "whole", edges, op_arg_dat(pa, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(out, -1, OP_ID, 2, "double", OP_WRITE));
    if (loop == 1)
      op_par_loop(each, "each", edges, op_arg_dat(pa, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(out, -1, OP_ID, 2, "double", OP_WRITE));
    if (loop == 2)
      op_par_loop(half, "half", edges, op_arg_dat(pa, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(out, -1, OP_ID, 2, "double", OP_WRITE));
    if (loop == 3)
      op_par_loop(reads_inc, "reads_inc", edges, op_arg_dat(pa, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(sum, 0, ends, 1, "double", OP_INC),
                  op_arg_dat(sum, 1, ends, 1, "double", OP_INC));
    if (loop == 4)
      op_par_loop(sets_inc, "sets_inc", edges, op_arg_dat(pa, -1, OP_ID, 2, "double", OP_READ),
                  op_arg_dat(out, -1, OP_ID, 2, "double", OP_INC));
    if (loop == 5)
      op_par_loop(writes_read, "writes_read", edges, op_arg_dat(one, -1, OP_ID, 1, "double", OP_READ),
                  op_arg_dat(two, -1, OP_ID, 1, "double", OP_INC));
    if (loop == 6)
      op_par_loop(only_reads, "only_reads", edges, op_arg_dat(one, -1, OP_ID, 1, "double", OP_RW),
                  op_arg_dat(two, -1, OP_ID, 1, "double", OP_WRITE));
    std::vector<double> got(2 * size);
    op_fetch_data(result, got.data());
    for (double value : got)
      all[loop] += value;
  }
  for (double value : all)
    printf("%.12g ", value);
  const op_counters_t *counters = op2jit_counters();
  printf("\ncompiles %lld hits %lld compiler %s\n", static_cast<long long>(counters->compiles),
         static_cast<long long>(counters->cache_hits), is_mapped() ? "mapped" : "not mapped");
  op_exit();
  return wrong != 0;
}
