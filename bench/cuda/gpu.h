/* ./dev bench cuda: a GPU for hand-written kernels, beside the library in the same process. Every failure ends the
 * program with a message. */
#ifndef BENCH_CUDA_GPU_H
#define BENCH_CUDA_GPU_H

#include <stdbool.h>

#include "backend/cuda/driver.h"
#include "jit/nvrtc/nvrtc.h"

struct gpu {
  struct cuda_driver driver;
  struct cuda_device device;
  struct nvrtc *nvrtc;
  cuda_stream stream;
  cuda_event before, after;
  char *source; /* twins.cu */
  double copy;  /* bytes per second that a copying kernel moves, read and written */
};

/* `path`: of twins.cu. */
void gpu_open(struct gpu *g, const char *path);
void gpu_close(struct gpu *g);

/* The source in one form: REAL, SOA and COLOURS. Functions last as long as their module, which the caller unloads. */
cuda_module gpu_compile(struct gpu *g, const char *real, bool apart, bool coloured);
cuda_function gpu_kernel(struct gpu *g, cuda_module module, const char *name);
int gpu_registers(struct gpu *g, cuda_function f);

/* `data` NULL: zeros. */
cuda_address gpu_array(struct gpu *g, const void *data, size_t bytes);
void gpu_release(struct gpu *g, cuda_address at);
void gpu_fetch(struct gpu *g, void *out, cuda_address from, size_t bytes);

enum { GPU_BLOCK = 128 };
/* A thread for each of so many things, in blocks of GPU_BLOCK. */
void gpu_launch(struct gpu *g, cuda_function f, long things, void **values);
void gpu_wait(struct gpu *g);

#endif
