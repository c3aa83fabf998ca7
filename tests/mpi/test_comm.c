/* A program with MPI of its own, compiled against each MPI library: op_init_comm over a part of the ranks, then
 * over all, and op_init while MPI runs. Arguments: "wrong" says another library than the one in the process;
 * "ended": a call after MPI_Finalize, whose error ends the program. */
#include <op2jit_mpi.h>

#include "check.h"

static int world, size;

static void sum_over(MPI_Comm comm, int argc, char **argv) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  check(op_init_comm(argc, argv, 0, comm) == OP_OK);
  check(op_rank() == rank && op_rank_count() == ranks);
  op_set cells = op_decl_set(2, "cells");
  check(op_get_global_size(cells) == 2LL * ranks);
  check(op_exit() == OP_OK);
}

static int wrong(int argc, char **argv) {
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  const char *others[] = {"Open MPI v4.1.4", "MPICH Version: 4.0.2", "Another MPI 1.0"};
  int refused = 0;
  for (int i = 0; i < 3; i++)
    if (op2jit_init_comm(argc, argv, 0, (int)MPI_Comm_c2f(MPI_COMM_WORLD), others[i]) == OP_OK)
      check(op_exit() == OP_OK);
    else {
      check(op_last_error()->code == (i < 2 ? OP_ERR_MPI : OP_ERR_NOT_BUILT));
      refused++;
    }
  check(refused == 2);
  return 0;
}

static void ended(int argc, char **argv) {
  check(op_init(argc, argv, 0) == OP_OK);
  MPI_Finalize();
  op_get_size(NULL);
}

int main(int argc, char **argv) {
  int initialised = 0, finalised = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "wrong") == 0)
    wrong(argc, argv);
  if (argc > 1 && strcmp(argv[1], "ended") == 0)
    ended(argc, argv);
  if (argc > 1 && strcmp(argv[1], "plain") == 0) {
    check(op_init(argc, argv, 0) == OP_OK && op_rank() == world);
    check(op_exit() == OP_OK);
    MPI_Finalize();
    return 0;
  }
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, world % 2, world, &half);
  sum_over(half, argc, argv);
  sum_over(MPI_COMM_WORLD, argc, argv);
  MPI_Comm_free(&half);
  check(op_init(argc, argv, 0) == OP_OK && op_rank() == world);
  check(op_exit() == OP_OK);
  /* The program itself ends what it began. */
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  check(initialised && !finalised);
  MPI_Finalize();
  if (world == 0)
    printf("%d ranks\n", size);
  return 0;
}
