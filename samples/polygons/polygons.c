/* Heat on polygons: u_t = (u_xx + u_yy) by finite volumes on the Voronoi cells of scattered points, on a square whose ends
 * meet. The mesh is made here: a square grid of n x n points is shaken a little. Such points are joined to their neighbours
 * on the grid, and in each square of four one diagonal joins those two whose circles are empty. A polygon's corners are the
 * centres of the circles around the triangles at its point; it has from 4 to 8 sides. Two ragged maps lead from a polygon to
 * its corners and to its neighbours, in the order in which they lie around it: side k, between corners k and k + 1, is
 * shared with neighbour k.
 *
 * With ranks the first one declares the mesh, and polygons are shared out by where they lie.
 *
 * The flux through a side is its length, times the difference of the two points' values over their distance. Checks: the
 * polygons fill the square; no heat is lost; sin(2 pi x) decays as the equation says. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
OP_KERNEL_DEF(measure, void measure(const double *centre, int corners, const double **corner, int n, const double **near,
                                    double **weight, double *area) {
  double a = 0;
  for (int k = 0; k < n; k++) {
    /* All seen from the centre, the shorter way round. */
    const double *p = OP_ROW(corner, k), *q = OP_ROW(corner, k + 1 < corners ? k + 1 : 0), *c = OP_ROW(near, k);
    double px = p[0] - centre[0], py = p[1] - centre[1], qx = q[0] - centre[0], qy = q[1] - centre[1];
    double dx = c[0] - centre[0], dy = c[1] - centre[1];
    px -= rint(px);
    py -= rint(py);
    qx -= rint(qx);
    qy -= rint(qy);
    dx -= rint(dx);
    dy -= rint(dy);
    a += 0.5 * (px * qy - py * qx);
    *OP_ROW(weight, k) = sqrt(((qx - px) * (qx - px) + (qy - py) * (qy - py)) / (dx * dx + dy * dy));
  }
  *area = a;
})
/* Half of what passes each side, which the polygon on the other side computes too. */
OP_KERNEL_DEF(pass, void pass(const double *u, int n, const double **near, const double **weight, double **gain,
                              double *own) {
  for (int k = 0; k < n; k++) {
    const double flux = 0.5 * *OP_ROW(weight, k) * (*u - *OP_ROW(near, k));
    *OP_ROW(gain, k) += flux;
    *own -= flux;
  }
})
OP_KERNEL_DEF(advance, void advance(const double *area, const double *dt, double *u, double *gain, double *heat) {
  *u += *dt * *gain / *area;
  *gain = 0;
  *heat += *u * *area;
})
OP_KERNEL_DEF(add_up, void add_up(const double *area, double *sum) { *sum += *area; })
OP_KERNEL_DEF(deviation, void deviation(const double *u, const double *expected, double *largest) {
  const double error = fabs(*u - *expected);
  if (error > *largest)
    *largest = error;
})
/* clang-format on */

static int failures;
static void expect(const char *what, double error, double most) {
  const int holds = error >= 0 && error <= most;
  op_printf("  %-48s %10.3e, at most %8.1e: %s\n", what, error, most, holds ? "yes" : "NO");
  failures += !holds;
}

static void *array(long long count, size_t size) {
  void *made = calloc((size_t)count + 1, size);
  if (!made) {
    fprintf(stderr, "no memory for %lld values\n", count);
    exit(1);
  }
  return made;
}

/* ---- the mesh ---- */

struct mesh {
  int n;
  double *centres; /* n * n points */
  double *corners; /* two for each square of four points: 2 * square, and one more */
  char *rising;    /* per square: the diagonal goes up, from its lower left point */
  long long *offsets;
  int *around, *near; /* corners and neighbours of each polygon, in order */
};

static int wrap(const struct mesh *m, int i, int j) {
  return (j + m->n) % m->n * m->n + (i + m->n) % m->n;
}

/* The point of the grid, seen without the ends. */
static void place(const struct mesh *m, int i, int j, double *out) {
  const double *c = m->centres + 2 * (size_t)wrap(m, i, j);
  out[0] = c[0] + floor((double)i / m->n);
  out[1] = c[1] + floor((double)j / m->n);
}

