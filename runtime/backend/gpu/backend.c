/* The tables of the backends of GPUs: one for each driver. */
#include <stdlib.h>
#include <string.h>

#include "backend/code.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "gpu.h"
#include "jit/jit.h"
#include "jit/key/elf_note.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/launch.h"
#include "services/services.h"

static void close_parts(struct gpu *c) {
  if (c->device.name[0]) {
    if (!c->failed)
      c->driver->wait(c->self);
    gpu_rows_free(c);
    gpu_pairs_close(c);
    gpu_values_free(c);
    jit_close(c->jit);
    if (c->landing)
      c->driver->host_free(c->self, c->landing);
  }
  c->driver->close(c);
}

static void backend_close(struct op_context *ctx) {
  struct gpu *devices = ctx->backend_state;
  if (!devices)
    return;
  for (struct gpu *c = devices; c < devices + DEVICES_MOST; c++) {
    if (c->self)
      close_parts(c);
    text_free(&c->compiler);
  }
  free(devices);
  ctx->backend_state = NULL;
  ctx->mover = NULL;
}

static void backend_enter(struct op_context *ctx) {
  const struct gpu *devices = ctx->backend_state;
  for (const struct gpu *c = devices; c && c < devices + DEVICES_MOST; c++)
    if (c->self && c->driver->enter)
      c->driver->enter(c->self);
}

/* Opens this process's own part. */
static int open_own(struct op_context *ctx, struct gpu *c, struct error *err) {
  const int code = c->driver->open(c, ctx, err);
  return code ? code : context_plans(ctx, &c->plans, err);
}

static int open_compiler(struct op_context *ctx, struct gpu *c, struct error *err) {
  const int code = c->driver->open_compiler(c, ctx, err);
  c->compiles = !code;
  return code;
}

struct question {
  struct op_context *ctx;
  struct gpu *c;
  struct error *err;
};

static bool can_compile(void *self, struct text *compiler) {
  const struct question *q = self;
  if (open_compiler(q->ctx, q->c, q->err))
    return false;
  text_add(compiler, text_str(&q->c->compiler));
  return true;
}

/* One of the ranks with one kind of GPU has the compiler open. */
static int find_compiler(struct op_context *ctx, struct gpu *c, struct error *err) {
  if (comm_alone(ctx->comm))
    return open_compiler(ctx, c, err);
  struct text kind = {0};
  struct error why = {0};
  struct question question = {.ctx = ctx, .c = c, .err = &why};
  text_addf(&kind, "GPU %s\n", c->device.arch);
  if (*c->device.platform)
    text_addf(&kind, "%s, %s, %s\n", c->device.platform, c->device.name, c->device.driver);
  library_identity(&kind);
  int code = kind_open_asking(&ctx->gpus, ctx->comm, text_str(&kind), can_compile, &question, err);
  if (!code && !ctx->gpus->jit.compiler)
    code = error_copy(err, &why);
  if (!code && !c->compiles) {
    text_clear(&c->compiler);
    text_add(&c->compiler, ctx->gpus->jit.compiler);
    if (!text_ok(&c->compiler))
      code = error_memory(err, "the compiler's identity", c->compiler.length);
  }
  text_free(&kind);
  error_free(&why);
  return code;
}

static bool gives_memory_to_mpi(const struct op_context *ctx) {
  const char *wanted = env_value(ctx->env, ENV_MPI_GPU);
  if (comm_alone(ctx->comm) || strcmp(wanted, "off") == 0)
    return false;
  const bool able = ctx->comm->table->takes_gpu_memory(ctx->comm);
  if (strcmp(wanted, "on") == 0 && !able)
    log_line(ctx->log, LOG_INFO, "mpi",
             "OP2_MPI_GPU=on: MPI is given memory of GPUs, although it does not say that it takes it");
  return able || strcmp(wanted, "on") == 0;
}

