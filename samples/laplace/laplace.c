/* Laplace's equation on a square by Jacobi iteration until no value changes by more than a tolerance: a
 * stencil with a maximum over all points in every iteration. The frame carries x^2 - y^2, which is harmonic
 * and solves the discrete equations exactly; so the error at the end is known to be the tolerance over one
 * minus the convergence factor, cos(pi h). */
#include <float.h>
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

OP_KERNEL_DEF(
    relax, void relax(const double *u[5], double *next, double *change) {
      *next = 0.25 * (u[1][0] + u[2][0] + u[3][0] + u[4][0]);
      double step = fabs(*next - u[0][0]);
      *change = step > *change ? step : *change;
    })

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

/* Under mpirun the first process declares everything, and op_partition shares it out. */
static int here(int size) {
  return op_is_root() ? size : 0;
}

/* x^2 - y^2 on a grid over the unit square. */
static double *saddle(int width) {
  double *made = array((long long)width * width, sizeof *made), h = 1.0 / (width - 1);
  for (int j = 0; j < width; j++)
    for (int i = 0; i < width; i++)
      made[(size_t)j * (size_t)width + (size_t)i] = i * h * (i * h) - j * h * (j * h);
  return made;
}

/* Zero inside, the saddle on the frame. */
static double *start_from(const double *exact, int width) {
  double *made = array((long long)width * width, sizeof *made);
  memcpy(made, exact, (size_t)width * (size_t)width * sizeof *made);
  for (int j = 1; j < width - 1; j++)
    memset(made + (size_t)j * (size_t)width + 1, 0, (size_t)(width - 2) * sizeof *made);
  return made;
}

struct square {
  op_set points, inside;
  op_map cross; /* from a point inside to itself and its four neighbours */
  int *table;   /* of `cross` */
  op_dat u, next;
};

static struct square square_declare(int width, const double *start) {
  struct square made;
  int n = width - 2, *cross = array(5LL * n * n, sizeof *cross), *row = cross;
  for (int j = 1; j <= n; j++) {
    for (int i = 1; i <= n; i++, row += 5) {
      int k = j * width + i;
      int five[5] = {k, k + 1, k - 1, k + width, k - width};
      memcpy(row, five, sizeof five);
    }
  }
  made.points = op_decl_set(here(width * width), "points");
  made.inside = op_decl_set(here(n * n), "inside");
  made.cross = op_decl_map(made.inside, made.points, 5, cross, "cross");
  made.u = op_decl_dat(made.points, 1, "double", start, "u");
  made.next = op_decl_dat(made.points, 1, "double", start, "next");
  made.table = cross;
  op_partition("block", "", made.points, NULL, NULL);
  return made;
}

/* Returns the number of iterations; the answer is in square->u. */
static int iterate(struct square *square, double tolerance, int most) {
  double change = INFINITY;
  int done = 0;
  while (change > tolerance && done < most) {
    change = 0;
    op_par_loop(OP_KERNEL_OF(relax), "relax", square->inside,
                op_arg_dat(square->u, -5, square->cross, 1, "double", OP_READ),
                op_arg_dat(square->next, 0, square->cross, 1, "double", OP_WRITE),
                op_arg_gbl(&change, 1, "double", OP_MAX));
    op_dat held = square->u;
    square->u = square->next;
    square->next = held;
    done++;
  }
  return done;
}

/* The larger of the two; a NaN stays, which fmax would drop. */
static double larger(double a, double b) {
  return isnan(a) || b <= a ? a : b;
}

int main(int argc, char **argv) {
  int n = 50, most = 1000000;
  double tolerance = 1e-6, worst = 0;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--tolerance"))
      tolerance = atof(value);
    else if (!strcmp(argv[a], "--most"))
      most = atoi(value);
    else
      n = 0;
    a++;
  }
  if (n < 1 || n > 20000 || most < 1 || !(tolerance >= 0)) {
    fprintf(stderr, "usage: laplace [--n POINTS-ON-A-SIDE] [--tolerance X] [--most ITERATIONS]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  const int width = n + 2;
  double *exact = saddle(width), *u = start_from(exact, width);
  struct square square = square_declare(width, u);
  const int done = iterate(&square, tolerance, most);
  op_fetch_data(square.u, u);
  for (long long k = 0; op_is_root() && k < (long long)width * width; k++)
    worst = larger(worst, fabs(u[k] - exact[k]));
  /* Values are 1 at most: below a few of their last digits no change says how near the solution is. */
  const double half = sin(0.5 * M_PI / (width - 1)), gap = 2 * half * half;
  const double limit = done < most ? (1.01 * tolerance + 4 * DBL_EPSILON) / gap : 1;
  op_printf("%d x %d points, tolerance %g: %d iterations, error %.3e, at most %.3e\n", n, n, tolerance, done,
            worst, limit);
  const int good = worst <= limit;
  op_printf("laplace: %s\n", good ? "PASSED" : "FAILED");
  free(square.table);
  free(exact);
  free(u);
  return op_exit() || !good;
}
