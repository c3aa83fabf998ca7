/* HIP's row of the table of drivers: AMD's GPUs. Its functions are CUDA's under other names, so that its table is CUDA's
 * with another way to open, and HIPRTC for a compiler. Both are opened while the program runs. */
#ifndef OP2JIT_BACKEND_GPU_HIP_HIP_H
#define OP2JIT_BACKEND_GPU_HIP_HIP_H

#include "backend/gpu/cuda/cuda.h"
#include "backend/gpu/driver.h"

/* HIPRTC: name in the table, symbol, parameters. All return its code, 0 is success. */
#define HIPRTC_ENTRIES(X)                                                                                    \
  X(get_version, hiprtcVersion, (int *major, int *minor))                                                    \
  X(create, hiprtcCreateProgram,                                                                             \
    (void **program, const char *source, const char *name, int nheaders, const char **headers,               \
     const char **names))                                                                                    \
  X(destroy, hiprtcDestroyProgram, (void **program))                                                         \
  X(compile, hiprtcCompileProgram, (void *program, int noptions, const char **options))                      \
  X(log_size, hiprtcGetProgramLogSize, (void *program, size_t *size))                                        \
  X(log, hiprtcGetProgramLog, (void *program, char *out))                                                    \
  X(code_size, hiprtcGetCodeSize, (void *program, size_t *size))                                             \
  X(code, hiprtcGetCode, (void *program, char *out))

struct hiprtc {
  void *library; /* NULL: another rank has one and gives what it makes */
  char *path;
  char version[16]; /* "5.2" */
#define HIPRTC_MEMBER(name, symbol, parameters) int(*name) parameters;
  HIPRTC_ENTRIES(HIPRTC_MEMBER)
#undef HIPRTC_MEMBER
};
/* `named` is OP2_HIPRTC, "" to search. OP_ERR_BACKEND says what is missing. */
int hiprtc_open(struct hiprtc *r, const char *named, struct error *err);
void hiprtc_close(struct hiprtc *r);
/* As struct compiler's compile; `cpu` is "gfx90a". */
void hiprtc_compile(struct hiprtc *r, const struct compile_request *request, struct compile_result *result);

struct hip {
  struct cuda cuda; /* the first member: CUDA's functions are handed it */
  struct hiprtc compiler;
};
extern const struct cuda_family hip_family;
/* As struct gpu_driver has them. */
int hip_open(struct gpu *c, struct op_context *ctx, struct error *err);
void hip_close(struct gpu *c);
int hip_open_compiler(struct gpu *c, struct op_context *ctx, struct error *err);
void hip_describe(struct op_context *ctx, struct text *out);
void hip_compile(void *self, const struct compile_request *request, struct compile_result *result);
/* Threads of a wavefront of such a GPU. */
int hip_width(const char *arch);

#endif
