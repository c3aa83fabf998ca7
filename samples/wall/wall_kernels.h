/* The kernels of wall.c beside those of airfoil; it includes this file and gives it to the library. */
enum { BUMPS = 6 };

/* A node goes along its ways, as far as the bumps are high. */
static void bend(const double *straight, const double *ways, const double *heights, double *x) {
  x[0] = straight[0];
  x[1] = straight[1];
  for (int k = 0; k < BUMPS; k++) {
    x[0] += heights[k] * ways[2 * k];
    x[1] += heights[k] * ways[2 * k + 1];
  }
}

static double pressure(const double *q) {
  return gm1 * (q[3] - 0.5 / q[0] * (q[1] * q[1] + q[2] * q[2]));
}

static void observe(const double *q, double *seen) {
  *seen = pressure(q);
}

/* Kind 1 is the wall. */
static void compare(const double *q, const double *seen, const int *kind, double *misfit) {
  const double difference = pressure(q) - *seen;
  if (*kind == 1)
    *misfit += difference * difference;
}
