/* A program that takes long, for the tests of progress, of traces and of counters: a table of a file, a loop with several ways to run
 * whose calls one can watch, and a part of a line on the output while the library works. */
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 3 << 20, CELLS = 40000, EDGES = CELLS - 1 };

OP_KERNEL_DEF(
    grind, void grind(const double *left, const double *right, double *sum) {
      double x = *left;
      for (int i = 0; i < 400; i++)
        x = x * 0.999 + 1.0 / (1.0 + x * x) + *right * 1e-9;
      *sum += x;
    })

static void loops(int calls) {
  static int ends[EDGES][2];
  for (int e = 0; e < EDGES; e++) {
    ends[e][0] = e;
    ends[e][1] = e + 1;
  }
  const int all = op_is_root();
  op_set cells = op_decl_set(all ? CELLS : 0, "cells"), edges = op_decl_set(all ? EDGES : 0, "edges");
  op_map sides = op_decl_map(edges, cells, 2, ends[0], "sides");
  op_dat x = op_decl_dat(cells, 1, "double", NULL, "x"), sum = op_decl_dat(cells, 1, "double", NULL, "sum");
  op_partition("block", "", cells, NULL, NULL);
  for (int i = 0; i < calls; i++)
    op_par_loop(OP_KERNEL_OF(grind), "grind", edges, op_arg_dat(x, 0, sides, 1, "double", OP_READ),
                op_arg_dat(x, 1, sides, 1, "double", OP_READ),
                op_arg_dat(sum, 0, sides, 1, "double", OP_INC));
  static double result[CELLS];
  op_fetch_data(sum, result);
}

static char room[32 << 20]; /* that nobody touched */

OP_KERNEL_DEF(
    touch, void touch(int *number) {
      if (*number == 0)
        for (unsigned long i = 0; i < sizeof room; i += 4096)
          room[i]++;
    })

OP_KERNEL_DEF(
    calm, void calm(int *number) { *number += 1; })

/* Native only: the kernel is a function of this program. */
static void faults(void) {
  static int numbers[1000];
  for (int i = 0; i < 1000; i++)
    numbers[i] = i;
  op_set set = op_decl_set(1000, "set");
  op_dat number = op_decl_dat(set, 1, "int", numbers, "number");
  op_par_loop(OP_KERNEL_OF(touch), "touch", set, op_arg_dat(number, -1, OP_ID, 1, "int", OP_RW));
  op_par_loop(OP_KERNEL_OF(calm), "calm", set, op_arg_dat(number, -1, OP_ID, 1, "int", OP_RW));
}

static void files(const char *path) {
  op_set rows = op_decl_set(ROWS, "rows");
  op_dat large = op_decl_dat(rows, 1, "double", NULL, "large");
  op_fetch_data_hdf5_file(large, path);
  printf("the file: ");
  op_decl_dat_hdf5(rows, 1, "double", path, "large");
  printf("read\n");
}

int main(int argc, char **argv) {
  if (argc < 3 || op_init(argc, argv, 0))
    return 1;
  if (strcmp(argv[1], "loops") == 0)
    loops(atoi(argv[2]));
  else if (strcmp(argv[1], "faults") == 0)
    faults();
  else
    files(argv[2]);
  op_exit();
  puts("done");
  return 0;
}
