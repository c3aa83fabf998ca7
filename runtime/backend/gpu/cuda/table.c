/* The rows of CUDA and HIP in the table of drivers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/gpu/cuda/cuda.h"
#include "backend/gpu/gpu.h"
#include "backend/gpu/hip/hip.h"
#include "backend/gpu/log.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "include/op2jit_bridge.h"
#include "jit/key/elf_note.h"
#include "ranks/comm.h"

enum { USUAL_SHARED = 48 * 1024, WARP = 32, ATTRIBUTE_SHARED_LIMIT = 8, DEPENDENT = 90 };

static const struct cuda_driver *driver_of(void *self) {
  return &((struct cuda *)self)->driver;
}

static cuda_stream stream_of(void *self) {
  return ((struct cuda *)self)->stream;
}

/* ---- opening ---- */
static struct nvrtc_places places(const struct op_context *ctx) {
  return (struct nvrtc_places){.named = env_value(ctx->env, ENV_NVRTC),
                               .cuda_home = ctx->env->cuda_home,
                               .home = ctx->env->home,
                               .virtual_env = ctx->env->virtual_env};
}

enum { PACKED, SENT, ARRIVED, MESSAGE_EVENTS };
struct cuda_messages {
  cuda_stream stream;
  cuda_event events[MESSAGE_EVENTS];
};

/* As struct gpu_driver has it. */
static void cuda_messages_free(struct cuda *cuda) {
  struct cuda_messages *m = cuda->messages;
  const struct cuda_driver *d = &cuda->driver;
  if (!m)
    return;
  for (int i = 0; i < MESSAGE_EVENTS; i++)
    if (m->events[i])
      d->event_destroy(m->events[i]);
  if (m->stream)
    d->stream_destroy(m->stream);
  free(m);
  cuda->messages = NULL;
}

void cuda_end(struct cuda *cuda) {
  const struct cuda_driver *d = &cuda->driver;
  cuda_held_free(cuda);
  cuda_messages_free(cuda);
  cuda_flags_free(cuda);
  if (cuda->before)
    d->event_destroy(cuda->before);
  if (cuda->after)
    d->event_destroy(cuda->after);
  if (cuda->stream)
    d->stream_destroy(cuda->stream);
  if (cuda->context)
    d->context_release(cuda->device.handle);
  if (d->library)
    cuda_driver_close(&cuda->driver);
}

static void table_close(struct gpu *c) {
  struct cuda *cuda = c->self;
  cuda_end(cuda);
  nvrtc_close(cuda->nvrtc);
  free(cuda);
  c->self = NULL;
}

static bool table_is_of_kernel(int code) {
  static const int codes[] = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (code == codes[i])
      return true;
  return false;
}

static int make_stream(struct cuda *cuda, struct error *err) {
  const struct cuda_driver *d = &cuda->driver;
  int result = d->context_retain(&cuda->context, cuda->device.handle);
  if (result)
    cuda->context = NULL;
  if (!result)
    result = d->context_set(cuda->context);
  if (!result)
    result = d->stream_create(&cuda->stream, 0);
  if (!result)
    result = d->event_create(&cuda->before, 0);
  if (!result)
    result = d->event_create(&cuda->after, 0);
  const char *why = table_is_of_kernel(result)
                        ? " again, after a kernel failed, is not possible: start the program anew; it"
                        : "";
  const int code =
      cuda_check(d, result, err, "starting GPU %d (%s)%s", cuda->device.ordinal, cuda->device.name, why);
  return code ? (err->code = OP_ERR_BACKEND) : OP_OK;
}

static void tell_device(const struct cuda_device *from, struct gpu_device *to) {
  *to = (struct gpu_device){.ordinal = from->ordinal,
                            .max_threads = from->max_threads,
                            .width = WARP,
                            .lanes = WARP,
                            .shared_usual = USUAL_SHARED,
                            .shared_most = from->shared_most};
  snprintf(to->label, sizeof to->label, "GPU %d", from->ordinal);
  snprintf(to->name, sizeof to->name, "%s", from->name);
  snprintf(to->arch, sizeof to->arch, "%s", from->arch);
}

/* Messages of ranks on a stream of their own: they are copied to and from the host while kernels run, and the host waits for
 * them alone. */
enum { BESIDE_STREAM_0 = 1, NO_TIMES = 2 }; /* flags of streams and of events, of CUDA and HIP alike */

