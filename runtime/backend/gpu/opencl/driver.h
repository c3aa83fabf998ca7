/* OpenCL, opened while the program runs: declarations of our own, no header and no library of OpenCL at build time. */
#ifndef OP2JIT_BACKEND_GPU_OPENCL_DRIVER_H
#define OP2JIT_BACKEND_GPU_OPENCL_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/gpu/driver.h"

typedef struct opencl_object_
    *opencl_object; /* platform, device, context, queue, buffer, program, kernel, event */

/* name in the table, symbol, result, parameters. A result of int is OpenCL's code, 0 is success. */
#define OPENCL_ENTRIES(X)                                                                                    \
  X(platforms, clGetPlatformIDs, int, (unsigned n, opencl_object *out, unsigned *count))                     \
  X(platform_info, clGetPlatformInfo, int,                                                                   \
    (opencl_object platform, unsigned what, size_t size, void *out, size_t *needed))                         \
  X(devices, clGetDeviceIDs, int,                                                                            \
    (opencl_object platform, unsigned long kind, unsigned n, opencl_object *out, unsigned *count))           \
  X(device_info, clGetDeviceInfo, int,                                                                       \
    (opencl_object device, unsigned what, size_t size, void *out, size_t *needed))                           \
  X(context_new, clCreateContext, opencl_object,                                                             \
    (const void *properties, unsigned n, const opencl_object *devices, void *notify, void *user, int *code)) \
  X(context_free, clReleaseContext, int, (opencl_object context))                                            \
  X(queue_new, clCreateCommandQueue, opencl_object,                                                          \
    (opencl_object context, opencl_object device, unsigned long properties, int *code))                      \
  X(queue_free, clReleaseCommandQueue, int, (opencl_object queue))                                           \
  X(buffer_new, clCreateBuffer, opencl_object,                                                               \
    (opencl_object context, unsigned long flags, size_t bytes, void *host, int *code))                       \
  X(buffer_free, clReleaseMemObject, int, (opencl_object buffer))                                            \
  X(write, clEnqueueWriteBuffer, int,                                                                        \
    (opencl_object queue, opencl_object buffer, unsigned blocking, size_t offset, size_t bytes,              \
     const void *from, unsigned n, const opencl_object *wait, opencl_object *event))                         \
  X(read, clEnqueueReadBuffer, int,                                                                          \
    (opencl_object queue, opencl_object buffer, unsigned blocking, size_t offset, size_t bytes, void *to,    \
     unsigned n, const opencl_object *wait, opencl_object *event))                                           \
  X(program_source, clCreateProgramWithSource, opencl_object,                                                \
    (opencl_object context, unsigned n, const char **texts, const size_t *lengths, int *code))               \
  X(program_binary, clCreateProgramWithBinary, opencl_object,                                                \
    (opencl_object context, unsigned n, const opencl_object *devices, const size_t *lengths,                 \
     const unsigned char **binaries, int *each, int *code))                                                  \
  X(program_build, clBuildProgram, int,                                                                      \
    (opencl_object program, unsigned n, const opencl_object *devices, const char *options, void *notify,     \
     void *user))                                                                                            \
  X(build_info, clGetProgramBuildInfo, int,                                                                  \
    (opencl_object program, opencl_object device, unsigned what, size_t size, void *out, size_t *needed))    \
  X(program_info, clGetProgramInfo, int,                                                                     \
    (opencl_object program, unsigned what, size_t size, void *out, size_t *needed))                          \
  X(program_free, clReleaseProgram, int, (opencl_object program))                                            \
  X(kernel_new, clCreateKernel, opencl_object, (opencl_object program, const char *name, int *code))         \
  X(kernel_free, clReleaseKernel, int, (opencl_object kernel))                                               \
  X(kernel_group, clGetKernelWorkGroupInfo, int,                                                             \
    (opencl_object kernel, opencl_object device, unsigned what, size_t size, void *out, size_t *needed))     \
  X(kernel_argument, clSetKernelArg, int,                                                                    \
    (opencl_object kernel, unsigned index, size_t bytes, const void *value))                                 \
  X(run, clEnqueueNDRangeKernel, int,                                                                        \
    (opencl_object queue, opencl_object kernel, unsigned dimensions, const size_t *offset,                   \
     const size_t *global, const size_t *local, unsigned n, const opencl_object *wait,                       \
     opencl_object *event))                                                                                  \
  X(event_time, clGetEventProfilingInfo, int,                                                                \
    (opencl_object event, unsigned what, size_t size, void *out, size_t *needed))                            \
  X(event_free, clReleaseEvent, int, (opencl_object event))                                                  \
  X(finish, clFinish, int, (opencl_object queue))                                                            \
  X(flush, clFlush, int, (opencl_object queue))

struct opencl_driver {
  void *library;
  /* Entries of OpenCL 2.0; NULL: the library has none. */
  void *(*shared_new)(opencl_object context, unsigned long flags, size_t bytes, unsigned alignment);
  void (*shared_free)(opencl_object context, void *memory);
  int (*shared_argument)(opencl_object kernel, unsigned index, const void *address);
#define OPENCL_MEMBER(name, symbol, result, parameters) result(*name) parameters;
  OPENCL_ENTRIES(OPENCL_MEMBER)
#undef OPENCL_MEMBER
};

enum {
  OPENCL_OUT_OF_MEMORY = -4,
  OPENCL_BUILD_FAILED = -11,
  OPENCL_NO_BINARY = -42,
  OPENCL_NO_PLATFORM = -1001
};

/* `named` is OP2_OPENCL, "" for libOpenCL.so.1. OP_ERR_BACKEND says what is missing. */
int opencl_driver_open(struct opencl_driver *d, const char *named, struct error *err);
const char *opencl_code(int code); /* "CL_OUT_OF_RESOURCES" */

/* ---- devices ---- */
struct opencl_choice {
  opencl_object platform, device;
  int platform_number, device_number;
  char platform_name[96], platform_version[64];
  char device_name[128], device_version[64], driver_version[64];
  size_t memory, most_memory; /* in all, of one allocation */
  size_t local;               /* bytes of a group */
  size_t group;               /* most work-items of one */
  unsigned units;
  bool is_cpu, has_double, has_atomics, has_subgroups, has_compiler;
  bool has_tickets; /* groups see what others wrote before the kernel ends */
  bool shares;      /* memory that host and kernels reach at one address, without maps */
  int lanes;        /* work-items of a sub-group that sum together, 0: there are no sub-groups */
  bool are_sized;   /* kernels can ask for sub-groups of just so many */
};
/* `wanted`: "platform:device", each a number or a part of the name; "": the first that is no CPU, by turns of `rank`,
 * or else the first. */
int opencl_choose(const struct opencl_driver *d, const char *wanted, int rank, struct opencl_choice *out,
                  struct error *err);
/* The version that programs are compiled as: "CL1.2", or the first version that has the device's sub-groups. */
const char *opencl_standard(const struct opencl_choice *c);
/* For reports: one line. */
void opencl_describe(const char *named, struct text *out);

/* ---- the state behind OpenCL's row of the table of drivers ---- */
struct opencl_host {
  void *at; /* of host_alloc */
  size_t bytes;
  struct opencl_host *next;
};

struct opencl {
  struct opencl_driver driver;
  struct opencl_choice choice;
  opencl_object context, queue;
  size_t used; /* bytes of buffers */
  struct opencl_host *host;
  bool timing;               /* between time_begin and time_end */
  opencl_object first, last; /* events of the kernels between them */
};

void opencl_compile(void *self, const struct compile_request *request, struct compile_result *result);

#endif
