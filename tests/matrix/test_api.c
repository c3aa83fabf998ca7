/* Calls of matrices and of bridges: what is wrong with them, and what dats are when their memory is lent. */
#include "../api/support.h"
#include "op2jit_bridge.h"

OP_KERNEL_DEF(
    gives, void gives(const double *x, double *a) {
      for (int i = 0; i < 4; i++)
        a[i] = x[0] + i;
    })
OP_KERNEL_DEF(
    doubles, void doubles(const double *x, double *y) { y[0] = 2 * x[0]; })
OP_KERNEL_DEF(
    raises, void raises(double *y) { y[0] += 1; })

OP_KERNEL_DEF(
    counts, void counts(int n, const double **x, double *a) {
      for (int i = 0; i < n * n; i++)
        a[i] = OP_ROW(x, 0)[0];
    })

enum { N = 6 };
static op_set nodes, edges, others;
static op_map ends, far, loose;
static op_dat x, on_edges;

static void mesh(void) {
  static const int table[N * 2] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0}, few[2 * 2] = {0, 1, 0, 1};
  static const double values[N] = {1, 2, 3, 4, 5, 6};
  nodes = op_decl_set(N, "nodes");
  edges = op_decl_set(N, "edges");
  others = op_decl_set(2, "others");
  ends = op_decl_map(edges, nodes, 2, table, "ends");
  far = op_decl_map(others, nodes, 2, few, "far");
  loose = op_decl_map(edges, others, 1, (const int[N]){0}, "loose");
  x = op_decl_dat(nodes, 1, "double", values, "x");
  on_edges = op_decl_dat(edges, 1, "double", values, "on edges");
}

static void message_has(const char *part) {
  if (!strstr(op_last_error()->message, part))
    fail_msg("\"%s\" is not in: %s", part, op_last_error()->message);
}

static op_mat declared(op_map rows, op_map columns, int row_dim, int column_dim) {
  return op_decl_mat(1, &rows, &columns, row_dim, column_dim, "double", "k");
}

static int give(op_mat k, op_map rows, op_map columns, int row_dim, int column_dim, const char *type,
                op_access access) {
  return op_par_loop(OP_KERNEL_OF(gives), "gives", edges, direct(on_edges, 1, "double", OP_READ),
                     op_arg_mat(k, rows, columns, row_dim, column_dim, type, access));
}

LIBRARY_TEST(declarations_that_are_wrong) {
  mesh();
  const op_map two_rows[2] = {ends, ends}, two_columns[2] = {ends, loose};
  assert_null(declared(ends, far, 1, 1));
  assert_int_equal(op_last_error()->code, OP_ERR_MAP_SET);
  message_has("\"ends\" of the rows starts at set \"edges\", but map \"far\"");
  assert_null(op_decl_mat(2, two_rows, two_columns, 1, 1, "double", "k"));
  assert_int_equal(op_last_error()->code, OP_ERR_MAP_SET);
  message_has("pair 2");
  assert_null(declared(ends, ends, 0, 1));
  assert_int_equal(op_last_error()->code, OP_ERR_DIM);
  assert_null(declared(OP_ID, OP_ID, 1, 1));
  assert_int_equal(op_last_error()->code, OP_ERR_ARGUMENT);
  assert_null(op_decl_mat(0, &ends, &ends, 1, 1, "double", "k"));
  assert_int_equal(op_last_error()->code, OP_ERR_ARGUMENT);
  assert_null(op_decl_mat(1, NULL, &ends, 1, 1, "double", "k"));
  assert_int_equal(op_last_error()->code, OP_ERR_ARGUMENT);
  assert_null(op_decl_mat(1, &ends, &ends, 1, 1, "float", "k"));
  assert_int_equal(op_last_error()->code, OP_ERR_TYPE);
  assert_null(declared(NULL, ends, 1, 1));
  assert_int_equal(op_last_error()->code, OP_ERR_HANDLE);
  assert_null(declared((op_map)(void *)nodes, ends, 1, 1));
  assert_int_equal(op_last_error()->code, OP_ERR_HANDLE);
  message_has("a set");
}

