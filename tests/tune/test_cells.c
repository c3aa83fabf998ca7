/* The table of docs/manual.md of what waits, where no other test has its cell: derivatives under OP2_LAZY=auto, and OP2_LAZY=on. */
#include <stdbool.h>

#include "api/fortran/fortran.h"
#include "auto.h"
#include "op2jit_adjoint.h"
#include "op2jit_bridge.h"
#include "op2jit_tasks.h"
#include "op2jit_tools.h"

static const char square[] = OP_KERNEL(void square(const double *a, double *b) {
  for (int d = 0; d < 8; d++)
    b[d] = a[d] * a[d];
});
static const char loud[] = OP_KERNEL(void loud(double *r, double *q) {
  for (int d = 0; d < 8; d++) {
    q[d] += r[d] > 0 ? 1 : r[d] < 0 ? -1 : 0;
    r[d] = 0;
  }
  if (q[0] > 1e9)
    printf("large\n");
});

/* ---- OP2_LAZY=auto ---- */

static void square_once(op_dat to) {
  works(op_par_loop(square, "square", cells, direct(q, WIDTH, "double", OP_READ),
                    direct(to, WIDTH, "double", OP_WRITE)));
}

/* Two loops of a tape, or of tangents, that come again: the most of them that waited. */
static long long repeat(op_dat to) {
  long long most = 0;
  for (int i = 0; i < ROUNDS; i++) {
    spread_once();
    square_once(to);
    most = waiting() > most ? waiting() : most;
  }
  op_barrier();
  return most;
}

TEST(loops_of_tapes_wait) {
  static double bars[MANY * WIDTH], found[MANY * WIDTH];
  begin("OP2_TUNE=off");
  op_dat s = op_decl_dat(cells, WIDTH, "double", NULL, "s");
  op_tape tape = op_tape_begin(1, &q, 0);
  assert_non_null(tape);
  assert_true(repeat(s) > 1 && op_counters()->tiled > 0);
  works(op_tape_end(tape));
  for (int i = 0; i < MANY * WIDTH; i++)
    bars[i] = 1;
  works(op_put_data(op_bar(s), bars));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(q), found));
  for (int i = 0; i < MANY * WIDTH; i++)
    assert_true(found[i] == 2 * (double)(i * 7L % 1009));
  works(op_tape_free(tape));
  works(op_exit());
}

static void expect_tangents(const char *mode) {
  static double dots[MANY * WIDTH], found[MANY * WIDTH];
  begin_with("256K", mode, "OP2_TUNE=off");
  op_dat s = op_decl_dat(cells, WIDTH, "double", NULL, "s");
  for (int i = 0; i < MANY * WIDTH; i++)
    dots[i] = 1;
  works(op_tangent(1));
  works(op_put_data(op_dot(q), dots));
  assert_true(repeat(s) <= 1);
  assert_int_equal(op_counters()->tiled, 0);
  works(op_fetch_data(op_dot(s), found));
  for (int i = 0; i < MANY * WIDTH; i++)
    assert_true(found[i] == 2 * (double)(i * 7L % 1009));
  works(op_exit());
}

TEST(loops_with_tangents_wait_for_no_other) {
  expect_tangents("OP2_LAZY=auto");
  expect_tangents("OP2_LAZY=on");
}

/* ---- matrices, lending ---- */

static const char couple[] = OP_KERNEL(void couple(const double *a, const double *b, double *m) {
  m[0] += a[0];
  m[3] += b[0];
});

static void couple_once(op_mat k) {
  works(op_par_loop(couple, "couple", edges, op_arg_dat(q, 0, ends, WIDTH, "double", OP_READ),
                    op_arg_dat(q, 1, ends, WIDTH, "double", OP_READ),
                    op_arg_mat(k, ends, ends, 1, 1, "double", OP_INC)));
}

/* Each edge gives the first values of its cells to their diagonal entries. */
static void expect_matrix(op_mat k, int times) {
  static double values[3 * MANY];
  static long long offsets[MANY + 1], columns[3 * MANY];
  long long entries = 0;
  double sum = 0, want = 0;
  works(op_fetch_mat(k, &entries, NULL, NULL, NULL));
  assert_true(entries <= 3 * MANY);
  works(op_fetch_mat(k, &entries, offsets, columns, values));
  for (long long i = 0; i < entries; i++)
    sum += values[i];
  for (int i = 0; i < MANY; i++)
    want += (double)((i > 0) + (i < MANY - 1)) * (double)(i * WIDTH * 7L % 1009);
  assert_true(sum == times * want);
}

