// What public programs of OP2 do to nodes that edges share, for habits.sh: an OP_WRITE that writes a part, an OP_INC that is read, the
// same value written by all, and OP_RW. Each has one answer, whatever the order. The numbers of the mesh are changed in between.
#include "op_seq.h"

#include <cmath>
#include <vector>

static void clear(double *row) {
  row[0] = 0;
  row[1] = 0;
}
static void wall(const int *part, const double *speed, double *row) {
  row[*part] = *speed;
}
static void side(const int *part, const double *speed, double *row) {
  if (*part == 0)
    row[0] = *speed;
  else
    row[1] = *speed;
}
static void once(double *seen) {
  if (*seen < 2)
    *seen += 1;
}
static void larger(const double *v, double *a, double *b) {
  *a = *a > *v ? *a : *v;
  *b = *b > *v ? *b : *v;
}
static void share(const double *v, double *a) {
  *a += *v;
}
/* As in OP2's own test of reductions: OP_INC that is assigned, and a sum beside it. */
static void settle(double *x, int *count) {
  *x = 0;
  (*count)++;
}

static const int edges_of_node = 3, nnodes = 700, nedges = edges_of_node * nnodes;
static op_set edges, nodes;
static op_map ends, itself; // itself: of nodes, where nobody meets
static op_dat part, speed, v, node_part, node_speed, alone, two, sides, seen, most, sum, settled;
static int count;

static void loops() {
  op_par_loop(clear, "clear", edges, op_arg_dat(two, 0, ends, 2, "double", OP_WRITE));
  op_par_loop(wall, "wall", edges, op_arg_dat(part, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(speed, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(two, 0, ends, 2, "double", OP_WRITE));
  op_par_loop(wall, "wall_alone", nodes, op_arg_dat(node_part, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(node_speed, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(alone, 0, itself, 2, "double", OP_WRITE));
  op_par_loop(side, "side", edges, op_arg_dat(part, -1, OP_ID, 1, "int", OP_READ),
              op_arg_dat(speed, -1, OP_ID, 1, "double", OP_READ), op_arg_dat(sides, 0, ends, 2, "double", OP_WRITE));
  op_par_loop(once, "once", edges, op_arg_dat(seen, 0, ends, 1, "double", OP_INC));
  if (op_rank_count() == 1) // elsewhere an error: two rows of each edge
    op_par_loop(larger, "larger", edges, op_arg_dat(v, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(most, 0, ends, 1, "double", OP_RW), op_arg_dat(most, 1, ends, 1, "double", OP_RW));
  op_par_loop(share, "share", edges, op_arg_dat(v, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(sum, 0, ends, 1, "double", OP_RW));
  op_par_loop(share, "share_known", edges, op_arg_dat(v, -1, OP_ID, 1, "double", OP_READ),
              op_arg_may_meet(op_arg_dat(sum, 1, ends, 1, "double", OP_RW)));
}

static void settle_on_ranks() {
  op_par_loop(settle, "settle", edges, op_arg_dat(settled, 0, ends, 1, "double", OP_INC), op_arg_gbl(&count, 1, "int", OP_INC));
}

static std::vector<int> ends_of(2 * nedges), parts(nedges);
static std::vector<double> speeds(nedges), values(nedges);
static std::vector<int> itself_of(nnodes);

static void fill() {
  for (int node = 0; node < nnodes; node++)
    itself_of[static_cast<size_t>(node)] = node;
  for (size_t e = 0; e < nedges; e++) {
    const int node = static_cast<int>(e) / edges_of_node, far = (node * 7 + 1 + static_cast<int>(e) % edges_of_node) % nnodes;
    ends_of[2 * e] = node;
    ends_of[2 * e + 1] = far == node ? (node + 1) % nnodes : far;
    parts[e] = static_cast<int>(e) % edges_of_node % 2;
    speeds[e] = parts[e] + node % 5;
    values[e] = static_cast<double>(e % 13);
  }
}

struct answer {
  std::vector<double> alone, two, seen, most, sum;
  answer() : alone(2 * nnodes, 1.0), two(2 * nnodes, 0.0), seen(nnodes, 0.0), most(nnodes, 0.0), sum(nnodes, 0.0) {
  }
};

// What plain loops give after so many steps.
static answer expected(int steps) {
  answer a;
  for (size_t node = 0; node < nnodes; node++)
    a.alone[2 * node + static_cast<size_t>(parts[node])] = speeds[node];
  for (int step = 0; step < steps; step++)
    for (size_t e = 0; e < nedges; e++) {
      const auto node = static_cast<size_t>(ends_of[2 * e]), far = static_cast<size_t>(ends_of[2 * e + 1]);
      a.two[2 * node + static_cast<size_t>(parts[e])] = speeds[e];
      a.seen[node] = std::fmin(a.seen[node] + 1, 2.0);
      if (op_rank_count() == 1) {
        a.most[node] = std::fmax(a.most[node], values[e]);
        a.most[far] = std::fmax(a.most[far], values[e]);
      }
      a.sum[node] += values[e];
      a.sum[far] += values[e];
    }
  return a;
}

static void compare(const char *name, op_dat dat, const std::vector<double> &want) {
  std::vector<double> got(want.size());
  int different = 0;
  op_fetch_data(dat, got.data());
  for (size_t i = 0; op_is_root() && i < got.size(); i++)
    different += got[i] != want[i];
  op_printf("%s %d ", name, different);
}

int main(int argc, char **argv) {
  op_init(argc, argv, 0);
  const bool whole = op_is_root() != 0;
  const std::vector<double> ones(2 * nnodes, 1.0), none(nnodes, 0.0);
  fill();
  edges = op_decl_set(whole ? nedges : 0, "edges");
  nodes = op_decl_set(whole ? nnodes : 0, "nodes");
  ends = op_decl_map(edges, nodes, 2, ends_of.data(), "ends");
  itself = op_decl_map(nodes, nodes, 1, itself_of.data(), "itself");
  node_part = op_decl_dat(nodes, 1, "int", parts.data(), "node_part");
  node_speed = op_decl_dat(nodes, 1, "double", speeds.data(), "node_speed");
  alone = op_decl_dat(nodes, 2, "double", ones.data(), "alone");
  part = op_decl_dat(edges, 1, "int", parts.data(), "part");
  speed = op_decl_dat(edges, 1, "double", speeds.data(), "speed");
  v = op_decl_dat(edges, 1, "double", values.data(), "v");
  two = op_decl_dat(nodes, 2, "double", ones.data(), "two");
  sides = op_decl_dat(nodes, 2, "double", ones.data(), "sides");
  seen = op_decl_dat(nodes, 1, "double", none.data(), "seen");
  most = op_decl_dat(nodes, 1, "double", none.data(), "most");
  sum = op_decl_dat(nodes, 1, "double", none.data(), "sum");
  settled = op_decl_dat(nodes, 1, "double", ones.data(), "settled");
  if (op_rank_count() > 1)
    op_partition("random", "", nodes, nullptr, nullptr);
  for (int step = 0; step < 4; step++) {
    if (step == 2)
      op_renumber(ends);
    loops();
    if (op_rank_count() > 1)
      settle_on_ranks();
  }
  const answer all = expected(4);
  compare("alone", alone, all.alone);
  compare("two", two, all.two);
  compare("sides", sides, all.two);
  compare("seen", seen, all.seen);
  compare("most", most, all.most);
  compare("sum", sum, all.sum);
  if (op_rank_count() > 1) {
    compare("settled", settled, none);
    op_printf("count %d", count);
  }
  op_printf("\n");
  op_exit();
  return 0;
}
