/* Elements that meet in what they write (OP_RW, OP_WRITE): none of it is lost, on any backend and in any form of running.
 * What they do commutes, so that the answer is the same in any order; all values are whole numbers. */
#include "support.h"

enum { NODES = 5000, EACH = 3, PAIRS = EACH * NODES };

OP_KERNEL_DEF(
    clear, void clear(const int *axis, double *row) { row[*axis] = 0; })
OP_KERNEL_DEF(
    count, void count(const double *by, double *x) { *x += *by; })
OP_KERNEL_DEF(
    both, void both(double *a, double *b, double *seen) {
      *a += 1;
      *b += 2;
      *seen += 1;
    })
OP_KERNEL_DEF(
    scale, void scale(double *x) { *x *= 2; })
OP_KERNEL_DEF(
    all, void all(int n, double **x) {
      for (int k = 0; k < n; k++)
        OP_ROW(x, k)[0] += 1;
    })

OP_KERNEL_DEF(
    put, void put(const int *axis, const double *by, double *row) { row[*axis] = *by; })

struct mesh {
  op_set nodes, pairs;
  op_map node, ends; /* of pairs: one node that EACH have; and the one behind it */
  op_dat which, weight;
};

static void fill_pairs(int *node, int *axis, int *ends) {
  for (int i = 0; i < PAIRS; i++) {
    node[i] = ends[2 * i] = i / EACH;
    ends[2 * i + 1] = (i / EACH + 1) % NODES;
    axis[i] = i % EACH;
  }
}

static struct mesh make(void) {
  static int node[PAIRS], axis[PAIRS], ends[2 * PAIRS];
  static double weight[PAIRS];
  struct mesh m;
  fill_pairs(node, axis, ends);
  for (int i = 0; i < PAIRS; i++)
    weight[i] = axis[i] + 1;
  m.nodes = op_decl_set(NODES, "nodes");
  m.pairs = op_decl_set(PAIRS, "pairs");
  m.node = op_decl_map(m.pairs, m.nodes, 1, node, "node");
  m.ends = op_decl_map(m.pairs, m.nodes, 2, ends, "ends");
  m.which = op_decl_dat(m.pairs, 1, "int", axis, "which");
  m.weight = op_decl_dat(m.pairs, 1, "double", weight, "weight");
  assert_non_null(m.weight);
  return m;
}

static op_dat filled(op_set set, int dim, double value, const char *name) {
  static double values[3 * NODES];
  for (int i = 0; i < 3 * NODES; i++)
    values[i] = value;
  return op_decl_dat(set, dim, "double", values, name);
}

static void all_are(op_dat dat, int count, double value) {
  static double found[3 * NODES];
  works(op_fetch_data(dat, found));
  for (int i = 0; i < count; i++)
    if (found[i] != value)
      fail_msg("value %d is %g, not %g", i, found[i], value);
}

LIBRARY_TEST(components_of_one_row_are_written_by_several) {
  const struct mesh m = make();
  const op_dat force = filled(m.nodes, 3, 1, "force");
  works(op_par_loop(OP_KERNEL_OF(clear), "clear", m.pairs, direct(m.which, 1, "int", OP_READ),
                    op_arg_dat(force, 0, m.node, 3, "double", OP_RW)));
  all_are(force, 3 * NODES, 0);
}

LIBRARY_TEST(what_is_read_and_written_by_several_is_not_lost) {
  const struct mesh m = make();
  const op_dat x = filled(m.nodes, 1, 0, "x");
  for (int step = 0; step < 3; step++)
    works(op_par_loop(OP_KERNEL_OF(count), "count", m.pairs, direct(m.weight, 1, "double", OP_READ),
                      op_arg_may_meet(op_arg_dat(x, 0, m.node, 1, "double", OP_RW))));
  all_are(x, NODES, 3 * 6);
  works(op_renumber(m.ends));
  works(op_par_loop(OP_KERNEL_OF(count), "count", m.pairs, direct(m.weight, 1, "double", OP_READ),
                    op_arg_dat(x, 0, m.node, 1, "double", OP_RW)));
  all_are(x, NODES, 4 * 6);
}

LIBRARY_TEST(two_arguments_meet_by_different_elements) {
  const struct mesh m = make();
  const op_dat x = filled(m.nodes, 1, 0, "x"), seen = filled(m.nodes, 1, 0, "seen");
  for (int step = 0; step < 2; step++)
    works(op_par_loop(OP_KERNEL_OF(both), "both", m.pairs,
                      op_arg_may_meet(op_arg_dat(x, 0, m.ends, 1, "double", OP_RW)),
                      op_arg_may_meet(op_arg_dat(x, 1, m.ends, 1, "double", OP_RW)),
                      op_arg_dat(seen, 0, m.node, 1, "double", OP_INC)));
  all_are(x, NODES, 2 * EACH * 3);
  all_are(seen, NODES, 2 * EACH);
}

LIBRARY_TEST(own_row_and_neighbour_meet) {
  static int next[NODES];
  for (int i = 0; i < NODES; i++)
    next[i] = (i + 1) % NODES;
  const op_set nodes = op_decl_set(NODES, "nodes");
  const op_map right = op_decl_map(nodes, nodes, 1, next, "right");
  const op_dat x = filled(nodes, 1, 0, "x"), seen = filled(nodes, 1, 0, "seen");
  works(op_par_loop(OP_KERNEL_OF(both), "both", nodes, direct(x, 1, "double", OP_RW),
                    op_arg_dat(x, 0, right, 1, "double", OP_RW), direct(seen, 1, "double", OP_RW)));
  all_are(x, NODES, 3);
  all_are(seen, NODES, 1);
}

