/* Random assemblies, of every form of argument, against dense sums: on each backend, and on ranks.
 *
 * usage: test_assembly [SEEDS] */
#include "assembly.h"

OP_KERNEL_DEF(
    square, void square(const double *w, const double **x, double *a) {
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
          a[i * 3 + j] += w[0] * (1 + i) + x[i][0] * x[j][0] + 0.25 * j;
    })
/* It may set what it likes of its own numbers, and read them. */
OP_KERNEL_DEF(
    blocks, void blocks(const double *w, const double **x, double *a) {
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
          a[i * 6 + j] = a[i * 6 + j] + w[0] * (1 + i) + x[i / 2][0] * x[j / 2][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    across, void across(const double *w, const double **x, const double **v, double *a) {
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
          a[i * 4 + j] = w[0] * (1 + i) + x[i][0] * v[j / 2][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    own_rows, void own_rows(const double *w, const double **x, double *a) {
      for (int j = 0; j < 3; j++)
        a[j] = w[0] + w[0] * x[j][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    own_columns, void own_columns(const double *w, const double **x, double *a) {
      for (int i = 0; i < 3; i++)
        a[i] = w[0] * (1 + i) + x[i][0] * w[0];
    })
OP_KERNEL_DEF(
    ends, void ends(const double *v, const double **x, double *a) {
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          a[i * 2 + j] = v[0] * (1 + i) + x[i][0] * x[j][0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    ragged, void ragged(const double *w, int n, const double **x, double *a) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          a[i * n + j] = w[0] * (1 + i) + OP_ROW(x, i)[0] * OP_ROW(x, j)[0] + 0.25 * j;
    })
OP_KERNEL_DEF(
    ragged_row, void ragged_row(const double *w, int n, const double **x, double *a) {
      for (int j = 0; j < n; j++)
        a[j] = w[0] + w[0] * OP_ROW(x, j)[0] + 0.25 * j;
    })

OP_KERNEL_DEF(
    clear, void clear(double *y) { y[0] = 0; })
OP_KERNEL_DEF(
    spread, void spread(const double **x, double **y) {
      for (int i = 0; i < 3; i++)
        y[i][0] += x[0][0] + x[1][0] + x[2][0];
    })

OP_KERNEL_DEF(
    lift, void lift(double *w) { w[0] += 1; })

#define ARG(dat, map) op_arg_dat(dat, map == OP_ID ? -1 : OP_ALL, map, 1, "double", OP_READ)

static void run_square(struct world *w, op_mat k, op_set over, op_access access) {
  WORKS(op_par_loop(OP_KERNEL_OF(square), "square", over, ARG(w->on_cells, OP_ID),
                    ARG(w->on_nodes, w->by_tri),
                    op_arg_mat(k, w->by_tri, w->by_tri, 1, 1, "double", access)));
}

/* Cell e's part; fixed NULL: nothing is. */
static void add_square(const struct world *w, struct dense *d, int e, const int *rows, const int *columns) {
  const int *t = w->tri + e * TRI;
  for (int i = 0; i < TRI; i++)
    for (int j = 0; j < TRI; j++)
      if (!(rows && rows[t[i]]) && !(columns && columns[t[j]]))
        *dense_at(d, t[i], t[j]) += entry(w->w[e], w->x[t[i]], w->x[t[j]], i, j);
}

static void add_squares(const struct world *w, struct dense *d, const int *rows, const int *columns) {
  for (int e = 0; e < CELLS; e++)
    add_square(w, d, e, rows, columns);
}

/* ---- forms ---- */

static void test_square(struct world *w) {
  struct dense d = dense_new(NODES, NODES);
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "k");
  EXPECT(k);
  run_square(w, k, w->cells, OP_INC);
  add_squares(w, &d, NULL, NULL);
  expect_matrix(w, k, &d, OF_NODES, 1, "one loop");
  run_square(w, k, w->cells, OP_INC);
  add_squares(w, &d, NULL, NULL);
  expect_matrix(w, k, &d, OF_NODES, 1, "the same again, which adds");
  run_square(w, k, w->some, OP_INC);
  for (int i = 0; i < w->nsome; i++)
    add_square(w, &d, w->members[i], NULL, NULL);
  expect_matrix(w, k, &d, OF_NODES, 1, "and a subset");
  WORKS(op_zero_mat(k));
  run_square(w, k, w->some, OP_INC);
  memset(d.values, 0, sizeof(double) * NODES * NODES);
  for (int i = 0; i < w->nsome; i++)
    add_square(w, &d, w->members[i], NULL, NULL);
  expect_matrix(w, k, &d, OF_NODES, 1, "a subset alone, behind op_zero_mat");
  WORKS(op_free_mat(k));
  dense_free(&d);
}

static void test_blocks(struct world *w) {
  struct dense d = dense_new(2 * NODES, 2 * NODES);
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 2, 2, "double", "blocks");
  WORKS(op_fix_mat(k, w->on_flags2, w->on_flags2, 3.5));
  for (int times = 0; times < 2; times++)
    WORKS(op_par_loop(OP_KERNEL_OF(blocks), "blocks", w->cells, ARG(w->on_cells, OP_ID),
                      ARG(w->on_nodes, w->by_tri),
                      op_arg_mat(k, w->by_tri, w->by_tri, 2, 2, "double", OP_INC)));
  for (int e = 0; e < CELLS; e++)
    for (int i = 0; i < 2 * TRI; i++)
      for (int j = 0; j < 2 * TRI; j++) {
        const int row = 2 * w->tri[e * TRI + i / 2] + i % 2, column = 2 * w->tri[e * TRI + j / 2] + j % 2;
        if (!w->fixed[row] && !w->fixed[column])
          *dense_at(&d, row, column) += 2 * entry(w->w[e], w->x[row / 2], w->x[column / 2], i, j);
      }
  for (int r = 0; r < 2 * NODES; r++)
    if (w->fixed[r])
      *dense_at(&d, r, r) = 3.5;
  expect_matrix(w, k, &d, OF_NODES, 2, "blocks with fixed components");
  WORKS(op_free_mat(k));
  dense_free(&d);
}

static void test_rectangles(struct world *w) {
  struct dense d = dense_new(NODES, 2 * FACES), rows = dense_new(CELLS, NODES),
               columns = dense_new(NODES, CELLS);
  const op_map id = OP_ID;
  op_mat b = op_decl_mat(1, &w->by_tri, &w->by_pair, 1, 2, "double", "across");
  op_mat r = op_decl_mat(1, &id, &w->by_tri, 1, 1, "double", "own rows");
  op_mat c = op_decl_mat(1, &w->by_tri, &id, 1, 1, "double", "own columns");
  WORKS(op_par_loop(OP_KERNEL_OF(across), "across", w->cells, ARG(w->on_cells, OP_ID),
                    ARG(w->on_nodes, w->by_tri), ARG(w->on_faces, w->by_pair),
                    op_arg_mat(b, w->by_tri, w->by_pair, 1, 2, "double", OP_INC)));
  WORKS(op_par_loop(OP_KERNEL_OF(own_rows), "own_rows", w->cells, ARG(w->on_cells, OP_ID),
                    ARG(w->on_nodes, w->by_tri), op_arg_mat(r, OP_ID, w->by_tri, 1, 1, "double", OP_INC)));
  WORKS(op_par_loop(OP_KERNEL_OF(own_columns), "own_columns", w->cells, ARG(w->on_cells, OP_ID),
                    ARG(w->on_nodes, w->by_tri), op_arg_mat(c, w->by_tri, OP_ID, 1, 1, "double", OP_INC)));
  for (int e = 0; e < CELLS; e++)
    for (int i = 0; i < TRI; i++) {
      const int n = w->tri[e * TRI + i];
      for (int j = 0; j < 2 * PAIR; j++) {
        const int f = w->pair[e * PAIR + j / 2];
        *dense_at(&d, n, 2 * f + j % 2) += entry(w->w[e], w->x[n], w->v[f], i, j);
      }
      *dense_at(&rows, e, n) += entry(w->w[e], w->w[e], w->x[n], 0, i);
      *dense_at(&columns, n, e) += entry(w->w[e], w->x[n], w->w[e], i, 0);
    }
  expect_matrix(w, b, &d, OF_NODES, 1, "rectangular");
  expect_matrix(w, r, &rows, OF_CELLS, 1, "rows of the elements themselves");
  expect_matrix(w, c, &columns, OF_NODES, 1, "columns of the elements themselves");
  dense_free(&d);
  dense_free(&rows);
  dense_free(&columns);
}

static void test_pairs(struct world *w) {
  struct dense d = dense_new(NODES, NODES);
  op_map maps[] = {w->by_tri, w->by_ends, w->by_poly};
  op_mat k = op_decl_mat(3, maps, maps, 1, 1, "double", "pairs");
  run_square(w, k, w->cells, OP_INC);
  WORKS(op_par_loop(OP_KERNEL_OF(ends), "ends", w->faces, ARG(w->on_faces, OP_ID),
                    ARG(w->on_nodes, w->by_ends),
                    op_arg_mat(k, w->by_ends, w->by_ends, 1, 1, "double", OP_INC)));
  add_squares(w, &d, NULL, NULL);
  for (int e = 0; e < FACES; e++)
    for (int i = 0; i < PAIR; i++)
      for (int j = 0; j < PAIR; j++)
        *dense_at(&d, w->ends[e * PAIR + i], w->ends[e * PAIR + j]) +=
            entry(w->v[e], w->x[w->ends[e * PAIR + i]], w->x[w->ends[e * PAIR + j]], i, j);
  expect_matrix(w, k, &d, OF_NODES, 1, "two of three pairs");
  WORKS(op_par_loop(OP_KERNEL_OF(ragged), "ragged", w->cells, ARG(w->on_cells, OP_ID),
                    ARG(w->on_nodes, w->by_poly),
                    op_arg_mat(k, w->by_poly, w->by_poly, 1, 1, "double", OP_INC)));
  for (int e = 0; e < CELLS; e++)
    for (long long i = w->first[e]; i < w->first[e + 1]; i++)
      for (long long j = w->first[e]; j < w->first[e + 1]; j++)
        *dense_at(&d, w->poly[i], w->poly[j]) += entry(w->w[e], w->x[w->poly[i]], w->x[w->poly[j]],
                                                       (int)(i - w->first[e]), (int)(j - w->first[e]));
  expect_matrix(w, k, &d, OF_NODES, 1, "and one by a ragged map");
  dense_free(&d);
}

static void test_ragged_row(struct world *w) {
  struct dense d = dense_new(CELLS, NODES);
  const op_map id = OP_ID;
  op_mat k = op_decl_mat(1, &id, &w->by_poly, 1, 1, "double", "ragged rows");
  WORKS(op_par_loop(OP_KERNEL_OF(ragged_row), "ragged_row", w->cells, ARG(w->on_cells, OP_ID),
                    ARG(w->on_nodes, w->by_poly),
                    op_arg_mat(k, OP_ID, w->by_poly, 1, 1, "double", OP_WRITE)));
  for (int e = 0; e < CELLS; e++)
    for (long long j = w->first[e]; j < w->first[e + 1]; j++)
      *dense_at(&d, e, w->poly[j]) += entry(w->w[e], w->w[e], w->x[w->poly[j]], 0, (int)(j - w->first[e]));
  expect_matrix(w, k, &d, OF_CELLS, 1, "ragged columns, written");
  dense_free(&d);
}

/* Loops that wait for one another: copies of elements run with what the loop before made of them. */
static void test_chain(struct world *w) {
  struct dense d = dense_new(NODES, NODES);
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "chain");
  op_dat more = op_decl_dat(w->cells, 1, "double", w->w + w->begin[OF_CELLS], "more");
  for (int times = 0; times < 3; times++) {
    WORKS(op_zero_mat(k));
    WORKS(op_par_loop(OP_KERNEL_OF(lift), "lift", w->cells, op_arg_dat(more, -1, OP_ID, 1, "double", OP_RW)));
    WORKS(op_par_loop(OP_KERNEL_OF(square), "square", w->cells, ARG(more, OP_ID), ARG(w->on_nodes, w->by_tri),
                      op_arg_mat(k, w->by_tri, w->by_tri, 1, 1, "double", OP_INC)));
  }
  for (int e = 0; e < CELLS; e++)
    for (int i = 0; i < TRI; i++)
      for (int j = 0; j < TRI; j++) {
        const int row = w->tri[e * TRI + i], column = w->tri[e * TRI + j];
        *dense_at(&d, row, column) += entry(w->w[e] + 3, w->x[row], w->x[column], i, j);
      }
  expect_matrix(w, k, &d, OF_NODES, 1, "behind a loop that changed what it reads");
  dense_free(&d);
}

OP_KERNEL_DEF(
    two, void two(double *x) { x[0] = 2; })
OP_KERNEL_DEF(
    sums, void sums(const double **x, double *w) { w[0] = x[0][0] + x[1][0] + x[2][0]; })

/* Loops that waited ran on copies of others' elements, too: nobody has to send element matrices. */
static void test_no_matrix_travels(struct world *w) {
  struct dense d = dense_new(NODES, NODES);
  op_layout_t layout;
  op_coo_t coo;
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "stays");
  op_dat sum = op_decl_dat(w->cells, 1, "double", NULL, "sum"),
         x = op_decl_dat(w->nodes, 1, "double", NULL, "twos");
  for (int times = 0; times < 3; times++) {
    WORKS(op_zero_mat(k));
    WORKS(op_par_loop(OP_KERNEL_OF(two), "two", w->nodes, op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE)));
    WORKS(op_par_loop(OP_KERNEL_OF(sums), "sums", w->cells, ARG(x, w->by_tri),
                      op_arg_dat(sum, -1, OP_ID, 1, "double", OP_WRITE)));
    WORKS(op_par_loop(OP_KERNEL_OF(square), "square", w->cells, ARG(sum, OP_ID), ARG(w->on_nodes, w->by_tri),
                      op_arg_mat(k, w->by_tri, w->by_tri, 1, 1, "double", OP_INC)));
    WORKS(op_layout(w->nodes, &layout)); /* what waits runs */
    const long long sent = op_counters()->bytes_sent;
    WORKS(op_coo(k, &coo));
    EXPECT(times == 0 || op_counters()->bytes_sent == sent);
  }
  for (int e = 0; e < CELLS; e++)
    for (int i = 0; i < TRI; i++)
      for (int j = 0; j < TRI; j++) {
        const int row = w->tri[e * TRI + i], column = w->tri[e * TRI + j];
        *dense_at(&d, row, column) += entry(6, w->x[row], w->x[column], i, j);
      }
  expect_matrix(w, k, &d, OF_NODES, 1, "of loops that ran deeper");
  dense_free(&d);
}

/* ---- fixed rows, lists, messages ---- */

static void test_fixed(struct world *w) {
  struct dense d = dense_new(NODES, NODES);
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "fixed");
  WORKS(op_fix_mat(k, w->on_flags, NULL, 2));
  run_square(w, k, w->cells, OP_INC);
  add_squares(w, &d, w->fixed, NULL);
  for (int n = 0; n < NODES; n++)
    if (w->fixed[n])
      *dense_at(&d, n, n) = 2;
  expect_matrix(w, k, &d, OF_NODES, 1, "fixed rows");
  WORKS(op_fix_mat(k, NULL, NULL, 0));
  run_square(w, k, w->some, OP_INC);
  for (int i = 0; i < w->nsome; i++)
    add_square(w, &d, w->members[i], NULL, NULL);
  expect_matrix(w, k, &d, OF_NODES, 1, "and a loop behind that fixes none");
  WORKS(op_zero_mat(k));
  WORKS(op_fix_mat(k, NULL, w->on_flags, 0));
  run_square(w, k, w->cells, OP_INC);
  memset(d.values, 0, sizeof(double) * NODES * NODES);
  add_squares(w, &d, NULL, w->fixed);
  expect_matrix(w, k, &d, OF_NODES, 1, "fixed columns");
  dense_free(&d);
}

/* A bridge gets the same sums, in its own numbers; and where nothing changed no message and no new list. */
static void test_lists(struct world *w) {
  op_coo_t coo, again;
  op_layout_t nodes;
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "lists");
  op_mat other = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "the same lists");
  run_square(w, k, w->cells, OP_INC);
  run_square(w, other, w->cells, OP_INC);
  WORKS(op_coo(k, &coo));
  WORKS(op_layout(w->nodes, &nodes));
  EXPECT(coo.epoch == nodes.epoch && coo.first_row == nodes.first && coo.owned_rows == nodes.owned);
  EXPECT(coo.all_rows == NODES && coo.row_dim == 1 && coo.row_set == w->nodes);
  const op_counters_t before = *op_counters();
  const double *values = coo.values;
  WORKS(op_zero_mat(k));
  run_square(w, k, w->cells, OP_INC);
  WORKS(op_coo(k, &again));
  EXPECT(again.pattern == coo.pattern && again.version != coo.version && again.values == values);
  /* Checked and compared runs send all halos anew. */
  const char *lazy = getenv("OP2_LAZY");
  EXPECT(getenv("OP2_CHECK") || (lazy && strcmp(lazy, "check") == 0) ||
         (op_counters()->messages == before.messages && op_counters()->bytes_sent == before.bytes_sent));
  double sum = 0, want = 0;
  for (long long i = 0; i < again.count; i++) {
    EXPECT(again.rows[i] == -1 ||
           (again.rows[i] >= nodes.first && again.rows[i] < nodes.first + nodes.owned));
    if (again.rows[i] >= 0)
      sum += again.values[i] * (1 + (double)nodes.users[again.rows[i] - nodes.first]);
  }
  for (int e = 0; e < CELLS; e++)
    for (int i = 0; i < TRI; i++)
      for (int j = 0; j < TRI; j++)
        for (long n = 0; n < nodes.owned; n++)
          if (nodes.users[n] == w->tri[e * TRI + i])
            want += entry(w->w[e], w->x[w->tri[e * TRI + i]], w->x[w->tri[e * TRI + j]], i, j) *
                    (1 + w->tri[e * TRI + i]);
  EXPECT(fabs(sum - want) <= 1e-9 * (1 + fabs(want)));
  WORKS(op_coo(other, &again));
  EXPECT(again.pattern == coo.pattern);
}