LIBRARY_TEST(arguments_that_are_wrong) {
  mesh();
  op_mat k = declared(ends, ends, 1, 1);
  fails(OP_ERR_DIM, give(k, ends, ends, 2, 1, "double", OP_INC));
  message_has("the dims are 2 and 1, but matrix \"k\" was declared with 1 and 1");
  fails(OP_ERR_TYPE, give(k, ends, ends, 1, 1, "float", OP_INC));
  fails(OP_ERR_ACCESS, give(k, ends, ends, 1, 1, "double", OP_READ));
  fails(OP_ERR_ACCESS, give(k, ends, ends, 1, 1, "double", OP_RW));
  fails(OP_ERR_ACCESS, give(k, ends, ends, 1, 1, "double", OP_MIN));
  message_has("matrix \"k\" is passed with access OP_MIN; expected OP_INC or OP_WRITE");
  works(give(k, ends, ends, 1, 1, "double", OP_WRITE));
  fails(OP_ERR_ACCESS, give(k, ends, ends, 1, 1, "double", OP_MAX));
  message_has("matrix \"k\" is passed with access OP_MAX; expected OP_INC or OP_WRITE");
  fails(OP_ERR_MAP_SET, give(k, ends, loose, 1, 1, "double", OP_INC));
  message_has("was not declared with rows by \"ends\" and columns by \"loose\"");
  fails(OP_ERR_MAP_SET, give(k, ends, far, 1, 1, "double", OP_INC));
  message_has("argument 2");
  fails(OP_ERR_HANDLE, give(NULL, ends, ends, 1, 1, "double", OP_INC));
  fails(OP_ERR_HANDLE, give((op_mat)(void *)x, ends, ends, 1, 1, "double", OP_INC));
  works(op_free_mat(k));
  fails(OP_ERR_HANDLE, give(k, ends, ends, 1, 1, "double", OP_INC));
  fails(OP_ERR_HANDLE, op_free_mat(k));
  message_has("\"k\", which was freed");
}

LIBRARY_TEST(ragged_maps_need_a_number_before) {
  const long long offsets[N + 1] = {0, 2, 3, 3, 4, 5, 6};
  const int targets[6] = {0, 1, 2, 3, 4, 5};
  mesh();
  op_map ragged = op_decl_map_ragged(edges, nodes, offsets, targets, "ragged");
  op_mat k = declared(ragged, ragged, 1, 1);
  fails(OP_ERR_ARGUMENT, give(k, ragged, ragged, 1, 1, "double", OP_INC));
  message_has("map \"ragged\" is ragged");
  static int wide[N * 70];
  op_map all = op_decl_map(edges, nodes, 70, wide, "all");
  fails(OP_ERR_SIZE, give(declared(all, all, 1, 1), all, all, 1, 1, "double", OP_INC));
  message_has("70 rows and 70 columns");
  const op_map pairs[2] = {ends, all};
  long long entries;
  op_mat two = op_decl_mat(2, pairs, pairs, 1, 1, "double", "two");
  works(give(two, ends, ends, 1, 1, "double", OP_INC));
  fails(OP_ERR_SIZE, op_fetch_mat(two, &entries, NULL, NULL, NULL)); /* no loop could fill the second pair */
  message_has("by \"all\" and \"all\" has 70 rows");
}

/* Fewer targets than a proof looks at, or none. */
LIBRARY_TEST(short_ragged_maps) {
  for (long long length = 0; length <= 5; length++) {
    long long offsets[N + 1], entries = 0;
    int targets[5 * N];
    mesh();
    for (int e = 0; e <= N; e++)
      offsets[e] = e * length;
    for (int i = 0; i < 5 * N; i++)
      targets[i] = i % N;
    op_map few = op_decl_map_ragged(edges, nodes, offsets, targets, "few");
    op_mat k = declared(few, few, 1, 1);
    works(op_par_loop(OP_KERNEL_OF(counts), "counts", edges, op_arg_dat(x, OP_ALL, few, 1, "double", OP_READ),
                      op_arg_mat(k, few, few, 1, 1, "double", OP_INC)));
    works(op_fetch_mat(k, &entries, NULL, NULL, NULL));
    assert_true(entries >= N); /* the diagonal at least */
  }
}

