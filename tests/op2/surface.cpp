// A program as OP2's users write it, with all kinds of arguments: one rank or several, the same answers. A ring of
// edges between nodes, declared evenly over the ranks.
#include "op_seq.h"

#include "op_profile.h"
#include "op_util.h"

#include "check.h"

#include <cmath>
#include <vector>

double weight[2] = {2.0, 0.5};
int shift = 3;

namespace inner {
static double half(const double &x) {
  return x / 2;
}
inline void spread(const double *a, const double *b, double *ra, double *rb) {
  const auto mean = [](double x, double y) { return half(x) + half(y); }(*a, *b);
  *ra += weight[0] * mean;
  *rb += weight[1] * mean;
}
} // namespace inner

static void count(int *n) {
  *n += shift;
}
void vectors(const double *const *x, double **r, const int *at) {
  r[0][0] += x[1][0];
  r[1][0] += x[0][0];
  r[0][1] += at[0] >= 0 && at[1] >= 0;
}
void sums(const double *x, double *sum, double *least, double *most, double *where, const int *own,
          int *work) {
  work[0] += 1;
  *sum += *x * work[0];
  *least = MIN(*least, *x);
  if (*x > *most) {
    *most = *x;
    *where = *x + 1;
  }
  work[1] = *own;
}
void many(const double *x, double *ten) {
  for (int i = 0; i < 10; i++)
    ten[i] += i * *x;
}
void partial(const double *x, double *y) {
  if (*x > 2)
    *y = -*x;
}
void only_if(double *maybe, double *r, const int *there) {
  if (*there)
    *maybe += 1;
  *r += 1;
}
void absolute(double *x) {
  *x = std::abs(*x);
}
// Read back and assigned, as OP2 lets it.
void assigned(const double *x, double *r) {
  *r = *r + *x;
}
static void number(int *at, const int *own) {
  *at = *own;
}
static void numbers_of(int *at, const int *left, const int *right) {
  at[0] = *left;
  at[1] = *right;
}

struct mesh {
  int ranks, rank, first, size;
  static const int total = 97;
  op_set nodes, edges;
  op_map ends;
  op_dat x, r, y;
};

static mesh declare() {
  mesh m;
  m.ranks = op2jit_rank_count();
  op_rank(&m.rank);
  m.size = compute_local_size(mesh::total, m.ranks, m.rank);
  m.first = 0;
  for (int r = 0; r < m.rank; r++)
    m.first += compute_local_size(mesh::total, m.ranks, r);
  std::vector<int> table(2 * static_cast<size_t>(m.size));
  std::vector<double> x(static_cast<size_t>(m.size)), zero(2 * x.size());
  for (int e = 0; e < m.size; e++) {
    table[2 * static_cast<size_t>(e)] = m.first + e;
    table[2 * static_cast<size_t>(e) + 1] = (m.first + e + 1) % mesh::total;
    x[static_cast<size_t>(e)] = (m.first + e) * 7 % 13;
  }
  m.nodes = op_decl_set(m.size, "nodes");
  m.edges = op_decl_set(m.size, "edges");
  m.ends = op_decl_map(m.edges, m.nodes, 2, table.data(), "ends");
  m.x = op_decl_dat(m.nodes, 1, "double", x.data(), "x");
  m.r = op_decl_dat(m.nodes, 2, "double:soa", zero.data(), "r");
  m.y = op_decl_dat(m.nodes, 1, "double", zero.data(), "y");
  return m;
}

static double value_at(int node) {
  return (node + mesh::total) % mesh::total * 7 % 13;
}

static void look_at_fields(const mesh &m) {
  CHECK(m.nodes->size == m.size && strcmp(m.nodes->name, "nodes") == 0);
  CHECK(m.ends->dim == 2 && m.ends->from == m.edges && m.ends->to == m.nodes);
  CHECK(m.x->dim == 1 && m.x->size == 8 && m.x->set == m.nodes && strcmp(m.x->type, "double") == 0);
  CHECK(op_get_size(m.nodes) == mesh::total);
  CHECK(op_get_global_set_offset(m.nodes) == m.first);
  strcpy(const_cast<char *>(m.x->name), "z");
  CHECK(strcmp(m.x->name, "z") == 0);
}

static void check_spread(const mesh &m) {
  op_par_loop(inner::spread, "spread", m.edges, op_arg_dat(m.x, 0, m.ends, 1, "double", OP_READ),
              op_arg_dat(m.x, 1, m.ends, 1, "double", OP_READ),
              op_arg_dat(m.y, 0, m.ends, 1, "double", OP_INC),
              op_arg_dat(m.y, 1, m.ends, 1, "double", OP_INC));
  std::vector<double> y(static_cast<size_t>(m.size));
  op_fetch_data(m.y, y.data());
  for (int e = 0; e < m.size; e++) {
    const int n = m.first + e;
    const double expected =
        weight[0] * (value_at(n) + value_at(n + 1)) / 2 + weight[1] * (value_at(n) + value_at(n - 1)) / 2;
    CHECK(std::abs(y[static_cast<size_t>(e)] - expected) < 1e-12);
  }
}

