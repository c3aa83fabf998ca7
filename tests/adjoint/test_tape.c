/* Tapes: what they record, and what comes of going backwards. Adjoints of kernels are given by hand. */
#include "ring.h"

enum { STEPS = 5 };

static const double one = 1;

static void near(const double *is, const double *should, int n) {
  for (int i = 0; i < n; i++)
    if (!(is[i] - should[i] <= 1e-12 * (1 + should[i] * should[i]) && should[i] - is[i] <= 1e-12 * (1 + should[i] * should[i])))
      fail_msg("value %d is %.17g and should be %.17g", i, is[i], should[i]);
}

static op_tape record(const struct ring *r, size_t bytes) {
  const op_dat inputs[] = {r->a, r->u};
  op_tape tape = op_tape_begin(2, inputs, bytes);
  assert_non_null(tape);
  works(op_tape_input_gbl(r->f));
  for (int s = 0; s < STEPS; s++) {
    works(op_tape_step());
    ring_step(r);
  }
  ring_total_up(r);
  works(op_tape_end(tape));
  return tape;
}

struct gradient {
  double a[EDGES], u[NODES], f;
};

static struct gradient reverse(const struct ring *r, op_tape tape, int last) {
  struct gradient g;
  works(op_put_gbl(op_bar_gbl(r->sum), &one));
  works(op_tape_reverse(tape, last));
  works(op_fetch_data(op_bar(r->a), g.a));
  works(op_fetch_data(op_bar(r->u), g.u));
  works(op_get_gbl(op_bar_gbl(r->f), &g.f));
  return g;
}

static void is_right(const struct gradient *g) {
  struct gradient should;
  ring_by_hand(STEPS, should.a, should.u, &should.f);
  near(g->a, should.a, EDGES);
  near(g->u, should.u, NODES);
  near(&g->f, &should.f, 1);
}

CASE(gradients_are_those_by_hand) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  double before[NODES], after[NODES], sum, a_b[EDGES], u_b[NODES], f_b;
  op_tape tape = record(&r, 0);
  works(op_fetch_data(r.u, before));
  works(op_get_gbl(r.sum, &sum));
  const double should = ring_by_hand(STEPS, a_b, u_b, &f_b);
  near(&sum, &should, 1);
  struct gradient g = reverse(&r, tape, 1);
  is_right(&g);
  works(op_fetch_data(r.u, after));
  assert_memory_equal(before, after, sizeof before);
  fails(OP_ERR_STATE, op_tape_reverse(tape, 1));
  works(op_tape_free(tape));
  fails(OP_ERR_HANDLE, op_tape_free(tape));
}

CASE(a_tape_is_reversed_several_times) {
  ring_say_adjoints();
  struct ring r = ring_declare();
  op_tape tape = record(&r, 0);
  struct gradient g = reverse(&r, tape, 0), again;
  is_right(&g);
  /* Bars of inputs are added to where they are only read, and are zero where the program says so. */
  const double zeros[EDGES] = {0};
  works(op_put_data(op_bar(r.a), zeros));
  works(op_put_data(op_bar(r.u), zeros));
  works(op_put_gbl(op_bar_gbl(r.f), zeros));
  again = reverse(&r, tape, 0);
  assert_memory_equal(&g, &again, sizeof g);
  works(op_tape_free(tape));
}

static const struct CMUnitTest tests[] = {test_in_library(gradients_are_those_by_hand),
                                          test_in_library(a_tape_is_reversed_several_times)};

int main(void) {
  return cmocka_run_group_tests(tests, NULL, NULL);
}
