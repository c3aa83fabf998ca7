/* HIP's entry points: the driver's under other names. */
#include <stdio.h>
#include <string.h>

#include "entries.h"

/* name, the driver's, parameters with names, their names alone */
#define HIP_ENTRIES(X)                                                                                       \
  X(hipInit, cuInit, (unsigned flags), (flags))                                                              \
  X(hipGetDeviceCount, cuDeviceGetCount, (int *count), (count))                                              \
  X(hipDeviceGet, cuDeviceGet, (int *device, int ordinal), (device, ordinal))                                \
  X(hipDeviceGetName, cuDeviceGetName, (char *name, int size, int device), (name, size, device))             \
  X(hipDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, int device), (bytes, device))                   \
  X(hipDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **context, int device), (context, device))    \
  X(hipDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (int device), (device))                        \
  X(hipCtxSetCurrent, cuCtxSetCurrent, (void *context), (context))                                           \
  X(hipMemGetInfo, cuMemGetInfo_v2, (size_t * left, size_t * total), (left, total))                          \
  X(hipMalloc, cuMemAlloc_v2, (address * out, size_t bytes), (out, bytes))                                   \
  X(hipFree, cuMemFree_v2, (address p), (p))                                                                 \
  X(hipHostMalloc, cuMemHostAlloc, (void **out, size_t bytes, unsigned flags), (out, bytes, flags))          \
  X(hipHostFree, cuMemFreeHost, (void *p), (p))                                                              \
  X(hipMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t bytes, void *stream),    \
    (to, from, bytes, stream))                                                                               \
  X(hipMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *to, address from, size_t bytes, void *stream),          \
    (to, from, bytes, stream))                                                                               \
  X(hipMemsetD8Async, cuMemsetD8Async, (address to, unsigned char value, size_t bytes, void *stream),        \
    (to, value, bytes, stream))                                                                              \
  X(hipModuleLoadDataEx, cuModuleLoadDataEx,                                                                 \
    (void **module, const void *image, unsigned n, int *options, void **values),                             \
    (module, image, n, options, values))                                                                     \
  X(hipModuleUnload, cuModuleUnload, (void *module), (module))                                               \
  X(hipModuleGetFunction, cuModuleGetFunction, (void **function, void *module, const char *name),            \
    (function, module, name))                                                                                \
  X(hipModuleGetGlobal, cuModuleGetGlobal_v2,                                                                \
    (address * out, size_t * bytes, void *module, const char *name), (out, bytes, module, name))             \
  X(hipFuncGetAttribute, cuFuncGetAttribute, (int *value, int attribute, void *function),                    \
    (value, attribute, function))                                                                            \
  X(hipFuncSetAttribute, cuFuncSetAttribute, (void *function, int attribute, int value),                     \
    (function, attribute, value))                                                                            \
  X(hipStreamCreateWithFlags, cuStreamCreate, (void **stream, unsigned flags), (stream, flags))              \
  X(hipStreamDestroy, cuStreamDestroy_v2, (void *stream), (stream))                                          \
  X(hipStreamSynchronize, cuStreamSynchronize, (void *stream), (stream))                                     \
  X(hipStreamWaitEvent, cuStreamWaitEvent, (void *stream, void *event, unsigned flags),                      \
    (stream, event, flags))                                                                                  \
  X(hipEventCreateWithFlags, cuEventCreate, (void **event, unsigned flags), (event, flags))                  \
  X(hipEventDestroy, cuEventDestroy_v2, (void *event), (event))                                              \
  X(hipEventRecord, cuEventRecord, (void *event, void *stream), (event, stream))                             \
  X(hipEventSynchronize, cuEventSynchronize, (void *event), (event))                                         \
  X(hipEventQuery, cuEventQuery, (void *event), (event))                                                     \
  X(hipEventElapsedTime, cuEventElapsedTime, (float *milliseconds, void *first, void *second),               \
    (milliseconds, first, second))                                                                           \
  X(hipGraphCreate, cuGraphCreate, (void **graph, unsigned flags), (graph, flags))                           \
  X(hipGraphDestroy, cuGraphDestroy, (void *graph), (graph))                                                 \
  X(hipGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,                                               \
    (void **exec, const void *graph, unsigned long long flags), (exec, graph, flags))                        \
  X(hipGraphLaunch, cuGraphLaunch, (const void *exec, void *stream), (exec, stream))                         \
  X(hipGraphExecDestroy, cuGraphExecDestroy, (void *exec), (exec))
#define HIP_ENTRY(name, cuda, parameters, arguments)                                                         \
  EXPORT int cuda parameters;                                                                                \
  EXPORT int name parameters {                                                                               \
    return cuda arguments;                                                                                   \
  }
HIP_ENTRIES(HIP_ENTRY)

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned dynamic, void *stream, void **parameters, void **extra);
EXPORT int hipModuleLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned dynamic, void *stream, void **parameters,
                                 void **extra) {
  /* Sixty-four kilobytes without asking. */
  ((struct standin_function *)function)->dynamic_limit = 65536;
  return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, dynamic, stream, parameters, extra);
}

/* Nodes, as HIP lays them out. */
struct hip_node {
  unsigned bx, by, bz;
  void **extra, *function;
  unsigned gx, gy, gz;
  void **parameters;
  unsigned dynamic;
};
static struct node_launch cuda_node(const struct hip_node *n) {
  ((struct standin_function *)n->function)->dynamic_limit = 65536;
  return (struct node_launch){n->function, n->gx, n->gy,      n->gz,         n->bx,
                              n->by,       n->bz, n->dynamic, n->parameters, n->extra};
}
EXPORT int cuGraphAddKernelNode(void **out, void *graph, void *const *behind, size_t n,
                                const struct node_launch *launch);
EXPORT int hipGraphAddKernelNode(void **out, void *graph, void *const *behind, size_t n,
                                 const struct hip_node *launch) {
  const struct node_launch node = cuda_node(launch);
  return cuGraphAddKernelNode(out, graph, behind, n, &node);
}
EXPORT int cuGraphExecKernelNodeSetParams(const void *exec, const void *node,
                                          const struct node_launch *launch);
EXPORT int hipGraphExecKernelNodeSetParams(const void *exec, const void *node,
                                           const struct hip_node *launch) {
  const struct node_launch changed = cuda_node(launch);
  return cuGraphExecKernelNodeSetParams(exec, node, &changed);
}

EXPORT int hipDriverGetVersion(int *version) {
  *version = 50221153;
  return CODE_OK;
}
EXPORT int hipDeviceGetAttribute(int *value, int attribute, int device) {
  (void)attribute, (void)device;
  *value = 0;
  return CODE_INVALID_VALUE; /* its numbers differ between versions: nobody may ask */
}
/* The layout of ROCm 5: the architecture's name stands 396 bytes behind the beginning. */
EXPORT int hipGetDeviceProperties(void *out, int ordinal) {
  int code = driver_enter(__func__);
  if (!code && (ordinal < 0 || ordinal >= standin_settings.devices))
    code = CODE_INVALID_DEVICE;
  if (!code)
    snprintf((char *)out + 396, 256, "gfx%x", (unsigned)standin_settings.gfx);
  return code;
}
