/* HIP's own functions in the table of drivers: opening, and the compiler. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/gpu/gpu.h"
#include "backend/hip/hip.h"
#include "context/context.h"
#include "context/env.h"
#include "jit/key/elf_note.h"
#include "ranks/comm.h"

void hip_close(struct gpu *c) {
  struct hip *hip = c->self;
  cuda_end(&hip->cuda);
  hiprtc_close(&hip->compiler);
  free(hip);
  c->self = NULL;
}

/* The library takes long to open, and is installed where no GPU of AMD is. */
static int look_first(const struct op_context *ctx, struct error *err) {
  if (env_given(ctx->env, ENV_BACKEND) || env_given(ctx->env, ENV_HIP) || access("/dev/kfd", F_OK) == 0)
    return OP_OK;
  return error_set(err, OP_ERR_BACKEND, "this machine has no GPU of AMD (no /dev/kfd)");
}

int hip_open(struct gpu *c, struct op_context *ctx, struct error *err) {
  struct hip *hip = c->self = calloc(1, sizeof *hip);
  if (!hip)
    return error_memory(err, "the HIP library", sizeof *hip);
  int code = look_first(ctx, err);
  if (!code)
    code = cuda_family_open(&hip->cuda.driver, &hip_family, env_value(ctx->env, ENV_HIP), err);
  if (!code)
    code = cuda_begin(&hip->cuda, ctx, &c->device, err);
  if (code)
    return code;
  c->device.width = c->device.lanes = hip_width(c->device.arch);
  c->device.shared_usual = hip->cuda.device.shared;
  return OP_OK;
}

int hip_open_compiler(struct gpu *c, struct op_context *ctx, struct error *err) {
  struct hip *hip = c->self;
  const int code = hiprtc_open(&hip->compiler, env_value(ctx->env, ENV_HIPRTC), err);
  if (code)
    return code;
  text_addf(&c->compiler, "hiprtc %s\n", hip->compiler.version);
  elf_build_id(hip->compiler.path, &c->compiler);
  return text_ok(&c->compiler) ? OP_OK : error_memory(err, "the compiler's identity", c->compiler.length);
}

void hip_describe(struct op_context *ctx, struct text *out) {
  struct hiprtc compiler;
  struct error err = {0};
  cuda_family_describe(&hip_family, env_value(ctx->env, ENV_HIP), out);
  if (hiprtc_open(&compiler, env_value(ctx->env, ENV_HIPRTC), &err)) {
    text_addf(out, "; no HIPRTC: %s", error_message(&err));
  } else {
    text_addf(out, "; HIPRTC %s (%s)", compiler.version, compiler.path);
    hiprtc_close(&compiler);
  }
  error_free(&err);
}

void hip_compile(void *self, const struct compile_request *request, struct compile_result *result) {
  hiprtc_compile(&((struct hip *)self)->compiler, request, result);
}
