/* Refusals of tapes: one clear error each, and nothing is changed. */
#include <math.h>

#include "op2jit_bridge.h"
#include "op2jit_tasks.h"
#include "ring.h"

static const double one = 1;

#define refused(code, words, call)                                                                           \
  do {                                                                                                       \
    fails(code, call);                                                                                       \
    if (!strstr(op_last_error()->message, words))                                                            \
      fail_msg("%s", op_last_error()->message);                                                              \
  } while (0)
#define none(status, words, call)                                                                            \
  do {                                                                                                       \
    assert_null(call);                                                                                       \
    assert_int_equal(op_last_error()->code, (status));                                                       \
    if (!strstr(op_last_error()->message, words))                                                            \
      fail_msg("%s", op_last_error()->message);                                                              \
  } while (0)

static op_tape begin(const struct ring *r) {
  const op_dat inputs[] = {r->a, r->u};
  op_tape tape = op_tape_begin(2, inputs, 0);
  assert_non_null(tape);
  return tape;
}

LIBRARY_TEST(inputs_are_dats_with_real_numbers) {
  struct ring r = ring_declare();
  op_dat whole = op_decl_dat(r.nodes, 1, "int", NULL, "whole");
  op_gbl count = op_decl_gbl(1, "int", NULL, "count");
  const op_dat inputs[] = {whole, NULL};
  none(OP_ERR_TYPE, "dat \"whole\" is of type \"int\"", op_tape_begin(1, inputs, 0));
  none(OP_ERR_HANDLE, "an input is NULL", op_tape_begin(1, inputs + 1, 0));
  none(OP_ERR_ARGUMENT, "-1 inputs", op_tape_begin(-1, inputs, 0));
  none(OP_ERR_ARGUMENT, "2 inputs at NULL", op_tape_begin(2, NULL, 0));
  none(OP_ERR_TYPE, "dat \"whole\" has no bar", op_bar(whole));
  none(OP_ERR_TYPE, "dat \"whole\" has no dot", op_dot(whole));
  none(OP_ERR_TYPE, "global \"count\" has no bar", op_bar_gbl(count));
  none(OP_ERR_HANDLE, "the dat is NULL", op_bar(NULL));
  refused(OP_ERR_STATE, "nothing is recorded", op_tape_input_gbl(r.f));
  op_tape tape = begin(&r);
  refused(OP_ERR_TYPE, "global \"count\" is of type \"int\"", op_tape_input_gbl(count));
  works(op_tape_free(tape));
}

LIBRARY_TEST(calls_have_an_order) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  double difference;
  op_tape_facts_t facts;
  refused(OP_ERR_STATE, "nothing is recorded", op_tape_step());
  refused(OP_ERR_STATE, "nothing is recorded", op_tape_passive());
  refused(OP_ERR_HANDLE, "the tape is NULL", op_tape_end(NULL));
  refused(OP_ERR_HANDLE, "the tape is NULL", op_tape_reverse(NULL, 0));
  refused(OP_ERR_HANDLE, "the tape is a dat", op_tape_reverse((op_tape)(void *)r.u, 0));
  op_tape tape = begin(&r);
  none(OP_ERR_STATE, "a tape records already", op_tape_begin(0, NULL, 0));
  refused(OP_ERR_STATE, "the tape still records", op_tape_reverse(tape, 0));
  refused(OP_ERR_STATE, "the tape still records", op_tape_check(tape, 1, &difference));
  refused(OP_ERR_STATE, "there is a tape", op_tangent(1));
  works(op_tape_end(tape));
  refused(OP_ERR_STATE, "has ended already", op_tape_end(tape));
  refused(OP_ERR_ARGUMENT, "is NULL", op_tape_check(tape, 1, NULL));
  refused(OP_ERR_ARGUMENT, "is NULL", op_tape_facts(tape, NULL));
  none(OP_ERR_STATE, "op_tape_free first", op_tape_begin(0, NULL, 0));
  works(op_tape_facts(tape, &facts));
  assert_int_equal(facts.events, 0);
  works(op_tape_reverse(tape, 1));
  refused(OP_ERR_STATE, "for the last time", op_tape_reverse(tape, 0));
  works(op_tangent(1));
  op_tape carries = op_tape_begin(0, NULL, 0); /* it records tangents too */
  assert_non_null(carries);
  refused(OP_ERR_STATE, "there is a tape", op_tangent(0));
  works(op_tape_free(carries));
  works(op_tangent(0));
  works(op_tape_free(tape));
  refused(OP_ERR_ARGUMENT, "argument 1 is NULL", op_freeze_kernel(NULL, "x"));
  refused(OP_ERR_ARGUMENT, "argument 4 is NULL", op_kernel_adjoint("a", "b", "c", NULL));
}

