/* The heat equation u_t = alpha (u_xx + u_yy) on a square plate with edges at zero, by explicit steps on a
 * five-point stencil. Two checks:
 *   - the solution of the equation, exp(-2 alpha pi^2 t / l^2) sin(pi x / l) sin(pi y / l), from which the
 *     method differs by its truncation error, of second order in dx;
 *   - the exact solution of the discrete equations, of which sin sin is an eigenvector: each step multiplies
 *     it by 1 - 8 r sin^2(pi dx / 2 l). The answer must agree with it to rounding. */
#include "common/memory.h"
#include "common/options.h"
#include "common/output.h"
#include "common/picture.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#include <math.h>
#include <op2jit.h>
#include <stdlib.h>

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

/* One plate: n x n points and one more that stands for all points outside. It has itself for neighbours, so
 * that it stays at zero by the same kernel, and no loop has to tell the edges from the inside. */
struct plate {
  int n;
  double dx;
  int *table; /* of `near` */
  op_set points;
  op_map near;
  op_dat u, next;
};

/* sin(pi x / l) sin(pi y / l) times a factor; the point outside has zero. */
static double *hill(int n, double factor) {
  double *made = room((long long)n * n + 1, sizeof *made), *wave = room(n, sizeof *wave);
  for (int i = 0; i < n; i++)
    wave[i] = sin(M_PI * (i + 1) / (n + 1));
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      made[(size_t)j * (size_t)n + (size_t)i] = factor * wave[i] * wave[j];
  made[(size_t)n * (size_t)n] = 0;
  free(wave);
  return made;
}

static struct plate plate_make(int n) {
  struct plate made = {.n = n, .dx = length / (n + 1)};
  int outside = n * n;
  int *near = room(4LL * (outside + 1), sizeof *near);
  for (int k = 0; k < outside; k++) {
    int i = k % n, j = k / n, *row = near + 4 * (size_t)k;
    row[0] = i < n - 1 ? k + 1 : outside;
    row[1] = i > 0 ? k - 1 : outside;
    row[2] = j < n - 1 ? k + n : outside;
    row[3] = j > 0 ? k - n : outside;
  }
  for (int side = 0; side < 4; side++)
    near[4 * (size_t)outside + (size_t)side] = outside;
  double *start = hill(n, 1);
  made.points = op_decl_set(declared(outside + 1), "points");
  made.near = op_decl_map(made.points, made.points, 4, near, "near");
  made.u = op_decl_dat_temp(made.points, 1, "double", start, "u");
  made.next = op_decl_dat_temp(made.points, 1, "double", NULL, "next");
  made.table = near;
  share_out(made.points);
  free(start);
  return made;
}

static op_arg neighbour(const struct plate *plate, int side) {
  return op_arg_dat(plate->u, side, plate->near, 1, "double", OP_READ);
}

/* The two dats change places after a step; nothing is copied. Returns the seconds of one step, without the first
 * two: each is a loop of its own, on other dats, that the library plans and compiles. */
