/* Elements that meet in what they write, over ranks. Where each writes one row, its owner runs all of them and the answer is
 * that of one process. Where one writes several rows of different owners, no order of one process may give what they
 * leave: an error on all ranks, which names two elements in the user's global numbers, unless what is written does not
 * depend on such rows. The mesh may be moved in between. */
#include <stdbool.h>

#include "check.h"

enum { EDGES = 180, NODES = 60, EACH = EDGES / NODES };

static int rank, size;

OP_KERNEL_DEF(
    add, void add(const double *v, double *x) { *x += *v; })
OP_KERNEL_DEF(
    most, void most(const double *v, double *x) { *x = *x > *v ? *x : *v; })
OP_KERNEL_DEF(
    own, void own(const int *part, const double *v, double *row) { row[*part] = *v; })
OP_KERNEL_DEF(
    add_both, void add_both(const double *v, double *x, double *y) {
      *x += *v;
      *y += *x;
    })
OP_KERNEL_DEF(
    set_both, void set_both(double *x, double *y) {
      *x = 5;
      *y = 5;
    })
OP_KERNEL_DEF(
    own_both, void own_both(const int *part, double *x, double *y) {
      x[*part] = 1 + *part;
      y[*part] = 1 + *part;
    })

/* The whole mesh, as one process sees it; and the part that this rank declares. */
static int ends[2 * EDGES], part[EDGES];
static double v[EDGES];
static int first_edge, nedges, first_node, nnodes;
static op_set edges, nodes;
static op_map map;
static op_dat dv, dpart;

static int share_of(int all, int r) {
  return (int)((long long)all * r / size);
}

/* EACH edges begin at a node, and end far from it: at nodes of other ranks. */
static void declare(void) {
  for (int e = 0; e < EDGES; e++) {
    ends[2 * e] = e / EACH;
    ends[2 * e + 1] = (e / EACH + NODES / 2 + 1) % NODES;
    part[e] = e % EACH;
    v[e] = e % 7;
  }
  first_edge = share_of(EDGES, rank);
  nedges = share_of(EDGES, rank + 1) - first_edge;
  first_node = share_of(NODES, rank);
  nnodes = share_of(NODES, rank + 1) - first_node;
  edges = op_decl_set(nedges, "edges");
  nodes = op_decl_set(nnodes, "nodes");
  map = op_decl_map(edges, nodes, 2, ends + 2 * (size_t)first_edge, "ends");
  dv = op_decl_dat(edges, 1, "double", v + first_edge, "v");
  dpart = op_decl_dat(edges, 1, "int", part + first_edge, "part");
  check(map && dv && dpart);
}

static op_dat zeros(int dim, const char *name) {
  op_dat dat = op_decl_dat(nodes, dim, "double", NULL, name);
  check(dat);
  return dat;
}

static op_arg by(op_dat dat, int column, int dim, op_access access) {
  return op_arg_may_meet(op_arg_dat(dat, column, map, dim, "double", access));
}

#define VALUES op_arg_dat(dv, -1, OP_ID, 1, "double", OP_READ)
#define PARTS op_arg_dat(dpart, -1, OP_ID, 1, "int", OP_READ)

/* The rows that this rank declared. */
static void is(op_dat dat, int dim, const double *want) {
  double got[EACH * NODES];
  check(op_fetch_data(dat, got) == OP_OK);
  for (int i = 0; i < dim * nnodes; i++)
    check(got[i] == want[dim * first_node + i]);
}

/* ---- one row of each element ---- */

static void one_row(void) {
  double sum[NODES] = {0}, largest[NODES] = {0}, rows[EACH * NODES] = {0};
  const op_dat x = zeros(1, "x"), y = zeros(1, "y"), z = zeros(EACH, "z");
  for (int e = 0; e < EDGES; e++) {
    double *m = &largest[ends[2 * e]];
    sum[ends[2 * e + 1]] += 2 * v[e];
    *m = *m > v[e] ? *m : v[e];
    rows[EACH * ends[2 * e] + part[e]] = v[e];
  }
  for (int call = 0; call < 2; call++) {
    check(op_par_loop(OP_KERNEL_OF(add), "add", edges, VALUES, by(x, 1, 1, OP_RW)) == OP_OK);
    check(op_par_loop(OP_KERNEL_OF(most), "most", edges, VALUES, by(y, 0, 1, OP_RW)) == OP_OK);
    check(op_par_loop(OP_KERNEL_OF(own), "own", edges, PARTS, VALUES, by(z, 0, EACH, OP_RW)) == OP_OK);
  }
  is(x, 1, sum);
  is(y, 1, largest);
  is(z, EACH, rows);
}

/* ---- several rows ---- */