LIBRARY_TEST(what_a_tape_needs_stays) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  op_tape tape = begin(&r);
  ring_step(&r);
  refused(OP_ERR_STATE, "op_renumber: a tape needs the mesh as it is", op_renumber(r.ends));
  refused(OP_ERR_STATE, "op_partition: a tape needs", op_partition("block", "", r.nodes, NULL, NULL));
  refused(OP_ERR_STATE, "op_free_map: a tape needs it", op_free_map(r.ends));
  refused(OP_ERR_STATE, "op_free_dat: a tape needs it", op_free_dat(r.du));
  works(op_tape_end(tape));
  refused(OP_ERR_STATE, "op_free_dat: a tape needs it", op_free_dat(r.du));
  works(op_tape_free(tape));
  works(op_renumber(r.ends));
  works(op_free_dat(r.du));
}

/* A number that leaves and comes back would have lost its derivative. */
LIBRARY_TEST(what_left_must_not_come_back) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  double sum, u[NODES];
  op_tape tape = begin(&r);
  ring_total_up(&r);
  works(op_put_gbl(r.f, &one)); /* nothing has left yet */
  works(op_get_gbl(r.sum, &sum));
  refused(OP_ERR_STATE, "op_put_gbl of \"f\"", op_put_gbl(r.f, &sum));
  refused(OP_ERR_STATE, "op_put_data of \"u\"", op_put_data(r.u, u));
  none(OP_ERR_STATE, "op_decl_dat of \"more\"", op_decl_dat(r.nodes, 1, "double", u, "more"));
  refused(OP_ERR_STATE, "loop by, argument 1: a value of the program goes in",
          op_par_loop("static void by(const double *f, double *du) { *du = *f; }", "by", r.nodes,
                      op_arg_gbl(&sum, 1, "double", OP_READ), direct(r.du, 1, "double", OP_WRITE)));
  works(op_tape_passive());
  works(op_put_gbl(r.f, &sum));
  works(op_tape_end(tape));
  works(op_tape_free(tape));
  works(op_fetch_data(r.du, u));
  assert_true(u[0] == 0); /* the loop did not run */
}

LIBRARY_TEST(sums_of_active_values_stay_in_the_library) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  double sum = 0;
  op_tape tape = begin(&r);
  refused(OP_ERR_STATE,
          "loop total, argument 2: a value that depends on the tape's inputs goes into a C variable",
          op_par_loop(ring_total, "total", r.nodes, direct(r.u, 1, "double", OP_READ),
                      op_arg_gbl(&sum, 1, "double", OP_INC)));
  assert_true(sum == 0);
  works(op_par_loop(ring_total, "total", r.nodes, direct(r.du, 1, "double", OP_READ),
                    op_arg_gbl(&sum, 1, "double", OP_INC))); /* which depends on nothing */
  works(op_tape_passive());
  works(op_par_loop(ring_total, "total", r.nodes, direct(r.u, 1, "double", OP_READ),
                    op_arg_gbl(&sum, 1, "double", OP_INC)));
  assert_true(sum > 0);
  works(op_put_gbl(op_bar_gbl(r.sum), &one));
  works(op_tape_end(tape));
  works(op_tape_reverse(tape, 1));
  works(op_tape_free(tape));
}

LIBRARY_TEST(elements_must_not_meet_in_what_is_written) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  op_tape tape = begin(&r);
  refused(OP_ERR_ALIAS, "loop spread: elements meet",
          op_par_loop("static void spread(const double *a, double *u) { *u = *a * *u; }", "spread", r.edges,
                      direct(r.a, 1, "double", OP_READ),
                      op_arg_may_meet(op_arg_dat(r.u, 0, r.ends, 1, "double", OP_RW))));
  works(op_tape_end(tape));
  works(op_tape_free(tape));
}

