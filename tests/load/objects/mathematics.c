/* Calls every function of <math.h> in double and float, at arguments where it is defined; also what
 * compilers call by themselves. The sum keeps the calls alive. */
#include <math.h>
#include <stdlib.h>
/* clang-format off */
#define F1(name) sum += name(x), sum += name##f((float)x);
#define F2(name) sum += name(x, 0.25), sum += name##f((float)x, 0.25f);
double all(double x) {
  double sum = 0, part;
  float partf;
  int i;
  F1(acos)
  F1(asin) F1(atan) F2(atan2) F1(cos) F1(sin) F1(tan) F1(asinh) F1(atanh) F1(cosh) F1(sinh) F1(tanh) F1(exp)
      F1(exp2) F1(expm1) F1(log) F1(log10) F1(log1p) F1(log2) F1(logb) F1(cbrt) F1(fabs) F2(hypot) F2(pow)
          F1(sqrt) F1(erf) F1(erfc) F1(lgamma) F1(tgamma) F1(ceil) F1(floor) F1(nearbyint) F1(rint) F1(round)
              F1(trunc) F2(fmod) F2(remainder) F2(copysign) F2(nextafter) F2(fdim) F2(fmax) F2(fmin) F1(ilogb)
                  F1(lrint) F1(lround) F1(llrint) F1(llround) sum +=
      acosh(x + 1) + acoshf((float)x + 1) + fma(x, x, x) + fmaf((float)x, 2, 3);
  sum += frexp(x, &i) + frexpf((float)x, &i) + ldexp(x, 2) + ldexpf((float)x, 2) + scalbn(x, 2) +
         scalbnf((float)x, 2);
  sum += scalbln(x, 2) + scalblnf((float)x, 2) + modf(x, &part) + modff((float)x, &partf) + part + partf;
  sum += remquo(x, 0.3, &i) + remquof((float)x, 0.3f, &i) + nexttoward(x, 1) + nexttowardf((float)x, 1);
  sum += isnan(nan("")) + isnan(nanf("")) + abs(-3) + labs(-4) + llabs(-5);
  return sum;
}
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
unsigned long divide(unsigned long high, unsigned long low, unsigned long by) {
  unsigned_wide a = (unsigned_wide)high << 64 | low;
  wide b = (wide)a;
  return (unsigned long)(a / by) + (unsigned long)(a % by) + (unsigned long)(b / (wide)by) +
         (unsigned long)(b % (wide)by);
}
double multiply(double a, double b) {
  double _Complex x = a + b * 1i, y = x * x / (x + 1);
  float _Complex z = (float)a + (float)b * 1i, w = z * z / (z + 1);
  return __real__ y + __imag__ y + (double)__real__ w;
}