/* A product by loops in memory of a solver: the dats work there, copies behind the owned rows, and nothing is copied. */
static void test_placed(struct world *w) {
  op_layout_t nodes;
  op_dat from = op_decl_dat(w->nodes, 1, "double", NULL, "from"),
         to = op_decl_dat(w->nodes, 1, "double", NULL, "to");
  WORKS(op_layout(w->nodes, &nodes));
  double *x = calloc((size_t)nodes.room + 1, sizeof *x), *y = calloc((size_t)nodes.room + 1, sizeof *y);
  EXPECT(x && y);
  for (int times = 0; times < 3; times++) {
    const long long copied = op_counters()->bytes_of_views;
    double *const in = times % 2 ? y : x, *const out = times % 2 ? x : y;
    for (long long n = 0; n < nodes.owned; n++)
      in[n] = times + w->x[nodes.users[n]];
    WORKS(op_place(from, in, nodes.room, OP_READ));
    WORKS(op_place(to, out, nodes.room, OP_WRITE));
    WORKS(op_par_loop(OP_KERNEL_OF(clear), "clear", w->nodes,
                      op_arg_dat(to, -1, OP_ID, 1, "double", OP_WRITE)));
    WORKS(op_par_loop(OP_KERNEL_OF(spread), "spread", w->cells, ARG(from, w->by_tri),
                      op_arg_dat(to, OP_ALL, w->by_tri, 1, "double", OP_INC)));
    WORKS(op_place_end(to));
    WORKS(op_place_end(from));
    EXPECT(op_counters()->bytes_of_views == copied);
    for (long long n = 0; n < nodes.owned; n++) {
      double want = 0;
      for (int e = 0; e < CELLS; e++)
        for (int i = 0; i < TRI; i++)
          if (w->tri[e * TRI + i] == nodes.users[n])
            for (int j = 0; j < TRI; j++)
              want += times + w->x[w->tri[e * TRI + j]];
      EXPECT(fabs(out[n] - want) <= 1e-12 * (1 + want));
    }
  }
  free(x);
  free(y);
}

