/* GPUs as targets of the jit: the text is the dialect's, compiler and modules are the driver's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/code.h"
#include "base/list.h"
#include "context/context.h"
#include "gpu.h"
#include "jit/targets.h"
#include "mesh/mesh.h"
#include "services/services.h"

/* ---- what it is ---- */
static int target_open(void **self, const struct jit_options *options, struct error *err) {
  (void)err;
  *self = options->device;
  return OP_OK;
}

static void target_close(void *self) {
  (void)self;
}

static int target_identify(void *self, struct target_words *out, struct error *err) {
  const struct gpu *c = self;
  (void)err;
  *out = (struct target_words){
      .compiler = text_str(&c->compiler), .cpu = c->device.arch, .features = "", .mathematics = ""};
  if (*c->device.platform) {
    out->platform = c->device.platform;
    out->device = c->device.name;
    out->driver = c->device.driver;
  }
  return OP_OK;
}

/* ---- the compiler: the description's text is the whole source where there is no shape ---- */
static void target_print_shape(const void *shape, struct text *out) {
  if (shape)
    gpu_shape_print(shape, out);
  else
    text_add(out, "messages");
}

static int target_generate(const struct desc *d, const void *shape, bool stepped, struct generated *out,
                           struct error *err) {
  (void)stepped;
  return shape ? generate_gpu(d, shape, out, err) : gpu_rows_generate(d, out, err);
}

static int target_open_compiler(void *self, struct error *err) {
  (void)self;
  (void)err;
  return OP_OK;
}

/* The prover is clang's. */
static int target_prove(void *self, const struct desc *d, const void *shape, const struct generated *files,
                        const struct compile_request *then, struct facts *facts, struct prove_result *kept,
                        struct error *err) {
  const struct gpu *c = self;
  const bool is_opencl = c->driver->dialect == GPU_DIALECT_OPENCL;
  const struct jit_wish wish = {.reads = is_opencl ? READ_AS_OPENCL : READ_AS_CXX};
  bool asked;
  (void)files, (void)then, (void)kept;
  return shape && !((const struct gpu_shape *)shape)->tasks
             ? jit_facts(c->prover, d, &wish, facts, &asked, err)
             : OP_OK;
}

static void target_compile(void *self, const struct compile_request *request, struct compile_result *result) {
  const struct gpu *c = self;
  struct compile_request quiet = *request;
  quiet.warnings = 0;
  c->driver->compile(c->self, &quiet, result);
}

static void target_release(void *self, struct compile_result *result) {
  const struct gpu *c = self;
  c->driver->release(c->self, result);
}

/* ---- modules ---- */
static void program_free(struct gpu_program *p) {
  free(p->constant_changes);
  free(p);
}

static int target_load(void *self, const struct desc *d, const void *binary, size_t size, struct loaded *out,
                       struct error *err) {
  struct gpu *c = self;
  struct gpu_program *p = array_new(1, sizeof *p);
  if (!p || !(p->constant_changes = array_new((size_t)d->nconsts, sizeof *p->constant_changes))) {
    free(p);
    return error_memory(err, "a program for the GPU", sizeof *p);
  }
  for (int i = 0; i < d->nconsts; i++)
    p->constant_changes[i] = -1;
  const int code = gpu_failed(c, c->driver->module_load(c->self, &p->module, binary, size), err,
                              "loading the compiled kernel on %s", c->device.label);
  if (code)
    program_free(p);
  else
    *out = (struct loaded){.code = p};
  return code;
}

static void target_unload(void *self, void *code) {
  struct gpu *c = self;
  struct gpu_program *p = code;
  if (!c->failed)
    c->driver->module_unload(c->self, p->module);
  program_free(p);
}

static bool target_is_broken(const void *self) {
  return ((const struct gpu *)self)->failed;
}

#define GPU_TARGET(compiler_, ending_)                                                                       \
  {                                                                                                          \
    .compiler = compiler_, .ending = ending_, .tail = 1, /* PTX ends with a NUL */                           \
        .open = target_open, .close = target_close, .identify = target_identify,                             \
    .print_shape = target_print_shape, .generate = target_generate, .open_compiler = target_open_compiler,   \
    .prove = target_prove, .compile = target_compile, .release = target_release, .load = target_load,        \
    .unload = target_unload, .is_broken = target_is_broken                                                   \
  }

static const struct target targets[GPU_DIALECTS] = {[GPU_DIALECT_CUDA] = GPU_TARGET("NVRTC", ".cubin"),
                                                    [GPU_DIALECT_HIP] = GPU_TARGET("HIPRTC", ".hsaco"),
                                                    [GPU_DIALECT_OPENCL] = GPU_TARGET("OpenCL", ".bin")};

