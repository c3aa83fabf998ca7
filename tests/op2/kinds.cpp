// Arguments as programs write them where it is not the usual way: payloads of equal values in any order of
// elements, globals of many values, dims that only the running program knows, structs for rows, kernels that a
// constant points to. One rank or several.
#include "op_seq.h"

#include "op_util.h"

#include "check.h"

#include <vector>

static const int total = 4100, least_of = 8, most_of = 7;

struct ring {
  int first, size;
  op_set nodes, edges;
  op_map ends;
  op_dat x, id, r;
};

template <class T> static T value_of(int n) {
  return static_cast<T>((n + 5) % 13);
}

// As kernels of OP2 do: the value, and what goes with it.
template <class T> struct of {
  static void most(const double *x, T *best, int *where, const int *id) {
    if (static_cast<T>(*x) > *best) {
      *best = static_cast<T>(*x);
      *where = *id;
    }
  }
  static void least(const double *x, T *best, int *where, const int *id) {
    const T x_here = static_cast<T>(*x);
    *where = x_here < *best ? *id : *where;
    *best = MIN(*best, x_here);
  }
};
// Listed, where it runs in colours.
static void both(const double *a, const double *b, int *ra, int *rb, double *sum, double *best, int *where,
                 const int *left) {
  *ra += 1;
  *rb += 1;
  *sum += *a;
  if (*a - *b > *best) {
    *best = *a - *b;
    *where = *left;
  }
}

static ring declare() {
  ring m;
  int rank;
  op_rank(&rank);
  m.first = 0;
  for (int r = 0; r < rank; r++)
    m.first += compute_local_size(total, op2jit_rank_count(), r);
  m.size = compute_local_size(total, op2jit_rank_count(), rank);
  std::vector<int> table(2 * static_cast<size_t>(m.size)), id(static_cast<size_t>(m.size)), zero(id);
  std::vector<double> x(id.size());
  for (size_t e = 0; e < id.size(); e++) {
    id[e] = m.first + static_cast<int>(e);
    table[2 * e] = id[e];
    table[2 * e + 1] = (id[e] + 1) % total;
    x[e] = value_of<double>(id[e]);
  }
  m.nodes = op_decl_set(m.size, "nodes");
  m.edges = op_decl_set(m.size, "edges");
  m.ends = op_decl_map(m.edges, m.nodes, 2, table.data(), "ends");
  m.x = op_decl_dat(m.nodes, 1, "double", x.data(), "x");
  m.id = op_decl_dat(m.nodes, 1, "int", id.data(), "id");
  m.r = op_decl_dat(m.nodes, 1, "int", zero.data(), "r");
  return m;
}

template <class T> static void check_payloads_of(const ring &m, const char *type) {
  T most = 3, least = 9;
  int most_at = -1, least_at = -1;
  op_par_loop(of<T>::most, "most", m.nodes, op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&most, 1, type, OP_MAX), op_arg_info(&most_at, 1, "int", 1),
              op_arg_dat(m.id, -1, OP_ID, 1, "int", OP_READ));
  op_par_loop(of<T>::least, "least", m.nodes, op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&least, 1, type, OP_MIN), op_arg_info(&least_at, 1, "int", 1),
              op_arg_dat(m.id, -1, OP_ID, 1, "int", OP_READ));
  CHECK(most == 12 && most_at == most_of);
  CHECK(least == 0 && least_at == least_of);
  // What the user begins with wins over an equal element.
  op_par_loop(of<T>::most, "most", m.nodes, op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&most, 1, type, OP_MAX), op_arg_info(&(most_at = -7), 1, "int", 1),
              op_arg_dat(m.id, -1, OP_ID, 1, "int", OP_READ));
  CHECK(most == 12 && most_at == -7);
}

static void check_payload_of_edges(const ring &m) {
  double sum = 0, best = 0;
  int where = -1;
  op_par_loop(both, "both", m.edges, op_arg_dat(m.x, 0, m.ends, 1, "double", OP_READ),
              op_arg_dat(m.x, 1, m.ends, 1, "double", OP_READ), op_arg_dat(m.r, 0, m.ends, 1, "int", OP_INC),
              op_arg_dat(m.r, 1, m.ends, 1, "int", OP_INC), op_arg_gbl(&sum, 1, "double", OP_INC),
              op_arg_gbl(&best, 1, "double", OP_MAX), op_arg_info(&where, 1, "int", 5),
              op_arg_dat(m.id, 0, m.ends, 1, "int", OP_READ));
  // 12 is followed by 0, first at node 7.
  CHECK(best == 12 && where == most_of && sum > 0);
  std::vector<int> r(static_cast<size_t>(m.size));
  op_fetch_data(m.r, r.data());
  for (size_t n = 0; n < r.size(); n++)
    CHECK(r[n] == 2);
}