/* The centre of the circle through three points; the square of its radius. */
static double circle(const double *a, const double *b, const double *c, double *centre) {
  const double bx = b[0] - a[0], by = b[1] - a[1], cx = c[0] - a[0], cy = c[1] - a[1];
  const double d = 2 * (bx * cy - by * cx), bb = bx * bx + by * by, cc = cx * cx + cy * cy;
  const double x = (cy * bb - by * cc) / d, y = (bx * cc - cx * bb) / d;
  centre[0] = a[0] + x;
  centre[1] = a[1] + y;
  return x * x + y * y;
}

static void make_square(struct mesh *m, int i, int j) {
  double p[4][2]; /* lower left, lower right, upper right, upper left */
  double *out = m->corners + 4 * (size_t)wrap(m, i, j);
  place(m, i, j, p[0]);
  place(m, i + 1, j, p[1]);
  place(m, i + 1, j + 1, p[2]);
  place(m, i, j + 1, p[3]);
  const double r = circle(p[0], p[1], p[2], out), x = p[3][0] - out[0], y = p[3][1] - out[1];
  m->rising[wrap(m, i, j)] = x * x + y * y >= r;
  if (m->rising[wrap(m, i, j)])
    circle(p[0], p[2], p[3], out + 2); /* the lower triangle, then the upper one */
  else {
    circle(p[0], p[1], p[3], out);
    circle(p[1], p[2], p[3], out + 2);
  }
}

/* Once round the polygon of a point, from the neighbour on the right on. Between two neighbours on the grid lies a square;
 * its diagonal may lead to one more. How many sides there are. */
static int walk(const struct mesh *m, int i, int j, int *corners, int *near) {
  static const struct {
    int side[2], diagonal[2], square[2]; /* where they are, seen from the point */
    int rising;                          /* the diagonal that ends here */
    int first, second, only;             /* triangles before and behind it; the one where it does not */
  } quarters[4] = {{{1, 0}, {1, 1}, {0, 0}, 1, 0, 1, 0},
                   {{0, 1}, {-1, 1}, {-1, 0}, 0, 1, 0, 0},
                   {{-1, 0}, {-1, -1}, {-1, -1}, 1, 1, 0, 1},
                   {{0, -1}, {1, -1}, {0, -1}, 0, 0, 1, 1}};
  int between[8], sides = 0; /* triangles, each behind the neighbour of its number */
  for (int q = 0; q < 4; q++) {
    const int at = wrap(m, i + quarters[q].square[0], j + quarters[q].square[1]);
    const int ends = m->rising[at] == quarters[q].rising;
    near[sides] = wrap(m, i + quarters[q].side[0], j + quarters[q].side[1]);
    between[sides++] = 2 * at + (ends ? quarters[q].first : quarters[q].only);
    if (!ends)
      continue;
    near[sides] = wrap(m, i + quarters[q].diagonal[0], j + quarters[q].diagonal[1]);
    between[sides++] = 2 * at + quarters[q].second;
  }
  for (int k = 0; k < sides; k++)
    corners[k] = between[(k + sides - 1) % sides];
  return sides;
}

static double shaken(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return 0.3 * ((*state >> 8) / 16777216.0 - 0.5);
}

static struct mesh mesh_make(int n) {
  const long long points = (long long)n * n;
  struct mesh m = {.n = n};
  unsigned state = 1;
  m.centres = array(2 * points, sizeof *m.centres);
  m.corners = array(4 * points, sizeof *m.corners);
  m.rising = array(points, 1);
  m.offsets = array(points, sizeof *m.offsets);
  m.around = array(8 * points, sizeof *m.around);
  m.near = array(8 * points, sizeof *m.near);
  for (int p = 0; p < points; p++) {
    const int column = p % n, row = p / n;
    m.centres[2 * p] = (column + 0.5 + shaken(&state)) / n;
    m.centres[2 * p + 1] = (row + 0.5 + shaken(&state)) / n;
  }
  for (int p = 0; p < points; p++)
    make_square(&m, p % n, p / n);
  for (int p = 0; p < points; p++)
    m.offsets[p + 1] = m.offsets[p] + walk(&m, p % n, p / n, m.around + m.offsets[p], m.near + m.offsets[p]);
  return m;
}

static void mesh_free(struct mesh *m) {
  free(m->centres);
  free(m->corners);
  free(m->rising);
  free(m->offsets);
  free(m->around);
  free(m->near);
}

/* ---- the program ---- */

static op_arg direct(op_dat dat, int dim, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, dim, "double", access);
}

