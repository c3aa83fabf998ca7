/* SCENARIO: what goes wrong, on the last of the ranks or on all; errors are fatal, as by default. errors.sh counts what is said. */
#include <signal.h>
#include <unistd.h>

#include "check.h"

static int rank, last;

static int check_rank(void) {
  return rank;
}

static op_map declare(int entry) {
  op_set from = op_decl_set(1, "from"), to = op_decl_set(1, "to");
  return op_decl_map(from, to, 1, &entry, "wrong");
}

static void one_rank(void) {
  declare(rank == last ? 99999 : 0);
}

static void all_ranks(void) {
  declare(-7);
}

/* A call of one rank only: no other takes part in it. */
static void local(void) {
  if (rank == last)
    op_get_size(NULL);
  op_barrier();
}

static void no_code(void) {
  op_set cells = op_decl_set(3, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", NULL, "x");
  op_par_loop("void wrong(double *x) { *x = nothing; }", "wrong", cells,
              op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
}

static void killed(void) {
  if (rank == last)
    raise(SIGKILL);
  op_barrier();
}

static void leaves(void) {
  if (rank == last)
    exit(3);
  op_barrier();
}

static void late(void) {
  if (rank == last)
    sleep(4);
  op_barrier();
}

OP_KERNEL_DEF(
    set, void set(double *x) { *x = 1; })

/* The first loop after declarations is where the mesh is distributed. */
static void late_loop(void) {
  op_set cells = op_decl_set(3, "cells");
  op_dat x = op_decl_dat(cells, 1, "double", NULL, "x");
  if (rank == last)
    sleep(3);
  op_par_loop(OP_KERNEL_OF(set), "set", cells, op_arg_dat(x, -1, OP_ID, 1, "double", OP_WRITE));
}

static const struct {
  const char *name;
  void (*run)(void);
} scenarios[] = {{"one", one_rank},  {"all", all_ranks}, {"local", local}, {"no-code", no_code},
                 {"killed", killed}, {"leaves", leaves}, {"late", late},   {"late-loop", late_loop}};

int main(int argc, char **argv) {
  check(argc > 2);
  op_init(argc, argv, 0);
  rank = op_rank();
  last = atoi(argv[1]) - 1;
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
    if (strcmp(scenarios[i].name, argv[2]) == 0)
      scenarios[i].run();
  op_exit();
  op_printf("went well\n");
  return 0;
}