static const struct mover mover = {.make = gpu_dat_make,
                                   .to_device = gpu_dat_to_device,
                                   .to_host = gpu_dat_to_host,
                                   .release = gpu_dat_release,
                                   .value_to_device = gpu_value_to_device,
                                   .value_to_host = gpu_value_to_host,
                                   .messages_new = gpu_messages_new,
                                   .messages_free = gpu_messages_free,
                                   .pack = gpu_pack_rows,
                                   .unpack = gpu_unpack_rows,
                                   .hand_over = gpu_hand_over,
                                   .handed_over = gpu_handed_over,
                                   .take_over = gpu_take_over,
                                   .pairs_new = gpu_messages_share,
                                   .pairs_free = gpu_pairs_free,
                                   .pairs_tell = gpu_pairs_tell,
                                   .pairs_await = gpu_pairs_await,
                                   .lend = gpu_dat_lend,
                                   .where = gpu_where,
                                   .give = gpu_give};

static int open_with(const struct gpu_driver *driver, struct op_context *ctx, struct error *err) {
  if (agree_on_success(ctx->agreement, backend_may_compile(ctx, err), err))
    return err->code;
  struct gpu *c = calloc(DEVICES_MOST, sizeof *c); /* the first one is used so far */
  ctx->backend_state = c;
  if (c)
    *c = (struct gpu){.driver = driver, .space = space_of_device(0), .counters = ctx->counters};
  int code = c ? open_own(ctx, c, err) : error_memory(err, "the backend of GPUs", DEVICES_MOST * sizeof *c);
  /* Ranks go on together or not at all. */
  code = agree_on_success(ctx->agreement, code, err);
  if (!code)
    code = agree_on_success(ctx->agreement, find_compiler(ctx, c, err), err);
  if (!code)
    code = gpu_pairs_ask(ctx, c, err);
  if (code) {
    backend_close(ctx);
    kind_close(ctx->gpus);
    ctx->gpus = NULL;
    return error_prefix(err, "OP2_BACKEND=%s cannot run here: ", driver->backend);
  }
  c->gpu_to_mpi = driver->module_global && gives_memory_to_mpi(ctx);
  ctx->mover = &mover;
  return OP_OK;
}

static void backend_drop(struct op_context *ctx, struct loop *loop) {
  gpu_loop_free(gpu_of(ctx, loop->space), loop->ready.backend_state);
  loop->ready.backend_state = NULL;
}

static int backend_variants(struct op_context *ctx, struct loop *loop, bool all, struct error *err) {
  struct gpu_loop *l = loop->ready.backend_state = calloc(1, sizeof *l);
  return l ? gpu_candidates(ctx, loop, l, all, err) : error_memory(err, "a loop's variants", sizeof *l);
}

static struct gpu_variant *variant_of(const struct loop *loop, int which) {
  return &((const struct gpu_loop *)loop->ready.backend_state)->variants[which];
}

static const char *backend_name(const struct loop *loop, int which) {
  return variant_of(loop, which)->name;
}

static bool backend_is_ready(const struct loop *loop, int which) {
  return variant_of(loop, which)->ready;
}

static void backend_unmake(struct op_context *ctx, struct loop *loop, int which) {
  const struct gpu_loop *l = loop->ready.backend_state;
  gpu_unmake(gpu_of(ctx, loop->space), &l->variants[which], &l->targets);
}

static const char *backend_device(const struct op_context *ctx) {
  return gpu_of(ctx, space_of_device(0))->device.name;
}

/* Generating, compiling and planning. */
static double backend_cost(const struct loop *loop, int which) {
  (void)loop, (void)which;
  return 0.1;
}

static void backend_target(const struct op_context *ctx, enum space space, struct text *out) {
  const struct gpu *c = gpu_of(ctx, space);
  text_addf(out, "%s %s", c->device.arch, c->device.name);
  if (*c->device.platform)
    text_addf(out, ", %s, %s", c->device.platform, c->device.driver);
}

static int backend_select(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct gpu *c = gpu_of(ctx, launch->loop->space);
  if (c->failed)
    return error_set(err, OP_ERR_DEVICE,
                     "loop %s: %s (%s) takes no more work since an earlier kernel failed; call op_exit "
                     "and start the program again",
                     launch->loop->name, c->device.label, c->device.name);
  for (int p = 0; p < launch->loop->ready.nparts; p++)
    launch_set_slots(launch, p, p == 0);
  return OP_OK;
}

