/* Laplace's equation on a square by Jacobi iteration until no value changes by more than a tolerance: a
 * stencil with a maximum over all points in every iteration. The frame carries x^2 - y^2, which is harmonic
 * and solves the discrete equations exactly; so the error at the end is known to be the tolerance over one
 * minus the convergence factor, cos(pi h). The number of iterations must be that of the hand-written loop: a
 * maximum does not depend on the order. */
#include "common/memory.h"
#include "common/options.h"
#include "common/output.h"
#include "common/picture.h"
#include "common/ranks.h"
#include "common/report.h"
#include "twin.h"

#include <float.h>
#include <math.h>
#include <op2jit.h>
#include <stdlib.h>
#include <string.h>

OP_KERNEL_DEF(
    relax, void relax(const double *u[5], double *next, double *change) {
      *next = 0.25 * (u[1][0] + u[2][0] + u[3][0] + u[4][0]);
      double step = fabs(*next - u[0][0]);
      *change = step > *change ? step : *change;
    })

/* x^2 - y^2 on a grid over the unit square. */
static double *saddle(int width) {
  double *made = room((long long)width * width, sizeof *made), h = 1.0 / (width - 1);
  for (int j = 0; j < width; j++)
    for (int i = 0; i < width; i++)
      made[(size_t)j * (size_t)width + (size_t)i] = i * h * (i * h) - j * h * (j * h);
  return made;
}

/* Zero inside, the saddle on the frame. */
static double *start_from(const double *exact, int width) {
  double *made = room((long long)width * width, sizeof *made);
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
  int n = width - 2, *cross = room(5LL * n * n, sizeof *cross), *row = cross;
  for (int j = 1; j <= n; j++) {
    for (int i = 1; i <= n; i++, row += 5) {
      int k = j * width + i;
      int five[5] = {k, k + 1, k - 1, k + width, k - width};
      memcpy(row, five, sizeof five);
    }
  }
  made.points = op_decl_set(declared(width * width), "points");
  made.inside = op_decl_set(declared(n * n), "inside");
  made.cross = op_decl_map(made.inside, made.points, 5, cross, "cross");
  made.u = op_decl_dat(made.points, 1, "double", start, "u");
  made.next = op_decl_dat(made.points, 1, "double", start, "next");
  made.table = cross;
  share_out(made.points);
  return made;
}

/* Returns the number of iterations; the answer is in square->u. */
static int iterate(struct square *square, double tolerance, int most, double *seconds) {
  double change = INFINITY, start = clock_seconds();
  int done = 0;
  while (change > tolerance && done < most) {
    if (done == 2) /* the first two are loops on other dats, which the library plans and compiles */
      start = clock_seconds();
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
  *seconds = (clock_seconds() - start) / (done > 2 ? done - 2 : done);
  return done;
}

struct settings {
  int n, most, compare;
  double tolerance;
  const char *picture, *vtk;
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
  int unwritten = s->picture && picture_png(s->picture, width, width, u);
  int status = check_end(&check, "laplace");
  return unwritten ? EXIT_FAILURE : status;
}

/* Under the name of u, whichever of the two dats it is in. 0, or -1. */
static int write_vtk(const char *path, op_set points, int width, const double *u) {
  const op_dat shown = op_decl_dat(points, 1, "double", u, "u");
  const double h = 1.0 / (width - 1);
  return output_grid(path, NULL, points, width, width, NULL, h, h, 1, &shown);
}

static int run(const struct settings *s) {
  int width = s->n + 2, status = EXIT_SUCCESS;
  double *exact = saddle(width), *start = start_from(exact, width),
         *u = room((long long)width * width, sizeof *u);
  struct square square = square_declare(width, start);
  double seconds;
  int done = iterate(&square, s->tolerance, s->most, &seconds);
  op_fetch_data(square.u, u);
  op_printf("%d x %d points, tolerance %g: %d iterations\n", s->n, s->n, s->tolerance, done);
  int unwritten = s->vtk && write_vtk(s->vtk, square.points, width, u);
  if (op_is_root())
    status = check_all(s, &square, exact, u, done, seconds);
  free(square.table);
  free(exact);
  free(start);
  free(u);
  return unwritten ? EXIT_FAILURE : status;
}

int main(int argc, char **argv) {
  struct settings s = {.n = 50, .most = 1000000, .tolerance = 1e-6};
  const struct option_entry entries[] = {
      {"n", OPTION_INT, &s.n, 1, 20000, "n x n points inside the frame"},
      {"tolerance", OPTION_REAL, &s.tolerance, 0, 1, "stop when no value changes by more"},
      {"most", OPTION_INT, &s.most, 1, 1e9, "largest number of iterations"},
      {"compare", OPTION_FLAG, &s.compare, 0, 0, "run the hand-written loop with OpenMP too"},
      {"picture", OPTION_NEW_PICTURE, &s.picture, 0, 0, "write the answer to this PNG file"},
      {"vtk", OPTION_NEW_VTK, &s.vtk, 0, 0, "write the square for ParaView, under this name"},
  };
  enum options_outcome outcome = options_read(argc, argv, "Laplace's equation by Jacobi iteration",
                                              sizeof entries / sizeof *entries, entries);
  if (outcome != OPTIONS_RUN)
    return outcome;
  op_init(argc, argv, 1);
  output_prepare(NULL, s.vtk);
  int status = run(&s);
  op_exit();
  return status;
}