static void many(const double *x, const double *twelve, int *nine, double *one) {
  for (int i = 0; i < 9; i++)
    nine[i] += static_cast<int>(*x) == i;
  *one += twelve[11];
}

static void check_globals(const ring &m) {
  double twelve[12] = {0}, one = 0;
  int nine[9] = {0}, sum = 0;
  twelve[11] = 2;
  const int known_when_it_runs[2] = {op2jit_rank_count() > 0 ? 12 : 1, op2jit_rank_count() > 0 ? 1 : 2};
  op_par_loop(many, "many", m.nodes, op_arg_dat(m.x, -1, OP_ID, known_when_it_runs[1], "double", OP_READ),
              op_arg_gbl(twelve, known_when_it_runs[0], "double", OP_READ),
              op_arg_gbl(nine, 9, "int", OP_INC), op_arg_gbl(&one, known_when_it_runs[1], "double", OP_INC));
  for (int i = 0; i < 9; i++)
    sum += nine[i];
  CHECK(one == 2.0 * total);
  CHECK(nine[0] == 315 && sum == 9 * 315 + 4);
}

struct pair_of {
  double a, b;
};
static void turn(pair_of *p) {
  *p = pair_of{p->b, p->a};
}
static void sums_of(const pair_of *p, const pair_of *q, double *out) {
  *out += p->a + 10 * q->b;
}

static void check_structs(const ring &m) {
  std::vector<double> rows(2 * static_cast<size_t>(m.size)), zero(static_cast<size_t>(m.size));
  for (size_t i = 0; i < rows.size(); i += 2) {
    rows[i] = m.first + static_cast<int>(i / 2);
    rows[i + 1] = 1;
  }
  op_dat pairs = op_decl_dat(m.nodes, 2, "double", rows.data(), "pairs");
  op_dat out = op_decl_dat(m.nodes, 1, "double", zero.data(), "out");
  // Declared behind op_partition: loops take it there.
  op_par_loop(turn, "turn", m.nodes, op_arg_dat(pairs, -1, OP_ID, 2, "double", OP_RW));
  op_par_loop(sums_of, "sums_of", m.edges, op_arg_dat(pairs, 0, m.ends, 2, "double", OP_READ),
              op_arg_dat(pairs, 1, m.ends, 2, "double", OP_READ),
              op_arg_dat(out, 0, m.ends, 1, "double", OP_INC));
  op_fetch_data(out, zero.data());
  for (size_t n = 0; n < zero.size(); n++)
    CHECK(zero[n] == 1 + 10 * ((m.first + static_cast<int>(n) + 1) % total));
}

static void set_seven(double *x) {
  *x = 7;
}
static void leave(double *) {
}
#if __cplusplus >= 201703L
constexpr void (*const chosen)(double *) = sizeof(int) == 4 ? set_seven : leave;
#else
static void (*const other)(double *) = leave;
static void chosen(double *x) {
  other(x);
  set_seven(x);
}
#endif
template <int a, int b> static int difference() {
  return a - b;
}

static void check_kernels(const ring &m) {
  op_dat x = op_decl_dat(m.nodes, 1, "double", static_cast<double *>(NULL), "x of kernels");
  std::vector<double> got(static_cast<size_t>(m.size));
  // A comma that the preprocessor takes for one between arguments.
  op_par_loop(chosen, "chosen", m.nodes, op_arg_dat(x, -1, OP_ID, difference<3, 2>(), "double", OP_WRITE));
  op_fetch_data(x, got.data());
  for (double g : got)
    CHECK(g == 7);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  const ring m = declare();
  check_payloads_of<double>(m, "double");
  op_partition("INERTIAL", "", m.nodes, NULL, NULL);
  for (int again = 0; again < 2; again++) {
    check_payloads_of<double>(m, "double");
    check_payloads_of<float>(m, "float");
    check_payloads_of<int>(m, "int");
  }
  check_payload_of_edges(m);
  check_globals(m);
  check_structs(m);
  check_kernels(m);
  op_exit();
  return wrong != 0;
}
