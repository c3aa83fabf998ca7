/* A stand-in for the calls of CUDA's runtime that op2jit_petsc_cuda.h makes: the device's memory is the host's, as in the stand-in
 * of tests/cuda. */
#ifndef OP2JIT_TESTS_CUDA_RUNTIME_H
#define OP2JIT_TESTS_CUDA_RUNTIME_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef enum { cudaSuccess, cudaErrorMemoryAllocation = 2 } cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  CUDA_KINDS
};

static size_t cuda_copied[CUDA_KINDS]; /* bytes */
static int cuda_waits;

/* The addresses of the device that the driver's stand-in gives have this bit. */
static inline void *cuda_on_host(const void *memory) {
  return (void *)((uintptr_t)memory & ~((uintptr_t)1 << 60));
}
static inline cudaError_t cudaMalloc(void **out, size_t bytes) {
  *out = malloc(bytes ? bytes : 1);
  return *out ? cudaSuccess : cudaErrorMemoryAllocation;
}
static inline cudaError_t cudaFree(void *memory) {
  free(memory);
  return cudaSuccess;
}
static inline cudaError_t cudaMemset(void *memory, int value, size_t bytes) {
  memset(memory, value, bytes);
  return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  if (bytes)
    memcpy(cuda_on_host(to), cuda_on_host(from), bytes);
  cuda_copied[kind] += bytes;
  return cudaSuccess;
}
static inline cudaError_t cudaDeviceSynchronize(void) {
  cuda_waits++;
  return cudaSuccess;
}
static inline const char *cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "out of memory";
}

#endif
