/* Shared by the program and the kernels of test_prelude.c. */
#pragma once
#include <math.h>
enum kind { FLUID, SOLID, WALL, KINDS };
#define HALF(x) ((x) / 2)
struct pair {
  double inner[2];
  enum kind kind;
};
static const double weights[KINDS] = {1, 10, 100};
static inline double weigh(enum kind kind, double value) {
  return weights[kind] * value;
}
#ifndef OP2JIT_KERNEL
#include "only_for_the_program.h"
#include <stdlib.h>
#endif