/* The message is the same on all ranks, and true of the mesh as it was declared. */
static void is_named(const char *said) {
  static const char middle[] = " of set \"edges\" both reach element ";
  int first = -1, second = -1, target = -1;
  const char *at = strstr(said, "elements "), *on = strstr(said, middle);
  check(strstr(said, "loop add_both") && strstr(said, "map \"ends\"") && at && on);
  check(sscanf(at, "elements %d and %d", &first, &second) == 2 &&
        sscanf(on + sizeof middle - 1, "%d", &target) == 1);
  check(first != second && first >= 0 && second >= 0 && first < EDGES && second < EDGES);
  check(ends[2 * first] == target || ends[2 * first + 1] == target);
  check(ends[2 * second] == target || ends[2 * second + 1] == target);
}

static void several_rows(bool distributed) {
  double untouched[NODES] = {0};
  const op_dat x = zeros(1, "x"), y = zeros(1, "y");
  for (int call = 0; distributed && call < 2; call++) {
    check(op_par_loop(OP_KERNEL_OF(add_both), "add_both", edges, VALUES, by(x, 0, 1, OP_RW),
                      by(y, 1, 1, OP_RW)) == OP_ERR_ALIAS);
    is_named(op_last_error()->message);
  }
  is(x, 1, untouched);
  is(y, 1, untouched);
}

static void several_rows_that_do_not_count(bool proved) {
  double fives[NODES], parts[EACH * NODES];
  for (int i = 0; i < NODES; i++)
    fives[i] = 5;
  for (int i = 0; i < EACH * NODES; i++)
    parts[i] = 1 + i % EACH;
  const op_dat x = zeros(1, "x"), z = zeros(EACH, "z");
  const int wanted = proved ? OP_OK : OP_ERR_ALIAS;
  check(op_par_loop(OP_KERNEL_OF(set_both), "set_both", edges, by(x, 0, 1, OP_WRITE),
                    by(x, 1, 1, OP_WRITE)) == wanted);
  check(op_par_loop(OP_KERNEL_OF(own_both), "own_both", edges, PARTS, by(z, 0, EACH, OP_RW),
                    by(z, 1, EACH, OP_RW)) == wanted);
  if (proved) {
    is(x, 1, fives);
    is(z, EACH, parts);
  }
}

static void all(bool proved) {
  one_row();
  several_rows(size > 1);
  several_rows_that_do_not_count(proved || size == 1);
}

/* Where one rank has all, none of the others runs an element. */
static void on_one_rank(void) {
  const int n = op_is_root() ? EDGES : 0, m = op_is_root() ? NODES : 0;
  double x[NODES], y[NODES], want[NODES] = {0}, also[NODES] = {0};
  const op_set few = op_decl_set(n, "few"), to = op_decl_set(m, "to");
  const op_map both = op_decl_map(few, to, 2, ends, "both");
  const op_dat by_one = op_decl_dat(few, 1, "double", v, "by_one"),
               a = op_decl_dat(to, 1, "double", NULL, "a"), b = op_decl_dat(to, 1, "double", NULL, "b");
  check(op_par_loop(OP_KERNEL_OF(add), "add", few, op_arg_dat(by_one, -1, OP_ID, 1, "double", OP_READ),
                    op_arg_may_meet(op_arg_dat(a, 0, both, 1, "double", OP_RW))) == OP_OK);
  check(op_par_loop(OP_KERNEL_OF(set_both), "set_both", few,
                    op_arg_may_meet(op_arg_dat(b, 0, both, 1, "double", OP_RW)),
                    op_arg_may_meet(op_arg_dat(b, 1, both, 1, "double", OP_RW))) == OP_OK);
  check(op_fetch_data(a, x) == OP_OK && op_fetch_data(b, y) == OP_OK);
  for (int e = 0; e < EDGES; e++) {
    want[ends[2 * e]] += v[e];
    also[ends[2 * e]] = also[ends[2 * e + 1]] = 5;
  }
  for (int i = 0; i < m; i++)
    check(x[i] == want[i] && y[i] == also[i]);
}

int main(int argc, char **argv) {
  const bool proved = argc > 1 && strcmp(argv[1], "prover") == 0;
  op_init(argc, argv, 0);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  rank = op_rank();
  size = op_rank_count();
  declare();
  all(proved);
  check(op_renumber(map) == OP_OK);
  all(proved);
  check(op_partition("random", "", nodes, NULL, NULL) == OP_OK);
  all(proved);
  check(op_renumber(map) == OP_OK);
  all(proved);
  check(op_partition("block", "", edges, NULL, NULL) == OP_OK);
  all(proved);
  on_one_rank();
  op_printf("elements that meet: right on %d ranks\n", size);
  return op_exit();
}