/* A bar is no data: it may be put before the end, but a loop that makes it belongs behind that. */
LIBRARY_TEST(bars_are_not_recorded) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  double ones[NODES], u_b[2][NODES];
  op_tape_facts_t facts;
  for (int i = 0; i < NODES; i++)
    ones[i] = 1;
  for (int early = 0; early < 2; early++) {
    works(op_put_data(r.u, ones));
    op_tape tape = begin(&r);
    if (early)
      works(op_put_data(op_bar(r.u), ones));
    ring_step(&r);
    refused(OP_ERR_STATE, "loop seed, argument 2: a tape takes no loop of bars",
            op_par_loop("static void seed(const double *u, double *u_b) { *u_b = *u; }", "seed", r.nodes,
                        direct(r.u, 1, "double", OP_READ), direct(op_bar(r.u), 1, "double", OP_WRITE)));
    works(op_tape_end(tape));
    if (!early)
      works(op_put_data(op_bar(r.u), ones));
    works(op_tape_facts(tape, &facts));
    assert_int_equal(facts.events, 3);
    works(op_tape_reverse(tape, 1));
    works(op_fetch_data(op_bar(r.u), u_b[early]));
    works(op_tape_free(tape));
  }
  assert_memory_equal(u_b[0], u_b[1], sizeof u_b[0]);
  assert_true(u_b[1][0] != 0);
}

LIBRARY_TEST(loops_alone_are_not_recorded) {
  struct ring r = ring_declare();
  const op_arg args[] = {direct(r.u, 1, "double", OP_READ), op_arg_global(r.sum, OP_INC)};
  double sum;
  works(op_put_gbl(op_bar_gbl(r.sum), &one));
  op_tape tape = begin(&r);
  refused(OP_ERR_STATE, "loop total: op_tangent_loop, which changes data, is not recorded",
          op_tangent_loop_array(ring_total, "total", r.nodes, 2, args, "", 0));
  refused(OP_ERR_STATE, "loop total: op_adjoint_loop is not recorded",
          op_adjoint_loop_array(ring_total, "total", r.nodes, 2, args, "", 0));
  works(op_tape_end(tape));
  refused(OP_ERR_STATE, "loop total: op_tangent_loop, which changes data, is not recorded",
          op_tangent_loop_array(ring_total, "total", r.nodes, 2, args, "", 0));
  works(op_get_gbl(r.sum, &sum));
  assert_true(sum == 0);
  works(op_adjoint_loop_array(ring_total, "total", r.nodes, 2, args, "", 0));
  works(op_tape_free(tape));
  works(op_tangent_loop_array(ring_total, "total", r.nodes, 2, args, "", 0));
  works(op_get_gbl(r.sum, &sum));
  assert_true(sum > 0);
}

LIBRARY_TEST(loops_of_graphs_are_not_recorded) {
  struct ring r = ring_declare();
  op_task task;
  double before[NODES], after[NODES];
  op_graph graph = op_decl_graph("steps");
  if (op_graph_loop(graph, 1, NULL, &task, "static void square(double *u) { *u = *u * *u; }", "square",
                    r.nodes, direct(r.u, 1, "double", OP_RW)) == OP_ERR_BACKEND)
    return;
  works(op_fetch_data(r.u, before));
  op_tape tape = begin(&r);
  refused(OP_ERR_STATE, "loop square: loops of a graph", op_graph_run(graph));
  works(op_tape_end(tape));
  refused(OP_ERR_STATE, "loop square: loops of a graph", op_graph_run(graph));
  works(op_tape_free(tape));
  works(op_tangent(1));
  refused(OP_ERR_STATE, "loop square: loops of a graph", op_graph_run(graph));
  works(op_tangent(0));
  works(op_fetch_data(r.u, after));
  assert_memory_equal(before, after, sizeof before);
  works(op_graph_run(graph));
}

/* Derivatives are made for one value of integers. */
LIBRARY_TEST(integers_of_derivatives_stay) {
  struct ring r = ring_declare();
  int n = 3, other = 1;
  double ones[NODES];
  for (int i = 0; i < NODES; i++)
    ones[i] = 1;
  works(op_decl_const("n", 1, "int", &n));
  works(op_decl_const("other", 1, "int", &other));
  op_tape tape = begin(&r);
  works(op_par_loop("static void power(const double *u, double *du) {"
                    "  double p = 1; for (int i = 0; i < n; i++) p *= *u; *du = p; }",
                    "power", r.nodes, direct(r.u, 1, "double", OP_READ),
                    direct(r.du, 1, "double", OP_WRITE)));
  works(op_update_const("n", &n));
  works(op_update_const("other", (other = 2, &other)));
  n = 5;
  refused(OP_ERR_STATE, "op_update_const of \"n\": a tape has loop power", op_update_const("n", &n));
  works(op_tape_end(tape));
  refused(OP_ERR_STATE, "op_decl_const of \"n\": a tape has loop power", op_decl_const("n", 1, "int", &n));
  works(op_put_data(op_bar(r.du), ones));
  works(op_tape_reverse(tape, 1));
  works(op_update_const("n", &n));
  double u_b[NODES];
  works(op_fetch_data(op_bar(r.u), u_b));
  for (int i = 0; i < NODES; i++)
    assert_true(fabs(u_b[i] - 3 * ring_u(i) * ring_u(i)) < 1e-12);
  works(op_tape_free(tape));
}

