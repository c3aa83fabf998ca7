/* OpenCL as a row of the table of drivers. An address is a buffer: nothing is added to one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/gpu.h"
#include "backend/gpu/log.h"
#include "backend/gpu/opencl/driver.h"
#include "context/context.h"
#include "context/env.h"
#include "include/op2jit.h"
#include "ranks/comm.h"

enum {
  PROFILING = 2,
  KERNEL_GROUP = 0x11B0,
  EVENT_START = 0x1282,
  EVENT_END = 0x1283,
  INVALID_BUFFER_SIZE = -61,
  OUT_OF_RESOURCES = -5
};

/* ---- opening ---- */
static void forget_events(struct opencl *cl) {
  if (cl->first)
    cl->driver.event_free(cl->first);
  if (cl->last)
    cl->driver.event_free(cl->last);
  cl->first = cl->last = NULL;
}

static void table_close(struct gpu *c) {
  struct opencl *cl = c->self;
  forget_events(cl);
  if (cl->queue)
    cl->driver.queue_free(cl->queue);
  if (cl->context)
    cl->driver.context_free(cl->context);
  free(cl); /* drivers keep threads: the library stays */
  c->self = NULL;
}

static void tell_device(const struct opencl_choice *from, struct gpu_device *to) {
  *to = (struct gpu_device){.ordinal = from->device_number,
                            .max_threads = from->group > 1024 ? 1024 : (int)from->group,
                            .width = 1,
                            .lanes = from->lanes,
                            .shared_usual = (int)from->local,
                            .shared_most = from->local > INT32_MAX ? INT32_MAX : (int)from->local,
                            .is_cpu = from->is_cpu,
                            .no_double = !from->has_double,
                            .no_tickets = !from->has_tickets,
                            .far_host = !from->shares,
                            .no_atomics = !from->has_atomics};
  snprintf(to->label, sizeof to->label, "OpenCL device %d:%d", from->platform_number, from->device_number);
  snprintf(to->name, sizeof to->name, "%s", from->device_name);
  snprintf(to->arch, sizeof to->arch, "%s", from->device_version);
  snprintf(to->platform, sizeof to->platform, "%s, %s", from->platform_name, from->platform_version);
  snprintf(to->driver, sizeof to->driver, "%s", from->driver_version);
}

static int start_device(struct opencl *cl, struct error *err) {
  const struct opencl_choice *c = &cl->choice;
  int code = 0;
  cl->context = cl->driver.context_new(NULL, 1, &c->device, NULL, NULL, &code);
  if (!code)
    cl->queue = cl->driver.queue_new(cl->context, c->device, PROFILING, &code);
  return code ? error_set(err, OP_ERR_BACKEND, "starting OpenCL device %d:%d (%s) failed: %s (%d)",
                          c->platform_number, c->device_number, c->device_name, opencl_code(code), code)
              : OP_OK;
}

static int table_open(struct gpu *c, struct op_context *ctx, struct error *err) {
  struct opencl *cl = c->self = calloc(1, sizeof *cl);
  if (!cl)
    return error_memory(err, "OpenCL", sizeof *cl);
  int code = opencl_driver_open(&cl->driver, env_value(ctx->env, ENV_OPENCL), err);
  if (!code)
    code =
        opencl_choose(&cl->driver, env_value(ctx->env, ENV_DEVICE), ctx->comm->node_rank, &cl->choice, err);
  if (!code)
    code = start_device(cl, err);
  if (!code)
    tell_device(&cl->choice, &c->device);
  return code;
}

/* The driver is the compiler: platform, device and its version are columns of keys. */
static int table_open_compiler(struct gpu *c, struct op_context *ctx, struct error *err) {
  const struct opencl_choice *choice = &((const struct opencl *)c->self)->choice;
  (void)ctx;
  text_addf(&c->compiler, "opencl %s, %s", choice->platform_name, opencl_standard(choice));
  text_add(&c->compiler, choice->has_tickets ? ", tickets" : "");
  if (choice->lanes)
    text_addf(&c->compiler, " with sub-groups of %d%s", choice->lanes,
              choice->are_sized ? ", asked for" : "");
  return text_ok(&c->compiler) ? OP_OK : error_memory(err, "the compiler's identity", c->compiler.length);
}

