/* Arguments of loops: forms, accesses, globals, numbers and payloads. */
#include <math.h>

#include "support.h"

enum { EDGES = 6, CELLS = 5 };
/* A ring with a loop: edge 5 leads from cell 0 to itself. */
static const int ends[EDGES * 2] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0, 0};
static const double heights[CELLS] = {1, 10, 100, 1000, 10000};

struct ring {
  op_set cells, edges;
  op_map ends;
  op_dat height;
};

static struct ring make_ring(void) {
  struct ring r = {.cells = op_decl_set(CELLS, "cells"), .edges = op_decl_set(EDGES, "edges")};
  r.ends = op_decl_map(r.edges, r.cells, 2, ends, "ends");
  r.height = op_decl_dat(r.cells, 1, "double", heights, "height");
  assert_true(r.ends && r.height);
  return r;
}

OP_KERNEL_DEF(
    add_ends, void add_ends(const double *a, const double *b, double *sum) { *sum = *a + 2 * *b; })
OP_KERNEL_DEF(
    add_both, void add_both(const double *both[2], double *sum) { *sum = both[0][0] + 2 * both[1][0]; })
OP_KERNEL_DEF(
    add_one, void add_one(const double *const only[1], double *sum) { *sum = 3 * only[0][0]; })

LIBRARY_TEST(columns_and_vectors_name_targets) {
  struct ring r = make_ring();
  double out[EDGES];
  op_dat sum = op_decl_dat(r.edges, 1, "double", NULL, "sum");
  for (int vector = 0; vector < 2; vector++) {
    if (vector)
      works(op_par_loop(OP_KERNEL_OF(add_both), "add_both", r.edges,
                        op_arg_dat(r.height, -2, r.ends, 1, "double", OP_READ),
                        direct(sum, 1, "double", OP_WRITE)));
    else
      works(op_par_loop(
          OP_KERNEL_OF(add_ends), "add_ends", r.edges, op_arg_dat(r.height, 0, r.ends, 1, "double", OP_READ),
          op_arg_dat(r.height, 1, r.ends, 1, "double", OP_READ), direct(sum, 1, "double", OP_WRITE)));
    works(op_fetch_data(sum, out));
    for (int e = 0; e < EDGES; e++)
      assert_true(out[e] == heights[ends[2 * e]] + 2 * heights[ends[2 * e + 1]]);
  }
}

LIBRARY_TEST(minus_one_with_arity_one_is_a_vector_of_one) {
  struct ring r = make_ring();
  int back[EDGES] = {4, 3, 2, 1, 0, 0};
  double out[EDGES];
  op_map one = op_decl_map(r.edges, r.cells, 1, back, "one");
  op_dat sum = op_decl_dat(r.edges, 1, "double", NULL, "sum");
  works(op_par_loop(OP_KERNEL_OF(add_one), "add_one", r.edges,
                    op_arg_dat(r.height, -1, one, 1, "double", OP_READ), direct(sum, 1, "double", OP_WRITE)));
  works(op_fetch_data(sum, out));
  for (int e = 0; e < EDGES; e++)
    assert_true(out[e] == 3 * heights[back[e]]);
}

OP_KERNEL_DEF(
    to_ends, void to_ends(double *a, double *b) {
      *a += 1;
      *b += 100;
    })
OP_KERNEL_DEF(
    to_both, void to_both(double **both) {
      for (int i = 0; i < 2; i++)
        both[i][0] += i ? 100 : 1;
    })

LIBRARY_TEST(increments_add_whatever_the_targets) {
  struct ring r = make_ring();
  static const char *const layouts[] = {"double", "double:soa"};
  for (int form = 0; form < 4; form++) {
    double start[CELLS] = {5, 5, 5, 5, 5}, out[CELLS], want[CELLS] = {5, 5, 5, 5, 5};
    op_dat sum = op_decl_dat(r.cells, 1, layouts[form % 2], start, "sum");
    if (form < 2)
      works(op_par_loop(OP_KERNEL_OF(to_ends), "to_ends", r.edges,
                        op_arg_dat(sum, 0, r.ends, 1, layouts[form % 2], OP_INC),
                        op_arg_dat(sum, 1, r.ends, 1, layouts[form % 2], OP_INC)));
    else
      works(op_par_loop(OP_KERNEL_OF(to_both), "to_both", r.edges,
                        op_arg_dat(sum, -2, r.ends, 1, layouts[form % 2], OP_INC)));
    for (int e = 0; e < EDGES; e++) {
      want[ends[2 * e]] += 1;
      want[ends[2 * e + 1]] += 100;
    }
    works(op_fetch_data(sum, out));
    assert_memory_equal(out, want, sizeof out);
  }
}

