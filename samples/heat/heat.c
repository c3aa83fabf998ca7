/* The heat equation u_t = alpha (u_xx + u_yy) on a square plate with edges at zero, by explicit steps on a
 * five-point stencil. Two checks:
 *   - the solution of the equation, exp(-2 alpha pi^2 t / l^2) sin(pi x / l) sin(pi y / l), from which the
 *     method differs by its truncation error, of second order in dx;
 *   - the exact solution of the discrete equations, of which sin sin is an eigenvector: each step multiplies
 *     it by 1 - 8 r sin^2(pi dx / 2 l). The answer must agree with it to rounding. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double alpha = 0.1, length = 1000;

OP_KERNEL_DEF(
    diffuse, void diffuse(const double *u, const double *east, const double *west, const double *north,
                          const double *south, double *next, const double *r) {
      *next = (1 - 4 * *r) * *u + *r * (*east + *west + *north + *south);
    })

OP_KERNEL_DEF(
    deviation, void deviation(const double *u, const double *expected, double *squares, double *largest) {
      double difference = fabs(*u - *expected);
      *squares += difference * difference;
      *largest = fmax(*largest, difference);
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

/* One plate: n x n points in a frame of points at its edges. These have themselves for neighbours, so that they stay
 * at zero by the same kernel, and no loop has to tell the edges from the inside. One point instead of the frame would
 * do, but it would be a neighbour of points everywhere: then no part of the plate could go on before all others. */
struct plate {
  int n;
  double dx;
  int *table; /* of `near` */
  op_set points;
  op_map near;
  op_dat u, next;
};

static long long framed(int n) {
  return (n + 2LL) * (n + 2);
}

/* sin(pi x / l) sin(pi y / l) times a factor; the frame has zeros. */
static double *hill(int n, double factor) {
  const size_t width = (size_t)n + 2;
  double *made = array(framed(n), sizeof *made), *wave = array(n, sizeof *wave);
  for (int i = 0; i < n; i++)
    wave[i] = sin(M_PI * (i + 1) / (n + 1));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      made[((size_t)j + 1) * width + (size_t)i + 1] = factor * wave[i] * wave[j];
  free(wave);
  return made;
}

/* The neighbours of each point; those of the frame are the points themselves. */
static int *neighbours(int n) {
  const int width = n + 2, points = (int)framed(n);
  int *near = array(4 * framed(n), sizeof *near);
  for (int k = 0; k < points; k++) {
    const int i = k % width, j = k / width, inside = i > 0 && i <= n && j > 0 && j <= n;
    int *row = near + 4 * (size_t)k;
    row[0] = inside ? k + 1 : k;
    row[1] = inside ? k - 1 : k;
    row[2] = inside ? k + width : k;
    row[3] = inside ? k - width : k;
  }
  return near;
}

static struct plate plate_make(int n) {
  struct plate made = {.n = n, .dx = length / (n + 1), .table = neighbours(n)};
  double *start = hill(n, 1);
  made.points = op_decl_set(here((int)framed(n)), "points");
  made.near = op_decl_map(made.points, made.points, 4, made.table, "near");
  made.u = op_decl_dat_temp(made.points, 1, "double", start, "u");
  made.next = op_decl_dat_temp(made.points, 1, "double", NULL, "next");
  op_partition("block", "", made.points, NULL, NULL);
  free(start);
  return made;
}

static op_arg neighbour(const struct plate *plate, int side) {
  return op_arg_dat(plate->u, side, plate->near, 1, "double", OP_READ);
}

/* The two dats change places after a step; nothing is copied. */
static void plate_run(struct plate *plate, int steps, double r) {
  for (int s = 0; s < steps; s++) {
    op_par_loop(OP_KERNEL_OF(diffuse), "diffuse", plate->points,
                op_arg_dat(plate->u, -1, OP_ID, 1, "double", OP_READ), neighbour(plate, 0),
                neighbour(plate, 1), neighbour(plate, 2), neighbour(plate, 3),
                op_arg_dat(plate->next, -1, OP_ID, 1, "double", OP_WRITE),
                op_arg_gbl(&r, 1, "double", OP_READ));
    op_dat held = plate->u;
    plate->u = plate->next;
    plate->next = held;
  }
}