LIBRARY_TEST(elements_of_a_subset_meet) {
  static int chosen[PAIRS];
  const struct mesh m = make();
  const op_dat x = filled(m.nodes, 1, 1, "x");
  for (int i = 0; i < PAIRS; i++)
    chosen[i] = PAIRS - 1 - i;
  const op_set some = op_decl_subset(m.pairs, PAIRS, chosen, "some");
  works(op_par_loop(OP_KERNEL_OF(scale), "scale", some, op_arg_dat(x, 0, m.node, 1, "double", OP_RW)));
  all_are(x, NODES, 8);
}

LIBRARY_TEST(rows_of_a_ragged_map_meet) {
  static long long begin[NODES + 1];
  static int targets[4 * NODES];
  static double expected[NODES], found[NODES];
  for (int i = 0; i < NODES; i++) {
    begin[i + 1] = begin[i] + 1 + i % 4;
    for (int k = 0; k < 1 + i % 4; k++) {
      targets[begin[i] + k] = (i + 7 * k) % NODES;
      expected[(i + 7 * k) % NODES] += 1;
    }
  }
  const op_set rows = op_decl_set(NODES, "rows"), nodes = op_decl_set(NODES, "nodes");
  const op_map reach = op_decl_map_ragged(rows, nodes, begin, targets, "reach");
  const op_dat x = filled(nodes, 1, 0, "x");
  works(op_par_loop(OP_KERNEL_OF(all), "all", rows, op_arg_dat(x, OP_ALL, reach, 1, "double", OP_RW)));
  works(op_fetch_data(x, found));
  assert_memory_equal(found, expected, sizeof found);
}

/* OP_WRITE of a component that data choose is not proved to write all of the row: the rest stays as it was. Elements that
 * meet, and elements that do not, which strips and devices take several of at a time. */
LIBRARY_TEST(the_rest_of_a_row_stays) {
  const struct mesh m = make();
  static int own[NODES], axis[NODES];
  static double by[NODES], values[3 * NODES];
  for (int i = 0; i < NODES; i++) {
    own[i] = (7 * i) % NODES;
    axis[i] = i % 3;
    by[i] = 4;
  }
  const op_set spots = op_decl_set(NODES, "spots");
  const op_map spot = op_decl_map(spots, m.nodes, 1, own, "spot");
  const op_dat which = op_decl_dat(spots, 1, "int", axis, "which"),
               value = op_decl_dat(spots, 1, "double", by, "by");
  const op_dat apart = filled(m.nodes, 3, 9, "apart"), direct_row = filled(spots, 3, 9, "direct"),
               met = filled(m.nodes, 3, 9, "met");
  works(op_par_loop(OP_KERNEL_OF(put), "put", spots, direct(which, 1, "int", OP_READ),
                    direct(value, 1, "double", OP_READ), op_arg_dat(apart, 0, spot, 3, "double", OP_WRITE)));
  works(op_par_loop(OP_KERNEL_OF(put), "put", spots, direct(which, 1, "int", OP_READ),
                    direct(value, 1, "double", OP_READ), direct(direct_row, 3, "double", OP_WRITE)));
  works(op_par_loop(OP_KERNEL_OF(put), "put", m.pairs, direct(m.which, 1, "int", OP_READ),
                    direct(m.weight, 1, "double", OP_READ),
                    op_arg_may_meet(op_arg_dat(met, 0, m.node, 3, "double", OP_WRITE))));
  works(op_fetch_data(apart, values));
  for (int i = 0; i < NODES; i++)
    for (int c = 0; c < 3; c++)
      assert_true(values[3 * own[i] + c] == (c == axis[i] ? 4 : 9));
  works(op_fetch_data(direct_row, values));
  for (int i = 0; i < NODES; i++)
    for (int c = 0; c < 3; c++)
      assert_true(values[3 * i + c] == (c == axis[i] ? 4 : 9));
  works(op_fetch_data(met, values));
  for (int i = 0; i < 3 * NODES; i++)
    assert_true(values[i] == i % 3 + 1);
}

/* Loops that wait: what each leaves is there for the next one. */
LIBRARY_TEST(a_chain_keeps_what_several_leave) {
  const struct mesh m = make();
  const op_dat x = filled(m.nodes, 1, 0, "x"), y = filled(m.nodes, 1, 0, "y"), z = filled(m.nodes, 1, 0, "z");
  for (int step = 0; step < 12; step++) {
    works(op_par_loop(OP_KERNEL_OF(count), "count", m.pairs, direct(m.weight, 1, "double", OP_READ),
                      op_arg_may_meet(op_arg_dat(x, 0, m.node, 1, "double", OP_RW))));
    works(op_par_loop(OP_KERNEL_OF(count), "count", m.pairs, op_arg_dat(x, 1, m.ends, 1, "double", OP_READ),
                      op_arg_dat(y, 0, m.ends, 1, "double", OP_INC)));
    works(op_par_loop(OP_KERNEL_OF(count), "count", m.nodes, direct(y, 1, "double", OP_READ),
                      direct(z, 1, "double", OP_RW)));
  }
  all_are(x, NODES, 12 * 6);
  all_are(y, NODES, EACH * 6 * 78);
  all_are(z, NODES, EACH * 6 * 364);
}
