#include "jit/load/load_extern.h"

#include <complex.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/kernel/prelude.h"
#include "jit/load/load_bounds.h"

/* Functions of libgcc that compilers call for arithmetic that has no instruction. */
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

#define ROW(name) {#name, (void (*)(void))name},
#define BOTH(name) ROW(name) ROW(name##f)

/* An object needs a handful of these, so they are searched one by one. */
/* clang-format off */
static const struct row rows[] = {
    {"__ubsan_handle_out_of_bounds", (void (*)(void))bounds_outside},
    {"op2jit_assert_failed", (void (*)(void))bounds_assert_failed},
    ROW(__divdc3) ROW(__divsc3) ROW(__divmodti4) ROW(__divti3) ROW(__modti3) ROW(__muldc3) ROW(__mulsc3)
    ROW(__udivmodti4) ROW(__udivti3) ROW(__umodti3) LONG_DOUBLES(ROW)
    ALL1(BOTH) ALL2(BOTH) BOTH(exp) BOTH(exp10) BOTH(fma) BOTH(frexp) BOTH(ilogb) BOTH(ldexp) BOTH(llrint)
    BOTH(llround) BOTH(lrint) BOTH(lround) BOTH(modf) BOTH(nan) BOTH(nexttoward) BOTH(remquo) BOTH(roundeven)
    BOTH(scalbln) BOTH(scalbn) BOTH(sincos) ROW(j0) ROW(j1) ROW(jn) ROW(y0) ROW(y1) ROW(yn)
    ROW(abs) ROW(labs) ROW(llabs) ROW(bcmp) ROW(memcmp) ROW(memcpy) ROW(memmove) ROW(memset)
    ROW(printf) ROW(putchar) ROW(puts)};
/* clang-format on */
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