static int open_jit(struct op_context *ctx, struct gpu *c, struct error *err) {
  const int code = context_jit(ctx, &c->prover, err); /* opens the store */
  return code || c->jit ? code
                        : context_jit_of(ctx, &targets[c->driver->dialect], c, ctx->gpus, &c->jit, err);
}

int gpu_program_get(struct op_context *ctx, struct gpu *c, struct loop *loop, const struct desc *desc,
                    const struct gpu_shape *shape, struct gpu_program **out, struct error *err) {
  struct jit_code got = {0};
  int code = open_jit(ctx, c, err);
  if (!code)
    code = backend_code(ctx, loop, c->jit, desc, shape, &got, err);
  *out = got.code;
  return code;
}

bool gpu_program_prepare(struct op_context *ctx, struct gpu *c, const struct desc *desc,
                         const struct gpu_shape *shape) {
  struct error ignored = {0};
  const bool ready = open_jit(ctx, c, &ignored) || jit_prepare(c->jit, desc, shape);
  error_free(&ignored);
  return ready;
}

int gpu_program_constants(struct op_context *ctx, const struct loop *loop, struct gpu_program *program,
                          struct error *err) {
  struct gpu *c = gpu_of(ctx, loop->space);
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *k = &loop->desc.consts[i];
    if (k->folded)
      continue;
    const struct constant *constant = mesh_find_constant(ctx->mesh, k->name);
    if (program->constant_changes[i] == constant->changes)
      continue;
    gpu_address at = 0;
    size_t bytes = 0;
    struct text symbol = {0};
    cuda_constant_symbol(k->name, &symbol);
    if (!text_ok(&symbol))
      return error_memory(err, "a constant's name", symbol.length);
    int code = c->driver->module_global(c->self, &at, &bytes, program->module, text_str(&symbol));
    text_free(&symbol);
    if (!code)
      code = c->driver->copy_in(c->self, at, constant->value, constant->bytes);
    if (code)
      return gpu_failed(c, code, err, "loop %s: copying constant %s to %s", loop->name, k->name,
                        c->device.label);
    program->constant_changes[i] = constant->changes;
  }
  return OP_OK;
}

/* ---- functions ---- */
static int find_function(struct gpu *c, const struct loop *loop, const struct gpu_variant *v,
                         const char *name, int threads, gpu_function *out, struct error *err) {
  const struct gpu_driver *d = c->driver;
  int most = threads;
  int code = gpu_failed(c, d->module_function(c->self, out, v->program->module, name), err,
                        "loop %s: finding %s in the compiled kernel", loop->name, name);
  if (!code && d->function_threads)
    code = gpu_failed(c, d->function_threads(c->self, *out, &most), err,
                      "loop %s: asking how many work-items a group of %s may have", loop->name, name);
  if (!code && most < threads)
    code =
        error_set(err, OP_ERR_SIZE,
                  "loop %s, variant %s: %s (%s) can run the compiled %s in groups of %d work-items at most, "
                  "not of %d; choose smaller blocks in OP2_VARIANT, or another device",
                  loop->name, v->name, c->device.label, c->device.name, name, most, threads);
  return code;
}

int gpu_program_functions(struct gpu *c, const struct loop *loop, struct gpu_variant *v,
                          const struct gpu_targets *targets, struct error *err) {
  char *name = gpu_kernel_name(&loop->desc);
  if (!name)
    return error_memory(err, "a kernel's name", 0);
  int code = find_function(c, loop, v, name, v->shape.block, &v->function, err);
  free(name);
  if (!code && gpu_slot_bytes(&loop->desc) && !gpu_has_ticket(&v->shape))
    code = find_function(c, loop, v, GPU_COMBINE, GPU_COMBINE_THREADS, &v->combine, err);
  if (!code && gpu_adds_later(v->shape.strategy)) {
    v->sums = array_new((size_t)targets->count, sizeof *v->sums);
    code = v->sums ? OP_OK : error_memory(err, "kernels", 0);
    for (int k = 0; !code && k < targets->count; k++) {
      char sum[32];
      snprintf(sum, sizeof sum, "%s%d", GPU_SUM, k);
      code = find_function(c, loop, v, sum, GPU_SUM_THREADS, &v->sums[k], err);
    }
  }
  unsigned shared = 0;
  for (int p = 0; p < LOOP_PARTS; p++)
    shared = v->parts[p].shared > shared ? v->parts[p].shared : shared;
  if (!code && shared > (unsigned)c->device.shared_usual && c->driver->function_shared)
    code = gpu_failed(c, c->driver->function_shared(c->self, v->function, (int)shared), err,
                      "loop %s: asking for %u bytes of shared memory", loop->name, shared);
  return code;
}
