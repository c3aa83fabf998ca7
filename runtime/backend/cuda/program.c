/* The GPU as a target of the jit: CUDA C by NVRTC, modules by the driver. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/code.h"
#include "base/size.h"
#include "cuda.h"
#include "jit/key/elf_note.h"
#include "jit/targets.h"
#include "mesh/mesh.h"
#include "ranks/kind.h"
#include "services/services.h"

/* ---- what it is ---- */
static int gpu_open(void **self, const struct jit_options *options, struct error *err) {
  (void)err;
  *self = options->device;
  return OP_OK;
}

static void gpu_close(void *self) {
  (void)self;
}

int cuda_identify(struct cuda *c, struct error *err) {
  text_addf(&c->compiler, "nvrtc %s\n", nvrtc_version(c->nvrtc));
  if (!elf_build_id(nvrtc_path(c->nvrtc), &c->compiler)) {
    struct stat file = {0};
    if (stat(nvrtc_path(c->nvrtc), &file) == 0)
      text_addf(&c->compiler, "%lld bytes", (long long)file.st_size);
  }
  return text_ok(&c->compiler) ? OP_OK : error_memory(err, "the compiler's identity", c->compiler.length);
}

static int gpu_identify(void *self, struct target_words *out, struct error *err) {
  const struct cuda *c = self;
  (void)err;
  *out = (struct target_words){
      .compiler = text_str(&c->compiler), .cpu = c->arch, .features = "", .mathematics = ""};
  return OP_OK;
}

/* ---- the compiler: the description's text is the whole source where there is no shape ---- */
static void gpu_print_shape(const void *shape, struct text *out) {
  if (shape)
    cuda_shape_print(shape, out);
  else
    text_add(out, "messages");
}

static int gpu_generate(const struct desc *d, const void *shape, bool stepped, struct generated *out,
                        struct error *err) {
  (void)stepped;
  return shape ? generate_cuda(d, shape, out, err) : cuda_rows_generate(d, out, err);
}

static int gpu_open_compiler(void *self, struct error *err) {
  (void)self;
  (void)err;
  return OP_OK;
}

/* The prover is clang's. */
static int gpu_prove(void *self, const struct desc *d, const void *shape, const struct generated *files,
                     struct error *err) {
  const struct cuda *c = self;
  (void)files;
  return shape ? jit_prove(c->prover, d, err) : OP_OK;
}

static void gpu_compile(void *self, const struct compile_request *request, struct compile_result *result) {
  const struct cuda *c = self;
  struct compile_request quiet = *request;
  quiet.warnings = 0;
  nvrtc_compile(c->nvrtc, &quiet, NULL, 0, result);
}

static void gpu_release(void *self, struct compile_result *result) {
  (void)self;
  nvrtc_release(result);
}

/* ---- modules ---- */
static void program_free(struct cuda_program *p) {
  free(p->constant_changes);
  free(p);
}

static int gpu_load(void *self, const struct desc *d, const void *binary, size_t size, struct loaded *out,
                    struct error *err) {
  struct cuda *c = self;
  struct cuda_program *p = array_new(1, sizeof *p);
  (void)size;
  if (!p || !(p->constant_changes = array_new((size_t)d->nconsts, sizeof *p->constant_changes))) {
    free(p);
    return error_memory(err, "a program for the GPU", sizeof *p);
  }
  for (int i = 0; i < d->nconsts; i++)
    p->constant_changes[i] = -1;
  const int code = cuda_failed(c, c->driver.module_load(&p->module, binary, 0, NULL, NULL), err,
                               "loading the compiled kernel on GPU %d", c->device.ordinal);
  if (code)
    program_free(p);
  else
    *out = (struct loaded){.code = p};
  return code;
}

static void gpu_unload(void *self, void *code) {
  struct cuda *c = self;
  struct cuda_program *p = code;
  if (!c->failed)
    c->driver.module_unload(p->module);
  program_free(p);
}

static bool gpu_is_broken(const void *self) {
  return ((const struct cuda *)self)->failed;
}

static const struct target target_gpu = {.compiler = "NVRTC",
                                         .ending = ".cubin",
                                         .tail = 1, /* PTX ends with a NUL */
                                         .open = gpu_open,
                                         .close = gpu_close,
                                         .identify = gpu_identify,
                                         .print_shape = gpu_print_shape,
                                         .generate = gpu_generate,
                                         .open_compiler = gpu_open_compiler,
                                         .prove = gpu_prove,
                                         .compile = gpu_compile,
                                         .release = gpu_release,
                                         .load = gpu_load,
                                         .unload = gpu_unload,
                                         .is_broken = gpu_is_broken};

int cuda_program_get(struct op_context *ctx, struct loop *loop, const struct desc *desc,
                     const struct cuda_shape *shape, struct cuda_program **out, struct error *err) {
  struct cuda *c = cuda_of(ctx);
  struct jit_code got = {0};
  int code = context_jit(ctx, &c->prover, err); /* opens the store */
  if (!code && !c->jit)
    code = context_jit_of(ctx, &target_gpu, c, ctx->gpus, &c->jit, err);
  if (!code)
    code = backend_code(ctx, loop, c->jit, desc, shape, &got, err);
  *out = got.code;
  return code;
}

int cuda_program_constants(struct op_context *ctx, const struct loop *loop, struct cuda_program *program,
                           struct error *err) {
  struct cuda *c = cuda_of(ctx);
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *k = &loop->desc.consts[i];
    if (k->folded)
      continue;
    const struct constant *constant = mesh_find_constant(ctx->mesh, k->name);
    if (program->constant_changes[i] == constant->changes)
      continue;
    cuda_address at = 0;
    size_t bytes = 0;
    struct text symbol = {0};
    cuda_constant_symbol(k->name, &symbol);
    if (!text_ok(&symbol))
      return error_memory(err, "a constant's name", symbol.length);
    int code = c->driver.module_global(&at, &bytes, program->module, text_str(&symbol));
    text_free(&symbol);
    if (!code)
      code = c->driver.copy_in(at, constant->value, constant->bytes, c->stream);
    if (code)
      return cuda_failed(c, code, err, "loop %s: copying constant %s to GPU %d", loop->name, k->name,
                         c->device.ordinal);
    program->constant_changes[i] = constant->changes;
  }
  return OP_OK;
}
