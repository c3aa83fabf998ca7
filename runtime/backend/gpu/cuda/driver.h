/* The CUDA driver, opened while the program runs: declarations of our own, no header and no library of CUDA at
 * build time. One table of entry points, and wrappers that turn the driver's codes into errors. */
#ifndef OP2JIT_BACKEND_GPU_CUDA_DRIVER_H
#define OP2JIT_BACKEND_GPU_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/gpu/driver.h"
#include "base/error.h"
#include "base/text.h"

typedef unsigned long long cuda_address; /* of device memory, 0: none */
typedef struct cuda_stream_ *cuda_stream;
typedef struct cuda_event_ *cuda_event;
typedef struct cuda_module_ *cuda_module;
typedef struct cuda_function_ *cuda_function;

/* name in the table, symbol, HIP's symbol for the same, parameters; all return the driver's code, 0 is success. */
#define CUDA_ENTRIES(X)                                                                                      \
  X(init, cuInit, hipInit, (unsigned flags))                                                                 \
  X(driver_version, cuDriverGetVersion, hipDriverGetVersion, (int *version))                                 \
  X(device_count, cuDeviceGetCount, hipGetDeviceCount, (int *count))                                         \
  X(device_get, cuDeviceGet, hipDeviceGet, (int *device, int ordinal))                                       \
  X(device_name, cuDeviceGetName, hipDeviceGetName, (char *name, int size, int device))                      \
  X(device_memory, cuDeviceTotalMem_v2, hipDeviceTotalMem, (size_t * bytes, int device))                     \
  X(device_attribute, cuDeviceGetAttribute, hipDeviceGetAttribute, (int *value, int attribute, int device))  \
  X(context_retain, cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain, (void **context, int device))       \
  X(context_release, cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, (int device))                 \
  X(context_set, cuCtxSetCurrent, hipCtxSetCurrent, (void *context))                                         \
  X(memory_info, cuMemGetInfo_v2, hipMemGetInfo, (size_t * left, size_t * total))                            \
  X(memory_alloc, cuMemAlloc_v2, hipMalloc, (cuda_address * out, size_t bytes))                              \
  X(memory_free, cuMemFree_v2, hipFree, (cuda_address p))                                                    \
  X(host_alloc, cuMemHostAlloc, hipHostMalloc, (void **out, size_t bytes, unsigned flags))                   \
  X(host_free, cuMemFreeHost, hipHostFree, (void *p))                                                        \
  X(copy_in, cuMemcpyHtoDAsync_v2, hipMemcpyHtoDAsync,                                                       \
    (cuda_address to, const void *from, size_t bytes, cuda_stream stream))                                   \
  X(copy_out, cuMemcpyDtoHAsync_v2, hipMemcpyDtoHAsync,                                                      \
    (void *to, cuda_address from, size_t bytes, cuda_stream stream))                                         \
  X(fill, cuMemsetD8Async, hipMemsetD8Async,                                                                 \
    (cuda_address to, unsigned char value, size_t bytes, cuda_stream stream))                                \
  X(module_load, cuModuleLoadDataEx, hipModuleLoadDataEx,                                                    \
    (cuda_module * module, const void *image, unsigned n, int *options, void **values))                      \
  X(module_unload, cuModuleUnload, hipModuleUnload, (cuda_module module))                                    \
  X(module_function, cuModuleGetFunction, hipModuleGetFunction,                                              \
    (cuda_function * function, cuda_module module, const char *name))                                        \
  X(module_global, cuModuleGetGlobal_v2, hipModuleGetGlobal,                                                 \
    (cuda_address * out, size_t * bytes, cuda_module module, const char *name))                              \
  X(function_attribute, cuFuncGetAttribute, hipFuncGetAttribute,                                             \
    (int *value, int attribute, cuda_function function))                                                     \
  X(function_set, cuFuncSetAttribute, hipFuncSetAttribute,                                                   \
    (cuda_function function, int attribute, int value))                                                      \
  X(launch, cuLaunchKernel, hipModuleLaunchKernel,                                                           \
    (cuda_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,   \
     unsigned shared, cuda_stream stream, void **parameters, void **extra))                                  \
  X(stream_create, cuStreamCreate, hipStreamCreateWithFlags, (cuda_stream * stream, unsigned flags))         \
  X(stream_destroy, cuStreamDestroy_v2, hipStreamDestroy, (cuda_stream stream))                              \
  X(stream_wait, cuStreamSynchronize, hipStreamSynchronize, (cuda_stream stream))                            \
  X(stream_wait_event, cuStreamWaitEvent, hipStreamWaitEvent,                                                \
    (cuda_stream stream, cuda_event event, unsigned flags))                                                  \
  X(event_create, cuEventCreate, hipEventCreateWithFlags, (cuda_event * event, unsigned flags))              \
  X(event_destroy, cuEventDestroy_v2, hipEventDestroy, (cuda_event event))                                   \
  X(event_record, cuEventRecord, hipEventRecord, (cuda_event event, cuda_stream stream))                     \
  X(event_wait, cuEventSynchronize, hipEventSynchronize, (cuda_event event))                                 \
  X(event_query, cuEventQuery, hipEventQuery, (cuda_event event))                                            \
  X(event_elapsed, cuEventElapsedTime, hipEventElapsedTime,                                                  \
    (float *milliseconds, cuda_event first, cuda_event second))                                              \
  X(error_name, cuGetErrorName, hipDrvGetErrorName, (int code, const char **out))                            \
  X(error_string, cuGetErrorString, hipDrvGetErrorString, (int code, const char **out))

