/* Shared by tests of CUDA code: the stand-in (or whatever OP2_CUDA_DRIVER and OP2_NVRTC name) opened, programs
 * compiled and launched. A failure of the tools themselves ends the test. */
#ifndef OP2JIT_TESTS_DEVICE_H
#define OP2JIT_TESTS_DEVICE_H

#include <stddef.h>

#include "backend/gpu/cuda/driver.h"
#include "jit/nvrtc.h"

struct device {
  struct cuda_driver driver;
  struct cuda_device about;
  struct nvrtc *nvrtc;
  void *context;
  /* The stand-in's own: how many findings since the last call, and their text; another order of threads. */
  int (*findings)(char *out, size_t size);
  void (*seed)(unsigned long long seed);
};

/* `mode` is "fast" or "checked". Ends the program with status 77 if the variables do not name a stand-in. */
void device_open(struct device *d, const char *mode);
void device_close(struct device *d);
/* NULL and the messages in `log` if the source does not compile. */
cuda_module device_compile(struct device *d, const char *name, const char *source, struct text *log);
cuda_address device_array(struct device *d, const void *data, size_t bytes); /* data NULL: undefined */
void device_fetch(struct device *d, void *out, cuda_address from, size_t bytes);
/* The driver's code of the launch or of waiting for it. */
int device_launch(struct device *d, cuda_module module, const char *kernel, unsigned blocks, unsigned threads,
                  unsigned shared, void **parameters);
/* Forget a kernel that failed: a new context, all memory of the old one is gone. */
void device_reset(struct device *d);

#endif
