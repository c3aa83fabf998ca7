/* What the order of data is worth. One loop reads through maps of four kinds: in order, a few places on,
 * with a stride, at random. Then a mesh whose numbering has been shuffled is read before and after
 * op_renumber, and a loop that uses one component of eight reads them stored by rows and by components. */
#include "common/memory.h"
#include "common/options.h"
#include "common/ranks.h"
#include "common/report.h"
#include "common/touch.h"
#include "twin.h"

#include <op2jit.h>
#include <stdlib.h>

OP_KERNEL_DEF(
    fetch, void fetch(const double *in, double *out) { *out = *in; })

OP_KERNEL_DEF(
    slope, void slope(const double *x1, const double *x2, double *rise) { *rise = *x2 - *x1; })

OP_KERNEL_DEF(
    pick, void pick(const double *in, double *out) { *out = in[3]; })

enum { COMPONENTS = 8 };

/* ---- timing: the middle of `repeats` ---------------------------------------------------------------*/

struct loop {
  const char *kernel, *name;
  op_set set;
  op_arg args[3];
  int count;
  op_dat result;
};

static double time_loop(const struct loop *loop, int repeats) {
  double *times = room(repeats, sizeof *times), value;
  for (int r = -1; r < repeats; r++) { /* the first compiles */
    double start = clock_seconds();
    op_par_loop_array(loop->kernel, loop->name, loop->set, loop->count, loop->args, __FILE__, __LINE__);
    wait_for(loop->result, &value);
    if (r >= 0)
      times[r] = clock_seconds() - start;
  }
  double middle = median(times, repeats);
  free(times);
  return middle;
}

static double time_twin(void (*twin)(int, const int *, const double *, double *), int count, const int *index,
                        const double *in, double *out, int repeats) {
  double *times = room(repeats, sizeof *times);
  for (int r = 0; r < repeats; r++) {
    double start = clock_seconds();
    twin(count, index, in, out);
    times[r] = clock_seconds() - start;
  }
  double middle = median(times, repeats);
  free(times);
  return middle;
}

/* ---- patterns ----------------------------------------------------------------------------------------*/

static unsigned random_below(unsigned long long *state, unsigned limit) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)((*state >> 33) % limit);
}

static void shuffle(int *numbers, int count, unsigned long long seed) {
  for (int k = 0; k < count; k++)
    numbers[k] = k;
  for (int k = count - 1; k > 0; k--) {
    int other = (int)random_below(&seed, (unsigned)k + 1), held = numbers[k];
    numbers[k] = numbers[other];
    numbers[other] = held;
  }
}

static void in_order(int *index, int count) {
  for (int k = 0; k < count; k++)
    index[k] = k;
}

static void three_on(int *index, int count) {
  for (int k = 0; k < count; k++)
    index[k] = (int)((k + 3LL) % count);
}

/* Every third place, three times round. */
static void by_threes(int *index, int count) {
  int at = 0, start = 0;
  for (int k = 0; k < count; k++) {
    index[k] = at;
    at += 3;
    if (at >= count)
      at = ++start;
  }
}

static void at_random(int *index, int count) {
  shuffle(index, count, 88172645463325252ULL);
}

struct pattern {
  const char *name;
  void (*make)(int *index, int count);
};
static const struct pattern patterns[] = {{"in order", in_order},
                                          {"three places on", three_on},
                                          {"every third", by_threes},
                                          {"at random", at_random}};

static void run_patterns(struct check *check, int count, int repeats, int compare) {
  double *in = touched_zeros(count, sizeof *in, compare), *out = room(count, sizeof *out),
         *by_hand = touched_zeros(count, sizeof *out, compare);
  int *index = touched_zeros(count, sizeof *index, compare);
  double bytes = 20.0 * count, base = 0;
  for (int k = 0; k < count; k++)
    in[k] = k + 0.5;
  op_set from = op_decl_set(declared(count), "from"), to = op_decl_set(declared(count), "to");
  op_dat source = op_decl_dat(to, 1, "double", in, "in"),
         target = op_decl_dat(from, 1, "double", NULL, "out");
  if (!compare)
    compare_header("reading through a map");
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
    patterns[p].make(index, count);
    op_map map = op_decl_map(from, to, 1, index, patterns[p].name);
    share_out(from);
    struct loop loop = {OP_KERNEL_OF(fetch),
                        "fetch",
                        from,
                        {op_arg_dat(source, 0, map, 1, "double", OP_READ),
                         op_arg_dat(target, -1, OP_ID, 1, "double", OP_WRITE)},
                        2,
                        target};
    double seconds = time_loop(&loop, repeats);
    op_fetch_data(target, out);
    gather_serial(count, index, in, by_hand);
    if (op_is_root())
      check_at_most(check, patterns[p].name, largest_difference(out, by_hand, count), 0);
    if (compare && op_is_root()) {
      base = 0;
      compare_header(patterns[p].name);
      compare_row("hand-written, serial", time_twin(gather_serial, count, index, in, by_hand, repeats), bytes,
                  &base);
      for (int k = 0; k < count; k++)
        by_hand[k] = -1;
      compare_row("hand-written, OpenMP", time_twin(gather_openmp, count, index, in, by_hand, repeats), bytes,
                  &base);
      check_at_most(check, "hand-written with OpenMP", largest_difference(out, by_hand, count), 0);
    }
    compare_row(compare ? "op2jit" : patterns[p].name, seconds, bytes, &base);
  }
  touched_free(in);
  free(out);
  touched_free(by_hand);
  touched_free(index);
}