// Elements low to high of all ranks, on each of them; nothing behind them is touched.
static void check_fetched(const mesh &m) {
  std::vector<double> all(mesh::total, -1.0);
  const int lows[] = {0, 40}, highs[] = {static_cast<int>(op_get_size(m.nodes)) - 1, 70};
  for (int i = 0; i < 2; i++) {
    std::fill(all.begin(), all.end(), -1.0);
    op_fetch_data_idx(m.x, all.data(), lows[i], highs[i]);
    for (int n = 0; n < mesh::total; n++)
      CHECK(all[static_cast<size_t>(n)] == (n <= highs[i] - lows[i] ? value_at(lows[i] + n) : -1));
  }
}

// Numbers are this rank's own, in the order that its rows have.
static void check_numbers(const mesh &m) {
  op_dat own = op_decl_dat(m.nodes, 1, "int", static_cast<int *>(NULL), "own");
  op_dat two = op_decl_dat(m.edges, 2, "int", static_cast<int *>(NULL), "two");
  op_par_loop(number, "number", m.nodes, op_arg_dat(own, -1, OP_ID, 1, "int", OP_WRITE),
              op_arg_idx(-1, OP_ID));
  op_par_loop(numbers_of, "numbers_of", m.edges, op_arg_dat(two, -1, OP_ID, 2, "int", OP_WRITE),
              op_arg_idx(0, m.ends), op_arg_idx(1, m.ends));
  for (int n = 0; n < m.nodes->size; n++)
    CHECK(reinterpret_cast<int *>(own->data)[n] == n);
  for (int e = 0; e < 2 * m.edges->size; e++)
    CHECK(reinterpret_cast<int *>(two->data)[e] == m.ends->map[e]);
}

static void check_assigned(const mesh &m) {
  std::vector<double> sums(static_cast<size_t>(m.size));
  op_dat r = op_decl_dat(m.nodes, 1, "double", sums.data(), "assigned");
  op_par_loop(assigned, "assigned", m.edges, op_arg_dat(m.x, 0, m.ends, 1, "double", OP_READ),
              op_arg_dat(r, 1, m.ends, 1, "double", OP_INC));
  op_fetch_data(r, sums.data());
  for (int e = 0; e < m.size; e++)
    CHECK(sums[static_cast<size_t>(e)] == value_at(m.first + e - 1));
}

// What OP2 knows and this machine may not have: the nearest that there is.
static void check_partitions(const mesh &m) {
  static const char *const names[][2] = {{"KAHIP", "KWAY"},    {"INERTIAL", ""}, {"BLOCK", "ANY"},
                                         {"PTSCOTCH", "KWAY"}, {"RANDOM", ""},   {"", ""}};
  for (const auto &name : names) {
    op_partition(name[0], name[1], m.nodes, m.ends, NULL);
    check_assigned(m);
  }
  op_partition("PARMETIS", "GEOM", NULL, NULL, NULL);
  op_renumber(m.ends);
  check_assigned(m);
}

static void check_memory_and_files(const mesh &m) {
  int *mine = static_cast<int *>(op_malloc(4 * sizeof *mine));
  const idx_g_t long_number = 1LL << 40;
  const uint small_number = static_cast<uint>(long_number >> 38);
  mine = static_cast<int *>(op_realloc(mine, 8 * sizeof *mine));
  CHECK(mine && small_number == 4 && MIN(1, 2) == 1 && MAX(1, 2) == 2);
  op_free(mine);
  op_dat bytes = op_decl_dat_temp_char(m.nodes, 2, "float", sizeof(float), "bytes");
  CHECK(bytes->size == 8);
  CHECK(op_free_dat_temp_char(bytes) == 0);
  double cpu, wall, later;
  op_timers(&cpu, &wall);
  op_timers(&cpu, &later);
  CHECK(later >= wall);
  char path[] = "/tmp/op2-surface-XXXXXX", line[200] = "";
  const int file = m.rank == 0 ? mkstemp(path) : -1;
  op_timings_to_csv(m.rank == 0 ? path : "");
  if (m.rank == 0) {
    CHECK(read(file, line, sizeof line - 1) > 0 && strstr(line, "kernel name") != NULL);
    close(file);
    remove(path);
  }
}

static void check_vectors(const mesh &m) {
  op_par_loop(vectors, "vectors", m.edges, op_arg_dat(m.x, -2, m.ends, 1, "double", OP_READ),
              op_arg_dat(m.r, -2, m.ends, 2, "double:soa", OP_INC), op_arg_idx(-2, m.ends));
  std::vector<double> r(2 * static_cast<size_t>(m.size));
  op_fetch_data(m.r, r.data());
  for (int e = 0; e < m.size; e++) {
    CHECK(r[2 * static_cast<size_t>(e)] == value_at(m.first + e + 1) + value_at(m.first + e - 1));
    CHECK(r[2 * static_cast<size_t>(e) + 1] == 1);
  }
}