static void run(const struct mesh *m, int steps) {
  const int points = m->n * m->n;
  double dt = 0.1 / points;
  const double decay = exp(-4 * M_PI * M_PI * dt * steps);
  double *start = array(points, sizeof *start), *expected = array(points, sizeof *expected);
  for (int p = 0; p < points; p++) {
    start[p] = 2 + sin(2 * M_PI * m->centres[2 * (size_t)p]);
    expected[p] = 2 + decay * (start[p] - 2);
  }
  const int mine = op_is_root() ? points : 0;
  op_set cells = op_decl_set(mine, "polygons"), vertices = op_decl_set(2 * mine, "corners");
  op_map around = op_decl_map_ragged(cells, vertices, m->offsets, m->around, "around");
  op_map near = op_decl_map_ragged(cells, cells, m->offsets, m->near, "near");
  op_dat centre = op_decl_dat(cells, 2, "double", m->centres, "centre");
  op_dat corner = op_decl_dat(vertices, 2, "double", m->corners, "corner");
  op_dat weight = op_decl_dat(op_map_entries(near), 1, "double", NULL, "weight");
  op_dat area = op_decl_dat(cells, 1, "double", NULL, "area"),
         gain = op_decl_dat(cells, 1, "double", NULL, "gain");
  op_dat u = op_decl_dat(cells, 1, "double", start, "u"),
         wanted = op_decl_dat(cells, 1, "double", expected, "wanted");
  op_partition("rcb", "", cells, NULL, centre);

  op_par_loop(OP_KERNEL_OF(measure), "measure", cells, direct(centre, 2, OP_READ),
              op_arg_dat(corner, OP_ALL, around, 2, "double", OP_READ),
              op_arg_dat(centre, OP_ALL, near, 2, "double", OP_READ),
              op_arg_dat(weight, OP_ALL, near, 1, "double", OP_WRITE), direct(area, 1, OP_WRITE));
  double all = 0, heat = 0, largest = -1; /* it shows if none was looked at */
  op_par_loop(OP_KERNEL_OF(add_up), "add_up", cells, direct(area, 1, OP_READ),
              op_arg_gbl(&all, 1, "double", OP_INC));
  double first = 0;
  for (int s = 0; s < steps; s++) {
    op_par_loop(OP_KERNEL_OF(pass), "pass", cells, direct(u, 1, OP_READ),
                op_arg_dat(u, OP_ALL, near, 1, "double", OP_READ),
                op_arg_dat(weight, OP_ALL, near, 1, "double", OP_READ),
                op_arg_dat(gain, OP_ALL, near, 1, "double", OP_INC), direct(gain, 1, OP_INC));
    heat = 0;
    op_par_loop(OP_KERNEL_OF(advance), "advance", cells, direct(area, 1, OP_READ),
                op_arg_gbl(&dt, 1, "double", OP_READ), direct(u, 1, OP_RW), direct(gain, 1, OP_RW),
                op_arg_gbl(&heat, 1, "double", OP_INC));
    first = s == 0 ? heat : first;
  }
  op_par_loop(OP_KERNEL_OF(deviation), "deviation", cells, direct(u, 1, OP_READ), direct(wanted, 1, OP_READ),
              op_arg_gbl(&largest, 1, "double", OP_MAX));
  op_printf("%d polygons with %lld sides, %d steps\n", points, m->offsets[points], steps);
  expect("the areas add up to that of the square", fabs(all - 1), 1e-12);
  expect("no heat is lost", fabs(heat - first) / first, 1e-12);
  expect("heat of 2 and a wave that has none", fabs(heat - 2), 0.5 / m->n);
  expect("the wave decays as it should", largest, 10.0 / points);
  free(start);
  free(expected);
}

int main(int argc, char **argv) {
  int n = 40, steps = 200;
  for (int a = 1; a < argc; a++) {
    if (!strncmp(argv[a], "OP2_", 4))
      continue; /* for the library */
    const char *value = a + 1 < argc ? argv[a + 1] : "";
    if (!strcmp(argv[a], "--n"))
      n = atoi(value);
    else if (!strcmp(argv[a], "--steps"))
      steps = atoi(value);
    else
      n = 0;
    a++;
  }
  if (n < 4 || n > 4000 || steps < 1) {
    fprintf(stderr, "usage: polygons [--n POINTS-ON-A-SIDE] [--steps N]\n");
    return 2;
  }
  if (op_init(argc, argv, 1))
    return 1;
  struct mesh m = mesh_make(n);
  run(&m, steps);
  mesh_free(&m);
  op_printf("polygons: %s\n", failures ? "FAILED" : "PASSED");
  return op_exit() || failures;
}
