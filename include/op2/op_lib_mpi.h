/* OP2's header for programs that use MPI themselves. */
#ifndef OP_LIB_MPI_H
#define OP_LIB_MPI_H

/* MPI's C++ classes are gone from the standard, and do not compile without warnings. */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
/* The rank that scatters and prints, in OP2. */
#undef MPI_ROOT
#define MPI_ROOT 0

#include "op_hdf5.h"
#include "op_lib_cpp.h"

/* MPI begins with op_init, and ends with op_exit if it began so, also where no launcher started the program. */
inline int &op2jit_mpi_is_ours() {
  static int ours = 0;
  return ours;
}
inline void op2jit_mpi_op_init(int argc, char **argv, int diags) {
  int begun = 0;
  MPI_Initialized(&begun);
  if (!begun)
    MPI_Init(&argc, &argv);
  op2jit_mpi_is_ours() = !begun;
  op2jit_op2_init(argc, argv, diags);
}
inline void op2jit_mpi_op_exit() {
  const int code = op2jit_exit();
  if (op2jit_mpi_is_ours())
    MPI_Finalize();
  if (code == OP_ERR_VIOLATION)
    exit(EXIT_FAILURE);
}
#define op_init op2jit_mpi_op_init
#define op_exit op2jit_mpi_op_exit

#endif
