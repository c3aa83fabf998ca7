/* laplace against hand-written loops: the number of iterations must be the same, since a maximum does not depend
 * on the order. */
#include "common/memory.h"
#include "common/options.h"
#include "common/report.h"
#include "twin.h"

#define main sample_main
/* NOLINTNEXTLINE(bugprone-suspicious-include): the sample's functions are its own. */
#include "samples/laplace/laplace.c"
#undef main

struct settings {
  int n, most, compare;
  double tolerance;
};

/* What is checked and compared at the first rank. All rows are given the traffic that cannot be avoided; the map,
 * which the library reads too, is more. Returns the program's status. */
static int check_all(const struct settings *s, const struct square *square, const double *exact,
                     const double *u, int done, double library_seconds) {
  int width = s->n + 2;
  long long points = (long long)width * width;
  double *by_hand = start_from(exact, width), twin_seconds, base = 0, bytes = 16.0 * s->n * s->n;
  struct check check = {0};
  int twin_done = laplace_twin(width, s->tolerance, s->most, 0, by_hand, &twin_seconds);
  check_equal(&check, "iterations, against the hand-written loop", done, twin_done);
  check_at_most(&check, "u against the hand-written loop", largest_difference(u, by_hand, points), 1e-13);
  /* Values are 1 at most: below a few of their last digits no change says how near the solution is. */
  const double half = sin(0.5 * M_PI / (width - 1)), gap = 2 * half * half, rounding = 4 * DBL_EPSILON;
  if (done < s->most)
    check_at_most(&check, "u against x^2 - y^2", largest_difference(u, exact, points),
                  (1.01 * s->tolerance + rounding) / gap);
  compare_header("one iteration");
  compare_row("hand-written, serial", twin_seconds, bytes, &base);
  free(by_hand);
  if (s->compare) {
    by_hand = start_from(exact, width);
    twin_done = laplace_twin(width, s->tolerance, s->most, 1, by_hand, &twin_seconds);
    check_equal(&check, "iterations, hand-written with OpenMP", twin_done, done);
    check_at_most(&check, "u, hand-written with OpenMP", largest_difference(by_hand, u, points), 1e-13);
    compare_row("hand-written, OpenMP", twin_seconds, bytes, &base);
    free(by_hand);
    by_hand = start_from(exact, width);
    twin_done = laplace_twin_by_map(width * width, s->n * s->n, square->table, s->tolerance, s->most, by_hand,
                                    &twin_seconds);
    check_equal(&check, "iterations, hand-written through the map", twin_done, done);
    check_at_most(&check, "u, hand-written through the map", largest_difference(by_hand, u, points), 1e-13);
    compare_row("hand-written, OpenMP, by the map", twin_seconds, bytes, &base);
    free(by_hand);
  }
  compare_row("op2jit", library_seconds, bytes, &base);
  return check_end(&check, "laplace");
}

static int run(const struct settings *s) {
  int width = s->n + 2, status = EXIT_SUCCESS;
  double *exact = saddle(width), *start = start_from(exact, width),
         *u = room((long long)width * width, sizeof *u);
  struct square square = square_declare(width, start);
  /* The first two are loops on other dats, which the library plans and compiles. */
  int done = iterate(&square, s->tolerance, s->most < 2 ? s->most : 2);
  op_fetch_data(square.u, u);
  double begin = clock_seconds();
  const int more = s->most > 2 ? iterate(&square, s->tolerance, s->most - 2) : 0;
  op_fetch_data(square.u, u);
  double seconds = (clock_seconds() - begin) / (more ? more : 1);
  done += more;
  op_printf("%d x %d points, tolerance %g: %d iterations\n", s->n, s->n, s->tolerance, done);
  if (op_is_root())
    status = check_all(s, &square, exact, u, done, seconds);
  free(square.table);
  free(exact);
  free(start);
  free(u);
  return status;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 50, .most = 1000000, .tolerance = 1e-6};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 1, 20000, "n x n points inside the frame"},
      {"tolerance", OPTION_REAL, &s.tolerance, 0, 1, "stop when no value changes by more"},
      {"most", OPTION_INT, &s.most, 1, 1e9, "largest number of iterations"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loop with OpenMP too"},
  };
  enum options_outcome outcome = options_read(argc, argv, "Laplace's equation by Jacobi iteration",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  int status = run(&s);
  op_exit();
  return status;
}
