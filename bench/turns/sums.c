/* a = b + c; d = a * e; f = d + g, each one loop, in turns (fusion.py): traffic of memory and nothing else. With
 * TEMPORARIES a and d are made for each step and freed behind it, as programs do that share memory between parts. */
#include "turns.h"

#include "common/memory.h"
#include "common/report.h"

#include <op2jit.h>
#include <stdlib.h>

const double turns_limit = 0;
const struct turns_form turns_forms[] = {{0}};
const char *const turns_word = NULL;

static const char add_text[] =
    OP_KERNEL(void add(const double *x, const double *y, double *z) { *z = *x + *y; });
static const char multiply_text[] =
    OP_KERNEL(void multiply(const double *x, const double *y, double *z) { *z = *x * *y; });

static struct {
  op_set cells;
  op_dat a, b, c, d, e, f, g;
} flow;

static op_dat value(double *values, int size, int number, const char *name) {
  for (int i = 0; i < size; i++)
    values[i] = 1 + (double)((i + number) % 17) / 16;
  return op_decl_dat(flow.cells, 1, "double", values, name);
}

long long turns_prepare(int size, int library) {
  (void)library;
  double *values = room(size, sizeof *values);
  flow.cells = op_decl_set(size, "cells");
  flow.b = value(values, size, 1, "b");
  flow.c = value(values, size, 2, "c");
  flow.e = value(values, size, 3, "e");
  flow.f = op_decl_dat(flow.cells, 1, "double", NULL, "f");
  flow.g = value(values, size, 4, "g");
#ifndef TEMPORARIES
  flow.a = op_decl_dat(flow.cells, 1, "double", NULL, "a");
  flow.d = op_decl_dat(flow.cells, 1, "double", NULL, "d");
#endif
  free(values);
  return size;
}

static op_arg own(op_dat dat, op_access access) {
  return op_arg_dat(dat, -1, OP_ID, 1, "double", access);
}

static void step(void) {
#ifdef TEMPORARIES
  flow.a = op_decl_dat_temp(flow.cells, 1, "double", NULL, "a");
  flow.d = op_decl_dat_temp(flow.cells, 1, "double", NULL, "d");
#endif
  op_par_loop(add_text, "add", flow.cells, own(flow.b, OP_READ), own(flow.c, OP_READ), own(flow.a, OP_WRITE));
  op_par_loop(multiply_text, "multiply", flow.cells, own(flow.a, OP_READ), own(flow.e, OP_READ),
              own(flow.d, OP_WRITE));
  op_par_loop(add_text, "add", flow.cells, own(flow.d, OP_READ), own(flow.g, OP_READ), own(flow.f, OP_WRITE));
#ifdef TEMPORARIES
  op_free_dat_temp(flow.a);
  op_free_dat_temp(flow.d);
#endif
}

double turns_library(int steps, double *answer) {
  step();
  op_barrier(); /* runs what waits */
  const double begin = clock_seconds();
  for (int i = 0; i < steps; i++)
    step();
  op_barrier();
  const double seconds = (clock_seconds() - begin) / steps;
  op_fetch_data(flow.f, answer);
  return seconds;
}
