/* The kernels of transport.c, which includes this file, so that a debugger steps through them line by line
 * (OP2_BACKEND=native), and gives it to the library, which compiles it for every other backend. */
#include <math.h>

enum { WALL, INFLOW, OUTFLOW }; /* kinds of sides */

/* What flows between two points is the difference of the stream function: nothing is lost in any cell. The
 * velocity is (x, -y) times a strength that changes with time. */
static double stream(const double *at) {
  return at[0] * at[1];
}

/* What comes in at the top stays on its streamline. */
static double inflow(const double *at) {
  return 1 + 0.5 * sin(2 * M_PI * stream(at));
}

/* After the flow has gone the way `gone`, the integral of its strength: every point brings what was there where it
 * comes from. At the beginning there is a bump as well. */
static double exact(const double *at, double gone) {
  const double x = at[0] * exp(-gone), y = at[1] * exp(gone);
  const double r = hypot(x - 0.35, y - 0.6) / 0.3;
  return inflow(at) + (r < 1 ? pow(cos(0.5 * M_PI * r), 4) : 0);
}

static void geometry(const double *x[3], double *centre, double *area) {
  const double ax = x[1][0] - x[0][0], ay = x[1][1] - x[0][1], bx = x[2][0] - x[0][0], by = x[2][1] - x[0][1];
  centre[0] = (x[0][0] + x[1][0] + x[2][0]) / 3;
  centre[1] = (x[0][1] + x[1][1] + x[2][1]) / 3;
  *area = 0.5 * (ax * by - ay * bx);
}

static void fill(const double *centre, double *c) {
  *c = exact(centre, 0);
}

/* How often a second the flow replaces what is in a cell; the largest bounds the time step. */
static void courant(const double *x[3], const double *area, const double *strength, double *rate) {
  double out = 0;
  for (int side = 0; side < 3; side++)
    out += fmax(*strength * (stream(x[(side + 1) % 3]) - stream(x[side])), 0);
  *rate = fmax(*rate, out / *area);
}

/* Least squares over all cells that share a point with this one: sums that each point keeps of the cells around it, of
 * places measured from the point. Those of the places alone are made once. */
static void weigh(const double *x, const double *centre, double *moments) {
  const double dx = centre[0] - x[0], dy = centre[1] - x[1];
  moments[0] += 1;
  moments[1] += dx;
  moments[2] += dy;
  moments[3] += dx * dx;
  moments[4] += dx * dy;
  moments[5] += dy * dy;
}

static void forget(double *sums) {
  sums[0] = sums[1] = sums[2] = 0;
}

static void gather(const double *x[3], const double *centre, const double *c, double *sums[3]) {
  for (int k = 0; k < 3; k++) {
    sums[k][0] += *c;
    sums[k][1] += *c * (centre[0] - x[k][0]);
    sums[k][2] += *c * (centre[1] - x[k][1]);
  }
}

/* The least and the largest value of a cell and its three neighbours, of which a side at the boundary has none but
 * the cell. */
static void extremes(const double *c, const double *neighbours[3], double *range) {
  range[0] = range[1] = *c;
  for (int k = 0; k < 3; k++) {
    range[0] = fmin(range[0], *neighbours[k]);
    range[1] = fmax(range[1], *neighbours[k]);
  }
}

/* The gradient, and as much of it as makes no value at the middle of a side that is beyond all values around. */
static void reconstruct(const double *x[3], const double *moments[3], const double *sums[3],
                        const double *centre, const double *c, const double *ranges[3], double *gradient) {
  double xx = 0, xy = 0, yy = 0, xc = 0, yc = 0, share = 1;
  for (int k = 0; k < 3; k++) {
    const double *m = moments[k], *s = sums[k], px = x[k][0] - centre[0], py = x[k][1] - centre[1];
    xx += m[3] + 2 * px * m[1] + m[0] * px * px;
    xy += m[4] + px * m[2] + py * m[1] + m[0] * px * py;
    yy += m[5] + 2 * py * m[2] + m[0] * py * py;
    xc += s[1] + px * s[0] - *c * (m[1] + m[0] * px);
    yc += s[2] + py * s[0] - *c * (m[2] + m[0] * py);
  }
  const double inverse = 1 / (xx * yy - xy * xy);
  gradient[0] = inverse * (yy * xc - xy * yc);
  gradient[1] = inverse * (xx * yc - xy * xc);
  const double least = fmin(fmin(ranges[0][0], ranges[1][0]), ranges[2][0]);
  const double most = fmax(fmax(ranges[0][1], ranges[1][1]), ranges[2][1]);
  for (int side = 0; side < 3; side++) {
    const double *a = x[side], *b = x[(side + 1) % 3];
    const double rise =
        gradient[0] * (0.5 * (a[0] + b[0]) - centre[0]) + gradient[1] * (0.5 * (a[1] + b[1]) - centre[1]);
    const double room = rise > 0 ? most - *c : least - *c;
    if (fabs(rise) > fabs(room))
      share = fmin(share, room / rise);
  }
  gradient[0] *= share;
  gradient[1] *= share;
}

/* The value of a cell at the middle of the side from a to b. */
static double at_middle(const double *a, const double *b, const double *centre, const double *c,
                        const double *gradient) {
  return *c + gradient[0] * (0.5 * (a[0] + b[0]) - centre[0]) +
         gradient[1] * (0.5 * (a[1] + b[1]) - centre[1]);
}

/* Through an edge goes what the cell has that the flow comes from. The first cell is on the left of the edge. */
static void flux(const double *a, const double *b, const double *centre1, const double *centre2,
                 const double *c1, const double *c2, const double *gradient1, const double *gradient2,
                 const double *strength, double *gain1, double *gain2) {
  const double volume = *strength * (stream(b) - stream(a));
  const double moved = volume * (volume > 0 ? at_middle(a, b, centre1, c1, gradient1)
                                            : at_middle(a, b, centre2, c2, gradient2));
  *gain1 -= moved;
  *gain2 += moved;
}

/* Nothing goes through a wall, the inflow is given, at the outflow the cell's own value leaves. */
static void boundary(const int *kind, const double *a, const double *b, const double *centre, const double *c,
                     const double *gradient, const double *strength, double *gain, double *left) {
  const double volume = *strength * (stream(b) - stream(a));
  if (*kind == WALL)
    return;
  const double middle[2] = {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])};
  const double moved = volume * (*kind == INFLOW ? inflow(middle) : at_middle(a, b, centre, c, gradient));
  *gain -= moved;
  *left += moved;
}

/* One of the two stages of a step: the weights are 0 and 1, then a half and a half. */
static void advance(const double *old, const double *area, const double *dt, const double *weight, double *c,
                    double *gain) {
  *c = (1 - *weight) * *old + *weight * (*c + *dt * *gain / *area);
  *gain = 0;
}

static void save(const double *c, double *old) {
  *old = *c;
}

static void measure(const double *c, const double *centre, const double *area, const double *gone,
                    double *mass, double *error, double *least, double *most) {
  *mass += *area * *c;
  *error += *area * fabs(*c - exact(centre, *gone));
  *least = fmin(*least, *c);
  *most = fmax(*most, *c);
}