LIBRARY_TEST(states_that_are_wrong) {
  long long entries;
  op_coo_t coo;
  mesh();
  op_mat k = declared(ends, ends, 1, 1);
  fails(OP_ERR_STATE, op_fetch_mat(k, &entries, NULL, NULL, NULL));
  message_has("op_fetch_mat: matrix \"k\" is used before a loop filled it");
  fails(OP_ERR_STATE, op_coo(k, &coo));
  message_has("op_coo: matrix \"k\"");
  works(give(k, ends, ends, 1, 1, "double", OP_INC));
  works(op_fetch_mat(k, &entries, NULL, NULL, NULL));
  assert_int_equal(entries, 3 * N);
  fails(OP_ERR_ARGUMENT, op_fetch_mat(k, NULL, NULL, NULL, NULL));
  fails(OP_ERR_ARGUMENT, op_fetch_mat(k, &entries, &entries, NULL, NULL));
  works(op_zero_mat(k));
  fails(OP_ERR_STATE, op_coo(k, &coo));
  fails(OP_ERR_STATE, op_free_map(ends));
  message_has("matrix \"k\"");
  fails(OP_ERR_STATE, op_free_set(nodes));
  message_has("matrix \"k\"");
  works(op_free_mat(k));
  works(op_free_map(ends));
}

/* To set entries to which other loops gave something would need to know which. */
LIBRARY_TEST(writing_over_what_others_gave) {
  mesh();
  op_mat k = declared(ends, ends, 1, 1);
  op_set some = op_decl_subset_range(edges, 0, 2, "some");
  works(give(k, ends, ends, 1, 1, "double", OP_WRITE));
  works(give(k, ends, ends, 1, 1, "double", OP_WRITE));
  works(op_par_loop(OP_KERNEL_OF(gives), "gives", some, direct(on_edges, 1, "double", OP_READ),
                    op_arg_mat(k, ends, ends, 1, 1, "double", OP_INC)));
  fails(OP_ERR_STATE, give(k, ends, ends, 1, 1, "double", OP_WRITE));
  message_has("call op_zero_mat before");
  fails(OP_ERR_STATE, op_free_set(some));
}

LIBRARY_TEST(fixed_rows_that_are_wrong) {
  const int flags[N] = {0, 1, 0, 0, 0, 0}, numbers[N] = {0, 5, 0, 0, 0, 0};
  mesh();
  op_mat k = declared(ends, ends, 1, 1), across = declared(ends, OP_ID, 1, 1);
  op_dat good = op_decl_dat(nodes, 1, "int", flags, "good"),
         wrong = op_decl_dat(nodes, 1, "int", numbers, "wrong");
  op_dat wide = op_decl_dat(nodes, 2, "int", NULL, "wide"), away = op_decl_dat(edges, 1, "int", NULL, "away");
  fails(OP_ERR_RANGE, op_fix_mat(k, wrong, NULL, 1));
  message_has("dat \"wrong\" has 5 in component 0 of element 1 of set \"nodes\"");
  fails(OP_ERR_DIM, op_fix_mat(k, wide, NULL, 1));
  fails(OP_ERR_MAP_SET, op_fix_mat(k, NULL, away, 1));
  fails(OP_ERR_TYPE, op_fix_mat(k, x, NULL, 1));
  fails(OP_ERR_ARGUMENT, op_fix_mat(across, good, NULL, 1));
  fails(OP_ERR_HANDLE, op_fix_mat(k, (op_dat)(void *)nodes, NULL, 1));
  works(op_fix_mat(across, good, NULL, 0));
  works(op_fix_mat(k, good, good, 1));
}

