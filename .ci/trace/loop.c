/* One op_par_loop whose way through the library is recorded: an edge loop as in airfoil, which reads two data by a map,
 * increments one by it, and sums up into a global. It gets the number of the first call that is traced, and how many are. */
#include <dlfcn.h>
#include <op2jit.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 20, CELLS = 4096 };

/* In the order of time; an address that is NULL is a return, one of `between` the end of a call. Of the thread that calls
 * op_par_loop: no other sets `on`. */
static void *entered[MOST];
static char between;
static int count;
static _Thread_local int on;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static void keep(void *function) {
  if (on && count < MOST)
    entered[count++] = function;
}

void __cyg_profile_func_enter(void *function, void *site) {
  (void)site;
  keep(function);
}

void __cyg_profile_func_exit(void *function, void *site) {
  (void)function, (void)site;
  keep(NULL);
}

/* A line of each entry: the library and the place in it. A "-" is a return, a "=" stands behind each call. */
static void print_entries(void) {
  for (int i = 0; i < count; i++) {
    Dl_info info;
    if (!entered[i])
      puts("-");
    else if (entered[i] == &between)
      puts("=");
    else if (dladdr(entered[i], &info))
      printf("%s %zx\n", info.dli_fname, (size_t)((char *)entered[i] - (char *)info.dli_fbase));
  }
}

static const char flux[] =
    "void flux(const double *x1, const double *x2, const double *q1, const double *q2,\n"
    "          double *r1, double *r2, double *sum) {\n"
    "  const double f = (x1[0] - x2[0]) * (q1[0] + q2[0]);\n"
    "  r1[0] += f;\n"
    "  r2[0] -= f;\n"
    "  *sum += f * f;\n"
    "}\n";

int main(int argc, char **argv) {
  const int first = argc > 1 ? atoi(argv[1]) : 1, last = first + (argc > 2 ? atoi(argv[2]) : 1) - 1;
  static int table[2 * CELLS];
  for (int e = 0; e < CELLS; e++) {
    table[2 * e] = e;
    table[2 * e + 1] = (e + 1) % CELLS;
  }
  op_init(argc, argv, 0);
  op_set edges = op_decl_set(CELLS, "edges"), cells = op_decl_set(CELLS, "cells");
  op_map map = op_decl_map(edges, cells, 2, table, "edge_cells");
  op_dat x = op_decl_dat(cells, 2, "double", NULL, "x"), q = op_decl_dat(cells, 4, "double", NULL, "q"),
         r = op_decl_dat(cells, 4, "double", NULL, "r");
  for (int call = 1; call <= last; call++) {
    double sum = 0;
    on = call >= first;
    op_par_loop(flux, "flux", edges, op_arg_dat(x, 0, map, 2, "double", OP_READ),
                op_arg_dat(x, 1, map, 2, "double", OP_READ), op_arg_dat(q, 0, map, 4, "double", OP_READ),
                op_arg_dat(q, 1, map, 4, "double", OP_READ), op_arg_dat(r, 0, map, 4, "double", OP_INC),
                op_arg_dat(r, 1, map, 4, "double", OP_INC), op_arg_gbl(&sum, 1, "double", OP_INC));
    if (on)
      keep(&between);
    on = 0;
  }
  print_entries();
  return op_exit();
}
