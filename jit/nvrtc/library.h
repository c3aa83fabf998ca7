/* The opened library, for nvrtc.c and library.c. */
#ifndef OP2JIT_JIT_NVRTC_LIBRARY_H
#define OP2JIT_JIT_NVRTC_LIBRARY_H

#include <stddef.h>

#include "jit/nvrtc/nvrtc.h"

enum { NVRTC_COMPILATION = 6 };

struct nvrtc {
  void *library, *builtins;
  char *path;
  char version[16];
  int number;
  int *archs, narchs; /* 75, 80, ... */

  int (*get_version)(int *major, int *minor);
  int (*num_archs)(int *count);
  int (*supported_archs)(int *archs);
  int (*create)(void **program, const char *source, const char *name, int nheaders,
                const char *const *headers, const char *const *names);
  int (*destroy)(void **program);
  int (*compile)(void *program, int noptions, const char *const *options);
  int (*log_size)(void *program, size_t *size);
  int (*log)(void *program, char *out);
  int (*cubin_size)(void *program, size_t *size);
  int (*cubin)(void *program, char *out);
  int (*ptx_size)(void *program, size_t *size);
  int (*ptx)(void *program, char *out);
  const char *(*error_string)(int code);
};

#endif
