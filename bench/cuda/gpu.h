/* ./dev bench cuda: a GPU for hand-written kernels, beside the library in the same process. Every failure ends the
 * program with a message. */
#ifndef BENCH_CUDA_GPU_H
#define BENCH_CUDA_GPU_H

#include <stdbool.h>

#include "backend/gpu/cuda/driver.h"
#include "jit/nvrtc.h"

struct bare {
  struct cuda_driver driver;
  struct cuda_device device;
  struct nvrtc *nvrtc;
  cuda_stream stream;
  cuda_event before, after;
  const char *path; /* of the kernels' source */
  char *source;
  double copy; /* bytes per second that a copying kernel moves, read and written */
};

/* `path`: of kernels in CUDA C, one of which is `copy`. */
void bare_open(struct bare *g, const char *path);
void bare_close(struct bare *g);

/* The source in one form: REAL, SOA and COLOURS. Functions last as long as their module, which the caller unloads. */
cuda_module bare_compile(struct bare *g, const char *real, bool apart, bool coloured);
cuda_function bare_kernel(struct bare *g, cuda_module module, const char *name);
int bare_registers(struct bare *g, cuda_function f);

/* `data` NULL: zeros. */
cuda_address bare_array(struct bare *g, const void *data, size_t bytes);
void bare_release(struct bare *g, cuda_address at);
void bare_fetch(struct bare *g, void *out, cuda_address from, size_t bytes);

enum { GPU_BLOCK = 128 };
/* A thread for each of so many things, in blocks of GPU_BLOCK. */
void bare_launch(struct bare *g, cuda_function f, long things, void **values);
void bare_wait(struct bare *g);

#endif