TEST(loops_with_matrices_wait) {
  static const char *const modes[] = {"OP2_LAZY=auto", "OP2_LAZY=on"};
  for (int on = 0; on < 2; on++) {
    long long most = 0;
    begin_with("256K", modes[on], "OP2_TUNE=off");
    op_dat s = op_decl_dat(cells, WIDTH, "double", NULL, "s");
    op_mat k = op_decl_mat(1, &ends, &ends, 1, 1, "double", "k");
    assert_non_null(k);
    for (int i = 0; i < ROUNDS; i++) {
      couple_once(k);
      square_once(s);
      most = waiting() > most ? waiting() : most;
    }
    assert_true(most > 1);
    expect_matrix(k, ROUNDS);
    assert_int_equal(waiting(), 0);
    works(op_exit());
  }
}

TEST(what_is_lent_has_run) {
  static const char *const modes[] = {"OP2_LAZY=auto", "OP2_LAZY=on"};
  for (int on = 0; on < 2; on++) {
    op_lent_t lent;
    begin_with("256K", modes[on], "OP2_TUNE=off");
    op_dat s = op_decl_dat(cells, WIDTH, "double", NULL, "s");
    for (int i = 0; i < ROUNDS && (i < 4 || waiting() == 0); i++) {
      spread_once();
      square_once(s);
    }
    assert_true(waiting() > 0);
    works(op_lend(s, OP_READ, &lent));
    assert_int_equal(waiting(), 0);
    assert_true(((const double *)lent.memory)[1] == 49);
    works(op_lend_end(s));
    works(op_exit());
  }
}

/* Calls of Fortran with stat= are between these two. */
static void step_with_stat(void) {
  op2jit_f_errors(1);
  spread_once();
  op2jit_f_errors(0);
  op2jit_f_errors(1);
  settle_by(OP_KERNEL_OF(settle), "settle");
  op2jit_f_errors(0);
}

TEST(loops_with_stat_of_fortran_run_as_called) {
  begin("OP2_TUNE=off");
  for (int i = 0; i < ROUNDS; i++) {
    step_with_stat();
    assert_int_equal(waiting(), 0);
  }
  assert_int_equal(op_counters()->tiled, 0);
  works(op_exit());
  begin_with("256K", "OP2_LAZY=on", "OP2_TUNE=off");
  step_with_stat();
  assert_int_equal(waiting(), 2);
  works(op_exit());
}

/* ---- OP2_LAZY=on ---- */

static void expect_on(const char *more, int expected) {
  begin_with("256K", "OP2_LAZY=on", more);
  step();
  assert_int_equal(waiting(), expected);
  works(op_exit());
}

TEST(on_lets_all_wait_that_can) {
  expect_on("OP2_TUNE=off", 2);
  expect_on("OP2_BACKEND=native", 0);
  expect_on("OP2_CHECK=on", 0);
  expect_on("OP2_SHADOW=native", 0);
}

static int begun;

static void begins(void *user, const char *loop) {
  (void)user, (void)loop;
  begun++;
}

TEST(on_lets_kernels_that_print_and_loops_before_tools_wait) {
  const op_tool tool = {.version = OP_TOOL_VERSION, .loop_begins = begins};
  begin_with("256K", "OP2_LAZY=on", "OP2_TUNE=off");
  works(op_add_tool(&tool));
  spread_once();
  settle_by(loud, "loud");
  assert_int_equal(waiting(), 2);
  assert_int_equal(begun, 0);
  works(op_exit());
  assert_int_equal(begun, 2);
}

TEST(on_lets_handles_and_views_wait_and_no_graph) {
  enum { PIECES = 4 };
  static double array[MANY * WIDTH];
  op_task tasks[PIECES];
  begin_with("256K", "OP2_LAZY=on", "OP2_TUNE=off");
  op_dat v = op_decl_dat_view(cells, WIDTH, "double", array, "v");
  op_graph graph = op_decl_graph("graph");
  works(op_graph_loop(graph, PIECES, NULL, tasks, OP_KERNEL_OF(settle), "settle", cells,
                      direct(r, WIDTH, "double", OP_RW), direct(v, WIDTH, "double", OP_RW)));
  settle_by(OP_KERNEL_OF(settle), "settle");
  square_once(v);
  assert_int_equal(waiting(), 2);
  works(op_graph_run(graph));
  assert_int_equal(waiting(), 0);
  square_once(v);
  assert_int_equal(waiting(), 1);
  assert_ptr_equal(op_acquire(v, OP_READ), array);
  assert_int_equal(waiting(), 0);
  assert_true(array[1] == 49);
  works(op_release(v));
  works(op_exit());
}

AROUND_ALL(make_folder, remove_folder)
