/* jacobi_dense against hand-written loops. */
#define JACOBI_DENSE_SAMPLE
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/jacobi_dense/jacobi_dense.c"
#undef main

#include "twin.h"

struct settings {
  int n, most, compare;
  double tolerance, dominance;
};

/* What is checked and compared at the first rank. Returns the program's status. */
static int check_all(const struct settings *s, const struct dense_system *system, const double *x, int done,
                     double largest_defect, double library_seconds) {
  double *by_hand = room(s->n, sizeof *by_hand), *exact = room(s->n, sizeof *exact);
  double twin_seconds, base = 0, bytes = 8.0 * s->n * s->n, largest_b = 0;
  for (int i = 0; i < s->n; i++) {
    exact[i] = solution_at(i);
    largest_b = fmax(largest_b, fabs(system->b[i]));
  }
  struct check check = {0};
  int twin_done = dense_twin(system, s->tolerance, s->most, 0, by_hand, &twin_seconds);
  check_equal(&check, "iterations, against the hand-written loop", done, twin_done);
  check_at_most(&check, "x against the hand-written loop", largest_difference(x, by_hand, s->n), 1e-12);
  /* Each iteration shrinks the error by 1 / dominance at least. */
  double limit = s->tolerance / (s->dominance - 1) + 1e-12;
  if (done < s->most) {
    check_at_most(&check, "x against the solution", largest_difference(x, exact, s->n), limit);
    check_between(&check, "b - A x, relative to b", largest_defect / largest_b, 0, 2 * limit);
  }
  compare_header("one iteration");
  compare_row("hand-written, serial", twin_seconds, bytes, &base);
  if (s->compare) {
    twin_done = dense_twin(system, s->tolerance, s->most, 1, by_hand, &twin_seconds);
    check_equal(&check, "iterations, hand-written with OpenMP", twin_done, done);
    check_at_most(&check, "x, hand-written with OpenMP", largest_difference(by_hand, x, s->n), 1e-12);
    compare_row("hand-written, OpenMP", twin_seconds, bytes, &base);
  }
  compare_row("op2jit", library_seconds, bytes, &base);
  free(by_hand);
  free(exact);
  return check_end(&check, "jacobi_dense");
}

static int run(const struct settings *s) {
  struct dense_system system = make_system(s->n, s->dominance);
  double *x = room(s->n, sizeof *x), *zeros = room(s->n, sizeof *zeros);
  int status = EXIT_SUCCESS;
  order = s->n;
  op_decl_const("order", 1, "int", &order);
  struct solver solver = declare(&system);
  iterate(&solver, s->tolerance, 1, x); /* the first plans and compiles */
  memset(zeros, 0, (size_t)s->n * sizeof *zeros);
  op_put_data(solver.x, zeros);
  const double start = clock_seconds();
  int done = iterate(&solver, s->tolerance, s->most, x);
  const double seconds = (clock_seconds() - start) / done;
  op_printf("%d unknowns, tolerance %g: %d iterations\n", s->n, s->tolerance, done);
  double defect = largest_defect(&solver);
  if (op_is_root())
    status = check_all(s, &system, x, done, defect, seconds);
  free(system.a);
  free(system.b);
  free(x);
  free(zeros);
  return status;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 4096, .most = 100000, .tolerance = 1e-8, .dominance = 1.1};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 1, 40000, "unknowns"},
      {"tolerance", OPTION_REAL, &s.tolerance, 0, 1, "stop when the change is at most this"},
      {"dominance", OPTION_REAL, &s.dominance, 1.0001, 1e6, "diagonal over the sum of its row"},
      {"most", OPTION_INT, &s.most, 1, 1e9, "largest number of iterations"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loop with OpenMP too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "Jacobi iteration for a dense linear system",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  int status = run(&s);
  op_exit();
  return status;
}