static void table_describe(struct op_context *ctx, struct text *out) {
  opencl_describe(env_value(ctx->env, ENV_OPENCL), out);
}

static int table_check(void *self, int code, struct error *err, const char *doing) {
  (void)self;
  if (!code)
    return OP_OK;
  const int kind = code == OPENCL_OUT_OF_MEMORY ? OP_ERR_MEMORY : OP_ERR_DEVICE;
  return error_set(err, kind, "%s failed: %s (%d)", doing, opencl_code(code), code);
}

static bool table_is_of_kernel(int code) {
  return code == OUT_OF_RESOURCES || code == -14 || code == -36;
}

/* ---- memory ---- */
static opencl_object buffer_of(gpu_address at) {
  return (opencl_object)(uintptr_t)at; // NOLINT
}

static int table_memory_info(void *self, size_t *left, size_t *total) {
  const struct opencl *cl = self;
  *total = cl->choice.memory;
  *left = cl->used < *total ? *total - cl->used : 0;
  return 0;
}

static int table_memory_alloc(void *self, gpu_address *out, size_t bytes) {
  struct opencl *cl = self;
  int code = 0;
  opencl_object buffer = cl->driver.buffer_new(cl->context, 1, bytes, NULL, &code);
  *out = code ? 0 : (gpu_address)(uintptr_t)buffer;
  return code == INVALID_BUFFER_SIZE || code == OUT_OF_RESOURCES ? OPENCL_OUT_OF_MEMORY : code;
}

static int table_memory_free(void *self, gpu_address at) {
  return ((struct opencl *)self)->driver.buffer_free(buffer_of(at));
}

/* Memory of the host. On a device that shares memory, kernels reach it, too. */
static void *host_memory(const struct opencl *cl, size_t bytes) {
  enum { READ_AND_WRITE = 1, WITHOUT_MAPS = 1 << 10 };
  if (!cl->choice.shares)
    return malloc(bytes);
  return cl->driver.shared_new(cl->context, READ_AND_WRITE | WITHOUT_MAPS, bytes, 0);
}

/* The memory is freed when no kernel can write there. */
static void free_host_memory(const struct opencl *cl, void *memory) {
  if (cl->choice.shares && memory) {
    cl->driver.finish(cl->queue);
    cl->driver.shared_free(cl->context, memory);
  } else {
    free(memory);
  }
}

static int table_host_alloc(void *self, void **out, size_t bytes) {
  struct opencl *cl = self;
  struct opencl_host *memory = malloc(sizeof *memory);
  const size_t room = bytes ? bytes : 1;
  *out = host_memory(cl, room);
  if (!memory || !*out) {
    free(memory);
    free_host_memory(cl, *out);
    return -6;
  }
  *memory = (struct opencl_host){.at = *out, .bytes = room, .next = cl->host};
  cl->host = memory;
  return 0;
}

static int table_host_free(void *self, void *p) {
  struct opencl *cl = self;
  for (struct opencl_host **at = &cl->host; *at; at = &(*at)->next)
    if ((*at)->at == p) {
      struct opencl_host *gone = *at;
      *at = gone->next;
      free(gone);
      break;
    }
  free_host_memory(cl, p);
  return 0;
}

/* Whoever has host_alloc's memory waits before it changes. */
static bool stays(const struct opencl *cl, const void *from) {
  for (const struct opencl_host *h = cl->host; h; h = h->next)
    if (h->at == from)
      return true;
  return false;
}

