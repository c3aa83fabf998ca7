/* What a program changes while derivatives know of it. */
#include "ring.h"

enum { N = 8 };

static const char square[] = "static void square(const double *x, double *y) { *y = *x * *x; }";

static void near(const double *is, const double *should, int n) {
  for (int i = 0; i < n; i++)
    if (!(is[i] - should[i] <= 1e-12 && should[i] - is[i] <= 1e-12))
      fail_msg("value %d is %.17g and should be %.17g", i, is[i], should[i]);
}

static void start_again(char *variable) {
  char *arguments[] = {"test", variable};
  works(op_exit());
  works(op_init(2, arguments, 0));
}

/* Loops that wait use the dots of temporaries that are freed. */
CASE(temporaries_with_dots_wait_for_their_loops) {
  start_again("OP2_LAZY=on");
  double x0[N], ones[N], moves[N], should[N];
  for (int i = 0; i < N; i++) {
    x0[i] = 0.3 + 0.1 * i;
    ones[i] = 1;
    should[i] = 4 * x0[i] * x0[i] * x0[i];
  }
  op_set s = op_decl_set(N, "s");
  op_dat x = op_decl_dat(s, 1, "double", x0, "x"), y = op_decl_dat(s, 1, "double", NULL, "y");
  works(op_tangent(1));
  works(op_put_data(op_dot(x), ones));
  for (int i = 0; i < 3; i++) {
    op_dat t = op_decl_dat_temp(s, 1, "double", NULL, "t");
    works(
        op_par_loop(square, "square", s, direct(x, 1, "double", OP_READ), direct(t, 1, "double", OP_WRITE)));
    works(
        op_par_loop(square, "square", s, direct(t, 1, "double", OP_READ), direct(y, 1, "double", OP_WRITE)));
    works(op_free_dat_temp(t));
  }
  works(op_fetch_data(op_dot(y), moves));
  near(moves, should, N);
}

static const struct CMUnitTest tests[] = {test_in_library(temporaries_with_dots_wait_for_their_loops)};

int main(void) {
  return cmocka_run_group_tests(tests, NULL, NULL);
}
