/* The kernels of adjoint.c, which includes this file and gives it to the library: those of jac, their tangents (_d)
 * and their adjoints (_b), in which what was read is incremented. The library makes its own from gather and update; those
 * by hand are the witnesses. */

static void gather(const double *a, const double *u, double *du) {
  *du += *a * *u;
}

static void update(const double *r, const double *du, double *u, double *change) {
  double next = *du + *r;
  *change += (next - *u) * (next - *u);
  *u = next;
}

static void gather_d(const double *a, const double *a_d, const double *u, const double *u_d, double *du_d) {
  *du_d += *a_d * *u + *a * *u_d;
}

static void gather_b(const double *a, double *a_b, const double *u, double *u_b, const double *du_b) {
  *a_b += *u * *du_b;
  *u_b += *a * *du_b;
}

static void update_d(const double *r_d, const double *r, const double *du, const double *du_d,
                     const double *u, double *u_d, double *change_d) {
  double next = *du + *r;
  double next_d = *du_d + *r_d;
  *change_d += 2 * (next - *u) * (next_d - *u_d);
  *u_d = next_d;
}

/* u_b comes in as the adjoint of the new u and leaves as that of the old. */
static void update_b(const double *r, double *r_b, const double *du, double *du_b, const double *u,
                     double *u_b, const double *change_b) {
  double next = *du + *r;
  double step_b = 2 * (next - *u) * *change_b;
  double next_b = *u_b + step_b;
  *u_b = -step_b;
  *du_b = next_b;
  *r_b += next_b;
}

static void dot(const double *a, const double *b, double *sum) {
  *sum += *a * *b;
}

static void distance(const double *a, const double *b, double *most) {
  double d = *a > *b ? *a - *b : *b - *a;
  if (d > *most)
    *most = d;
}