static double plate_run(struct plate *plate, int steps, double r) {
  int not_counted = steps > 2 ? 2 : 0;
  double start = clock_seconds(), value;
  for (int s = 0; s < steps; s++) {
    if (s == not_counted)
      start = clock_seconds();
    op_par_loop(OP_KERNEL_OF(diffuse), "diffuse", plate->points,
                op_arg_dat(plate->u, -1, OP_ID, 1, "double", OP_READ), neighbour(plate, 0),
                neighbour(plate, 1), neighbour(plate, 2), neighbour(plate, 3),
                op_arg_dat(plate->next, -1, OP_ID, 1, "double", OP_WRITE),
                op_arg_gbl(&r, 1, "double", OP_READ));
    op_dat held = plate->u;
    plate->u = plate->next;
    plate->next = held;
  }
  wait_for(plate->u, &value);
  return (clock_seconds() - start) / (steps - not_counted);
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

/* What others found: L2 error against the solution of the equation. */
struct known {
  int n, steps;
  double dt, l2;
};
static const struct known known[] = {
    {1000, 10, 0.05, 3.808801e-10},
    {100, 10, 0.05, 4.015950e-09},
    {8000, 10, 0.05, 1.440503e-10},
    {100, 1000, 200, 1.568879e-03},
};

static void check_known(struct check *check, int n, int steps, double dt, double l2) {
  for (size_t k = 0; k < sizeof known / sizeof *known; k++)
    if (known[k].n == n && known[k].steps == steps && fabs(known[k].dt - dt) < 1e-12)
      check_at_most(check, "L2 error against the known value: relative", relative_difference(l2, known[k].l2),
                    1e-3);
}

/* Three plates with the same r and the same time at the end: the error must fall by four. */
static void check_order(struct check *check) {
  double before = 0;
  op_printf("convergence at t = 160000:\n");
  for (int cells = 25, steps = 50; cells <= 100; cells *= 2, steps *= 4) {
    struct plate plate = plate_make(cells - 1);
    double dt = 160000.0 / steps, r = alpha * dt / (plate.dx * plate.dx);
    plate_run(&plate, steps, r);
    double largest = plate_error(&plate, exact_decay(steps * dt)).largest;
    op_printf("  dx %6.2f  dt %7.2f  largest error %.6e\n", plate.dx, dt, largest);
    if (before > 0)
      check_between(check, "order of convergence", log2(before / largest), 1.95, 2.05);
    before = largest;
    op_free_dat_temp(plate.u);
    op_free_dat_temp(plate.next);
    free(plate.table);
  }
}

struct settings {
  int n, steps, compare;
  double dt;
  const char *picture, *results, *vtk;
};

/* All rows are given the traffic that cannot be avoided, u read and written once: GB/s then compare with the triad's.
 * The map, which the library reads too, is as much again. */
static void compare(struct check *check, const struct settings *s, const struct plate *plate, double r,
                    const double *mine, double library_seconds) {
  int points = s->n * s->n;
  double base = 0, traffic = 16.0 * points;
  double *u = hill(s->n, 1);
  double serial = heat_twin(s->n, s->steps, r, 0, u);
  check_at_most(check, "u against the hand-written loops", largest_difference(u, mine, points), 1e-13);
  compare_header("one step");
  compare_row("hand-written, serial", serial, traffic, &base);
  free(u);
  u = hill(s->n, 1);
  compare_row("hand-written, OpenMP", heat_twin(s->n, s->steps, r, 1, u), traffic, &base);
  check_at_most(check, "hand-written with OpenMP", largest_difference(u, mine, points), 1e-13);
  free(u);
  u = hill(s->n, 1);
  double by_map = heat_twin_by_map(points + 1, plate->table, s->steps, r, u);
  check_at_most(check, "hand-written through the map", largest_difference(u, mine, points), 1e-13);
  compare_row("hand-written, OpenMP, by the map", by_map, traffic, &base);
  compare_row("op2jit", library_seconds, traffic, &base);
  free(u);
}

/* What was asked for: the temperature in HDF5, the plate for ParaView. 0, or -1. */
static int write_results(const struct settings *s, const struct plate *plate, double time) {
  if (s->results && output_said(op_fetch_data_hdf5_file_path(plate->u, s->results, "u"), s->results, ""))
    return -1;
  if (!s->vtk)
    return 0;
  /* Under the name of u, whichever of the two dats it is in. */
  double *u = room((long long)s->n * s->n + 1, sizeof *u);
  op_fetch_data(plate->u, u);
  const op_dat shown = op_decl_dat(plate->points, 1, "double", u, "u");
  free(u);
  return output_grid(s->vtk, &time, plate->points, s->n, s->n, NULL, plate->dx, plate->dx, 1, &shown);
}

static int run(const struct settings *s) {
  struct plate plate = plate_make(s->n);
  double dt = s->dt > 0 ? s->dt : 0.5 / s->steps;
  double r = alpha * dt / (plate.dx * plate.dx);
  op_printf("%d x %d points, %d steps of %g, r = %.4g%s\n", s->n, s->n, s->steps, dt, r,
            r > 0.25 ? " (above 1/4: unstable in the long run)" : "");
  double seconds = plate_run(&plate, s->steps, r);
  struct error equation = plate_error(&plate, exact_decay(s->steps * dt));
  struct error discrete = plate_error(&plate, discrete_decay(&plate, r, s->steps));
  op_printf("  against the solution of the equation: L2 %.6e, largest %.6e\n", equation.l2, equation.largest);

  struct check check = {0};
  check_known(&check, s->n, s->steps, dt, equation.l2);
  if (s->dt == 0)
    check_at_most(&check, "L2 error against the equation", equation.l2, 1e-8 * fmax(1, 100.0 / s->n));
  check_between(&check, "largest error against the discrete solution", discrete.largest, 0, 1e-12);
  check_order(&check);
  int unwritten = 0;
  if (s->compare || s->picture) {
    double *u = room((long long)s->n * s->n + 1, sizeof *u);
    op_fetch_data(plate.u, u);
    if (s->compare && op_is_root())
      compare(&check, s, &plate, r, u, seconds);
    if (s->picture && op_is_root())
      unwritten = picture_png(s->picture, s->n, s->n, u);
    free(u);
  }
  unwritten |= write_results(s, &plate, s->steps * dt);
  free(plate.table);
  int status = check_end(&check, "heat");
  return unwritten ? EXIT_FAILURE : status;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 1000, .steps = 10};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 1, 20000, "n x n points inside the plate"},
      {"steps", OPTION_INT, &s.steps, 1, 1e9, "time steps"},
      {"dt", OPTION_REAL, &s.dt, 0, 1e9, "length of a step; 0: half a second for all of them"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loops too"},
      {"picture", OPTION_NEW_PICTURE, &s.picture, 0, 0, "write the temperature to this PNG file"},
      {"write", OPTION_NEW_HDF5, &s.results, 0, 0, "write the temperature to this HDF5 file"},
      {"vtk", OPTION_NEW_VTK, &s.vtk, 0, 0, "write the plate for ParaView, under this name"},
  };
  enum options_outcome outcome = options_read(argc, argv, "the heat equation on a square plate",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  output_prepare(s.results, s.vtk);
  int status = run(&s);
  op_exit();
  return status;
}