/* The same rows once more change no list. */
LIBRARY_TEST(fixing_again) {
  const int flags[N] = {0, 1, 0, 0, 0, 0};
  op_coo_t a, b;
  mesh();
  op_mat k = declared(ends, ends, 1, 1);
  op_dat good = op_decl_dat(nodes, 1, "int", flags, "good");
  for (int times = 0; times < 3; times++) {
    works(op_zero_mat(k));
    works(op_fix_mat(k, good, good, 1 + times));
    works(give(k, ends, ends, 1, 1, "double", OP_INC));
    works(op_coo(k, times ? &b : &a));
    assert_true(times == 0 || a.pattern == b.pattern);
    double diagonal = 0;
    for (long long i = 0; times && i < b.count; i++)
      if (b.rows[i] == 1 && b.columns[i] == 1)
        diagonal += b.values[i];
    assert_true(times == 0 || (diagonal > 0.99 + times && diagonal < 1.01 + times));
  }
}

/* ---- lending ---- */

static int double_it(op_dat from, op_dat to) {
  return op_par_loop(OP_KERNEL_OF(doubles), "doubles", nodes, direct(from, 1, "double", OP_READ),
                     direct(to, 1, "double", OP_WRITE));
}

LIBRARY_TEST(lent_memory) {
  op_lent_t lent;
  double out[N];
  mesh();
  op_dat y = op_decl_dat(nodes, 1, "double", NULL, "y");
  works(double_it(x, y));
  works(op_lend(y, OP_RW, &lent));
  assert_int_equal(lent.owned, N);
  assert_int_equal(lent.row_bytes, sizeof(double));
  double *rows = lent.memory;
  assert_true(rows[2] > 5.9 && rows[2] < 6.1);
  fails(OP_ERR_STATE, double_it(x, y));
  message_has("is lent");
  fails(OP_ERR_STATE, op_fetch_data(y, out));
  fails(OP_ERR_STATE, op_lend(y, OP_READ, &lent));
  rows[2] = 70;
  works(op_lend_end(y));
  fails(OP_ERR_STATE, op_lend_end(y));
  works(double_it(y, x));
  works(op_fetch_data(x, out));
  assert_true(out[2] > 139.9 && out[2] < 140.1);
  fails(OP_ERR_ACCESS, op_lend(y, OP_INC, &lent));
  fails(OP_ERR_ARGUMENT, op_lend(y, OP_READ, NULL));
}

/* A loop that is prepared goes to the new memory each time. */
LIBRARY_TEST(placed_memory) {
  double first[N + 1], second[N + 1], out[N], from[N];
  mesh();
  op_dat y = op_decl_dat(nodes, 1, "double", (const double[N]){9, 9, 9, 9, 9, 9}, "y");
  for (int i = 0; i < N; i++)
    from[i] = 10 * i;
  works(double_it(x, y));
  for (int times = 0; times < 3; times++) {
    double *to = times % 2 ? second : first;
    memset(first, 0, sizeof first);
    memset(second, 0, sizeof second);
    works(op_place(x, from, N, OP_READ));
    works(op_place(y, to, N, OP_WRITE));
    works(double_it(x, y));
    works(op_place_end(y));
    works(op_place_end(x));
    for (int i = 0; i < N; i++)
      assert_true(to[i] > 20 * i - 0.1 && to[i] < 20 * i + 0.1 && first[i] + second[i] < 20 * i + 0.1);
  }
  works(op_fetch_data(y, out));
  assert_true(out[0] > 1.9 && out[0] < 2.1); /* what the loop before left */
  works(op_fetch_data(x, out));
  assert_true(out[1] > 1.9 && out[1] < 2.1);
  fails(OP_ERR_STATE, op_place_end(x));
}

