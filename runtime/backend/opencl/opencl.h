/* The state behind OpenCL's row of the table of drivers. */
#ifndef OP2JIT_BACKEND_OPENCL_H
#define OP2JIT_BACKEND_OPENCL_H

#include "backend/opencl/driver.h"

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
