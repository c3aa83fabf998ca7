#include "common/memory.h"
#include "solver.h"

#include <math.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>

#define real float
#define REAL "float"
#define REAL_SQRT sqrtf
#define REAL_ABS fabsf
#define SOLVER solver_single
#include "solver_loops.h"
