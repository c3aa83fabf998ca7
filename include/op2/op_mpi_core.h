/* The types of OP2's own exchanges, for programs that name them. The library has others and hands none of these out.
 * OP_MPI_CORE_NOMPI leaves out what needs MPI, as in OP2. */
#ifndef OP_MPI_CORE_H
#define OP_MPI_CORE_H

#ifndef OP_MPI_CORE_NOMPI
#include "op_lib_mpi.h"
#else
#include "op_lib_cpp.h"
#endif

/* Elements that are sent to ranks, or received from them: of each rank `sizes`, from `disps` on in the list. */
typedef struct {
  op_set set;
  idx_l_t size;
  int *ranks, ranks_size;
  idx_l_t *disps, *sizes, *list;
} halo_list_core;
typedef halo_list_core *halo_list;

/* Where the elements of a set are. */
typedef struct {
  op_set set;
  idx_g_t *g_index;
  int *elem_part, is_partitioned;
} part_core;
typedef part_core *part;

/* The messages of a dat by one kernel, and their time. */
typedef struct {
  char name[20];
  int size, index, count;
  idx_g_t bytes;
} op_dat_mpi_comm_info_core;
typedef op_dat_mpi_comm_info_core *op_dat_mpi_comm_info;
typedef struct {
  char name[20];
  double time;
  int count, num_indices;
  op_dat_mpi_comm_info *comm_info;
  int cap;
} op_mpi_kernel;

#ifndef OP_MPI_CORE_NOMPI
typedef struct {
  char *buf_exec, *buf_nonexec;
  MPI_Request *s_req, *r_req;
  int s_num_req, r_num_req;
} op_mpi_buffer_core;
typedef op_mpi_buffer_core *op_mpi_buffer;
#endif

#endif
