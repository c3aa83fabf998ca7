/* Right kernels that are written in unusual ways, each of which a prover that is too strict refuses: pointers to
 * pointers, extrema and sums of many forms, tables read from end to end. In the words of kernels.h. */
#ifndef OP2JIT_TESTS_KERNELS_RIGHT_H
#define OP2JIT_TESTS_KERNELS_RIGHT_H

#include "kernels.h"

/* ---- pointers to pointers ---- */
OP_KERNEL_DEF(
    r_next, double *next_of(double **p) { return (*p)++; } void r_next(const double *a, double *w) {
      double *p = w;
      for (int i = 0; i < 4; i++)
        *next_of(&p) = a[i];
    })
OP_KERNEL_DEF(
    r_advance, void advance(double **p) { ++*p; } void r_advance(const double *a, double *w) {
      double *p = w;
      for (int i = 0; i < 4; i++) {
        *p = a[i];
        advance(&p);
      }
    })
OP_KERNEL_DEF(
    r_put, void put_into(double **p, double v) { *(*p)++ = v; } void r_put(const double *a, double *w) {
      for (int i = 0; i < 4; i++)
        put_into(&w, a[i]);
    })
OP_KERNEL_DEF(
    r_through, void r_through(const double *a, double *w) {
      double **q = &w;
      for (int i = 0; i < 4; i++)
        (*q)[i] = a[i];
    })
OP_KERNEL_DEF(
    r_through_moved, void r_through_moved(const double *a, double *w) {
      double *p = w, **q = &p;
      for (int i = 0; i < 4; i++)
        *(*q)++ = a[i];
    })
OP_KERNEL_DEF(
    r_member, void r_member(const double *a, double *w) {
      struct cursor {
        double *at;
        int left;
      } c = {w, 4}, *p = &c;
      while (p->left > 0) {
        *p->at++ = a[4 - p->left];
        p->left--;
      }
    })
OP_KERNEL_DEF(
    r_pointers, void r_pointers(const double *a, double *v, double *w) {
      double *to[2] = {v, w};
      for (int i = 0; i < 4; i++)
        to[i % 2][i / 2] = a[i];
    })
OP_KERNEL_DEF(
    r_chosen,
    double *either(double *v, double *w, int second) {
      return second ? w : v;
    } void r_chosen(const double *a, double *v, double *w) {
      for (int i = 0; i < 2; i++) {
        double *p = either(v, w, i);
        p[0] = a[i];
        p[1] = a[i + 2];
      }
    })
OP_KERNEL_DEF(
    r_swapped,
    void swap_pointers(double **p, double **q) {
      double *t = *p;
      *p = *q;
      *q = t;
    } void r_swapped(const double *a, double *v, double *w) {
      double *p = v, *q = w;
      for (int i = 0; i < 2; i++) {
        p[0] = a[i];
        p[1] = a[i + 2];
        swap_pointers(&p, &q);
      }
    })

/* ---- extrema ---- */
OP_KERNEL_DEF(
    r_largest_of_two, void r_largest_of_two(const double *a, double *m) { *m = fmax(fmax(*m, a[0]), a[1]); })
OP_KERNEL_DEF(
    r_largest_inside, void r_largest_inside(const double *a, double *m) { *m = fmax(a[0], fmax(a[1], *m)); })
OP_KERNEL_DEF(
    r_larger,
    double larger_of(double x, double y) { return x > y ? x : y; } void r_larger(const double *a, double *m) {
      *m = larger_of(*m, larger_of(a[0], a[1]));
    })
OP_KERNEL_DEF(
    r_larger_by_if,
    double larger_by_if(double x, double y) {
      if (x < y)
        return y;
      return x;
    } void r_larger_by_if(const double *a, double *m) { *m = larger_by_if(a[0], *m); })
OP_KERNEL_DEF(
    r_negated, void r_negated(const double *a, double *m) { *m = -fmin(-*m, -a[0]); })
OP_KERNEL_DEF(
    r_nested, void r_nested(const double *a, double *m) {
      *m = a[0] > a[1] ? (a[0] > *m ? a[0] : *m) : (a[1] > *m ? a[1] : *m);
    })
OP_KERNEL_DEF(
    r_casts, void r_casts(const double *a, double *m) { *m = (double)fmaxf((float)a[0], (float)*m); })
OP_KERNEL_DEF(
    r_plus_nothing, void r_plus_nothing(const double *a, double *m) { *m = fmax(a[0], *m) + 0; })
OP_KERNEL_DEF(
    r_best, void r_best(const double *a, double *m) {
      double best = *m;
      for (int i = 0; i < 4; i++)
        best = best < a[i] ? best : a[i];
      *m = best;
    })
OP_KERNEL_DEF(
    r_raise,
    void raise_to(double *m, double v) {
      if (*m < v)
        *m = v;
    } void r_raise(const double *a, double *m) {
      raise_to(m, a[0]);
      raise_to(m, a[1] * a[1]);
    })