/* ---- a shuffled mesh, before and after renumbering ---------------------------------------------------*/

/* Edges of an n x n grid, nodes and edges numbered at random. */
static int *shuffled_edges(int n, int *edge_count) {
  int nodes = n * n, edges = 2 * n * (n - 1), made = 0;
  int *node = room(nodes, sizeof *node), *edge = room(edges, sizeof *edge),
      *table = room(2LL * edges, sizeof *table);
  shuffle(node, nodes, 1);
  shuffle(edge, edges, 2);
  for (int k = 0; k < nodes; k++) {
    int next[2] = {k % n < n - 1 ? k + 1 : -1, k + n < nodes ? k + n : -1};
    for (int side = 0; side < 2; side++) {
      if (next[side] >= 0) {
        table[2 * edge[made]] = node[k];
        table[2 * edge[made++] + 1] = node[next[side]];
      }
    }
  }
  free(node);
  free(edge);
  *edge_count = edges;
  return table;
}

static void run_renumbering(struct check *check, int n, int repeats) {
  int edge_count;
  int *table = shuffled_edges(n, &edge_count);
  double *height = room((long long)n * n, sizeof *height), base = 0;
  double *before = room(edge_count, sizeof *before), *after = room(edge_count, sizeof *after);
  for (int k = 0; k < n * n; k++)
    height[k] = 1.0 / (1 + k);
  op_set nodes = op_decl_set(declared(n * n), "nodes"), edges = op_decl_set(declared(edge_count), "edges");
  op_map ends = op_decl_map(edges, nodes, 2, table, "ends");
  op_dat x = op_decl_dat(nodes, 1, "double", height, "x"),
         rise = op_decl_dat(edges, 1, "double", NULL, "rise");
  share_out(edges);
  struct loop loop = {OP_KERNEL_OF(slope),
                      "slope",
                      edges,
                      {op_arg_dat(x, 0, ends, 1, "double", OP_READ),
                       op_arg_dat(x, 1, ends, 1, "double", OP_READ),
                       op_arg_dat(rise, -1, OP_ID, 1, "double", OP_WRITE)},
                      3,
                      rise};
  double bytes = edge_count * 16.0 + 8.0 * n * n;
  compare_header("a shuffled mesh");
  compare_row("as it is", time_loop(&loop, repeats), bytes, &base);
  op_fetch_data(rise, before);
  op_renumber(ends);
  compare_row("after op_renumber", time_loop(&loop, repeats), bytes, &base);
  op_fetch_data(rise, after);
  if (op_is_root())
    check_at_most(check, "the same answer in the user's order after renumbering",
                  largest_difference(before, after, edge_count), 0);
  double worst = 0;
  for (int e = 0; op_is_root() && e < edge_count; e++)
    if (after[e] != height[table[2 * e + 1]] - height[table[2 * e]])
      worst++;
  check_at_most(check, "edges with a wrong difference", worst, 0);
  free(table);
  free(height);
  free(before);
  free(after);
}

/* ---- one component of eight, by rows and by components -------------------------------------------------*/

static void run_layout(struct check *check, int count, int repeats) {
  static const char *const types[] = {"double", "double:soa"};
  static const char *const names[] = {"one of 8 components, by rows", "one of 8, by components (:soa)"};
  double *in = room((long long)COMPONENTS * count, sizeof *in), *out = room(count, sizeof *out), base = 0;
  for (long long k = 0; k < (long long)COMPONENTS * count; k++)
    in[k] = (double)k;
  op_set elements = op_decl_set(declared(count), "elements");
  op_dat target = op_decl_dat(elements, 1, "double", NULL, "out");
  share_out(elements);
  compare_header("layout");
  for (int layout = 0; layout < 2; layout++) {
    op_dat source = op_decl_dat(elements, COMPONENTS, types[layout], in, names[layout]);
    struct loop loop = {OP_KERNEL_OF(pick),
                        "pick",
                        elements,
                        {op_arg_dat(source, -1, OP_ID, COMPONENTS, "double", OP_READ),
                         op_arg_dat(target, -1, OP_ID, 1, "double", OP_WRITE)},
                        2,
                        target};
    compare_row(names[layout], time_loop(&loop, repeats), 16.0 * count, &base);
    op_fetch_data(target, out);
    double wrong = 0;
    for (int k = 0; op_is_root() && k < count; k++)
      wrong += out[k] != (double)COMPONENTS * (double)k + 3;
    check_at_most(check, "elements with another component", wrong, 0);
  }
  free(in);
  free(out);
}

int main(int argc, char **argv) {
  int count = 1000000, repeats = 7, compare = 0;
  const struct option_entry entries[] = {
      {"size", OPTION_INT, &count, 4, 1e8, "elements"},
      {"repeats", OPTION_INT, &repeats, 1, 1000, "measurements, of which the median counts"},
      {"compare", OPTION_FLAG, &compare, 0, 0, "time the hand-written loops too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "what the order and the layout of data are worth",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  struct check check = {0};
  int side = 2;
  while ((side + 1LL) * (side + 1) <= count)
    side++;
  run_patterns(&check, count, repeats, compare);
  run_renumbering(&check, side, repeats);
  run_layout(&check, count, repeats);
  int status = check_end(&check, "access_patterns");
  op_exit();
  return status;
}
