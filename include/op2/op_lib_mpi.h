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

#include "op_hdf5.h"
#include "op_lib_cpp.h"

#endif
