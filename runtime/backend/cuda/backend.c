/* The table of the CUDA backend. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/code.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "cuda.h"
#include "jit/jit.h"
#include "jit/key/elf_note.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "ranks/kind.h"
#include "record/launch.h"
#include "services/services.h"

static struct nvrtc_places places(const struct op_context *ctx) {
  return (struct nvrtc_places){.named = env_value(ctx->env, ENV_NVRTC),
                               .cuda_home = ctx->env->cuda_home,
                               .home = ctx->env->home,
                               .virtual_env = ctx->env->virtual_env};
}

static void backend_close(struct op_context *ctx) {
  struct cuda *c = cuda_of(ctx);
  if (!c)
    return;
  const struct cuda_driver *d = &c->driver;
  if (c->context) {
    if (!c->failed)
      d->stream_wait(c->stream);
    cuda_rows_free(c);
    jit_close(c->jit);
    if (c->before)
      d->event_destroy(c->before);
    if (c->after)
      d->event_destroy(c->after);
    if (c->landing)
      d->host_free(c->landing);
    if (c->stream)
      d->stream_destroy(c->stream);
    d->context_release(c->device.handle);
  }
  if (c->driver.library)
    cuda_driver_close(&c->driver);
  nvrtc_close(c->nvrtc);
  text_free(&c->compiler);
  free(c);
  ctx->backend_state = NULL;
  ctx->mover = NULL;
}

static int start_device(struct op_context *ctx, struct cuda *c, struct error *err) {
  const struct cuda_driver *d = &c->driver;
  void *context = NULL;
  int code =
      cuda_device_choose(d, (int)env_number(ctx->env, ENV_DEVICE, -1), ctx->comm->node_rank, &c->device, err);
  if (code)
    return code;
  snprintf(c->arch, sizeof c->arch, "sm_%d", c->device.capability);
  int result = d->context_retain(&context, c->device.handle);
  c->context = !result;
  if (!result)
    result = d->context_set(context);
  if (!result)
    result = d->stream_create(&c->stream, 0);
  if (!result)
    result = d->event_create(&c->before, 0);
  if (!result)
    result = d->event_create(&c->after, 0);
  code = cuda_check(d, result, err, "starting GPU %d (%s)", c->device.ordinal, c->device.name);
  return code ? (err->code = OP_ERR_BACKEND) : OP_OK;
}

static int check_target(const struct op_context *ctx, const struct cuda *c, struct error *err) {
  int ptx = 0, target = nvrtc_target(c->nvrtc, c->arch, &ptx);
  if (!target)
    return error_set(err, OP_ERR_BACKEND,
                     "NVRTC %s (%s) cannot compile for GPU %d (%s, %s), which is too old for it; install an "
                     "older NVRTC, or "
                     "name one in OP2_NVRTC",
                     nvrtc_version(c->nvrtc), nvrtc_path(c->nvrtc), c->device.ordinal, c->device.name,
                     c->arch);
  if (ptx)
    log_line(ctx->log, LOG_INFO, "cuda",
             "NVRTC %s is older than GPU %d (%s): kernels are made as PTX of compute_%d, which the driver "
             "translates",
             nvrtc_version(c->nvrtc), c->device.ordinal, c->arch, target);
  return OP_OK;
}

static void add_nvrtc(const struct nvrtc_places *where, struct error *err) {
  struct text words = {0};
  int code = err->code;
  text_addf(&words, "%s. ", error_message(err));
  nvrtc_describe(where, &words);
  error_set(err, code, "%s", text_str(&words));
  text_free(&words);
}

/* What this process has of its own. */
static int open_own(struct op_context *ctx, struct cuda *c, struct error *err) {
  int code = cuda_driver_open(&c->driver, env_value(ctx->env, ENV_CUDA_DRIVER), err);
  if (!code)
    code = start_device(ctx, c, err);
  if (!code)
    code = context_plans(ctx, &c->plans, err);
  /* Who asks for it by name learns everything that is missing at once. */
  if (code && c->driver.library == NULL && env_given(ctx->env, ENV_BACKEND)) {
    const struct nvrtc_places where = places(ctx);
    add_nvrtc(&where, err);
  }
  return code;
}

static int open_compiler(struct op_context *ctx, struct cuda *c, struct error *err) {
  const struct nvrtc_places where = places(ctx);
  int code = nvrtc_open(&c->nvrtc, &where, err);
  if (!code)
    code = check_target(ctx, c, err);
  if (!code)
    code = cuda_identify(c, err);
  if (code) {
    nvrtc_close(c->nvrtc);
    c->nvrtc = NULL;
  }
  return code;
}

struct question {
  struct op_context *ctx;
  struct cuda *c;
  struct error *err;
};

static bool can_compile(void *self, struct text *compiler) {
  const struct question *q = self;
  if (open_compiler(q->ctx, q->c, q->err))
    return false;
  text_add(compiler, text_str(&q->c->compiler));
  return true;
}

/* Of the ranks with one kind of GPU one has the compiler open. */
static int find_compiler(struct op_context *ctx, struct cuda *c, struct error *err) {
  if (comm_alone(ctx->comm))
    return open_compiler(ctx, c, err);
  struct text kind = {0};
  struct error why = {0};
  struct question question = {.ctx = ctx, .c = c, .err = &why};
  text_addf(&kind, "GPU %s\n", c->arch);
  library_identity(&kind);
  int code = kind_open_asking(&ctx->gpus, ctx->comm, text_str(&kind), can_compile, &question, err);
  if (!code && !ctx->gpus->jit.compiler)
    code = error_copy(err, &why);
  if (!code && !c->nvrtc) {
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
             "OP2_MPI_GPU=on: MPI is given memory of GPUs, although it does not say "
             "that it takes it");
  return able || strcmp(wanted, "on") == 0;
}