int cuda_begin(struct cuda *cuda, const struct op_context *ctx, struct gpu_device *out, struct error *err) {
  const char *wanted = env_value(ctx->env, ENV_DEVICE);
  if (wanted[strspn(wanted, "0123456789")] || strlen(wanted) > 4)
    return error_set(err, OP_ERR_ENV, "OP2_DEVICE=%s: expected a whole number in 0-1023; correct or unset it",
                     wanted);
  int code = cuda_device_choose(&cuda->driver, (int)env_number(ctx->env, ENV_DEVICE, -1),
                                ctx->comm->node_rank, &cuda->device, err);
  if (!code)
    code = make_stream(cuda, err);
  if (!code)
    tell_device(&cuda->device, out);
  return code;
}

static void add_nvrtc(const struct nvrtc_places *where, struct error *err) {
  struct text words = {0};
  int code = err->code;
  text_addf(&words, "%s. ", error_message(err));
  nvrtc_describe(where, &words);
  error_set(err, code, "%s", text_str(&words));
  text_free(&words);
}

static int table_open(struct gpu *c, struct op_context *ctx, struct error *err) {
  struct cuda *cuda = c->self = calloc(1, sizeof *cuda);
  if (!cuda)
    return error_memory(err, "the CUDA driver", sizeof *cuda);
  cuda->comm = ctx->comm;
  int code = cuda_family_open(&cuda->driver, &cuda_family, env_value(ctx->env, ENV_CUDA_DRIVER), err);
  if (!code)
    code = cuda_begin(cuda, ctx, &c->device, err);
  c->device.peers = !code && cuda_has_peers(&cuda->driver);
  /* A user who asks for CUDA by name learns everything that is missing at once. */
  if (code && !cuda->driver.library && env_given(ctx->env, ENV_BACKEND)) {
    const struct nvrtc_places where = places(ctx);
    add_nvrtc(&where, err);
  }
  return code;
}

/* ---- the compiler ---- */
static int check_target(const struct op_context *ctx, struct gpu *c, struct error *err) {
  const struct cuda *cuda = c->self;
  int ptx = 0, target = nvrtc_target(cuda->nvrtc, c->device.arch, &ptx);
  if (!target)
    return error_set(err, OP_ERR_BACKEND,
                     "NVRTC %s (%s) cannot compile for GPU %d (%s, %s), which is too old for it; install an "
                     "older NVRTC, or name one in OP2_NVRTC",
                     cuda->nvrtc->version, cuda->nvrtc->path, c->device.ordinal, c->device.name,
                     c->device.arch);
  c->device.dependents =
      cuda->device.capability >= DEPENDENT && target >= DEPENDENT && cuda->driver.launch_with;
  if (ptx)
    log_line(ctx->log, LOG_INFO, "cuda",
             "NVRTC %s is older than GPU %d (%s): kernels are made as PTX of compute_%d, which the driver "
             "translates",
             cuda->nvrtc->version, c->device.ordinal, c->device.arch, target);
  return OP_OK;
}

static int identify(const struct nvrtc *n, struct text *out, struct error *err) {
  text_addf(out, "nvrtc %s\n", n->version);
  if (!elf_build_id(n->path, out)) {
    struct stat file = {0};
    if (stat(n->path, &file) == 0)
      text_addf(out, "%lld bytes", (long long)file.st_size);
  }
  return text_ok(out) ? OP_OK : error_memory(err, "the compiler's identity", out->length);
}

static int table_open_compiler(struct gpu *c, struct op_context *ctx, struct error *err) {
  struct cuda *cuda = c->self;
  const struct nvrtc_places where = places(ctx);
  int code = nvrtc_open(&cuda->nvrtc, &where, err);
  if (!code)
    code = check_target(ctx, c, err);
  if (!code)
    code = identify(cuda->nvrtc, &c->compiler, err);
  if (code) {
    nvrtc_close(cuda->nvrtc);
    cuda->nvrtc = NULL;
  }
  return code;
}

static void table_describe(struct op_context *ctx, struct text *out) {
  const struct nvrtc_places where = places(ctx);
  cuda_family_describe(&cuda_family, env_value(ctx->env, ENV_CUDA_DRIVER), out);
  text_add(out, "; ");
  nvrtc_describe(&where, out);
}

static void table_compile(void *self, const struct compile_request *request, struct compile_result *result) {
  nvrtc_compile(((struct cuda *)self)->nvrtc, request, NULL, 0, result);
}

static void table_release(void *self, struct compile_result *result) {
  (void)self;
  nvrtc_release(result);
}

/* Each thread has a context of its own, and another library may have set it. A failure is the next call's. */
static void table_enter(void *self) {
  driver_of(self)->context_set(((struct cuda *)self)->context);
}

static int table_check(void *self, int code, struct error *err, const char *doing) {
  if (code == CUDA_TOLD)
    return error_copy(err, &((struct cuda *)self)->told);
  return cuda_check(driver_of(self), code, err, "%s", doing);
}