struct error {
  double l2, largest;
};

/* The largest error starts below all, so that none having been looked at shows. */
static struct error plate_error(const struct plate *plate, double factor) {
  double *field = hill(plate->n, factor);
  double squares = 0;
  struct error error = {0, -INFINITY};
  op_dat expected = op_decl_dat_temp(plate->points, 1, "double", field, "expected");
  op_par_loop(OP_KERNEL_OF(deviation), "deviation", plate->points,
              op_arg_dat(plate->u, -1, OP_ID, 1, "double", OP_READ),
              op_arg_dat(expected, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&squares, 1, "double", OP_INC), op_arg_gbl(&error.largest, 1, "double", OP_MAX));
  op_free_dat_temp(expected);
  free(field);
  error.l2 = sqrt(squares);
  if (isnan(squares)) /* which fmax drops */
    error.largest = NAN;
  return error;
}

static double exact_decay(double time) {
  return exp(-2 * alpha * M_PI * M_PI * time / (length * length));
}

static double discrete_decay(const struct plate *plate, double r, int steps) {
  double s = sin(M_PI * plate->dx / (2 * length));
  return exp(steps * log1p(-8 * r * s * s));
}

/* One line for each thing that must hold. */
static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

/* Three plates with the same r and the same time at the end: the error must fall by four. */
static void check_order(void) {
  double before = 0;
  op_printf("convergence at t = 160000:\n");
  for (int cells = 25, steps = 50; cells <= 100; cells *= 2, steps *= 4) {
    struct plate plate = plate_make(cells - 1);
    double dt = 160000.0 / steps, r = alpha * dt / (plate.dx * plate.dx);
    plate_run(&plate, steps, r);
    double largest = plate_error(&plate, exact_decay(steps * dt)).largest;
    op_printf("  dx %6.2f  dt %7.2f  largest error %.6e\n", plate.dx, dt, largest);
    if (before > 0)
      expect("order of convergence, from two", fabs(log2(before / largest) - 2), 0.05);
    before = largest;
    op_free_dat_temp(plate.u);
    op_free_dat_temp(plate.next);
    free(plate.table);
  }
}

int main(int argc, char **argv) {
  int n = 1000, steps = 10;
  double dt = 0;
  const char *file = NULL;
  for (int a = 1; a < argc; a++) {
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--steps"))
      steps = atoi(value);
    else if (!strcmp(argv[a], "--dt"))
      dt = atof(value);
    else if (!strcmp(argv[a], "--write"))
      file = value;
    else
      n = 0;
    a++;
  }
  if (n < 1 || n > 20000 || steps < 1 || !(dt >= 0)) {
    fprintf(stderr, "usage: heat [--n POINTS-ON-A-SIDE] [--steps N] [--dt SECONDS] [--write FILE.h5]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  struct plate plate = plate_make(n);
  if (dt == 0)
    dt = 0.5 / steps;
  const double r = alpha * dt / (plate.dx * plate.dx);
  op_printf("%d x %d points, %d steps of %g, r = %.4g%s\n", n, n, steps, dt, r,
            r > 0.25 ? " (above 1/4: unstable in the long run)" : "");
  plate_run(&plate, steps, r);
  const struct error equation = plate_error(&plate, exact_decay(steps * dt));
  const struct error discrete = plate_error(&plate, discrete_decay(&plate, r, steps));
  op_printf("  against the solution of the equation: L2 %.6e, largest %.6e\n", equation.l2, equation.largest);
  expect("largest error against the discrete solution", discrete.largest, 1e-12);
  check_order();
  if (file)
    op_fetch_data_hdf5_file_path(plate.u, file, "u");
  free(plate.table);
  op_printf("heat: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
