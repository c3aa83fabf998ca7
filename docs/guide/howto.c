/* The pieces of docs/guide/howto.md, each of which does what the page says of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <op2jit.h>

enum { CELLS = 100, EDGES = 99 };

OP_KERNEL_DEF(
    sum_of, void sum_of(const double *q, double *total, double *largest) {
      *total += *q;
      if (*q > *largest)
        *largest = *q;
    })

OP_KERNEL_DEF(
    where_is, void where_is(const double *q, const int *number, double *largest, int *at) {
      if (*q > *largest) {
        *largest = *q;
        *at = *number;
      }
    })

OP_KERNEL_DEF(
    limit, void limit(const double *one, const double *other, double *low1, double *low2) {
      if (*other < *low1)
        *low1 = *other;
      if (*one < *low2)
        *low2 = *one;
    })

OP_KERNEL_DEF(
    maybe, void maybe(double *q, const double *source) {
      *q += 1;
      (void)source;
    })

static double rate = 0.5;
OP_KERNEL_DEF(
    decay, void decay(double *q) { *q *= 1 - rate; })

static int failures;
static void expect(const char *what, int holds) {
  op_printf("%-40s %s\n", what, holds ? "yes" : "NO");
  failures += !holds;
}

static void direct(const char *text, const char *name, op_set set, op_dat dat) {
  op_par_loop(text, name, set, op_arg_dat(dat, -1, OP_ID, 1, "double", OP_RW));
}

static void numbers(op_set cells, op_dat q) {
  double total = 0, largest = -INFINITY;
  op_par_loop(OP_KERNEL_OF(sum_of), "sum_of", cells, op_arg_dat(q, -1, OP_ID, 1, "double", OP_READ),
              op_arg_gbl(&total, 1, "double", OP_INC), op_arg_gbl(&largest, 1, "double", OP_MAX));
  expect("a sum and a largest value", total == CELLS * (CELLS - 1) / 2.0 && largest == CELLS - 1);
  int at = -1;
  largest = -INFINITY;
  op_par_loop(OP_KERNEL_OF(where_is), "where_is", cells, op_arg_dat(q, -1, OP_ID, 1, "double", OP_READ),
              op_arg_idx(-1, OP_ID), op_arg_gbl(&largest, 1, "double", OP_MAX),
              op_arg_info(&at, 1, "int", 3));
  expect("where the largest is", at == CELLS - 1);
}

static void through_maps(op_set edges, op_map pair, op_dat q, op_dat low) {
  double found[CELLS];
  op_fetch_data(q, found);
  op_put_data(low, found);
  op_par_loop(OP_KERNEL_OF(limit), "limit", edges, op_arg_dat(q, 0, pair, 1, "double", OP_READ),
              op_arg_dat(q, 1, pair, 1, "double", OP_READ), op_arg_dat(low, 0, pair, 1, "double", OP_MIN),
              op_arg_dat(low, 1, pair, 1, "double", OP_MIN));
  op_fetch_data(low, found);
  expect("least of the neighbours", found[0] == 0 && found[50] == 49);
}

static void options(op_set cells, op_dat q) {
  double before[CELLS], after[CELLS];
  op_fetch_data(q, before);
  op_par_loop(OP_KERNEL_OF(maybe), "maybe", cells, op_arg_dat(q, -1, OP_ID, 1, "double", OP_RW),
              op_opt_arg_dat(0, q, -1, OP_ID, 1, "double", OP_READ));
  op_decl_const("rate", 1, "double", &rate);
  direct(OP_KERNEL_OF(decay), "decay", cells, q);
  rate = 0.25;
  op_update_const("rate", &rate);
  direct(OP_KERNEL_OF(decay), "decay", cells, q);
  op_fetch_data(q, after);
  expect("an argument that is absent, a constant", fabs(after[7] - (before[7] + 1) * 0.5 * 0.75) < 1e-15);
}

static void arrays(op_set cells) {
  static double mine[CELLS];
  op_dat view = op_decl_dat_view(cells, 1, "double", mine, "mine");
  double *array = op_acquire(view, OP_RW);
  array[3] = 8;
  op_release(view);
  direct(OP_KERNEL_OF(decay), "decay", cells, view);
  array = op_acquire(view, OP_READ);
  expect("an array that stays the program's", array == mine && mine[3] == 6);
  op_release(view);
  op_dat scratch = op_decl_dat_temp(cells, 3, "float", NULL, "scratch");
  expect("a dat that is freed", op_free_dat_temp(scratch) == OP_OK);
}

static void errors(op_set cells) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  if (!op_decl_dat(cells, 0, "double", NULL, "nothing"))
    printf("%s\n", op_last_error()->message);
  expect("an error as a code", op_last_error()->code == OP_ERR_DIM);
  op_set_error_handler(OP_ERRORS_FATAL, NULL);
}

int main(int argc, char **argv) {
  int table[EDGES][2];
  long long wide[EDGES][2];
  double start[CELLS];
  for (int e = 0; e < EDGES; e++)
    for (int k = 0; k < 2; k++)
      wide[e][k] = table[e][k] = e + k;
  for (int c = 0; c < CELLS; c++)
    start[c] = c;
  if (op_init(argc, argv, 1))
    return 1;
  op_set cells = op_decl_set(CELLS, "cells"), edges = op_decl_set(EDGES, "edges");
  op_map pair = op_decl_map(edges, cells, 2, table[0], "pair");
  op_map again = op_decl_map_long(edges, cells, 2, wide[0], "again");
  op_dat q = op_decl_dat(cells, 1, "double", start, "q"), low = op_decl_dat(cells, 1, "double", NULL, "low");
  op_renumber(pair);
  op_partition("block", "", cells, NULL, NULL);
  numbers(cells, q);
  through_maps(edges, again, q, low);
  options(cells, q);
  arrays(cells);
  errors(cells);
  return op_exit() || failures;
}
