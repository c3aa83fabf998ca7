/* Heat in a bar: the flux through each joint between two cells warms one and cools the other. A copy of this folder
 * begins a program of your own: op2jit new NAME makes one. */
#include <math.h>
#include <op2jit.h>
#include <stdio.h>

enum { CELLS = 100, STEPS = 2000 };

/* A constant: a C variable for the debugger's backend `native`, declared by op_decl_const for all others. */
static double rate = 0.25;

OP_KERNEL_DEF(
    flow, void flow(const double *left, const double *right, double *gain_left, double *gain_right) {
      double heat = rate * (*right - *left);
      *gain_left += heat;
      *gain_right -= heat;
    })

OP_KERNEL_DEF(
    warm, void warm(double *temperature, double *gain, double *total) {
      *temperature += *gain;
      *gain = 0;
      *total += *temperature;
    })

int main(int argc, char **argv) {
  /* The mesh: joint j lies between the cells j and j + 1. The left half of the bar is hot. */
  int neighbours[CELLS - 1][2];
  double start[CELLS], end[CELLS], total = 0;
  for (int j = 0; j < CELLS - 1; j++) {
    neighbours[j][0] = j;
    neighbours[j][1] = j + 1;
  }
  for (int c = 0; c < CELLS; c++)
    start[c] = c < CELLS / 2 ? 100 : 0;

  if (op_init(argc, argv, 1))
    return 1;
  /* Under mpirun the first process declares everything, and op_partition shares it out. */
  int all = op_is_root();
  op_set cells = op_decl_set(all ? CELLS : 0, "cells");
  op_set joints = op_decl_set(all ? CELLS - 1 : 0, "joints");
  op_map sides = op_decl_map(joints, cells, 2, neighbours[0], "sides");
  op_dat temperature = op_decl_dat(cells, 1, "double", start, "temperature");
  op_dat gain = op_decl_dat(cells, 1, "double", NULL, "gain");
  op_decl_const("rate", 1, "double", &rate);
  op_partition("block", "", cells, NULL, NULL);

  for (int step = 0; step < STEPS; step++) {
    op_par_loop(OP_KERNEL_OF(flow), "flow", joints, op_arg_dat(temperature, 0, sides, 1, "double", OP_READ),
                op_arg_dat(temperature, 1, sides, 1, "double", OP_READ),
                op_arg_dat(gain, 0, sides, 1, "double", OP_INC),
                op_arg_dat(gain, 1, sides, 1, "double", OP_INC));
    total = 0;
    op_par_loop(OP_KERNEL_OF(warm), "warm", cells, op_arg_dat(temperature, -1, OP_ID, 1, "double", OP_RW),
                op_arg_dat(gain, -1, OP_ID, 1, "double", OP_RW), op_arg_gbl(&total, 1, "double", OP_INC));
  }

  /* No heat is lost, and the bar is symmetric: what one end is above 50, the other is below. */
  op_fetch_data(temperature, end);
  int good = !all || (fabs(total - 50.0 * CELLS) < 1e-8 && fabs(end[0] + end[CELLS - 1] - 100) < 1e-8 &&
                      end[0] < 99 && end[0] > 51);
  op_printf("after %d steps: %.3f at the left end, %.3f at the right; %s\n", STEPS, end[0], end[CELLS - 1],
            good ? "PASSED" : "FAILED");
  return op_exit() || !good;
}
