/* One kernel for each construct of the kernel language, as text and as C function, with the arguments it wants. Any
 * backend can be run over the table and compared with calling the functions one element after the other.
 *
 * The table's mesh: the loop's set (0) and a second one (1), a map of arity 3 between them whose three targets
 * differ. Values to start from: see kernel_fill in fill.h. */
#ifndef OP2JIT_TESTS_KERNELS_KERNELS_H
#define OP2JIT_TESTS_KERNELS_KERNELS_H

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/types.h"
#include "op2jit.h"

enum how {
  DIRECT, /* a dat on the loop's set */
  VIA_0,  /* a dat on the second set through a column of the map */
  VIA_1,
  VIA_2,
  VECTOR, /* all three columns */
  GLOBAL,
  NUMBER,     /* op_arg_idx of the element */
  NUMBER_VIA, /* of the map's target 1 */
  PAYLOAD     /* op_arg_info of the argument before */
};

struct kernel_arg {
  enum how how;
  enum type_code type;
  int dim;
  int access;
  int shared; /* the dat of argument number `shared` - 1 ; 0: one of its own */
};

struct kernel_case {
  const char *construct, *name, *text;
  op_kernel_function function;
  int nargs;
  struct kernel_arg args[8];
};

#define D_READ(T, dim)                                                                                       \
  { DIRECT, TYPE_##T, dim, OP_READ, 0 }
#define D_WRITE(T, dim)                                                                                      \
  { DIRECT, TYPE_##T, dim, OP_WRITE, 0 }
#define D_RW(T, dim)                                                                                         \
  { DIRECT, TYPE_##T, dim, OP_RW, 0 }
#define D_INC(T, dim)                                                                                        \
  { DIRECT, TYPE_##T, dim, OP_INC, 0 }
#define READ_VIA(c, T, dim)                                                                                  \
  { VIA_##c, TYPE_##T, dim, OP_READ, 0 }
#define INC_VIA(c, T, dim)                                                                                   \
  { VIA_##c, TYPE_##T, dim, OP_INC, 0 }
#define V_READ(T, dim)                                                                                       \
  { VECTOR, TYPE_##T, dim, OP_READ, 0 }
#define V_INC(T, dim)                                                                                        \
  { VECTOR, TYPE_##T, dim, OP_INC, 0 }
#define G(T, dim, access)                                                                                    \
  { GLOBAL, TYPE_##T, dim, OP_##access, 0 }

OP_KERNEL_DEF(
    k_copy, void k_copy(const double *a, double *b) { *b = *a; })
OP_KERNEL_DEF(
    k_array, void k_array(const double *a, double *b) {
      double t[3] = {a[0], a[1]}, u[2][2] = {{1, 2}, {3, 4}};
      t[2] = t[0] * u[0][1] + t[1] * u[1][0];
      b[0] = t[2] + u[1][1];
    })
OP_KERNEL_DEF(
    k_struct, void k_struct(const double *a, double *b) {
      struct point {
        double x, y;
      } p = {.y = a[1], .x = a[0]}, q;
      q = p;
      q.x += 2 * q.y;
      b[0] = q.x;
      b[1] = p.x - q.y;
    })
OP_KERNEL_DEF(
    k_union, void k_union(const int *a, int *b) {
      union word {
        int i;
        unsigned char c[4];
      } w;
      w.i = a[0];
      b[0] = w.c[0] + 256 * w.c[1];
    })
OP_KERNEL_DEF(
    k_helper, double cube_of(double x);
    double cube_of(double x) { return x * x * x; } void add_cube(const double *x, double *to);
    void add_cube(const double *x, double *to) {
      *to += cube_of(*x);
    } void k_helper(const double *a, double *b) { add_cube(a, b); })
OP_KERNEL_DEF(
    k_inline, inline void k_inline(const double *a, double *b) { b[0] = 3 * a[0]; })
OP_KERNEL_DEF(
    k_switch, void k_switch(const int *a, int *b) {
      switch (((a[0] % 4) + 4) % 4) {
      case 0: b[0] = 10; break;
      case 1: b[0] = 20; /* fall through */
      case 2: b[0] = 30; break;
      default: b[0] = -1;
      }
    })
OP_KERNEL_DEF(
    k_return, void k_return(const double *a, double *b) {
      if (a[0] < 1.0)
        return;
      b[0] += a[0];
    })
OP_KERNEL_DEF(
    k_table, void k_table(const int *a, double *b) {
      static const double weights[2][3] = {{0.5, 0.25, 0.125}, {1, 2, 3}};
      b[0] = weights[a[0] & 1][(unsigned)a[0] % 3];
    })
OP_KERNEL_DEF(
    k_file_table, const int primes[5] = {2, 3, 5, 7, 11};
    void k_file_table(const int *a, int *b) { b[0] = primes[(unsigned)a[0] % 5u]; })
OP_KERNEL_DEF(
    k_ternary, void k_ternary(const double *a, double *b) {
      b[0] = a[0] > 1 ? a[1] : a[0] > 0.75 ? -a[1] : 0;
    })
OP_KERNEL_DEF(
    k_nested, void k_nested(const int *n, const double *a, double *b) {
      double sum = 0;
      for (int i = 0; i < (n[0] & 7); i++)
        for (int j = i; j < 4; j++)
          sum += a[0] * i - j;
      b[0] = sum;
    })
OP_KERNEL_DEF(
    k_while, void k_while(const int *a, int *b) {
      int n = a[0] < 0 ? -a[0] : a[0], steps = 0;
      while (n > 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        if (++steps > 100)
          break;
      }
      do
        steps--;
      while (steps > 20);
      b[0] = steps;
    })
OP_KERNEL_DEF(
    k_goto, void k_goto(const int *a, int *b) {
      int i = 0;
    again:
      if (i < a[0]) {
        i += 3;
        goto again;
      }
      b[0] = i;
    })
OP_KERNEL_DEF(
    k_continue, void k_continue(const double *a, double *b) {
      for (int i = 0; i < 4; i++) {
        if (a[i] < 1)
          continue;
        b[0] += a[i];
      }
    })
OP_KERNEL_DEF(
    k_math, void k_math(const double *a, double *b) {
      const double x = a[0], y = a[1];
      b[0] = sqrt(x) + cbrt(x) + exp(x) + exp2(x) + expm1(x) + log(x) + log2(x) + log10(x) + log1p(x);
      b[1] = sin(x) + cos(x) + tan(x) + asin(x / 2) + acos(x / 2) + atan(x) + atan2(x, y);
      b[2] = sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(x + 1) + atanh(x / 2);
      b[3] = pow(x, y) + hypot(x, y) + fmod(x, y) + remainder(x, y) + fdim(x, y) + fma(x, y, x);
      b[4] = fabs(x) + fmax(x, y) + fmin(x, y) + copysign(x, -y) + floor(x) + ceil(x) + trunc(x) + round(x) +
             rint(x) + nearbyint(x);
      b[5] =
          erf(x) + erfc(x) + tgamma(x) + lgamma(x) + ldexp(x, 3) + scalbn(y, -2) + logb(x) + (double)ilogb(x);
      int e;
      double whole;
      b[6] = frexp(x, &e) + e + modf(y, &whole) + whole + (double)lround(x) + (double)llrint(y) +
             nextafter(x, y);
    })
OP_KERNEL_DEF(
    k_mathf, void k_mathf(const float *a, float *b) {
      const float x = a[0], y = a[1];
      b[0] = sqrtf(x) + expf(x) + logf(x) + sinf(x) + cosf(x) + powf(x, y) + fabsf(x - y) + fmaxf(x, y) +
             floorf(x);
    })
OP_KERNEL_DEF(
    k_fixed, void k_fixed(const int32_t *a, uint32_t *b, int64_t *c, uint64_t *d) {
      uint8_t small = (uint8_t)(a[0] * 37);
      int16_t middle = (int16_t)(a[0] * 1000);
      b[0] = (uint32_t)small << 8 | (uint16_t)middle;
      c[0] = INT64_C(5000000000) * a[0];
      d[0] = UINT64_MAX - (uint64_t)(uint32_t)a[0];
    })
OP_KERNEL_DEF(
    k_bool, void k_bool(const bool *a, const double *x, bool *b) {
      bool large = x[0] > 1;
      b[0] = a[0] ? large : !large;
      b[1] = true;
    })
OP_KERNEL_DEF(
    k_unsigned, void k_unsigned(const unsigned *a, unsigned *b) {
      b[0] = a[0] * 2654435761u - 7u;
      b[1] = a[0] / 3u + a[0] % 7u + (a[0] > UINT_MAX / 2);
    })
OP_KERNEL_DEF(
    k_long, void k_long(const long long *a, long long *b, unsigned long long *c) {
      b[0] = a[0] * 1000003LL / 7 - a[0] % 11;
      c[0] = (unsigned long long)a[0] >> 3 ^ 0xdeadbeefcafeULL;
    })
OP_KERNEL_DEF(
    k_bits,
    void k_bits(const unsigned *a, unsigned *b) { b[0] = (a[0] << 5 | a[0] >> 27) ^ (~a[0] & 0xff00ff00u); })
OP_KERNEL_DEF(
    k_char, void k_char(const char *a, char *b) {
      b[0] = (char)(a[0] == 'x' ? '\n' : a[1] + 1);
      b[1] = "abc"[(unsigned char)a[0] % 3];
    })
OP_KERNEL_DEF(
    k_short, void k_short(const short *a, short *b) {
      b[0] = (short)(a[0] + 300);
      b[0]++;
      b[0] *= 2;
    })
OP_KERNEL_DEF(
    k_float, void k_float(const float *a, float *b) { b[0] = a[0] / 3 + 0x1.8p-3f * 1e-2f; })
OP_KERNEL_DEF(
    k_limits, void k_limits(const double *a, double *b, int *c) {
      b[0] = a[0] > 1 ? INFINITY : -DBL_MAX;
      b[1] = isinf(b[0]) ? M_PI : DBL_EPSILON;
      c[0] = a[0] > 1 ? INT_MAX : SHRT_MIN + CHAR_BIT;
    })
OP_KERNEL_DEF(
    k_enum, void k_enum(const double *a, double *b) {
      enum side { LEFT = 3, RIGHT };
      typedef double real;
      enum side s = *a > 1 ? LEFT : RIGHT;
      *b = (real)s;
    })
OP_KERNEL_DEF(
    k_pointer, void k_pointer(const double *a, double *b) {
      const double *p = a + 3;
      double *const last = &b[1];
      while (p-- > a)
        *last += *p;
      *b = (double)(p - a + 2);
    })
OP_KERNEL_DEF(
    k_compound, void k_compound(const double *a, double *b) {
      const double *t = (const double[]){a[0], 2, sizeof(int)};
      int i = 0, j = (i++, i + 1);
      b[0] = t[0] + t[1] * t[2] + i - j;
    })
OP_KERNEL_DEF(
    k_vla, void k_vla(const int *n, double *b) {
      int size = (n[0] & 3) + 1;
      double t[size];
      for (int i = 0; i < size; i++)
        t[i] = i + 0.5;
      b[0] = t[size - 1] + (double)sizeof t;
    })
OP_KERNEL_DEF(
    k_restrict, inline void k_restrict(const double *restrict a, double b[restrict 2]) {
      b[0] = a[0];
      b[1] = b[0] + a[1];
    })
OP_KERNEL_DEF(
    k_rw, void k_rw(double *a) {
      a[0] = a[1] - a[0];
      a[1] *= 2;
    })
OP_KERNEL_DEF(
    k_d_inc, void k_d_inc(const double *a, double *b) {
      b[0] += a[0];
      b[2] -= 1;
    })
OP_KERNEL_DEF(
    k_edge, void k_edge(const double *a, const double *b, const double *w, double *p, double *q) {
      const double f = w[0] * (a[0] - b[0]);
      for (int i = 0; i < 4; i++) {
        p[i] += f * i;
        q[i] -= f * i + b[1];
      }
    })
OP_KERNEL_DEF(
    k_vector, void k_vector(const double *x[3], double *y) {
      for (int i = 0; i < 3; i++)
        y[0] += x[i][0] * x[(i + 1) % 3][1];
    })
OP_KERNEL_DEF(
    k_vector_inc, void k_vector_inc(const double *const x[3], const int *n, double **y) {
      for (int i = 0; i < 3; i++) {
        y[i][0] += x[i][0];
        y[(i + n[0] % 2 + 1) % 3][1] += 1;
      }
    })
OP_KERNEL_DEF(
    k_mixed, void k_mixed(const int *a, const float *b, const double *c, int *p, float *q) {
      p[0] += a[0];
      q[0] += b[0] + (float)c[0];
      q[1]--;
    })
OP_KERNEL_DEF(
    k_sum, void k_sum(const double *a, double *sum, int *count, double *large) {
      sum[0] += a[0];
      sum[1] += a[0] * a[1];
      ++*count;
      if (a[0] > *large)
        *large = a[0];
    })
OP_KERNEL_DEF(
    k_least, void k_least(const float *a, const int *b, float *least, int *most) {
      *least = fminf(*least, a[0]);
      *most = b[0] > *most ? b[0] : *most;
    })
OP_KERNEL_DEF(
    k_read, void k_read(const double *g, const double *a, double *b) { b[0] = g[0] * a[0] + g[2]; })
OP_KERNEL_DEF(
    k_work, void k_work(const double *a, double *w, double *b) {
      for (int i = 0; i < 5; i++)
        w[i] = a[0] + i;
      b[0] = w[4] * w[0];
    })
OP_KERNEL_DEF(
    k_number, void k_number(const int *e, const int *t, int *b) {
      b[0] = *e;
      b[1] = *t;
    })
OP_KERNEL_DEF(
    k_place, void k_place(const int *a, const int *e, int *most, int *where) {
      if (a[0] > *most) {
        *most = a[0];
        where[0] = *e;
        where[1] = a[0];
      }
    })
OP_KERNEL_DEF(
    k_place_least, void k_place_least(const double *a, double *least, long long *where) {
      if (a[0] < *least) {
        *least = a[0];
        *where = (long long)(a[0] * 1000);
      }
    })
OP_KERNEL_DEF(
    k_wide_row, void k_wide_row(const double *a, double *b, int *c) {
      for (int i = 0; i < 20; i++)
        b[i] += a[19 - i];
      c[17] += 2;
    })

#define KERNEL(construct, kernel, ...)                                                                       \
  {                                                                                                          \
    construct, #kernel, op2jit_text_##kernel, (op_kernel_function)kernel,                                    \
        (int)(sizeof((struct kernel_arg[]){__VA_ARGS__}) / sizeof(struct kernel_arg)), {                     \
      __VA_ARGS__                                                                                            \
    }                                                                                                        \
  }

static const struct kernel_case kernel_cases[] = {
    KERNEL("copy", k_copy, D_READ(DOUBLE, 1), D_WRITE(DOUBLE, 1)),
    KERNEL("local arrays", k_array, D_READ(DOUBLE, 2), D_WRITE(DOUBLE, 1)),
    KERNEL("structs", k_struct, D_READ(DOUBLE, 2), D_WRITE(DOUBLE, 2)),
    KERNEL("unions", k_union, D_READ(INT, 1), D_WRITE(INT, 1)),
    KERNEL("helpers", k_helper, D_READ(DOUBLE, 1), INC_VIA(0, DOUBLE, 1)),
    KERNEL("inline", k_inline, READ_VIA(2, DOUBLE, 1), D_WRITE(DOUBLE, 1)),
    KERNEL("switch", k_switch, D_READ(INT, 1), D_WRITE(INT, 1)),
    KERNEL("early return", k_return, D_READ(DOUBLE, 1), INC_VIA(1, DOUBLE, 1)),
    KERNEL("static const tables", k_table, D_READ(INT, 1), D_WRITE(DOUBLE, 1)),
    KERNEL("tables of the file", k_file_table, D_READ(INT, 1), D_WRITE(INT, 1)),
    KERNEL("ternaries", k_ternary, D_READ(DOUBLE, 2), D_WRITE(DOUBLE, 1)),
    KERNEL("nested loops with run-time bounds", k_nested, D_READ(INT, 1), D_READ(DOUBLE, 1),
           D_WRITE(DOUBLE, 1)),
    KERNEL("while, do and break", k_while, D_READ(INT, 1), D_WRITE(INT, 1)),
    KERNEL("goto", k_goto, D_READ(INT, 1), D_WRITE(INT, 1)),
    KERNEL("continue", k_continue, D_READ(DOUBLE, 4), D_INC(DOUBLE, 1)),
    KERNEL("math.h in double", k_math, D_READ(DOUBLE, 2), D_WRITE(DOUBLE, 7)),
    KERNEL("math.h in float", k_mathf, D_READ(FLOAT, 2), D_WRITE(FLOAT, 1)),
    KERNEL("fixed-width integers", k_fixed, D_READ(INT, 1), D_WRITE(UINT, 1), D_WRITE(LONGLONG, 1),
           D_WRITE(ULONGLONG, 1)),
    KERNEL("bool", k_bool, D_READ(BOOL, 1), D_READ(DOUBLE, 1), D_WRITE(BOOL, 2)),
    KERNEL("unsigned", k_unsigned, D_READ(UINT, 1), D_WRITE(UINT, 2)),
    KERNEL("64-bit integers", k_long, D_READ(LONGLONG, 1), D_WRITE(LONGLONG, 1), D_WRITE(ULONGLONG, 1)),
    KERNEL("bits", k_bits, READ_VIA(0, UINT, 1), D_WRITE(UINT, 1)),
    KERNEL("char", k_char, D_READ(CHAR, 2), D_WRITE(CHAR, 2)),
    KERNEL("short", k_short, D_READ(SHORT, 1), D_RW(SHORT, 1)),
    KERNEL("float and literals", k_float, READ_VIA(1, FLOAT, 1), D_WRITE(FLOAT, 1)),
    KERNEL("limits and infinities", k_limits, D_READ(DOUBLE, 1), D_WRITE(DOUBLE, 2), D_WRITE(INT, 1)),
    KERNEL("enums and typedefs", k_enum, D_READ(DOUBLE, 1), D_WRITE(DOUBLE, 1)),
    KERNEL("pointers", k_pointer, D_READ(DOUBLE, 3), D_RW(DOUBLE, 2)),
    KERNEL("compound literals, commas", k_compound, D_READ(DOUBLE, 1), D_WRITE(DOUBLE, 1)),
    KERNEL("arrays of run-time size", k_vla, D_READ(INT, 1), D_WRITE(DOUBLE, 1)),
    KERNEL("restrict, T x[dim]", k_restrict, READ_VIA(0, DOUBLE, 2), D_WRITE(DOUBLE, 2)),
    KERNEL("read-write", k_rw, D_RW(DOUBLE, 2)),
    KERNEL("direct increments", k_d_inc, D_READ(DOUBLE, 1), D_INC(DOUBLE, 3)),
    KERNEL("edges", k_edge, READ_VIA(0, DOUBLE, 2), {VIA_1, TYPE_DOUBLE, 2, OP_READ, 1}, D_READ(DOUBLE, 1),
           INC_VIA(0, DOUBLE, 4), {VIA_1, TYPE_DOUBLE, 4, OP_INC, 4}),
    KERNEL("one target twice", k_edge, READ_VIA(0, DOUBLE, 2), {VIA_0, TYPE_DOUBLE, 2, OP_READ, 1},
           D_READ(DOUBLE, 1), INC_VIA(2, DOUBLE, 4), {VIA_2, TYPE_DOUBLE, 4, OP_INC, 4}),
    KERNEL("vector maps, read", k_vector, V_READ(DOUBLE, 2), D_INC(DOUBLE, 1)),
    KERNEL("vector maps, incremented", k_vector_inc, V_READ(DOUBLE, 1), D_READ(INT, 1), V_INC(DOUBLE, 2)),
    KERNEL("several types and dims", k_mixed, D_READ(INT, 1), READ_VIA(2, FLOAT, 3), READ_VIA(1, DOUBLE, 5),
           INC_VIA(0, INT, 1), INC_VIA(1, FLOAT, 2)),
    KERNEL("sums and a maximum", k_sum, D_READ(DOUBLE, 2), G(DOUBLE, 2, INC), G(INT, 1, INC),
           G(DOUBLE, 1, MAX)),
    KERNEL("minimum and maximum", k_least, READ_VIA(0, FLOAT, 1), D_READ(INT, 1), G(FLOAT, 1, MIN),
           G(INT, 1, MAX)),
    KERNEL("globals that are read", k_read, G(DOUBLE, 3, READ), D_READ(DOUBLE, 1), D_WRITE(DOUBLE, 1)),
    KERNEL("scratch", k_work, D_READ(DOUBLE, 1), G(DOUBLE, 5, WORK), D_WRITE(DOUBLE, 1)),
    KERNEL("element numbers", k_number, {NUMBER, TYPE_INT, 1, OP_READ, 0},
           {NUMBER_VIA, TYPE_INT, 1, OP_READ, 0}, D_WRITE(INT, 2)),
    KERNEL("place of a maximum", k_place, D_READ(INT, 1), {NUMBER, TYPE_INT, 1, OP_READ, 0}, G(INT, 1, MAX),
           {PAYLOAD, TYPE_INT, 2, OP_MAX, 0}),
    KERNEL("place of a minimum", k_place_least, D_READ(DOUBLE, 1), G(DOUBLE, 1, MIN),
           {PAYLOAD, TYPE_LONGLONG, 1, OP_MIN, 0}),
    KERNEL("wide rows", k_wide_row, READ_VIA(0, DOUBLE, 20), D_INC(DOUBLE, 20), INC_VIA(1, INT, 18)),
};
enum { KERNEL_CASES = sizeof kernel_cases / sizeof *kernel_cases };

#endif