/* A new map moves all rows of ranks: not those that somebody else works in. */
static void test_lent_while_declared(struct world *w) {
  op_lent_t lent;
  const int begin = w->begin[OF_CELLS], count = w->end[OF_CELLS] - begin;
  op_dat x = op_decl_dat(w->nodes, 1, "double", NULL, "lent"),
         y = op_decl_dat(w->nodes, 1, "double", NULL, "y");
  WORKS(op_lend(x, OP_WRITE, &lent));
  op_map more = op_decl_map(w->cells, w->nodes, TRI, w->tri + (size_t)begin * TRI, "more");
  EXPECT(more && count >= 0);
  const int code = op_par_loop(OP_KERNEL_OF(spread), "spread", w->cells, ARG(w->on_nodes, w->by_tri),
                               op_arg_dat(y, OP_ALL, more, 1, "double", OP_INC));
  EXPECT(code == (op_rank_count() > 1 ? OP_ERR_STATE : OP_OK));
  for (long long n = 0; n < lent.owned; n++)
    ((double *)lent.memory)[n] = 7;
  WORKS(op_lend_end(x));
  WORKS(op_par_loop(OP_KERNEL_OF(clear), "clear", w->nodes, op_arg_dat(y, -1, OP_ID, 1, "double", OP_WRITE)));
  double *values = calloc((size_t)(w->end[OF_NODES] - w->begin[OF_NODES]) + 1, sizeof *values);
  EXPECT(values && op_fetch_data(x, values) == OP_OK);
  for (int n = 0; n < w->end[OF_NODES] - w->begin[OF_NODES]; n++)
    EXPECT(values[n] > 6.9 && values[n] < 7.1);
  free(values);
}