static int backend_open(struct op_context *ctx, struct error *err) {
  if (agree_on_success(ctx->agreement, backend_may_compile(ctx, err), err))
    return err->code;
  struct cuda *c = calloc(1, sizeof *c);
  ctx->backend_state = c;
  int code = c ? open_own(ctx, c, err) : error_memory(err, "the CUDA backend", sizeof *c);
  /* Ranks go on together or not at all. */
  code = agree_on_success(ctx->agreement, code, err);
  if (!code)
    code = agree_on_success(ctx->agreement, find_compiler(ctx, c, err), err);
  if (code) {
    backend_close(ctx);
    kind_close(ctx->gpus);
    ctx->gpus = NULL;
    return error_prefix(err, "OP2_BACKEND=cuda cannot run here: ");
  }
  c->gpu_to_mpi = gives_memory_to_mpi(ctx);
  ctx->mover = &cuda_mover;
  return OP_OK;
}

static void backend_drop(struct op_context *ctx, struct loop *loop) {
  cuda_loop_free(cuda_of(ctx), loop->backend_state);
  loop->backend_state = NULL;
}

static int backend_variants(struct op_context *ctx, struct loop *loop, bool all, struct error *err) {
  struct cuda_loop *l = loop->backend_state = calloc(1, sizeof *l);
  return l ? cuda_candidates(ctx, loop, l, all, err) : error_memory(err, "a loop's variants", sizeof *l);
}

static struct cuda_variant *variant_of(const struct loop *loop, int which) {
  return &((const struct cuda_loop *)loop->backend_state)->variants[which];
}

static const char *backend_name(const struct loop *loop, int which) {
  return variant_of(loop, which)->name;
}

static bool backend_is_ready(const struct loop *loop, int which) {
  return variant_of(loop, which)->ready;
}

static void backend_unmake(struct op_context *ctx, struct loop *loop, int which) {
  const struct cuda_loop *l = loop->backend_state;
  cuda_unmake(cuda_of(ctx), &l->variants[which], &l->targets);
}

/* Generating, compiling and planning. */
static double backend_cost(const struct loop *loop, int which) {
  (void)loop, (void)which;
  return 0.1;
}

static void backend_target(const struct op_context *ctx, struct text *out) {
  const struct cuda *c = cuda_of(ctx);
  text_addf(out, "%s %s", c->arch, c->device.name);
}

static int backend_select(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct cuda *c = cuda_of(ctx);
  if (c->failed)
    return error_set(err, OP_ERR_DEVICE,
                     "loop %s: GPU %d (%s) takes no more work since an earlier kernel failed; call op_exit "
                     "and start again",
                     launch->loop->name, c->device.ordinal, c->device.name);
  for (int p = 0; p < launch->loop->nparts; p++)
    launch_set_slots(launch, p, p == 0);
  return OP_OK;
}

/* Timed by events on the stream; the host waits for it. */
static int run_timed(struct op_context *ctx, struct launch *launch, struct cuda_variant *v, int part,
                     struct error *err) {
  struct cuda *c = cuda_of(ctx);
  float milliseconds = 0;
  int result = c->driver.event_record(c->before, c->stream), code = OP_OK;
  if (!result)
    code = cuda_launch_part(ctx, launch, v, part, err);
  if (!result && !code)
    result = c->driver.event_record(c->after, c->stream);
  if (!result && !code)
    result = c->driver.event_wait(c->after);
  if (!result && !code)
    result = c->driver.event_elapsed(&milliseconds, c->before, c->after);
  c->failed |= result != 0;
  if (!result && !code)
    cuda_waited(c);
  launch->seconds += 1e-3 * (double)milliseconds;
  return code ? code
              : cuda_failed(c, result, err, "loop %s, variant %s, GPU %d: running the kernel",
                            launch->loop->name, v->name, c->device.ordinal);
}

static int backend_run(struct op_context *ctx, struct launch *launch, int part, struct error *err) {
  struct cuda_variant *v = variant_of(launch->loop, launch->variant);
  return launch->timed ? run_timed(ctx, launch, v, part, err) : cuda_launch_part(ctx, launch, v, part, err);
}

static int backend_finish(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  struct cuda_variant *v = variant_of(loop, launch->variant);
  int code = cuda_fetch_results(ctx, launch, v, err);
  /* Only a loop that is waited for can say how long it took. */
  if (!code && *env_value(ctx->env, ENV_TIMING))
    code = cuda_wait(cuda_of(ctx), err, "loop %s, variant %s, GPU %d: running the kernel", loop->name,
                     v->name, cuda_of(ctx)->device.ordinal);
  return code;
}

static void backend_describe(struct op_context *ctx, struct text *out) {
  const struct nvrtc_places where = places(ctx);
  cuda_driver_describe(env_value(ctx->env, ENV_CUDA_DRIVER), out);
  text_add(out, "; ");
  nvrtc_describe(&where, out);
}

const struct backend backend_cuda = {.name = "cuda",
                                     .help = "an NVIDIA GPU, by NVRTC and the driver",
                                     .space = SPACE_DEVICE,
                                     .open = backend_open,
                                     .close = backend_close,
                                     .variants = backend_variants,
                                     .name_of = backend_name,
                                     .is_ready = backend_is_ready,
                                     .plan = cuda_plan,
                                     .code = cuda_code,
                                     .unmake = backend_unmake,
                                     .cost = backend_cost,
                                     .times_itself = true,
                                     .target = backend_target,
                                     .select = backend_select,
                                     .run = backend_run,
                                     .finish = backend_finish,
                                     .drop = backend_drop,
                                     .describe = backend_describe};