/* A launch that is a node of a graph, as cuda.h and HIP's hip_runtime_api.h lay it out. */
union cuda_node_launch {
  struct {
    cuda_function function;
    unsigned gx, gy, gz, bx, by, bz, shared;
    void **parameters, **extra;
  } cuda;
  struct {
    unsigned bx, by, bz;
    void **extra;
    cuda_function function;
    unsigned gx, gy, gz;
    void **parameters;
    unsigned shared;
  } hip;
};
enum { CUDA_NOT_SUPPORTED = 801 };

typedef struct cuda_graph_ *cuda_graph;
typedef struct cuda_graph_exec_ *cuda_graph_exec;
typedef struct cuda_node_ *cuda_node;

/* A launch with attributes, as cuda.h lays them out. */
struct cuda_attribute {
  long long id; /* an int there, and four bytes that do not count */
  union {
    int number;
    long long words[8];
  } value;
};
struct cuda_launch {
  unsigned gx, gy, gz, bx, by, bz, shared;
  cuda_stream stream;
  const struct cuda_attribute *attributes;
  unsigned nattributes;
};

/* Entries that older drivers lack. Drivers before CUDA 11.4 lack some that graphs need: their chains are launched
 * loop by loop. (Older libraries of HIP take no functions of modules as nodes, and say so when the first graph is made.)
 * CUDA 11.8 has the last entry. HIP's streams wait only for memory that no other process can have. */
#define CUDA_LATER_ENTRIES(X)                                                                                \
  X(graph_create, cuGraphCreate, hipGraphCreate, (cuda_graph * graph, unsigned flags))                       \
  X(graph_destroy, cuGraphDestroy, hipGraphDestroy, (cuda_graph graph))                                      \
  X(graph_add_kernel, cuGraphAddKernelNode, hipGraphAddKernelNode,                                           \
    (cuda_node * node, cuda_graph graph, const cuda_node *behind, size_t n,                                  \
     const union cuda_node_launch *launch))                                                                  \
  X(graph_instantiate, cuGraphInstantiateWithFlags, hipGraphInstantiateWithFlags,                            \
    (cuda_graph_exec * exec, cuda_graph graph, unsigned long long flags))                                    \
  X(graph_set_kernel, cuGraphExecKernelNodeSetParams, hipGraphExecKernelNodeSetParams,                       \
    (cuda_graph_exec exec, cuda_node node, const union cuda_node_launch *launch))                            \
  X(graph_launch, cuGraphLaunch, hipGraphLaunch, (cuda_graph_exec exec, cuda_stream stream))                 \
  X(graph_exec_destroy, cuGraphExecDestroy, hipGraphExecDestroy, (cuda_graph_exec exec))                     \
  X(function_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                            \
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,                                                      \
    (int *blocks, cuda_function function, int threads, size_t shared))                                       \
  X(launch_with, cuLaunchKernelEx, none,                                                                     \
    (const struct cuda_launch *launch, cuda_function function, void **parameters, void **extra))             \
  X(peer_give, cuIpcGetMemHandle, none, (struct gpu_handle * handle, cuda_address at))                       \
  X(peer_take, cuIpcOpenMemHandle_v2, none, (cuda_address * out, struct gpu_handle handle, unsigned flags))  \
  X(peer_drop, cuIpcCloseMemHandle, none, (cuda_address at))                                                 \
  X(flag_set, cuStreamWriteValue32_v2, none,                                                                 \
    (cuda_stream stream, cuda_address at, unsigned value, unsigned flags))                                   \
  X(flag_await, cuStreamWaitValue32_v2, none,                                                                \
    (cuda_stream stream, cuda_address at, unsigned value, unsigned flags))