/* ---- memory ---- */
static int table_memory_info(void *self, size_t *left, size_t *total) {
  return driver_of(self)->memory_info(left, total);
}

static int table_memory_alloc(void *self, gpu_address *out, size_t bytes) {
  const int code = cuda_settle(self);
  return code ? code : driver_of(self)->memory_alloc(out, bytes);
}

static int table_memory_free(void *self, gpu_address at) {
  const int code = cuda_settle(self), freed = driver_of(self)->memory_free(at);
  return code ? code : freed;
}

static int table_host_alloc(void *self, void **out, size_t bytes) {
  return driver_of(self)->host_alloc(out, bytes, 0);
}

static int table_host_free(void *self, void *p) {
  const int code = cuda_settle(self), freed = driver_of(self)->host_free(p);
  return code ? code : freed;
}

static int table_copy_in(void *self, gpu_address to, const void *from, size_t bytes) {
  const int code = cuda_give(self);
  return code ? code : driver_of(self)->copy_in(to, from, bytes, stream_of(self));
}

static int table_copy_out(void *self, void *to, gpu_address from, size_t bytes) {
  const int code = cuda_give(self);
  return code ? code : driver_of(self)->copy_out(to, from, bytes, stream_of(self));
}

/* ---- programs ---- */
static int table_module_load(void *self, gpu_module *out, const void *binary, size_t size) {
  cuda_module module = NULL;
  (void)size;
  int code = cuda_settle(self);
  if (!code)
    code = driver_of(self)->module_load(&module, binary, 0, NULL, NULL);
  *out = module;
  return code;
}

static int table_module_unload(void *self, gpu_module module) {
  cuda_settle(self);
  cuda_held_forget(self);
  return driver_of(self)->module_unload(module);
}

static int table_module_function(void *self, gpu_function *out, gpu_module module, const char *name) {
  cuda_function function = NULL;
  const int code = driver_of(self)->module_function(&function, module, name);
  *out = function;
  return code;
}

static int table_module_global(void *self, gpu_address *out, size_t *bytes, gpu_module module,
                               const char *name) {
  return driver_of(self)->module_global(out, bytes, module, name);
}

static int table_function_shared(void *self, gpu_function function, int bytes) {
  return driver_of(self)->function_set(function, ATTRIBUTE_SHARED_LIMIT, bytes);
}

/* A driver that cannot say how many blocks a multiprocessor runs, runs one. */
static int table_function_groups(void *self, gpu_function function, int threads, int *groups) {
  const struct cuda *cuda = self;
  int blocks = 1, code = 0;
  if (cuda->driver.function_blocks)
    code = cuda->driver.function_blocks(&blocks, function, threads, 0);
  *groups = (blocks > 0 ? blocks : 1) * cuda->device.multiprocessors;
  return code;
}

static int table_launch(void *self, gpu_function function, unsigned blocks, unsigned threads, unsigned shared,
                        void **values, const struct gpu_sizes *sizes) {
  if (cuda_held_takes(self, function, blocks, threads, shared, values, sizes))
    return 0;
  const int code = cuda_give(self);
  return code ? code
              : driver_of(self)->launch(function, blocks, 1, 1, threads, 1, 1, shared, stream_of(self),
                                        values, NULL);
}

/* A launch that is held back is launched as any other. */
static int table_launch_dependent(void *self, gpu_function function, unsigned blocks, unsigned threads,
                                  unsigned shared, void **values, const struct gpu_sizes *sizes) {
  static const struct cuda_attribute serialization = {.id = 6, .value.number = 1};
  const struct cuda_launch launch = {.gx = blocks,
                                     .gy = 1,
                                     .gz = 1,
                                     .bx = threads,
                                     .by = 1,
                                     .bz = 1,
                                     .shared = shared,
                                     .stream = stream_of(self),
                                     .attributes = &serialization,
                                     .nattributes = 1};
  if (cuda_held_takes(self, function, blocks, threads, shared, values, sizes))
    return 0;
  const int code = cuda_give(self);
  return code ? code : driver_of(self)->launch_with(&launch, function, values, NULL);
}

/* ---- waiting and time ---- */
static int table_wait(void *self) {
  const int code = cuda_settle(self), waited = driver_of(self)->stream_wait(stream_of(self));
  return code ? code : waited;
}

static int table_time_begin(void *self) {
  const struct cuda *cuda = self;
  const int code = cuda_give(self);
  return code ? code : cuda->driver.event_record(cuda->before, cuda->stream);
}

