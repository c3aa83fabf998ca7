#include "common/memory.h"
#include "solver.h"

#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>

#define real double
#define REAL "double"
#define REAL_SQRT sqrt
#define REAL_ABS fabs
#define SOLVER solver_double
#include "solver_loops.h"