static int table_part_in(void *self, gpu_address to, size_t at, const void *from, size_t bytes) {
  const struct opencl *cl = self;
  return bytes ? cl->driver.write(cl->queue, buffer_of(to), !stays(cl, from), at, bytes, from, 0, NULL, NULL)
               : 0;
}

static int table_copy_in(void *self, gpu_address to, const void *from, size_t bytes) {
  return table_part_in(self, to, 0, from, bytes);
}

/* All who ask for it wait for the device before they look. */
static int table_part_out(void *self, void *to, gpu_address from, size_t at, size_t bytes) {
  const struct opencl *cl = self;
  return bytes ? cl->driver.read(cl->queue, buffer_of(from), 0, at, bytes, to, 0, NULL, NULL) : 0;
}

static int table_copy_out(void *self, void *to, gpu_address from, size_t bytes) {
  return table_part_out(self, to, from, 0, bytes);
}

/* ---- programs: a program with the kernels that were asked for ---- */
struct program {
  opencl_object program;
  struct program_kernel {
    char name[80];
    opencl_object kernel;
  } * kernels;
  int nkernels;
};

static int table_module_unload(void *self, gpu_module module) {
  const struct opencl *cl = self;
  struct program *p = module;
  for (int i = 0; i < p->nkernels; i++)
    cl->driver.kernel_free(p->kernels[i].kernel);
  if (p->program)
    cl->driver.program_free(p->program);
  free(p->kernels);
  free(p);
  return 0;
}

static int table_module_load(void *self, gpu_module *out, const void *binary, size_t size) {
  const struct opencl *cl = self;
  const unsigned char *bytes = binary;
  int each = 0, code = 0;
  struct program *p = calloc(1, sizeof *p);
  if (!p)
    return -6;
  p->program = cl->driver.program_binary(cl->context, 1, &cl->choice.device, &size, &bytes, &each, &code);
  if (!code)
    code = each;
  if (!code)
    code = cl->driver.program_build(p->program, 1, &cl->choice.device, "", NULL, NULL);
  if (code)
    table_module_unload(self, p);
  else
    *out = p;
  return code;
}

static int table_module_function(void *self, gpu_function *out, gpu_module module, const char *name) {
  const struct opencl *cl = self;
  struct program *p = module;
  int code = 0;
  for (int i = 0; i < p->nkernels; i++)
    if (strcmp(p->kernels[i].name, name) == 0) {
      *out = p->kernels[i].kernel;
      return 0;
    }
  struct program_kernel *kernels = realloc(p->kernels, ((size_t)p->nkernels + 1) * sizeof *kernels);
  if (!kernels)
    return -6;
  p->kernels = kernels;
  opencl_object kernel = cl->driver.kernel_new(p->program, name, &code);
  if (code)
    return code;
  snprintf(kernels[p->nkernels].name, sizeof kernels->name, "%s", name);
  kernels[p->nkernels++].kernel = kernel;
  *out = kernel;
  return 0;
}

static int table_function_threads(void *self, gpu_function function, int *most) {
  const struct opencl *cl = self;
  size_t group = 0;
  const int code =
      cl->driver.kernel_group(function, cl->choice.device, KERNEL_GROUP, sizeof group, &group, NULL);
  *most = group > INT32_MAX ? INT32_MAX : (int)group;
  return code;
}

/* OpenCL promises nothing about groups that wait for others; one on each unit runs wherever groups run at all. */
static int table_function_groups(void *self, gpu_function function, int threads, int *groups) {
  const struct opencl *cl = self;
  (void)function, (void)threads;
  *groups = cl->choice.units > INT32_MAX ? INT32_MAX : (int)cl->choice.units;
  return 0;
}

/* An address within host_alloc's memory: all others are buffers. */
static bool is_shared(const struct opencl *cl, gpu_address at) {
  for (const struct opencl_host *h = cl->choice.shares ? cl->host : NULL; h; h = h->next)
    if (at >= (uintptr_t)h->at && at < (uintptr_t)h->at + h->bytes)
      return true;
  return false;
}