OP_KERNEL_DEF(
    r_unless, void r_unless(const int *a, int *m) {
      if (*m <= *a)
        return;
      *m = *a;
    })

/* ---- sums ---- */
OP_KERNEL_DEF(
    r_plus_after, void r_plus_after(const double *a, double *r) { *r = *r + a[0]; })
OP_KERNEL_DEF(
    r_plus_before, void r_plus_before(const double *a, double *r) { *r = a[0] * a[1] + *r; })
OP_KERNEL_DEF(
    r_minus_minus, void r_minus_minus(const double *a, double *r) { r[0] -= -a[0]; })
OP_KERNEL_DEF(
    r_perhaps, void r_perhaps(const double *a, double *r) { *r += a[0] > 1 ? a[1] : 0; })
OP_KERNEL_DEF(
    r_carried, void r_carried(const double *a, double *r) {
      double sum = *r;
      for (int i = 0; i < 4; i++)
        sum += a[i];
      *r = sum;
    })
OP_KERNEL_DEF(
    r_counted, void r_counted(const int *a, int *r) {
      int n = *r;
      if (*a > 0)
        n = n + 1;
      *r = n;
    })

/* ---- tables ---- */
/* Not by OP_KERNEL_DEF: C does not define it, and compilers that optimise tell of it. */
static const char *const op2jit_text_r_whole_table =
    OP_KERNEL(static const double whole_table[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
              void r_whole_table(const double *a, double *w) {
                double s = 0;
                for (int i = 0; i < 8; i++)
                  s += whole_table[0][i] * a[0];
                *w = s;
              });
static void r_whole_table(const double *a, double *w) {
  double s = 0;
  for (int i = 0; i < 8; i++)
    s += (i + 1) * a[0];
  *w = s;
}

static const struct kernel_case right_cases[] = {
    KERNEL("helper returns where to write", r_next, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 4)),
    KERNEL("helper moves a pointer", r_advance, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 4)),
    KERNEL("helper writes and moves", r_put, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 4)),
    KERNEL("pointer to the parameter", r_through, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 4)),
    KERNEL("pointer moved through a pointer", r_through_moved, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 4)),
    KERNEL("pointer in a struct", r_member, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 4)),
    KERNEL("array of pointers", r_pointers, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 2), D_WRITE(DOUBLE, 2)),
    KERNEL("helper chooses a pointer", r_chosen, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 2), D_WRITE(DOUBLE, 2)),
    KERNEL("pointers are swapped", r_swapped, D_READ(DOUBLE, 4), D_WRITE(DOUBLE, 2), D_WRITE(DOUBLE, 2)),
    KERNEL("fmax of fmax", r_largest_of_two, D_READ(DOUBLE, 2), G(DOUBLE, 1, MAX)),
    KERNEL("fmax within fmax", r_largest_inside, D_READ(DOUBLE, 2), G(DOUBLE, 1, MAX)),
    KERNEL("helper in place of fmax", r_larger, D_READ(DOUBLE, 2), G(DOUBLE, 1, MAX)),
    KERNEL("helper with if", r_larger_by_if, D_READ(DOUBLE, 1), G(DOUBLE, 1, MAX)),
    KERNEL("fmin of what is negated", r_negated, D_READ(DOUBLE, 1), G(DOUBLE, 1, MAX)),
    KERNEL("nested conditions", r_nested, D_READ(DOUBLE, 2), G(DOUBLE, 1, MAX)),
    KERNEL("casts", r_casts, D_READ(DOUBLE, 1), G(DOUBLE, 1, MAX)),
    KERNEL("plus nothing", r_plus_nothing, D_READ(DOUBLE, 1), G(DOUBLE, 1, MAX)),
    KERNEL("smallest kept in a local", r_best, D_READ(DOUBLE, 4), G(DOUBLE, 1, MIN)),
    KERNEL("helper that raises", r_raise, D_READ(DOUBLE, 2), G(DOUBLE, 1, MAX)),
    KERNEL("return where it is no smaller", r_unless, D_READ(INT, 1), G(INT, 1, MIN)),
    KERNEL("r = r + x", r_plus_after, D_READ(DOUBLE, 1), INC_VIA(0, DOUBLE, 1)),
    KERNEL("r = x + r", r_plus_before, D_READ(DOUBLE, 2), G(DOUBLE, 1, INC)),
    KERNEL("r -= -x", r_minus_minus, D_READ(DOUBLE, 1), INC_VIA(1, DOUBLE, 1)),
    KERNEL("r += c ? x : 0", r_perhaps, D_READ(DOUBLE, 2), D_INC(DOUBLE, 1)),
    KERNEL("sum kept in a local", r_carried, D_READ(DOUBLE, 4), INC_VIA(2, DOUBLE, 1)),
    KERNEL("count kept in a local", r_counted, D_READ(INT, 1), G(INT, 1, INC)),
    KERNEL("rows of a table as one", r_whole_table, D_READ(DOUBLE, 1), D_WRITE(DOUBLE, 1)),
};
enum { RIGHT_CASES = sizeof right_cases / sizeof *right_cases };

#endif