static int table_time_end(void *self, double *seconds) {
  const struct cuda *cuda = self;
  float milliseconds = 0;
  int code = cuda_give(self);
  if (!code)
    code = cuda->driver.event_record(cuda->after, cuda->stream);
  if (!code)
    code = cuda_settle(self);
  if (!code)
    code = cuda->driver.event_wait(cuda->after);
  if (!code)
    code = cuda->driver.event_elapsed(&milliseconds, cuda->before, cuda->after);
  *seconds = 1e-3 * (double)milliseconds;
  return code;
}

static int make(struct cuda *cuda) {
  const struct cuda_driver *d = &cuda->driver;
  struct cuda_messages *m = cuda->messages = calloc(1, sizeof *m);
  if (!m)
    return CUDA_OUT_OF_MEMORY;
  int code = d->stream_create(&m->stream, BESIDE_STREAM_0);
  for (int i = 0; !code && i < MESSAGE_EVENTS; i++)
    code = d->event_create(&m->events[i], NO_TIMES);
  if (code)
    cuda_messages_free(cuda);
  return code;
}

/* Launches that are held back are given, and the stream is there. */
static int begin(struct cuda *cuda) {
  const int code = cuda_give(cuda);
  return code || cuda->messages ? code : make(cuda);
}

static int cuda_message_out(void *self, void *to, gpu_address from, size_t bytes) {
  struct cuda *cuda = self;
  const struct cuda_driver *d = &cuda->driver;
  int code = begin(cuda);
  struct cuda_messages *m = cuda->messages;
  if (!code)
    code = d->event_record(m->events[PACKED], cuda->stream);
  if (!code)
    code = d->stream_wait_event(m->stream, m->events[PACKED], 0);
  if (!code && bytes)
    code = d->copy_out(to, from, bytes, m->stream);
  return code ? code : d->event_record(m->events[SENT], m->stream);
}

static int cuda_message_wait(void *self) {
  const struct cuda *cuda = self;
  const int code = cuda->messages ? cuda_settle(self) : 0;
  return cuda->messages && !code ? cuda->driver.event_wait(cuda->messages->events[SENT]) : code;
}

static int cuda_message_in(void *self, gpu_address to, const void *from, size_t bytes) {
  struct cuda *cuda = self;
  const struct cuda_driver *d = &cuda->driver;
  int code = begin(cuda);
  struct cuda_messages *m = cuda->messages;
  if (!code)
    code = d->copy_in(to, from, bytes, m->stream);
  if (!code)
    code = d->event_record(m->events[ARRIVED], m->stream);
  return code ? code : d->stream_wait_event(cuda->stream, m->events[ARRIVED], 0);
}

/* ---- the rows: what HIP has under other names is called alike ---- */
#define CUDA_AND_HIP                                                                                         \
  .out_of_memory = CUDA_OUT_OF_MEMORY, .enter = table_enter, .check = table_check,                           \
  .is_of_kernel = table_is_of_kernel, .memory_info = table_memory_info, .memory_alloc = table_memory_alloc,  \
  .memory_free = table_memory_free, .host_alloc = table_host_alloc, .host_free = table_host_free,            \
  .copy_in = table_copy_in, .copy_out = table_copy_out, .module_load = table_module_load,                    \
  .module_unload = table_module_unload, .module_function = table_module_function,                            \
  .module_global = table_module_global, .function_groups = table_function_groups, .launch = table_launch,    \
  .wait = table_wait, .time_begin = table_time_begin, .time_end = table_time_end, .hold = cuda_hold,         \
  .give = cuda_give, .message_out = cuda_message_out, .message_wait = cuda_message_wait,                     \
  .message_in = cuda_message_in

const struct gpu_driver gpu_cuda = {.backend = "cuda",
                                    .dialect = GPU_DIALECT_CUDA,
                                    .where = OP_ON_CUDA,
                                    .open = table_open,
                                    .close = table_close,
                                    .open_compiler = table_open_compiler,
                                    .describe = table_describe,
                                    .compile = table_compile,
                                    .release = table_release,
                                    .function_shared = table_function_shared,
                                    .launch_dependent = table_launch_dependent,
                                    .peer_give = cuda_peer_give,
                                    .peer_take = cuda_peer_take,
                                    .peer_drop = cuda_peer_drop,
                                    .flag_set = cuda_flag_set,
                                    .flag_await = cuda_flag_await,
                                    .flag_try = cuda_flag_try,
                                    CUDA_AND_HIP};

#ifdef OP2JIT_HIP
const struct gpu_driver gpu_hip = {.backend = "hip",
                                   .dialect = GPU_DIALECT_HIP,
                                   .where = OP_ON_HIP,
                                   .open = hip_open,
                                   .close = hip_close,
                                   .open_compiler = hip_open_compiler,
                                   .describe = hip_describe,
                                   .compile = hip_compile,
                                   .release = gpu_log_release,
                                   CUDA_AND_HIP};
#endif
