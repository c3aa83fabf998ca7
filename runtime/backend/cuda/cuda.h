/* What the CUDA driver's table has behind it. */
#ifndef OP2JIT_BACKEND_CUDA_H
#define OP2JIT_BACKEND_CUDA_H

#include "backend/cuda/driver.h"
#include "jit/nvrtc/nvrtc.h"

struct cuda {
  struct cuda_driver driver;
  struct cuda_device device;
  bool context; /* retained */
  cuda_stream stream;
  cuda_event before, after;
  struct nvrtc *nvrtc; /* NULL: another rank has one and gives what it makes */
};

#endif