/* Those whose kernel has no derivative are named all at once, and nothing has run. */
LIBRARY_TEST(all_loops_without_a_derivative_are_named) {
  struct ring r = ring_declare();
  double before[NODES], after[NODES];
  op_tape tape = begin(&r);
  for (int twice = 0; twice < 2; twice++) {
    works(op_par_loop("static void first(const double *u, double *du) { *du = lgamma(*u); }", "first",
                      r.nodes, direct(r.u, 1, "double", OP_READ), direct(r.du, 1, "double", OP_WRITE)));
    works(op_par_loop("static void second(const double *du, double *u) { *u = tgamma(*du + 1.5); }", "second",
                      r.nodes, direct(r.du, 1, "double", OP_READ), direct(r.u, 1, "double", OP_RW)));
  }
  works(op_tape_end(tape));
  works(op_fetch_data(r.u, before));
  works(op_put_data(op_bar(r.u), before));
  refused(OP_ERR_KERNEL, "loop first", op_tape_reverse(tape, 0));
  if (!strstr(op_last_error()->message, "loop second"))
    fail_msg("%s", op_last_error()->message);
  works(op_fetch_data(op_bar(r.u), after));
  assert_memory_equal(before, after, sizeof before);
  works(op_tape_free(tape));
}

/* OP2_ADJOINT=check finds an adjoint that is wrong. */
LIBRARY_TEST(a_wrong_adjoint_is_found) {
  works(op_exit());
  char *arguments[] = {"test", "OP2_ADJOINT=check"};
  works(op_init(2, arguments, 0));
  struct ring r = ring_declare();
  works(op_kernel_adjoint(
      ring_total, "total",
      "static void wrong(const double *u, double *u_b, const double *s) { *u_b += *u * *s; }", "wrong"));
  op_tape tape = begin(&r);
  ring_total_up(&r);
  works(op_tape_end(tape));
  works(op_put_gbl(op_bar_gbl(r.sum), &one));
  refused(OP_ERR_VIOLATION, "loop total: its adjoint is not that of its tangent", op_tape_reverse(tape, 0));
  works(op_tape_free(tape));
}

LIBRARY_TEST(native_has_no_texts) {
  char *arguments[] = {"test", "OP2_BACKEND=native"};
  works(op_exit());
  works(op_init(2, arguments, 0));
  struct ring r = ring_declare();
  const op_dat inputs[] = {r.u};
  const op_arg args[] = {direct(r.du, 1, "double", OP_WRITE)};
  none(OP_ERR_BACKEND, "op_tape_begin: the backend native", op_tape_begin(1, inputs, 0));
  refused(OP_ERR_BACKEND, "op_tangent: the backend native", op_tangent(1));
  refused(OP_ERR_BACKEND, "op_adjoint_loop: the backend native",
          op_adjoint_loop_array(ring_zero, "zero", r.nodes, 1, args, __FILE__, __LINE__));
  works(op_tangent(0));
}

/* No event tells what a bridge wrote: the way back would find the old values. */
LIBRARY_TEST(bridges_write_nothing_that_is_recorded) {
  struct ring r = ring_declare();
  static double memory[2 * NODES];
  op_lent_t lent;
  ring_say_adjoints();
  op_tape tape = begin(&r);
  ring_step(&r);
  refused(OP_ERR_STATE, "op_lend of dat \"u\": no tape", op_lend(r.u, OP_RW, &lent));
  refused(OP_ERR_STATE, "op_lend of dat \"du\": no tape", op_lend(r.du, OP_WRITE, &lent));
  refused(OP_ERR_STATE, "op_place of dat \"u\": no tape", op_place(r.u, memory, 2 * NODES, OP_READ));
  works(op_lend(r.u, OP_READ, &lent));
  works(op_lend_end(r.u));
  refused(OP_ERR_STATE, "some left", op_put_data(r.u, memory));
  works(op_tape_end(tape));
  refused(OP_ERR_STATE, "a tape needs it", op_lend(r.u, OP_RW, &lent));
  works(op_tape_free(tape));
  works(op_place(r.u, memory, 2 * NODES, OP_RW));
  none(OP_ERR_STATE, "op_tape_begin: dat \"u\" is placed; call op_place_end first",
       op_tape_begin(1, &r.u, 0));
  works(op_tangent(1));
  refused(OP_ERR_STATE, "op_place_end of dat \"u\": no tape", op_place_end(r.u));
  works(op_tangent(0));
  works(op_place_end(r.u));
}
