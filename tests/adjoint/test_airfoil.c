/* Airfoil as its sample has it, with derivatives by the flow and by the shape: against the dot-product test and against
 * differences; and how much is kept. */
#define main airfoil_main
#include "../../samples/airfoil/airfoil.c"
#undef main

#include "../api/support.h"
#include "op2jit_adjoint.h"

enum { CELLS = 800 };

static struct airfoil_mesh mesh;

static struct airfoil begin(void) {
  declare_constants();
  mesh_generate(&mesh, CELLS);
  return declare_mesh(&mesh);
}

static op_tape record(const struct airfoil *a, int iterations) {
  const op_dat inputs[] = {a->q, a->x};
  op_tape tape = op_tape_begin(2, inputs, 0);
  assert_non_null(tape);
  for (int i = 0; i < iterations; i++) {
    works(op_tape_step());
    iterate(a, NULL);
  }
  works(op_tape_end(tape));
  return tape;
}

TEST(tangent_and_adjoint_agree) {
  const struct airfoil a = begin();
  double difference = 1;
  op_tape tape = record(&a, 4);
  works(op_tape_check(tape, 1, &difference));
  if (!(difference < 1e-13))
    fail_msg("they differ by %g", difference);
  works(op_tape_free(tape));
  mesh_free(&mesh);
}

/* The changes of two iterations, as the shape moves along one line. */
static double moved(const struct airfoil *a, const double *q, const double *x, const double *along, int nodes,
                    double h) {
  double *to = malloc(2 * (size_t)nodes * sizeof *to), squares = 0;
  for (int i = 0; to && i < 2 * nodes; i++)
    to[i] = x[i] + h * along[i];
  works(op_put_data(a->x, to));
  works(op_put_data(a->q, q));
  works(op_put_gbl(a->squares[1], &squares));
  for (int i = 0; i < 2; i++)
    iterate(a, NULL);
  works(op_get_gbl(a->squares[1], &squares));
  free(to);
  return squares;
}

TEST(the_gradient_by_the_shape_is_that_of_differences) {
  const struct airfoil a = begin();
  const int nodes = op_get_size(a.nodes);
  double *x = malloc(2 * (size_t)nodes * sizeof *x), *along = malloc(2 * (size_t)nodes * sizeof *x),
         *bar = malloc(2 * (size_t)nodes * sizeof *x), *q = malloc(4 * (size_t)a.cell_count * sizeof *x);
  for (int i = 0; i < 5; i++)
    iterate(&a, NULL); /* in the free stream nothing goes along an edge, where fabs has a kink */
  works(op_fetch_data(a.x, x));
  works(op_fetch_data(a.q, q));
  for (int i = 0; i < 2 * nodes; i++)
    along[i] = sin(i * 0.37) * 1e-3;
  const double h = 2e-5, one = 1, zero = 0;
  const double by_hand = (moved(&a, q, x, along, nodes, h) - moved(&a, q, x, along, nodes, -h)) / (2 * h);
  works(op_put_data(a.x, x));
  works(op_put_data(a.q, q));
  works(op_put_gbl(a.squares[1], &zero));
  op_tape tape = record(&a, 2);
  works(op_put_gbl(op_bar_gbl(a.squares[1]), &one));
  works(op_tape_reverse(tape, 1));
  works(op_fetch_data(op_bar(a.x), bar));
  double by_tape = 0, size = 0;
  for (int i = 0; i < 2 * nodes; i++) {
    by_tape += bar[i] * along[i];
    size += fabs(bar[i] * along[i]);
  }
  if (!(fabs(by_tape - by_hand) <= 1e-6 * size))
    fail_msg("differences give %.12g, the tape %.12g, of %.3g", by_hand, by_tape, size);
  works(op_tape_free(tape));
  free(x), free(along), free(bar), free(q);
  mesh_free(&mesh);
}

static double kept(const struct airfoil *a, int iterations) {
  op_tape tape = record(a, iterations);
  op_tape_facts_t facts;
  works(op_tape_facts(tape, &facts));
  works(op_tape_free(tape));
  return (double)facts.bytes;
}

/* q, res and adt of each stage, which derivatives use; neither old nor any sum, and places never. */
TEST(nine_numbers_are_kept_of_a_cell_and_stage) {
  const struct airfoil a = begin();
  iterate(&a, NULL);
  const double few = kept(&a, 2), more = kept(&a, 12);
  const double each = (more - few) / (10 * 2 * 8 * (double)a.cell_count);
  if (!(each > 8.9 && each < 9.6)) /* dats have some room behind their ends */
    fail_msg("%g", each);
  mesh_free(&mesh);
}

/* Sums are zero where a step begins, as update leaves them so: only q is kept of a cell at a checkpoint. */
TEST(zeros_are_no_part_of_a_checkpoint) {
  enum { ITERATIONS = 10, MOST_AGAIN = 15 };
  const struct airfoil a = begin();
  const size_t size = 2 * (size_t)op_get_size(a.nodes) * sizeof(double);
  const double one = 1, zero = 0;
  const op_dat inputs[] = {a.q, a.x};
  double *q = malloc(4 * (size_t)a.cell_count * sizeof *q), *bar[2] = {calloc(1, size), calloc(1, size)};
  double *zeros = calloc(4 * (size_t)a.cell_count, sizeof *zeros);
  size_t bytes = 0;
  for (int i = 0; i < 5; i++)
    iterate(&a, NULL);
  works(op_fetch_data(a.q, q));
  for (int less = 0; less < 2; less++) {
    op_tape_facts_t facts;
    works(op_put_data(a.q, q));
    works(op_put_gbl(a.squares[1], &zero));
    op_tape tape = op_tape_begin(2, inputs, bytes);
    assert_non_null(tape);
    for (int i = 0; i < ITERATIONS; i++) {
      works(op_tape_step());
      iterate(&a, NULL);
    }
    works(op_tape_end(tape));
    works(op_put_data(op_bar(a.x), bar[1]));
    works(op_put_data(op_bar(a.q), zeros));
    works(op_put_gbl(op_bar_gbl(a.squares[1]), &one));
    works(op_tape_reverse(tape, 1));
    works(op_fetch_data(op_bar(a.x), bar[less]));
    works(op_tape_facts(tape, &facts));
    works(op_tape_free(tape));
    assert_true(less ? facts.most <= (long long)bytes : facts.again == 0);
    bytes = (size_t)facts.most / 4;
    if (less && !(facts.again >= ITERATIONS && facts.again <= MOST_AGAIN))
      fail_msg("%lld steps run again", facts.again);
  }
  assert_memory_equal(bar[0], bar[1], size);
  free(q), free(bar[0]), free(bar[1]), free(zeros);
  mesh_free(&mesh);
}

/* In one library, which compiles each kernel once. */

AROUND_ALL(start, stop)
