#include "jit/load/load_extern.h"

#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/load/load_bounds.h"
#include "jit/load/load_vector.h"

/* Of libgcc: what compilers call for arithmetic that has no instruction. */
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
wide __divti3(wide, wide);
wide __modti3(wide, wide);
unsigned_wide __udivti3(unsigned_wide, unsigned_wide);
unsigned_wide __umodti3(unsigned_wide, unsigned_wide);
wide __divmodti4(wide, wide, wide *);
unsigned_wide __udivmodti4(unsigned_wide, unsigned_wide, unsigned_wide *);
double _Complex __muldc3(double, double, double, double);
double _Complex __divdc3(double, double, double, double);
float _Complex __mulsc3(float, float, float, float);
float _Complex __divsc3(float, float, float, float);

#ifdef __aarch64__
/* There long double has 128 bits, and no instruction. */
#define LONG_DOUBLES(row)                                                                                    \
  row(__addtf3) row(__divtf3) row(__eqtf2) row(__extenddftf2) row(__extendsftf2) row(__fixtfdi)              \
      row(__fixtfsi) row(__fixunstfdi) row(__fixunstfsi) row(__floatditf) row(__floatsitf)                   \
          row(__floatunditf) row(__floatunsitf) row(__getf2) row(__gttf2) row(__letf2) row(__lttf2)          \
              row(__multf3) row(__netf2) row(__subtf3) row(__trunctfdf2) row(__trunctfsf2) row(__unordtf2)
#define DECLARED(name) void name(void);
LONG_DOUBLES(DECLARED)
#else
#define LONG_DOUBLES(row)
#endif

struct row {
  const char *name;
  void (*function)(void);
};

#define ROW(name)                                                                                            \
  { #name, (void (*)(void))name }
#define BOTH(name) ROW(name), ROW(name##f)
#define ROW_AND(name) ROW(name),

/* An object needs a handful of these, so they are searched one by one. */
static const struct row rows[] = {
    {"__ubsan_handle_out_of_bounds", (void (*)(void))bounds_outside},
    {"op2jit_assert_failed", (void (*)(void))bounds_assert_failed},
    ROW(__divdc3),
    ROW(__divsc3),
    ROW(__divmodti4),
    ROW(__divti3),
    ROW(__modti3),
    ROW(__muldc3),
    ROW(__mulsc3),
    ROW(__udivmodti4),
    ROW(__udivti3),
    ROW(__umodti3),
    LONG_DOUBLES(ROW_AND) ROW(abs),
    BOTH(acos),
    BOTH(acosh),
    BOTH(asin),
    BOTH(asinh),
    BOTH(atan),
    BOTH(atan2),
    BOTH(atanh),
    ROW(bcmp),
    BOTH(cbrt),
    BOTH(ceil),
    BOTH(copysign),
    BOTH(cos),
    BOTH(cosh),
    BOTH(erf),
    BOTH(erfc),
    BOTH(exp),
    BOTH(exp10),
    BOTH(exp2),
    BOTH(expm1),
    BOTH(fabs),
    BOTH(fdim),
    BOTH(floor),
    BOTH(fma),
    BOTH(fmax),
    BOTH(fmin),
    BOTH(fmod),
    BOTH(frexp),
    BOTH(hypot),
    BOTH(ilogb),
    ROW(j0),
    ROW(j1),
    ROW(jn),
    ROW(labs),
    BOTH(ldexp),
    BOTH(lgamma),
    ROW(llabs),
    BOTH(llrint),
    BOTH(llround),
    BOTH(log),
    BOTH(log10),
    BOTH(log1p),
    BOTH(log2),
    BOTH(logb),
    BOTH(lrint),
    BOTH(lround),
    ROW(memcmp),
    ROW(memcpy),
    ROW(memmove),
    ROW(memset),
    BOTH(modf),
    BOTH(nan),
    BOTH(nearbyint),
    BOTH(nextafter),
    BOTH(nexttoward),
    BOTH(pow),
    ROW(printf),
    ROW(putchar),
    ROW(puts),
    BOTH(remainder),
    BOTH(remquo),
    BOTH(rint),
    BOTH(round),
    BOTH(roundeven),
    BOTH(scalbln),
    BOTH(scalbn),
    BOTH(sin),
    BOTH(sincos),
    BOTH(sinh),
    BOTH(sqrt),
    BOTH(tan),
    BOTH(tanh),
    BOTH(tgamma),
    BOTH(trunc),
    ROW(y0),
    ROW(y1),
    ROW(yn),
};
static const size_t nrows = sizeof rows / sizeof *rows;

void *extern_find(struct externs *externs, const char *name) {
  for (size_t i = 0; i < nrows; i++)
    if (strcmp(rows[i].name, name) == 0) {
      void *address;
      memcpy(&address, &rows[i].function, sizeof address);
      return address;
    }
  if (strncmp(name, "_ZGV", 4) != 0)
    return NULL;
  if (!externs->vector_library)
    externs->vector_library = dlopen(load_vector_library(), RTLD_NOW | RTLD_LOCAL);
  return externs->vector_library ? dlsym(externs->vector_library, name) : NULL;
}

void externs_close(struct externs *externs) {
  if (externs->vector_library)
    dlclose(externs->vector_library);
  externs->vector_library = NULL;
}