static void test_order(struct world *w, op_mat k, struct dense *d) {
  expect_matrix(w, k, d, OF_NODES, 1, "behind another order, before a loop");
  WORKS(op_zero_mat(k));
  run_square(w, k, w->cells, OP_INC);
  expect_matrix(w, k, d, OF_NODES, 1, "behind another order");
}

/* Whatever is in a matrix stays so when elements get other numbers and other ranks. */
static void test_orders(struct world *w) {
  struct dense d = dense_new(NODES, NODES);
  op_mat k = op_decl_mat(1, &w->by_tri, &w->by_tri, 1, 1, "double", "orders");
  add_squares(w, &d, w->fixed, w->fixed);
  for (int n = 0; n < NODES; n++)
    if (w->fixed[n])
      *dense_at(&d, n, n) = 1;
  WORKS(op_fix_mat(k, w->on_flags, w->on_flags, 1));
  run_square(w, k, w->cells, OP_INC);
  expect_matrix(w, k, &d, OF_NODES, 1, "as declared");
  WORKS(op_partition("block", NULL, w->cells, NULL, NULL));
  test_order(w, k, &d);
  WORKS(op_renumber(w->by_tri));
  test_order(w, k, &d);
  WORKS(op_partition("random", NULL, w->nodes, NULL, NULL));
  test_order(w, k, &d);
  dense_free(&d);
}

int main(int argc, char **argv) {
  const int seeds = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 2;
  for (int seed = 1; seed <= seeds; seed++) {
    struct world w;
    op_set_error_handler(OP_ERRORS_RETURN, NULL);
    WORKS(op_init(argc, argv, 0));
    world_make(&w, (unsigned)seed);
    test_square(&w);
    test_blocks(&w);
    test_rectangles(&w);
    test_pairs(&w);
    test_ragged_row(&w);
    test_chain(&w);
    test_no_matrix_travels(&w);
    test_fixed(&w);
    test_lists(&w);
    test_placed(&w);
    test_lent_while_declared(&w);
    test_orders(&w);
    WORKS(op_exit());
  }
  return 0;
}