static void check_globals(const mesh &m) {
  double sum = 1, least = 5, most = 4, where = -1, expected = 1, ten[10] = {0};
  int work[2] = {1, 0}, counted = 0;
  op_par_loop(sums, "sums", m.nodes, op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC), op_arg_gbl(&least, 1, "double", OP_MIN),
              op_arg_gbl(&most, 1, "double", OP_MAX), op_arg_info(&where, 1, "double", 3),
              op_arg_idx(-1, OP_ID), op_arg_gbl(work, 2, "int", OP_WORK));
  for (int n = 0; n < mesh::total; n++)
    expected += 2 * value_at(n);
  CHECK(sum == expected && least == 0 && most == 12 && where == 13);
  CHECK(work[0] == 1);
  op_par_loop(many, "many", m.nodes, op_arg_dat(m.x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(ten, 10, "double", OP_INC));
  CHECK(ten[9] == 9 * (expected - 1) / 2);
  for (int i = 0; i < 3; i++, shift++)
    op_par_loop(count, "count", m.nodes, op_arg_gbl(&counted, 1, "int", OP_INC));
  CHECK(counted == mesh::total * (3 + 4 + 5));
}

static void check_the_rest(const mesh &m) {
  const op_arg kept = op_arg_dat(m.y, -1, OP_ID, 1, "double", OP_WRITE);
  const op_map none = NULL;
  std::vector<double> y(static_cast<size_t>(m.size), 1.0);
  int there = 0;
  op_dat temporary = op_decl_dat_temp(m.nodes, 1, "double", static_cast<double *>(NULL), "temporary");
  for (int n = 0; n < m.nodes->size; n++)
    reinterpret_cast<double *>(m.y->data)[n] = 1;
  op_arg wrote[] = {kept};
  op_mpi_set_dirtybit(1, wrote);
  op_par_loop(partial, "partial", m.nodes, op_arg_dat(m.x, -1, none, 1, "double", OP_READ), kept);
  op_fetch_data(m.y, y.data());
  for (int e = 0; e < m.size; e++)
    CHECK(y[static_cast<size_t>(e)] == (value_at(m.first + e) > 2 ? -value_at(m.first + e) : 1));
  op_par_loop(only_if, "only_if", m.nodes, op_opt_arg_dat(there, temporary, -1, OP_ID, 1, "double", OP_RW),
              op_arg_dat(m.y, -1, OP_ID, 1, "double", OP_INC), op_arg_gbl(&there, 1, "int", OP_READ));
  op_par_loop(absolute, "absolute", m.nodes, op_arg_dat(m.y, -1, OP_ID, 1, "double", OP_RW));
  CHECK(op_free_dat_temp(temporary) == 0);
}

static void add(const double *x, double *sum) {
  *sum += *x;
}

// Of all ranks: each brings one element.
static double sum_over_ranks(double mine) {
  double sum = 0;
  op_set one = op_decl_set(1, "one");
  op_dat x = op_decl_dat(one, 1, "double", &mine, "mine");
  op_par_loop(add, "add", one, op_arg_dat(x, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&sum, 1, "double", OP_INC));
  return sum;
}

static double sum_of_raw_loop(const mesh &m) {
  double sum = 0;
  op_arg args[] = {op_arg_dat(m.x, 0, m.ends, 1, "double", OP_READ),
                   op_arg_dat(m.x, 1, m.ends, 1, "double", OP_READ)};
  const int size = op_mpi_halo_exchanges_grouped(m.edges, 2, args, 1);
  op_mpi_wait_all_grouped(2, args, 1);
  CHECK(size == m.edges->size);
  for (int e = 0; e < size; e++)
    sum += reinterpret_cast<double *>(m.x->data)[m.ends->map[2 * e + 1]];
  return sum_over_ranks(sum);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 1);
  op_profile_start("surface");
  const mesh m = declare();
  look_at_fields(m);
  op_decl_const(2, "double", weight);
  op_decl_const(1, "int", &shift);
  op_partition("PARMETIS", "KWAY", m.nodes, m.ends, NULL);
  CHECK(m.nodes->core_size <= m.nodes->size && m.ends->map != NULL);
  for (int again = 0; again < 2; again++) {
    op_profile_enter("loops");
    check_spread(m);
    check_globals(m);
    check_the_rest(m);
    for (int n = 0; n < m.nodes->size; n++)
      reinterpret_cast<double *>(m.y->data)[n] = 0;
    shift = 3;
    op_profile_exit();
  }
  check_vectors(m);
  double expected = 0;
  for (int n = 0; n < mesh::total; n++)
    expected += value_at(n);
  CHECK(sum_of_raw_loop(m) == expected);
  check_fetched(m);
  check_numbers(m);
  check_assigned(m);
  check_memory_and_files(m);
  check_partitions(m);
  check_fetched(m);
  check_numbers(m);
  op_profile_end();
  op_profile_output();
  op_exit();
  return wrong != 0;
}