struct cuda_device {
  int ordinal, handle;
  char name[128];
  char arch[64];  /* "sm_90", "gfx90a:sramecc+:xnack-" */
  int capability; /* 90; 0 of HIP */
  size_t memory;
  int max_threads;         /* of a block */
  int shared, shared_most; /* bytes of a block: usual, after opting in */
  int multiprocessors;
};

struct cuda_driver;
/* CUDA and HIP: what is called alike is opened, chosen and described alike. */
struct cuda_family {
  const char *name, *library; /* "CUDA driver", what it is called after "the" */
  const char *variable;       /* that names another library */
  const char *const *usual;   /* libraries, NULL behind the last */
  const char *missing;        /* behind "knows no": which, and what to install */
  const char *oldest;         /* "CUDA 11" */
  const char *hidden;         /* behind "sees no GPU (": the code, why there may be none, and how to look */
  const char *const *symbols, *const *later_symbols; /* of CUDA_ENTRIES, of CUDA_LATER_ENTRIES */
  bool hip_nodes;                                    /* which member of union cuda_node_launch it takes */
  const char *version;                               /* before the version in reports */
  int major, minor;                                  /* what its numbers are multiplied with */
  /* The meaning of codes, where libraries lack entries that say it; or NULL. */
  int (*error_name)(int code, const char **out), (*error_string)(int code, const char **out);
  /* arch and what is behind it. */
  int (*read)(const struct cuda_driver *d, struct cuda_device *device, struct error *err);
  /* More than the name, for reports. */
  void (*show)(const struct cuda_device *device, struct text *out);
};

struct cuda_driver {
  const struct cuda_family *family;
  void *library;
  char *path;  /* the file that was opened */
  int version; /* 13000 */
#define CUDA_MEMBER(name, symbol, hip, parameters) int(*name) parameters;
  CUDA_ENTRIES(CUDA_MEMBER)
  CUDA_LATER_ENTRIES(CUDA_MEMBER) /* NULL: it is not there */
#undef CUDA_MEMBER
};

enum { CUDA_OUT_OF_MEMORY = 2, CUDA_NO_DEVICE = 100, CUDA_INVALID_DEVICE = 101, CUDA_NOT_READY = 600 };

/* Open it and initialise it. `named` is OP2_CUDA_DRIVER or OP2_HIP, "" for the usual ones. OP_ERR_BACKEND says what is
 * missing and where it was looked for. */
int cuda_family_open(struct cuda_driver *d, const struct cuda_family *family, const char *named,
                     struct error *err);
void cuda_driver_close(struct cuda_driver *d);

/* OP_OK for code 0; else OP_ERR_DEVICE, or OP_ERR_MEMORY where that is the reason: "DOING failed: out of memory
 * (CUDA_ERROR_OUT_OF_MEMORY, 2)". */
int cuda_check(const struct cuda_driver *d, int code, struct error *err, const char *doing, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- devices ---- */
/* `wanted` -1: the device `rank` % count. OP_ERR_BACKEND if there is none, or not that one. */
int cuda_device_choose(const struct cuda_driver *d, int wanted, int rank, struct cuda_device *out,
                       struct error *err);
/* The driver and its devices, or what is missing, on one line. For reports: no errors. */
void cuda_family_describe(const struct cuda_family *family, const char *named, struct text *out);
extern const struct cuda_family cuda_family;

#endif