static int backend_wait(struct op_context *ctx, struct error *err) {
  return gpu_wait(gpu_of(ctx, space_of_device(0)), err, "waiting for the loops so far");
}

/* Timed by events on the stream; the host waits for it. */
static int run_timed(struct op_context *ctx, struct launch *launch, struct gpu_variant *v, int part,
                     struct error *err) {
  struct gpu *c = gpu_of(ctx, launch->loop->space);
  double seconds = 0;
  int result = c->driver->time_begin(c->self), code = OP_OK;
  if (!result)
    code = gpu_launch_part(ctx, launch, v, part, c->landing, err);
  if (!result && !code)
    result = c->driver->time_end(c->self, &seconds);
  if (!result && !code)
    gpu_waited(c);
  launch->seconds += seconds;
  if (code)
    return code;
  return gpu_kernel_failed(c, result, launch->loop->name, v->name, "running the kernel", err);
}

static int backend_run(struct op_context *ctx, struct launch *launch, int part, struct error *err) {
  struct gpu_variant *v = variant_of(launch->loop, launch->variant);
  return launch->timed
             ? run_timed(ctx, launch, v, part, err)
             : gpu_launch_part(ctx, launch, v, part, gpu_of(ctx, launch->loop->space)->landing, err);
}

static int backend_finish(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  struct gpu_variant *v = variant_of(loop, launch->variant);
  int code = gpu_fetch_results(ctx, launch, v, err);
  /* Only a loop that is waited for can say how long it took. */
  if (!code && *env_value(ctx->env, ENV_TIMING))
    code = gpu_wait_for(gpu_of(ctx, loop->space), loop->name, v->name, err);
  return code;
}

/* ---- one row for each driver ---- */
#define GPU_BACKEND(name_, help_)                                                                            \
  static int open_##name_(struct op_context *ctx, struct error *err) {                                       \
    return open_with(&gpu_##name_, ctx, err);                                                                \
  }                                                                                                          \
  static void describe_##name_(struct op_context *ctx, struct text *out) {                                   \
    gpu_##name_.describe(ctx, out);                                                                          \
  }                                                                                                          \
  const struct backend backend_##name_ = {.name = #name_,                                                    \
                                          .help = help_,                                                     \
                                          .on_device = true,                                                 \
                                          .open = open_##name_,                                              \
                                          .close = backend_close,                                            \
                                          .enter = backend_enter,                                            \
                                          .variants = backend_variants,                                      \
                                          .name_of = backend_name,                                           \
                                          .is_ready = backend_is_ready,                                      \
                                          .plan = gpu_plan,                                                  \
                                          .code = gpu_code,                                                  \
                                          .unmake = backend_unmake,                                          \
                                          .cost = backend_cost,                                              \
                                          .times_itself = true,                                              \
                                          .may_wait = true,                                                  \
                                          .run_chain = gpu_run_chain,                                        \
                                          .hold = gpu_hold,                                                  \
                                          .expect = gpu_expect,                                              \
                                          .promise = gpu_promise,                                            \
                                          .bandwidth = gpu_bandwidth,                                        \
                                          .wait = backend_wait,                                              \
                                          .target = backend_target,                                          \
                                          .device = backend_device,                                          \
                                          .select = backend_select,                                          \
                                          .run = backend_run,                                                \
                                          .run_tasks = gpu_run_tasks,                                        \
                                          .finish = backend_finish,                                          \
                                          .drop = backend_drop,                                              \
                                          .describe = describe_##name_}

#ifdef OP2JIT_CUDA
GPU_BACKEND(cuda, "an NVIDIA GPU, by NVRTC and the driver");
#endif
#ifdef OP2JIT_HIP
GPU_BACKEND(hip, "an AMD GPU, by HIPRTC and the HIP library");
#endif
#ifdef OP2JIT_OPENCL
GPU_BACKEND(opencl, "a device of OpenCL 1.2, by its driver");
#endif