OP_KERNEL_DEF(
    maybe, void maybe(const double *x, const double *more, double *y, const int *there) {
      y[0] = x[0];
      if (*there)
        y[0] += more[0];
    })

LIBRARY_TEST(optional_arguments_may_be_absent) {
  struct ring r = make_ring();
  double out[CELLS], more_values[CELLS] = {1, 2, 3, 4, 5};
  op_dat y = op_decl_dat(r.cells, 1, "double", NULL, "y"),
         more = op_decl_dat(r.cells, 1, "double", more_values, "more");
  for (int there = 0; there < 4; there++) {
    int flag = there == 1 || there == 3;
    op_dat given = there == 0 ? NULL : more;
    works(op_par_loop(OP_KERNEL_OF(maybe), "maybe", r.cells, direct(r.height, 1, "double", OP_READ),
                      op_opt_arg_dat(flag, given, -1, OP_ID, 1, "double", OP_READ),
                      direct(y, 1, "double", OP_WRITE), op_arg_gbl(&flag, 1, "int", OP_READ)));
    works(op_fetch_data(y, out));
    for (int c = 0; c < CELLS; c++)
      assert_true(out[c] == heights[c] + (flag ? more_values[c] : 0));
  }
}

OP_KERNEL_DEF(
    maybe_sum, void maybe_sum(const double *x, double *sum, const int *there) {
      if (*there)
        *sum += x[0];
    })

LIBRARY_TEST(optional_globals_may_be_absent) {
  struct ring r = make_ring();
  for (int there = 0; there < 2; there++) {
    double sum = 1;
    works(op_par_loop(OP_KERNEL_OF(maybe_sum), "maybe_sum", r.cells, direct(r.height, 1, "double", OP_READ),
                      op_opt_arg_gbl(there, there ? &sum : NULL, 1, "double", OP_INC),
                      op_arg_gbl(&there, 1, "int", OP_READ)));
    assert_true(sum == (there ? 11112 : 1));
  }
}

OP_KERNEL_DEF(
    numbers, void numbers(const int *own, const int *second, const int *both, int *out) {
      out[0] = own[0];
      out[1] = second[0];
      out[2] = both[0];
      out[3] = both[1];
    })

LIBRARY_TEST(op_arg_idx_gives_the_users_numbers) {
  struct ring r = make_ring();
  int out[EDGES * 4];
  op_dat y = op_decl_dat(r.edges, 4, "int", NULL, "y");
  works(op_par_loop(OP_KERNEL_OF(numbers), "numbers", r.edges, op_arg_idx(-1, OP_ID), op_arg_idx(1, r.ends),
                    op_arg_idx(-2, r.ends), direct(y, 4, "int", OP_WRITE)));
  works(op_fetch_data(y, out));
  static char report[1 << 20];
  works(op_report_json(report, sizeof report));
  assert_non_null(strstr(report,
                         "\"arguments\":[\"number of the element\",\"number of the target, by ends[1]\","
                         "\"number of the target, by all 2 of ends\",\"y, 4 int, OP_WRITE\"]"));
  for (int e = 0; e < EDGES; e++) {
    assert_int_equal(out[4 * e], e);
    assert_int_equal(out[4 * e + 1], ends[2 * e + 1]);
    assert_int_equal(out[4 * e + 2], ends[2 * e]);
    assert_int_equal(out[4 * e + 3], ends[2 * e + 1]);
  }
}

OP_KERNEL_DEF(
    reduce, void reduce(const double *x, const double *offset, double *sum, double *low, double *high,
                        double *scratch) {
      scratch[0] = x[0] + offset[0];
      scratch[1] = -scratch[0];
      *sum += scratch[0];
      if (scratch[0] < *low)
        *low = scratch[0];
      if (scratch[1] > high[1])
        high[1] = scratch[1];
    })

