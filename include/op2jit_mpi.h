/* op2jit over a communicator of the program's choice: for a program that uses MPI itself. One that does not needs only
 * op_init. Compile with the MPI library's own compiler (mpicc). */
#ifndef OP2JIT_MPI_H
#define OP2JIT_MPI_H

#include <mpi.h>

#include <op2jit.h>

/* op_init over the ranks of `comm`, of which a duplicate is used; all of them must call it, after MPI_Init. Calls of
 * the library are made by the thread that began MPI. Errors: OP_ERR_MPI, also if `comm` is of another MPI library
 * than the one in the process; OP_ERR_NOT_BUILT without the plugin for this MPI. */
static inline int op_init_comm(int argc, char **argv, int diags, MPI_Comm comm) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  return op2jit_init_comm(argc, argv, diags, (int)MPI_Comm_c2f(comm), library);
}

#endif