LIBRARY_TEST(places_that_are_wrong) {
  double room[N + 1] = {0};
  op_lent_t lent;
  mesh();
  fails(OP_ERR_SIZE, op_place(x, room, N - 1, OP_RW));
  message_has("has 5 rows, but 6 are needed");
  fails(OP_ERR_ARGUMENT, op_place(x, NULL, N, OP_RW));
  fails(OP_ERR_ARGUMENT, op_place(x, (char *)room + 1, N, OP_RW));
  fails(OP_ERR_ACCESS, op_place(x, room, N, OP_MIN));
  fails(OP_ERR_HANDLE, op_place(NULL, room, N, OP_RW));
  works(op_place(x, room, N, OP_READ));
  fails(OP_ERR_STATE, op_renumber(ends));
  message_has("dat \"x\" is placed");
  fails(OP_ERR_STATE, op_lend(x, OP_READ, &lent));
  fails(OP_ERR_STATE, op_par_loop(OP_KERNEL_OF(raises), "raises", nodes, direct(x, 1, "double", OP_RW)));
  message_has("memory that is only read");
  works(op_place(x, room, N, OP_RW));
  works(op_par_loop(OP_KERNEL_OF(raises), "raises", nodes, direct(x, 1, "double", OP_RW)));
  works(op_place_end(x));
  assert_true(room[N - 1] > 0.9 && room[N - 1] < 1.1);
}

/* A temporary like it would come back there. */
LIBRARY_TEST(what_is_placed_is_not_freed) {
  double *room = calloc(N + 1, sizeof *room), out[N];
  mesh();
  op_dat t = op_decl_dat_temp(nodes, 1, "double", NULL, "t");
  works(op_place(t, room, N, OP_RW));
  fails(OP_ERR_STATE, op_free_dat_temp(t));
  message_has("op_free_dat_temp: dat \"t\" is placed; call op_place_end first");
  fails(OP_ERR_STATE, op_free_dat(t));
  works(op_place_end(t));
  works(op_free_dat_temp(t));
  t = op_decl_dat_temp(nodes, 1, "double", NULL, "t");
  works(double_it(x, t));
  works(op_fetch_data(t, out));
  assert_true(out[0] > 1.9 && out[0] < 2.1 && room[0] < 0.1);
  free(room);
}

/* ---- what messages call it ---- */

LIBRARY_TEST(kernels_that_go_beyond_their_matrix) {
  const char *backend = getenv("OP2_BACKEND");
  mesh();
  op_mat k = declared(ends, ends, 1, 1);
  if (!backend || strcmp(backend, "native") != 0) {
    fails(OP_ERR_VIOLATION, op_par_loop(OP_KERNEL(void f(double *a) { a[4] = 1; }), "f", edges,
                                        op_arg_mat(k, ends, ends, 1, 1, "double", OP_INC)));
    message_has("use components 0 to 3, rows times columns of the element's matrix");
    fails(OP_ERR_KERNEL, op_par_loop(OP_KERNEL(void f(float *a) { a[0] = 1; }), "f", edges,
                                     op_arg_mat(k, ends, ends, 1, 1, "double", OP_INC)));
    message_has("argument 1 is matrix \"k\" of type double, 4 numbers of each element");
  }
  op_arg args[] = {direct(on_edges, 1, "double", OP_UNSAID),
                   op_arg_mat(k, ends, ends, 1, 1, "double", OP_INC)};
  if (!backend || strcmp(backend, "native") != 0) {
    works(op_find_accesses(OP_KERNEL_OF(gives), "gives", edges, 2, args, __FILE__, __LINE__));
    assert_int_equal(args[0].access_, OP_READ);
  }
}

/* ---- what bridges keep ---- */

static int released;
static void count_release(void *data) {
  released += *(int *)data;
}

LIBRARY_TEST(things_that_bridges_keep) {
  static const char key, another;
  int one = 1, ten = 10, hundred = 100;
  released = 0;
  mesh();
  op_mat k = declared(ends, ends, 1, 1);
  works(op_keep(k, &key, &one, count_release));
  assert_ptr_equal(op_kept(k, &key), &one);
  assert_null(op_kept(k, &another));
  works(op_keep(k, &key, &ten, count_release));
  assert_int_equal(released, 1);
  works(op_free_mat(k));
  assert_int_equal(released, 11);
  fails(OP_ERR_HANDLE, op_keep(k, &key, &one, count_release));
  works(op_keep(x, &key, &hundred, count_release));
  works(op_keep(NULL, &key, &hundred, count_release));
  assert_ptr_equal(op_kept(NULL, &key), &hundred);
  works(op_exit());
  assert_int_equal(released, 211);
  works(op_init(0, NULL, 0));
}
