/* Kernels with what is hard: each is differentiated and compared by check.py. The eight faults of the first prototype come
 * first, by their number; 4 is a test of texts (check.py), 6 one of tapes (tests/adjoint/test_tape.c). */
#include <math.h>

/* 1: a loop that only moves values has no operation, and yet a derivative. */
void moves(const double *r, double *w, const int *n) {
  double held = 0;
  for (int i = 0; i < *n; i++)
    held = r[i & 1];
  w[0] = held;
}
/* 2: the "go on" of an inner loop, and a loop within a branch. */
void inner_while(const double *a, double *w, const int *n) {
  double s = a[0];
  if (a[1] < 5) {
    int k = 0;
    while (k < *n && k < 6) {
      int j = 0;
      while (j < 3 && s < 100) {
        s = s * a[1] + sin(s);
        j++;
      }
      k++;
    }
  }
  w[0] = s;
}
/* 3: a bound that nothing proves: refused. */
void unbounded(const double *a, double *w, const int *n) {
  double s = a[0];
  for (int k = 0; k < *n; k++)
    s = s * a[1];
  w[0] = s;
}
/* 5: the better of two values that are the same number. */
void better(const double *a, double *w) {
  double x = a[0] * a[1], y = a[0] * a[1];
  w[0] = x > y ? x * a[2] : y * a[2];
}
/* 7: the roots of 0. */
void roots(const double *a, double *w) {
  const double zero = a[0] - a[0];
  w[0] =
      sqrt(zero) + hypot(zero, zero * a[1]) + cbrt(zero) + pow(zero, 0.5) + pow(zero, a[1] + 3) + a[1] * a[1];
}
/* 8: float. */
void single(const float *a, float *w) {
  w[0] = sqrtf(a[0] * a[0] + 1) * 0.1f + tanhf(a[1]) / 3 + expf(a[0]) + powf(2 + sinf(a[1]), a[0]);
}

/* All else. */
struct pair {
  double left[2], right;
  int kind;
};
static struct pair turned(struct pair p, double by) {
  struct pair q = {{p.left[1] * by, p.left[0]}, p.right + by, p.kind};
  return q;
}
void records(const double *a, double *w) {
  struct pair p = {.left = {a[0], a[1]}, .right = a[2]}, all[3];
  for (int i = 0; i < 3; i++)
    all[i] = i ? turned(all[i - 1], a[i]) : p;
  struct pair *last = &all[2];
  last->right *= last->left[0];
  w[0] = last->right + all[1].left[1];
}
void newton(const double *a, double *w) {
  double x = 1;
  for (int it = 0; it < 30; it++) {
    const double f = x * x * x + x - a[0] * a[0];
    const double d = f / (3 * x * x + 1);
    x -= d;
    if (fabs(d) < 1e-14)
      break;
  }
  w[0] = x * a[1];
}
void early(const double *a, double *w) {
  w[0] = a[0];
  if (a[1] > 10)
    return;
  for (int i = 0; i < 4; i++) {
    if (a[i % 2] > 5)
      return;
    w[0] += a[0] * a[1] * i;
  }
  w[0] *= 2;
}
void pieces(const double *a, double *w, const int *kind) {
  switch (*kind) {
  case 0: w[0] = a[0] * a[0]; break;
  case 1:
  case 2: w[0] = sin(a[0]); /* falls through */
  case 3: w[0] = exp(a[1]) * a[0]; break;
  default: w[0] = a[0] / a[1];
  }
}
void tables(const double *a, double *w, const int *n) {
  static const double weight[4] = {0.25, 1.5, -2, 3};
  double s = 0;
  for (int i = 0; i < *n && i < 4; i++)
    s += weight[i] * a[i & 1] * a[0];
  w[0] = s;
}
void pointer(const double *a, double *w) {
  const double *p = a;
  double s = 0;
  for (; p < a + 3; p++)
    s += *p * a[0];
  w[0] = s;
  w[1] = *(a + 1) * p[-1];
}
void ragged(int n, const double **x, const double *y, double **r) {
  double s = y[0];
  for (int k = 0; k < n; k++) {
    const double d = OP_ROW(x, k)[0] - s * 0;
    if (d > 0)
      OP_ROW(r, k)[0] += d * d * y[0];
    else
      OP_ROW(r, k)[0] -= sin(d) * OP_ROW(x, k)[1];
  }
}
void gathers(int n, const double **x, double *sum) {
  double s = 0, t = 0;
  for (int k = 0; k < n; k++) {
    s += OP_ROW(x, k)[0] * OP_ROW(x, k)[1];
    t += OP_ROW(x, k)[1];
  }
  sum[0] = s + t * t;
}
void sometimes(const double *a, double *w) {
  w[0] = a[0] * a[0];
  w[1] = 0;
  if (a[1] > 0)
    w[1] = a[1] * a[0];
  else if (a[0] > 0)
    w[1] += exp(a[1]);
}
void steps(const double *a, double *w, const int *n) {
  double s = a[0];
  int i = 0;
  do {
    s = s * 0.5 + a[1] * i;
    if (s > 3)
      continue;
    s = s + sin(s);
  } while (++i < 5);
  while (i-- > 2)
    s *= a[0];
  w[0] = s + floor(a[1]) * a[0] + fmod(7 * a[0], 2.0) + ldexp(a[1], 3) + (int)a[0] * a[1];
}
/* Values that go from round to round change at once: in the choice of v the old k counts. */
void at_once(const double *a, double *w, const int *n) {
  double v = a[0], u = a[1], s = -0.2;
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < *n + 1 && k < 4; k++) {
      if (a[k & 1] > s - 9) {
        switch (k) {
        case 1: v += 0.5 * sin(a[2] * a[0]); u -= 0.5 * sin((a[i & 1] > v ? 1.4 : a[i & 1]) + u * u);
        }
      }
      if (a[1] > 0.2)
        break;
      s = 0.5 * cos(u);
    }
  w[0] = v * v + u + s;
}
