#include "twin.h"

#include "colouring.h"
#include "memory.h"

#include <math.h>
#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
static int thread_number(void) {
  return omp_get_thread_num();
}
static int thread_count(void) {
  return omp_get_num_threads();
}
#else
static int thread_number(void) {
  return 0;
}
static int thread_count(void) {
  return 1;
}
#endif

#define real double
#define REAL_SQRT sqrt
#define REAL_ABS fabs
#define NAMED(name) name##_double
#include "twin_loops.h"
#undef real
#undef REAL_SQRT
#undef REAL_ABS
#undef NAMED

#define real float
#define REAL_SQRT sqrtf
#define REAL_ABS fabsf
#define NAMED(name) name##_single
#include "twin_loops.h"