static int set_arguments(const struct opencl *cl, opencl_object kernel, unsigned shared, void **values,
                         const struct gpu_sizes *sizes) {
  int code = 0;
  for (int i = 0; !code && i < sizes->count; i++) {
    opencl_object buffer = NULL;
    if (sizes->bytes[i]) {
      code = cl->driver.kernel_argument(kernel, (unsigned)i, (size_t)sizes->bytes[i], values[i]);
      continue;
    }
    gpu_address at;
    memcpy(&at, values[i], sizeof at);
    buffer = buffer_of(at);
    code = is_shared(cl, at) ? cl->driver.shared_argument(kernel, (unsigned)i, (const void *)(uintptr_t)at)
                             : cl->driver.kernel_argument(kernel, (unsigned)i, sizeof buffer, &buffer);
  }
  if (!code && shared)
    code = cl->driver.kernel_argument(kernel, (unsigned)sizes->count, shared, NULL);
  return code;
}

static int table_launch(void *self, gpu_function function, unsigned blocks, unsigned threads, unsigned shared,
                        void **values, const struct gpu_sizes *sizes) {
  struct opencl *cl = self;
  const size_t local = threads, global = (size_t)blocks * threads;
  opencl_object event = NULL;
  int code = set_arguments(cl, function, shared, values, sizes);
  if (!code)
    code = cl->driver.run(cl->queue, function, 1, NULL, &global, &local, 0, NULL, cl->timing ? &event : NULL);
  if (event && !cl->first) {
    cl->first = event;
  } else if (event) {
    if (cl->last)
      cl->driver.event_free(cl->last);
    cl->last = event;
  }
  return code ? code : cl->driver.flush(cl->queue);
}

/* ---- waiting and time ---- */
static int table_wait(void *self) {
  const struct opencl *cl = self;
  return cl->driver.finish(cl->queue);
}

static int table_time_begin(void *self) {
  ((struct opencl *)self)->timing = true;
  return 0;
}

static int table_time_end(void *self, double *seconds) {
  struct opencl *cl = self;
  unsigned long long start = 0, end = 0;
  int code = cl->driver.finish(cl->queue);
  cl->timing = false;
  *seconds = 0;
  if (!code && cl->first)
    code = cl->driver.event_time(cl->first, EVENT_START, sizeof start, &start, NULL);
  if (!code && cl->first)
    code = cl->driver.event_time(cl->last ? cl->last : cl->first, EVENT_END, sizeof end, &end, NULL);
  if (!code)
    *seconds = 1e-9 * (double)(end - start);
  forget_events(cl);
  return code;
}

const struct gpu_driver gpu_opencl = {.backend = "opencl",
                                      .dialect = GPU_DIALECT_OPENCL,
                                      .out_of_memory = OPENCL_OUT_OF_MEMORY,
                                      .open = table_open,
                                      .close = table_close,
                                      .open_compiler = table_open_compiler,
                                      .describe = table_describe,
                                      .compile = opencl_compile,
                                      .release = gpu_log_release,
                                      .check = table_check,
                                      .is_of_kernel = table_is_of_kernel,
                                      .memory_info = table_memory_info,
                                      .memory_alloc = table_memory_alloc,
                                      .memory_free = table_memory_free,
                                      .host_alloc = table_host_alloc,
                                      .host_free = table_host_free,
                                      .copy_in = table_copy_in,
                                      .copy_out = table_copy_out,
                                      .part_in = table_part_in,
                                      .part_out = table_part_out,
                                      .module_load = table_module_load,
                                      .module_unload = table_module_unload,
                                      .module_function = table_module_function,
                                      .function_threads = table_function_threads,
                                      .function_groups = table_function_groups,
                                      .launch = table_launch,
                                      .wait = table_wait,
                                      .time_begin = table_time_begin,
                                      .time_end = table_time_end};
