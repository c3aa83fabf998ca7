/* A part of op2jit_petsc.h, which includes it: matrices and vectors in the memory of CUDA's device, where PETSc has
 * CUDA too and loops run there (OP2_BACKEND=cuda). Both use the device's primary context, so that addresses are the
 * same. Without CUDA or its headers PETSc's functions for the host take their place; with them a program links CUDA's
 * runtime (-lcudart). It ran on stand-ins only, never on a GPU. Nothing here is for programs. */
#ifndef OP2JIT_PETSC_CUDA_H
#define OP2JIT_PETSC_CUDA_H

#include <op2jit_petsc_begin.h>

#if defined(PETSC_HAVE_CUDA) && defined(__has_include)
#if __has_include(<cuda_runtime.h>)
#define OP2JIT_PETSC_CUDA_
#endif
#endif

#if defined(OP2JIT_PETSC_CUDA_)
#include <cuda_runtime.h>

static inline int op2jit_petsc_on_cuda_(void) {
  return op_where() == OP_ON_CUDA;
}

/* ---- matrices ---------------------------------------------------------------------------------*/

/* -mat_type may ask for a matrix on the host. */
static inline int op2jit_petsc_mat_on_cuda_(void) {
  PetscBool other = PETSC_FALSE;
  if (!op2jit_petsc_on_cuda_() || PetscOptionsHasName(NULL, NULL, "-mat_type", &other) != 0)
    return 0;
  return !other;
}

static inline cudaError_t op2jit_petsc_put_piece_(double *buffer, const op_piece_t *piece) {
  const size_t bytes = (size_t)piece->count * sizeof(double);
  if (!piece->memory)
    return cudaMemset(buffer + piece->first, 0, bytes);
  return cudaMemcpy(buffer + piece->first, piece->memory, bytes,
                    piece->on_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice);
}

/* The lists, and their values one behind the other on the device: in `*buffer`, which is made for `*room` values. */
static inline int op2jit_petsc_cuda_coo_(op_mat mat, op_coo_t *coo, double **buffer, long long *room) {
  enum { OP2JIT_PETSC_PIECES_ = 64 };
  op_piece_t pieces[OP2JIT_PETSC_PIECES_];
  cudaError_t failed = cudaSuccess;
  int count = 0, code = op_coo_device(mat, coo, OP2JIT_PETSC_PIECES_, pieces, &count);
  if (code)
    return code;
  if (*room < coo->count) {
    cudaFree(*buffer);
    *buffer = NULL;
    failed = cudaMalloc((void **)buffer, (size_t)coo->count * sizeof(double));
    *room = failed == cudaSuccess ? coo->count : 0;
  }
  for (int i = 0; failed == cudaSuccess && i < count; i++)
    failed = op2jit_petsc_put_piece_(*buffer, &pieces[i]);
  if (failed != cudaSuccess)
    return op2jit_petsc_refuse_(OP_ERR_DEVICE, "op_mat_petsc: \"%.80s\": CUDA failed: %s", coo->name,
                                cudaGetErrorString(failed));
  coo->values = *buffer;
  return OP_OK;
}

static inline void op2jit_petsc_cuda_free_(double *buffer) {
  cudaFree(buffer);
}

#define OP2JIT_PETSC_MAT_TYPE_ (op2jit_petsc_on_cuda_() ? MATAIJCUSPARSE : MATAIJ)

/* ---- vectors ----------------------------------------------------------------------------------*/

/* In the dat's memory on the device. Copies of other ranks' elements are not the vector's. */
static inline PetscErrorCode op2jit_petsc_cuda_vec_(const op_layout_t *layout, int dim,
                                                    const PetscScalar *memory, Vec *vec) {
  const MPI_Comm comm = op2jit_petsc_comm_();
  const PetscInt owned = (PetscInt)(layout->owned * dim), all = (PetscInt)(layout->global_size * dim);
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1)
    PetscCall(VecCreateSeqCUDAWithArray(comm, dim, owned, memory, vec));
  else
    PetscCall(VecCreateMPICUDAWithArray(comm, dim, owned, all, memory, vec));
  PetscFunctionReturn(0);
}

static inline PetscErrorCode op2jit_petsc_cuda_place_(Vec vec, const PetscScalar *memory) {
  return VecCUDAPlaceArray(vec, memory);
}

/* PETSc's work on the device is done when the dat comes back, since loops run on a stream of their own. */
static inline PetscErrorCode op2jit_petsc_cuda_reset_(Vec vec) {
  PetscFunctionBegin;
  PetscCall(VecCUDAResetArray(vec));
  PetscCheck(cudaDeviceSynchronize() == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_LIB, "CUDA's device failed");
  PetscFunctionReturn(0);
}

#else /* no CUDA */

#define op2jit_petsc_on_cuda_() 0
#define op2jit_petsc_mat_on_cuda_() 0
#define op2jit_petsc_cuda_coo_(mat, coo, buffer, room) ((void)(buffer), (void)(room), op_coo(mat, coo))
#define op2jit_petsc_cuda_free_(buffer) ((void)(buffer))
#define op2jit_petsc_cuda_vec_ op2jit_petsc_make_vec_
#define op2jit_petsc_cuda_place_ VecPlaceArray
#define op2jit_petsc_cuda_reset_ VecResetArray
#define OP2JIT_PETSC_MAT_TYPE_ MATAIJ
#endif
#endif
