/* NVRTC, NVIDIA's run-time compiler, opened while the program runs: CUDA C to a binary for one GPU. */
#ifndef OP2JIT_JIT_NVRTC_H
#define OP2JIT_JIT_NVRTC_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"
#include "jit/compiler.h"

struct nvrtc;

struct nvrtc_places {
  const char *named;       /* OP2_NVRTC; "" or NULL: search */
  const char *cuda_home;   /* CUDA_HOME or CUDA_PATH, or NULL */
  const char *home;        /* HOME, or NULL: Python wheels of the user */
  const char *virtual_env; /* VIRTUAL_ENV, or NULL */
};

/* Order: the named one; the sonames of CUDA 13, 12 and 11; CUDA_HOME; toolkits and wheels at their usual places.
 * OP_ERR_BACKEND lists where it was looked for. */
int nvrtc_open(struct nvrtc **out, const struct nvrtc_places *places, struct error *err);
void nvrtc_close(struct nvrtc *n);

/* The architecture of the binary for a device "sm_90": the device's, or the newest PTX that this NVRTC can make
 * if it is older than the device (*ptx becomes 1). 0: the device is too old for this NVRTC. */
int nvrtc_target(const struct nvrtc *n, const char *device, int *ptx);

/* As struct compiler's compile; `extra` are further options (NULL: none). A binary is a CUBIN or, NUL-terminated,
 * PTX. */
void nvrtc_compile(struct nvrtc *n, const struct compile_request *request, const char *const *extra,
                   int nextra, struct compile_result *result);
void nvrtc_release(struct compile_result *result);

/* One line for reports: NVRTC's version and place, or what is missing. */
void nvrtc_describe(const struct nvrtc_places *places, struct text *out);

enum { NVRTC_COMPILATION = 6 };

struct nvrtc {
  void *library, *builtins;
  char *path;
  char version[16];   /* "13.0" */
  int number;         /* 130 */
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