LIBRARY_TEST(globals_start_from_the_users_values) {
  struct ring r = make_ring();
  double offset = 1, sum = 1000, low = 50, high[2] = {7, -50};
  works(op_par_loop(OP_KERNEL_OF(reduce), "reduce", r.cells, direct(r.height, 1, "double", OP_READ),
                    op_arg_gbl(&offset, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
                    op_arg_gbl(&low, 1, "double", OP_MIN), op_arg_gbl(high, 2, "double", OP_MAX),
                    op_arg_gbl(NULL, 2, "double", OP_WORK)));
  assert_true(sum == 1000 + 11111 + 5 && low == 2 && high[0] == 7 && high[1] == -2);
  /* Values that no element beats stay; scratch that the user has is not touched. */
  double mine[2] = {42, 43};
  sum = 0, low = -5, high[1] = 5, offset = 0;
  works(op_par_loop(OP_KERNEL_OF(reduce), "reduce", r.cells, direct(r.height, 1, "double", OP_READ),
                    op_arg_gbl(&offset, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
                    op_arg_gbl(&low, 1, "double", OP_MIN), op_arg_gbl(high, 2, "double", OP_MAX),
                    op_arg_gbl(mine, 2, "double", OP_WORK)));
  assert_true(sum == 11111 && low == -5 && high[0] == 7 && high[1] == 5 && mine[0] == 42 && mine[1] == 43);
}

OP_KERNEL_DEF(
    uses_scratch, void uses_scratch(const double *x, double *a, double *b, double *sum) {
      a[0] = *x;
      b[0] = 1;
      *sum += a[0] + b[0];
    })

/* It lies on a stack: more than that is refused, and not a crash. */
LIBRARY_TEST(scratch_has_a_limit) {
  enum { MOST = (1 << 20) / sizeof(double) };
  struct ring r = make_ring();
  double sum = 0;
  for (int more = 0; more < 2; more++)
    fails(more ? OP_ERR_SIZE : OP_OK,
          op_par_loop(OP_KERNEL_OF(uses_scratch), "uses_scratch", r.cells,
                      direct(r.height, 1, "double", OP_READ), op_arg_gbl(NULL, MOST - 1, "double", OP_WORK),
                      op_arg_gbl(NULL, 1 + more, "double", OP_WORK), op_arg_gbl(&sum, 1, "double", OP_INC)));
  if (!strstr(op_last_error()->message,
              "loop uses_scratch, argument 3: 2 values of type double are 16 bytes of "
              "scratch, and the OP_WORK arguments of a loop may have 1048576 bytes"))
    fail_msg("another message: %s", op_last_error()->message);
  fails(OP_ERR_SIZE,
        op_par_loop(OP_KERNEL_OF(uses_scratch), "uses_scratch", r.cells,
                    direct(r.height, 1, "double", OP_READ), op_arg_gbl(NULL, 1 << 21, "double", OP_WORK),
                    op_arg_gbl(NULL, 1, "double", OP_WORK), op_arg_gbl(&sum, 1, "double", OP_INC)));
}

#define OWN_PROTOTYPES                                                                                       \
  "\xEF\xBB\xBF"                                                                                             \
  "double fabs(double);\nextern double exp(double x);\n"                                                     \
  "void own_prototypes(const double *x, double *sum) { *sum += fabs(*x) * exp(0.0); }"
static void own_prototypes(const double *x, double *sum) {
  *sum += fabs(*x);
}

/* As a file may begin that is compiled elsewhere, too. */
LIBRARY_TEST(prototypes_of_what_kernels_have) {
  struct ring r = make_ring();
  double sum = 0;
  const char *text = op_kernel_native(OWN_PROTOTYPES, (op_kernel_function)own_prototypes);
  works(op_par_loop(text, "own_prototypes", r.cells, direct(r.height, 1, "double", OP_READ),
                    op_arg_gbl(&sum, 1, "double", OP_INC)));
  assert_true(sum == 11111);
}

LIBRARY_TEST(an_empty_set_leaves_globals_alone) {
  op_set none = op_decl_set(0, "none");
  op_dat x = op_decl_dat(none, 1, "double", NULL, "x");
  double offset = 1, sum = 3, low = 4, high[2] = {5, 6};
  for (int i = 0; i < 3; i++)
    works(op_par_loop(OP_KERNEL_OF(reduce), "reduce", none, direct(x, 1, "double", OP_READ),
                      op_arg_gbl(&offset, 1, "double", OP_READ), op_arg_gbl(&sum, 1, "double", OP_INC),
                      op_arg_gbl(&low, 1, "double", OP_MIN), op_arg_gbl(high, 2, "double", OP_MAX),
                      op_arg_gbl(NULL, 2, "double", OP_WORK)));
  assert_true(sum == 3 && low == 4 && high[0] == 5 && high[1] == 6);
}

OP_KERNEL_DEF(
    extremes, void extremes(const double *x, double *low, double *high, double *sum) {
      if (x[0] < *low || x[0] != x[0])
        *low = x[0];
      if (x[0] > *high || x[0] != x[0])
        *high = x[0];
      *sum += x[0];
    })

LIBRARY_TEST(a_nan_is_never_dropped) {
  enum { N = 5000 };
  static double x[N];
  op_set set = op_decl_set(N, "s");
  op_dat dat = op_decl_dat(set, 1, "double", NULL, "x");
  static const int places[] = {0, 1, N / 2, N - 1, -1};
  for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
    for (int i = 0; i < N; i++)
      x[i] = i % 100;
    double low = 50, high = places[p] < 0 ? NAN : 50, sum = 0;
    if (places[p] >= 0)
      x[places[p]] = NAN;
    works(op_put_data(dat, x));
    works(op_par_loop(OP_KERNEL_OF(extremes), "extremes", set, direct(dat, 1, "double", OP_READ),
                      op_arg_gbl(&low, 1, "double", OP_MIN), op_arg_gbl(&high, 1, "double", OP_MAX),
                      op_arg_gbl(&sum, 1, "double", OP_INC)));
    /* At last the user's own start value is the NaN. */
    assert_true(isnan(high) && isnan(low) == (places[p] >= 0) && isnan(sum) == (places[p] >= 0));
  }
}

OP_KERNEL_DEF(
    single, void single(const double *x, double *written, int *changed) {
      written[0] = x[0];
      written[1] = -x[0];
      changed[0] = 2 * changed[0] + 1;
    })

LIBRARY_TEST(a_set_of_one_may_write_globals) {
  op_set one = op_decl_set(1, "one");
  double x = 4, written[2] = {0, 0};
  int changed = 10;
  op_dat dat = op_decl_dat(one, 1, "double", &x, "x");
  works(op_par_loop(OP_KERNEL_OF(single), "single", one, direct(dat, 1, "double", OP_READ),
                    op_arg_gbl(written, 2, "double", OP_WRITE), op_arg_gbl(&changed, 1, "int", OP_RW)));
  assert_true(written[0] == 4 && written[1] == -4 && changed == 21);
}

OP_KERNEL_DEF(
    farthest,
    void farthest(const double *x, const int *n, double *high, int *where, double *low, double *values) {
      if (x[0] > *high) {
        *high = x[0];
        *where = *n;
      }
      if (x[0] < *low) {
        *low = x[0];
        values[0] = *n;
        values[1] = 10 * x[0];
      }
    })

LIBRARY_TEST(payloads_go_with_their_extremum) {
  enum { N = 4000 };
  static double x[N];
  op_set set = op_decl_set(N, "s");
  for (int i = 0; i < N; i++)
    x[i] = (i * 37) % 1000; /* each value four times: ties everywhere */
  op_dat dat = op_decl_dat(set, 1, "double", x, "x");
  int first_high = -1, first_low = -1;
  for (int i = N - 1; i >= 0; i--) {
    first_high = x[i] == 999 ? i : first_high;
    first_low = x[i] == 0 ? i : first_low;
  }
  for (int equal = 0; equal < 2; equal++) {
    double high = equal ? 999 : -1, low = equal ? 0 : 1e9, values[2] = {-7, -8};
    int where = -9;
    works(op_par_loop(OP_KERNEL_OF(farthest), "farthest", set, direct(dat, 1, "double", OP_READ),
                      op_arg_idx(-1, OP_ID), op_arg_gbl(&high, 1, "double", OP_MAX),
                      op_arg_info(&where, 1, "int", 3), op_arg_gbl(&low, 1, "double", OP_MIN),
                      op_arg_info(values, 2, "double", 5)));
    assert_true(high == 999 && low == 0);
    /* The user's own value wins over an equal element. */
    assert_int_equal(where, equal ? -9 : first_high);
    assert_true(values[0] == (equal ? -7 : first_low) && values[1] == (equal ? -8 : 0));
  }
}

LIBRARY_TEST(payloads_tie_by_the_users_numbers_after_renumbering) {
  enum { N = 600 };
  static double x[N];
  static int neighbours[N * 2];
  for (int i = 0; i < N; i++) { /* a chain whose links are far apart in the user's numbers */
    neighbours[2 * ((i * 7) % N)] = (i * 7) % N;
    neighbours[2 * ((i * 7) % N) + 1] = ((i + 1) * 7) % N;
    x[i] = i % 100 < 50 ? 1 : 2;
  }
  op_set set = op_decl_set(N, "s");
  op_map map = op_decl_map(set, set, 2, neighbours, "neighbours");
  op_dat dat = op_decl_dat(set, 1, "double", x, "x");
  for (int round = 0; round < 3; round++) {
    double high = 0, low = 5, values[2];
    int where = -1;
    works(op_par_loop(OP_KERNEL_OF(farthest), "farthest", set, direct(dat, 1, "double", OP_READ),
                      op_arg_idx(-1, OP_ID), op_arg_gbl(&high, 1, "double", OP_MAX),
                      op_arg_info(&where, 1, "int", 3), op_arg_gbl(&low, 1, "double", OP_MIN),
                      op_arg_info(values, 2, "double", 5)));
    assert_int_equal(where, 50);
    assert_true(values[0] == 0 && values[1] == 10);
    works(op_renumber(map));
  }
}

OP_KERNEL_DEF(
    last_payload, void last_payload(int *where, const int *x, const int *n, int *high) {
      if (*x > *high) {
        *high = *x;
        *where = *n;
      }
    })

LIBRARY_TEST(a_payload_may_come_before_its_extremum) {
  int x[4] = {3, 9, 9, 1}, where = -1, high = 0;
  op_set set = op_decl_set(4, "s");
  op_dat dat = op_decl_dat(set, 1, "int", x, "x");
  works(op_par_loop(OP_KERNEL_OF(last_payload), "last_payload", set, op_arg_info(&where, 1, "int", 4),
                    direct(dat, 1, "int", OP_READ), op_arg_idx(-1, OP_ID),
                    op_arg_gbl(&high, 1, "int", OP_MAX)));
  assert_int_equal(high, 9);
  assert_int_equal(where, 1);
}

OP_KERNEL_DEF(
    many,
    void many(const int *a0, const int *a1, const int *a2, const int *a3, const int *a4, const int *a5,
              const int *a6, const int *a7, const int *a8, const int *a9, const int *a10, const int *a11,
              const int *a12, const int *a13, const int *a14, const int *a15, const int *a16, const int *a17,
              const int *a18, const int *a19, const int *a20, const int *a21, const int *a22, const int *a23,
              const int *a24, const int *a25, const int *a26, const int *a27, const int *a28, const int *a29,
              const int *a30, const int *a31, const int *a32, const int *a33, const int *a34, const int *a35,
              const int *a36, const int *a37, const int *a38, const int *a39, const int *a40, const int *a41,
              const int *a42, const int *a43, const int *a44, const int *a45, const int *a46, const int *a47,
              const int *a48, const int *a49, const int *a50, const int *a51, const int *a52, const int *a53,
              const int *a54, const int *a55, const int *a56, const int *a57, const int *a58, const int *a59,
              const int *a60, const int *a61, int *sum, int *out) {
      *out = 1 * *a0 + 2 * *a1 + 3 * *a2 + 4 * *a3 + 5 * *a4 + 6 * *a5 + 7 * *a6 + 8 * *a7 + 9 * *a8 +
             10 * *a9 + 11 * *a10 + 12 * *a11 + 13 * *a12 + 14 * *a13 + 15 * *a14 + 16 * *a15 + 17 * *a16 +
             18 * *a17 + 19 * *a18 + 20 * *a19 + 21 * *a20 + 22 * *a21 + 23 * *a22 + 24 * *a23 + 25 * *a24 +
             26 * *a25 + 27 * *a26 + 28 * *a27 + 29 * *a28 + 30 * *a29 + 31 * *a30 + 32 * *a31 + 33 * *a32 +
             34 * *a33 + 35 * *a34 + 36 * *a35 + 37 * *a36 + 38 * *a37 + 39 * *a38 + 40 * *a39 + 41 * *a40 +
             42 * *a41 + 43 * *a42 + 44 * *a43 + 45 * *a44 + 46 * *a45 + 47 * *a46 + 48 * *a47 + 49 * *a48 +
             50 * *a49 + 51 * *a50 + 52 * *a51 + 53 * *a52 + 54 * *a53 + 55 * *a54 + 56 * *a55 + 57 * *a56 +
             58 * *a57 + 59 * *a58 + 60 * *a59 + 61 * *a60 + 62 * *a61;
      *sum += *a61;
    })

LIBRARY_TEST(sixty_four_arguments_are_allowed) {
  enum { N = 3, READ = OP_MAX_ARGS - 2 };
  op_set set = op_decl_set(N, "s");
  op_arg args[OP_MAX_ARGS];
  int sum = 0, out[N];
  for (int a = 0; a < READ; a++) {
    int values[N] = {a, a * a, 1};
    args[a] = direct(op_decl_dat(set, 1, a % 2 ? "int" : "int:soa", values, "x"), 1, "int", OP_READ);
  }
  op_dat y = op_decl_dat(set, 1, "int", NULL, "y");
  args[READ] = op_arg_gbl(&sum, 1, "int", OP_INC);
  args[READ + 1] = direct(y, 1, "int", OP_WRITE);
  works(op_par_loop_array(OP_KERNEL_OF(many), "many", set, OP_MAX_ARGS, args, __FILE__, __LINE__));
  works(op_fetch_data(y, out));
  int want[N] = {0};
  for (int a = 0; a < READ; a++) {
    want[0] += (a + 1) * a;
    want[1] += (a + 1) * a * a;
    want[2] += a + 1;
  }
  assert_memory_equal(out, want, sizeof out);
  assert_int_equal(sum, 61 + 61 * 61 + 1);
}

OP_KERNEL_DEF(
    from_to, void from_to(const double *from, double *to) { *to = *from + 1; })

LIBRARY_TEST(one_dat_may_be_read_and_written_where_it_does_not_meet) {
  int table[] = {0, 3, 1, 4, 2, 5}; /* from 0..2 to 3..5 */
  double x[6] = {1, 2, 3, 0, 0, 0}, want[6] = {1, 2, 3, 2, 3, 4}, out[6];
  op_set set = op_decl_set(3, "s"), points = op_decl_set(6, "points");
  op_map map = op_decl_map(set, points, 2, table, "map");
  op_dat dat = op_decl_dat(points, 1, "double", x, "x");
  works(op_par_loop(OP_KERNEL_OF(from_to), "from_to", set, op_arg_dat(dat, 0, map, 1, "double", OP_READ),
                    op_arg_dat(dat, 1, map, 1, "double", OP_WRITE)));
  works(op_fetch_data(dat, out));
  assert_memory_equal(out, want, sizeof out);
}

OP_KERNEL_DEF(
    scaled_sum, void scaled_sum(const double *x, const double *by, double *sum) {
      sum[0] += by[0] * *x;
      sum[1] += by[1];
    })

/* The macros see the type of a variable, let any memory pass, and leave alone what C writes with commas. */
LIBRARY_TEST(a_pointer_has_the_arguments_type) {
  op_set set = op_decl_set(2, "s");
  op_dat x = op_decl_dat(set, 1, "double", (const double[]){1, 2}, "x");
  double sum[2] = {0}, by[2] = {2, 1};
  float small[2] = {0};
  void *memory = sum;
#define RUN(scale, result)                                                                                   \
  op_par_loop(OP_KERNEL_OF(scaled_sum), "scaled_sum", set, direct(x, 1, "double", OP_READ), scale, result)
  works(RUN(op_arg_gbl(by, 2, "double", OP_READ), op_arg_gbl(sum, 2, "double", OP_INC)));
  works(RUN(op_arg_gbl((double[]){2, 1}, 2, "double", OP_READ), op_arg_gbl(memory, 2, "double", OP_INC)));
  works(RUN((op_arg_gbl)(by, 2, "double", OP_READ), op_opt_arg_gbl(1, sum, 2, "double", OP_INC)));
  works(RUN(op_arg_gbl(&by[0], 2, "double", OP_READ), (op_opt_arg_gbl)(1, sum, 2, "double", OP_INC)));
  assert_true(sum[0] == 24 && sum[1] == 8);
  fails(OP_ERR_TYPE, RUN(op_arg_gbl(small, 2, "double", OP_READ), op_arg_gbl(sum, 2, "double", OP_INC)));
  fails(OP_ERR_TYPE, RUN(op_arg_gbl(by, 2, "double", OP_READ), op_arg_gbl(small, 2, "double", OP_INC)));
#undef RUN
}
