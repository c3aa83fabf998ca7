/* Shared by the program and the kernels of test_types.c. */
#pragma once
enum kind { FLUID, SOLID };
struct state {
  double rho, u[2];
  enum kind kind;
  struct {
    float left, right;
  } limit;
  char tag;
};
typedef struct {
  int steps;
  double gain;
} control;
