#include "twin.h"

#include "common/colouring.h"
#include "common/memory.h"
#include "common/owners.h"
#include "common/threads.h"
#include "common/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP = 8 }; /* cells whose time steps are computed together */

/* Four numbers side by side: a state, or one variable of four edges. */
typedef double row_double __attribute__((vector_size(4 * sizeof(double))));
typedef float row_single __attribute__((vector_size(4 * sizeof(float))));

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
