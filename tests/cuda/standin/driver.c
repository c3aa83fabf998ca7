/* The driver's entry points, as far as op2jit uses them: devices, memory, programs, launches, streams, events.
 * Work given to streams is done as late as is allowed: when somebody waits. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "standin.h"

#define EXPORT __attribute__((visibility("default")))

typedef unsigned long long address;

struct standin_settings standin_settings;

static struct {
  bool ready;
  int error;      /* sticky: a kernel failed */
  int context_of; /* device + 1 of the current context, 0: none */
  long calls;
} driver;

/* ---- settings ---- */
static long long number(const char *name, long long usual) {
  const char *s = getenv(name);
  return s && *s ? strtoll(s, NULL, 0) : usual;
}

static void read_settings(void) {
  struct standin_settings *s = &standin_settings;
  const char *mode = getenv("STANDIN_MODE"), *fail = getenv("STANDIN_FAIL");
  s->checked = mode && strcmp(mode, "checked") == 0;
  s->seed = (unsigned long long)number("STANDIN_SEED", 0);
  s->memory = (size_t)number("STANDIN_MEMORY", 1LL << 30);
  s->devices = (int)number("STANDIN_DEVICES", 1);
  s->capability = (int)number("STANDIN_CAPABILITY", 90);
  s->driver_version = (int)number("STANDIN_DRIVER", 13000);
  s->fail_call[0] = 0;
  if (fail && sscanf(fail, "%31[^:]:%ld:%d", s->fail_call, &s->fail_at, &s->fail_code) != 3)
    s->fail_call[0] = 0;
}

void standin_seed(unsigned long long seed) {
  char text[32];
  snprintf(text, sizeof text, "%llu", seed);
  setenv("STANDIN_SEED", text, 1); /* cuInit reads it again */
  standin_settings.seed = seed;
}

/* Does every entry point's first work: the call may be one that is to fail. */
static int enter(const char *call) {
  if (!driver.ready)
    return CODE_NOT_INITIALIZED;
  if (driver.error)
    return driver.error;
  if (strcmp(call, standin_settings.fail_call) == 0 && --standin_settings.fail_at == 0)
    return standin_settings.fail_code;
  return CODE_OK;
}
static int enter_context(const char *call) {
  int code = enter(call);
  return code ? code : driver.context_of ? CODE_OK : CODE_INVALID_CONTEXT;
}
#define ENTER()                                                                                              \
  do {                                                                                                       \
    int code_ = enter_context(__func__);                                                                     \
    if (code_)                                                                                               \
      return code_;                                                                                          \
  } while (0)

/* ---- queue ---- */
enum work_kind { WORK_COPY, WORK_SET, WORK_LAUNCH, WORK_EVENT };
struct event {
  double seconds;
  bool recorded, done;
};
struct work {
  enum work_kind kind;
  uintptr_t to, from;
  size_t bytes;
  void *staged;
  unsigned char value;
  struct launch launch;
  void **parameters;
  struct event *event;
  struct work *next;
};
static struct { struct work *first, **last; } queue = {.last = &queue.first};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void do_work(struct work *w) {
  switch (w->kind) {
  case WORK_COPY:
    memcpy((void *)w->to, w->staged ? w->staged : (void *)w->from, w->bytes);
    memory_define(w->to, w->bytes);
    break;
  case WORK_SET:
    memset((void *)w->to, w->value, w->bytes);
    memory_define(w->to, w->bytes);
    break;
  case WORK_LAUNCH: driver.error = blocks_run(&w->launch); break;
  case WORK_EVENT:
    w->event->seconds = now();
    w->event->done = true;
    break;
  }
}

static void work_free(struct work *w) {
  for (int i = 0; w->parameters && i < w->launch.function->kernel->nparameters; i++)
    free(w->parameters[i]);
  free(w->parameters);
  free(w->staged);
  free(w);
}

static int drain(void) {
  while (queue.first) {
    struct work *w = queue.first;
    queue.first = w->next;
    if (!queue.first)
      queue.last = &queue.first;
    if (!driver.error)
      do_work(w);
    else if (w->kind == WORK_EVENT)
      w->event->done = true;
    work_free(w);
  }
  return driver.error;
}

static struct work *add(enum work_kind kind) {
  struct work *w = calloc(1, sizeof *w);
  if (!w)
    return NULL;
  w->kind = kind;
  *queue.last = w;
  queue.last = &w->next;
  return w;
}

/* ---- life, devices, contexts ---- */
EXPORT int cuInit(unsigned flags) {
  read_settings();
  driver.ready = true;
  if (strcmp(standin_settings.fail_call, "cuInit") == 0)
    return standin_settings.fail_code;
  return flags ? CODE_INVALID_VALUE : standin_settings.devices ? CODE_OK : CODE_NO_DEVICE;
}
EXPORT int cuDriverGetVersion(int *version) {
  *version = driver.ready ? standin_settings.driver_version : (int)number("STANDIN_DRIVER", 13000);
  return CODE_OK;
}
EXPORT int cuDeviceGetCount(int *count) {
  int code = enter(__func__);
  *count = code ? 0 : standin_settings.devices;
  return code;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
  int code = enter(__func__);
  if (!code && (ordinal < 0 || ordinal >= standin_settings.devices))
    code = CODE_INVALID_DEVICE;
  *device = ordinal;
  return code;
}
EXPORT int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "stand-in %d", device);
  return enter(__func__);
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  *bytes = standin_settings.memory;
  return enter(__func__);
}
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 1: *value = 1024; break;                              /* threads per block */
  case 8: *value = 49152; break;                             /* shared memory per block */
  case 10: *value = 32; break;                               /* warp */
  case 16: *value = 8; break;                                /* multiprocessors */
  case 39: *value = 2048; break;                             /* threads per multiprocessor */
  case 75: *value = standin_settings.capability / 10; break; /* major */
  case 76: *value = standin_settings.capability % 10; break; /* minor */
  case 81: *value = 102400; break;                           /* shared memory per multiprocessor */
  case 97:
    *value = standin_settings.capability >= 90 ? 101376 : 65536;
    break; /* opt-in shared memory per block */
  default: *value = 0; return CODE_INVALID_VALUE;
  }
  return enter(__func__);
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  int code = enter(__func__);
  *context = (void *)(uintptr_t)(device + 1);
  return code;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  drain();
  driver.error = CODE_OK;
  driver.context_of = 0;
  return CODE_OK;
}
EXPORT int cuCtxSetCurrent(void *context) {
  driver.context_of = (int)(uintptr_t)context;
  return driver.ready ? CODE_OK : CODE_NOT_INITIALIZED;
}
EXPORT int cuCtxSynchronize(void) {
  ENTER();
  return drain();
}

/* ---- memory ---- */
EXPORT int cuMemGetInfo_v2(size_t *left, size_t *total) {
  ENTER();
  *total = standin_settings.memory;
  *left = standin_settings.memory - memory_used();
  return CODE_OK;
}
EXPORT int cuMemAlloc_v2(address *out, size_t bytes) {
  ENTER();
  struct region *r = bytes ? memory_new(bytes, false) : NULL;
  if (!r)
    return bytes ? CODE_OUT_OF_MEMORY : CODE_INVALID_VALUE;
  *out = r->base | STANDIN_TAG;
  return CODE_OK;
}
EXPORT int cuMemFree_v2(address p) {
  drain();
  return !p || memory_free((uintptr_t)(p & ~STANDIN_TAG), false) ? CODE_OK : CODE_INVALID_VALUE;
}
EXPORT int cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
  (void)flags;
  ENTER();
  struct region *r = memory_new(bytes, true);
  if (!r)
    return CODE_OUT_OF_MEMORY;
  *out = (void *)r->base;
  return CODE_OK;
}
EXPORT int cuMemFreeHost(void *p) {
  drain();
  return !p || memory_free((uintptr_t)p, true) ? CODE_OK : CODE_INVALID_VALUE;
}

/* Variables of programs that the host has asked for. */
enum { MAX_VARIABLES = 256 };
static struct {
  uintptr_t base;
  size_t bytes;
} variables[MAX_VARIABLES];
static int nvariables;

static bool in_variable(uintptr_t a, size_t bytes) {
  for (int i = 0; i < nvariables; i++)
    if (a >= variables[i].base && bytes <= variables[i].bytes &&
        a - variables[i].base <= variables[i].bytes - bytes)
      return true;
  return false;
}

/* The range is inside one live allocation of the device: its address without tag, or 0. */
static uintptr_t device_range(address p, size_t bytes) {
  uintptr_t a = (uintptr_t)(p & ~STANDIN_TAG);
  if (p & STANDIN_TAG && in_variable(a, bytes))
    return a;
  struct region *r = p & STANDIN_TAG ? memory_find(a) : NULL;
  return r && r->live && bytes <= r->bytes && a - r->base <= r->bytes - bytes ? a : 0;
}
static bool pinned(const void *p) {
  struct region *r = memory_find((uintptr_t)p);
  return r && r->pinned && r->live;
}

static int copy_in(address to, const void *from, size_t bytes, bool wait) {
  uintptr_t a = device_range(to, bytes);
  if (!bytes)
    return CODE_OK;
  if (!a || !from || (uintptr_t)from & STANDIN_TAG)
    return CODE_INVALID_VALUE;
  struct work *w = add(WORK_COPY);
  if (!w)
    return CODE_OUT_OF_MEMORY;
  w->to = a, w->from = (uintptr_t)from, w->bytes = bytes;
  if (!wait && !pinned(from) && (w->staged = malloc(bytes)))
    memcpy(w->staged, from, bytes);
  return wait ? drain() : CODE_OK;
}
static int copy_out(void *to, address from, size_t bytes, bool wait) {
  uintptr_t a = device_range(from, bytes);
  if (!bytes)
    return CODE_OK;
  if (!a || !to || (uintptr_t)to & STANDIN_TAG)
    return CODE_INVALID_VALUE;
  struct work *w = add(WORK_COPY);
  if (!w)
    return CODE_OUT_OF_MEMORY;
  w->to = (uintptr_t)to, w->from = a, w->bytes = bytes;
  return wait || !pinned(to) ? drain() : CODE_OK;
}
EXPORT int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes) {
  ENTER();
  return copy_in(to, from, bytes, true);
}
EXPORT int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream) {
  (void)stream;
  ENTER();
  return copy_in(to, from, bytes, false);
}
EXPORT int cuMemcpyDtoH_v2(void *to, address from, size_t bytes) {
  ENTER();
  return copy_out(to, from, bytes, true);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream) {
  (void)stream;
  ENTER();
  return copy_out(to, from, bytes, false);
}
EXPORT int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream) {
  (void)stream;
  ENTER();
  uintptr_t a = device_range(to, bytes), b = device_range(from, bytes);
  struct work *w = a && b ? add(WORK_COPY) : NULL;
  if (!w)
    return CODE_INVALID_VALUE;
  w->to = a, w->from = b, w->bytes = bytes;
  return CODE_OK;
}
EXPORT int cuMemsetD8Async(address to, unsigned char value, size_t bytes, void *stream) {
  (void)stream;
  ENTER();
  uintptr_t a = device_range(to, bytes);
  struct work *w = a ? add(WORK_SET) : NULL;
  if (!w)
    return CODE_INVALID_VALUE;
  w->to = a, w->bytes = bytes, w->value = value;
  return CODE_OK;
}

/* ---- programs ---- */
struct image {
  uintptr_t first, last;
  uintptr_t base;
};
static int find_image(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  struct image *image = argument;
  if (info->dlpi_addr != image->base)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD) {
      uintptr_t first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      if (!image->first || first < image->first)
        image->first = first;
      if (first + info->dlpi_phdr[i].p_memsz > image->last)
        image->last = first + info->dlpi_phdr[i].p_memsz;
    }
  return 1;
}

static int open_program(struct standin_module *m, const char *elf, size_t size) {
  char path[64];
  m->file = memfd_create("standin-program", 0);
  if (m->file < 0 || write(m->file, elf, size) != (ssize_t)size)
    return CODE_OUT_OF_MEMORY;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), m->file);
  m->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!m->handle) {
    fprintf(stderr, "standin: %s\n", dlerror());
    return CODE_INVALID_IMAGE;
  }
  m->program = dlsym(m->handle, "standin_program");
  struct link_map *map = NULL;
  if (!m->program || dlinfo(m->handle, RTLD_DI_LINKMAP, &map) != 0)
    return CODE_INVALID_IMAGE;
  m->offset = map->l_addr;
  struct image image = {.base = map->l_addr};
  dl_iterate_phdr(find_image, &image);
  m->first = image.first, m->last = image.last;
  extern struct standin_machine standin_machine;
  *m->program->machine = &standin_machine;
  return CODE_OK;
}

static void close_program(struct standin_module *m) {
  if (m->handle)
    dlclose(m->handle);
  if (m->file >= 0)
    close(m->file);
  free(m);
}

/* An image is a line "STANDIN CUBIN 90 12345\n" or "STANDIN PTX 90 12345\n" and that many bytes of a program. */
static int load(void **module, const char *image) {
  char kind[8];
  int arch;
  long size;
  if (sscanf(image, "STANDIN %7s %d %ld", kind, &arch, &size) != 3)
    return CODE_INVALID_IMAGE;
  const char *elf = strchr(image, '\n') + 1;
  int have = standin_settings.capability;
  bool fits = strcmp(kind, "CUBIN") == 0 ? arch / 10 == have / 10 && arch <= have : arch <= have;
  if (!fits)
    return CODE_NO_BINARY_FOR_GPU;
  struct standin_module *m = calloc(1, sizeof *m);
  if (!m)
    return CODE_OUT_OF_MEMORY;
  m->file = -1;
  int code = open_program(m, elf, (size_t)size);
  if (code)
    close_program(m);
  else
    *module = m;
  return code;
}
EXPORT int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options, void **values) {
  (void)n, (void)options, (void)values;
  ENTER();
  return load(module, image);
}
EXPORT int cuModuleUnload(void *module) {
  drain();
  close_program(module);
  return CODE_OK;
}
EXPORT int cuModuleGetFunction(void **function, void *module, const char *name) {
  ENTER();
  struct standin_module *m = module;
  for (int i = 0; i < m->program->nkernels; i++)
    if (strcmp(m->program->kernels[i].name, name) == 0) {
      struct standin_function *f = calloc(1, sizeof *f); /* lives as long as the process: a test's */
      if (!f)
        return CODE_OUT_OF_MEMORY;
      *f = (struct standin_function){.module = m, .kernel = &m->program->kernels[i], .dynamic_limit = 49152};
      *function = f;
      return CODE_OK;
    }
  return CODE_NOT_FOUND;
}
/* The size of a variable, from the program's own symbol table. */
EXPORT int cuModuleGetGlobal_v2(address *out, size_t *bytes, void *module, const char *name) {
  ENTER();
  struct standin_module *m = module;
  void *p = dlsym(m->handle, name);
  Dl_info info;
  ElfW(Sym) *symbol = NULL;
  if (!p || !dladdr1(p, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
    return CODE_NOT_FOUND;
  *bytes = symbol->st_size;
  variables[nvariables % MAX_VARIABLES].base = (uintptr_t)p;
  variables[nvariables % MAX_VARIABLES].bytes = *bytes;
  nvariables += nvariables < MAX_VARIABLES;
  *out = (uintptr_t)p | STANDIN_TAG;
  return CODE_OK;
}
EXPORT int cuFuncGetAttribute(int *value, int attribute, void *function) {
  struct standin_function *f = function;
  const struct standin_program *p = f->module->program;
  switch (attribute) {
  case 0: *value = f->kernel->launch_bound ? f->kernel->launch_bound : 1024; break;
  case 1: *value = (int)(p->shared_last - p->shared_first); break;
  case 4: *value = 40; break;
  default: *value = 0;
  }
  return CODE_OK;
}
EXPORT int cuFuncSetAttribute(void *function, int attribute, int value) {
  ENTER();
  int most = 0;
  cuDeviceGetAttribute(&most, 97, 0);
  if (attribute != 8 || value < 0 || value > most)
    return CODE_INVALID_VALUE;
  ((struct standin_function *)function)->dynamic_limit = value;
  return CODE_OK;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
                                                       size_t dynamic) {
  (void)function;
  *blocks = threads <= 0 ? 0
            : (int)(dynamic ? 102400 / (dynamic + 1024) : 2048) < 2048 / threads
                ? (int)(102400 / (dynamic + 1024))
                : 2048 / threads;
  return CODE_OK;
}

/* ---- launches ---- */
static int check_launch(const struct standin_function *f, const struct launch *l) {
  size_t threads = (size_t)l->block.x * l->block.y * l->block.z;
  if (!l->grid.x || !l->grid.y || !l->grid.z || !threads || threads > 1024 || l->grid.x > 0x7fffffff ||
      l->grid.y > 65535 || l->grid.z > 65535)
    return CODE_INVALID_VALUE;
  if (f->kernel->launch_bound && threads > (size_t)f->kernel->launch_bound)
    return CODE_INVALID_VALUE;
  return l->dynamic_bytes > (unsigned)f->dynamic_limit ? CODE_INVALID_VALUE : CODE_OK;
}

/* A pointer that a kernel gets is NULL or an address of the device. */
static int check_parameters(const struct standin_function *f, void **parameters) {
  for (int i = 0; i < f->kernel->nparameters; i++) {
    address p = f->kernel->is_pointer[i] ? *(address *)parameters[i] : 0;
    if (!p || p & STANDIN_TAG)
      continue;
    finding("host pointer", NULL, 0, "parameter %d of kernel %s is %#llx, not an address of the device", i,
            f->kernel->name, p);
    return driver.error = CODE_ILLEGAL_ADDRESS;
  }
  return CODE_OK;
}

EXPORT int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned dynamic, void *stream, void **parameters, void **extra) {
  (void)stream, (void)extra;
  ENTER();
  struct standin_function *f = function;
  struct launch l = {.function = f, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .dynamic_bytes = dynamic};
  int code = check_launch(f, &l);
  if (!code)
    code = check_parameters(f, parameters);
  if (code)
    return code;
  int n = f->kernel->nparameters;
  void **copy = calloc((size_t)n + 1, sizeof *copy);
  struct work *w = copy ? add(WORK_LAUNCH) : NULL;
  if (!w) {
    free(copy);
    return CODE_OUT_OF_MEMORY;
  }
  for (int i = 0; i < n; i++)
    if ((copy[i] = malloc(f->kernel->sizes[i])))
      memcpy(copy[i], parameters[i], f->kernel->sizes[i]);
  w->launch = l;
  w->launch.parameters = w->parameters = copy;
  return CODE_OK;
}

/* ---- streams and events ---- */
EXPORT int cuStreamCreate(void **stream, unsigned flags) {
  (void)flags;
  ENTER();
  *stream = malloc(1);
  return *stream ? CODE_OK : CODE_OUT_OF_MEMORY;
}
EXPORT int cuStreamDestroy_v2(void *stream) {
  drain();
  free(stream);
  return CODE_OK;
}
EXPORT int cuStreamSynchronize(void *stream) {
  (void)stream;
  ENTER();
  return drain();
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  (void)stream, (void)event, (void)flags;
  ENTER();
  return CODE_OK; /* one queue holds all streams */
}
EXPORT int cuEventCreate(void **event, unsigned flags) {
  (void)flags;
  ENTER();
  *event = calloc(1, sizeof(struct event));
  return *event ? CODE_OK : CODE_OUT_OF_MEMORY;
}
EXPORT int cuEventDestroy_v2(void *event) {
  drain();
  free(event);
  return CODE_OK;
}
EXPORT int cuEventRecord(void *event, void *stream) {
  (void)stream;
  ENTER();
  struct work *w = add(WORK_EVENT);
  if (!w)
    return CODE_OUT_OF_MEMORY;
  w->event = event;
  w->event->recorded = true;
  w->event->done = false;
  return CODE_OK;
}
EXPORT int cuEventSynchronize(void *event) {
  (void)event;
  ENTER();
  return drain();
}
EXPORT int cuEventQuery(void *event) {
  ENTER();
  struct event *e = event;
  return !e->recorded || e->done ? CODE_OK : CODE_NOT_READY;
}
EXPORT int cuEventElapsedTime(float *milliseconds, void *first, void *second) {
  ENTER();
  struct event *a = first, *b = second;
  if (!a->recorded || !b->recorded)
    return CODE_INVALID_HANDLE;
  if (!a->done || !b->done)
    return CODE_NOT_READY;
  *milliseconds = (float)((b->seconds - a->seconds) * 1e3);
  return CODE_OK;
}

/* ---- errors ---- */
static const struct {
  int code;
  const char *name, *meaning;
} codes[] = {
    {CODE_OK, "CUDA_SUCCESS", "no error"},
    {CODE_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CODE_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CODE_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CODE_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CODE_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CODE_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CODE_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CODE_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CODE_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CODE_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CODE_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CODE_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CODE_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CODE_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CODE_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CODE_MISALIGNED, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CODE_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};
EXPORT int cuGetErrorName(int code, const char **out) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) {
      *out = codes[i].name;
      return CODE_OK;
    }
  *out = NULL;
  return CODE_INVALID_VALUE;
}
EXPORT int cuGetErrorString(int code, const char **out) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) {
      *out = codes[i].meaning;
      return CODE_OK;
    }
  *out = NULL;
  return CODE_INVALID_VALUE;
}
/* NVRTC looks for it in whatever calls itself the driver. */
EXPORT int cuGetExportTable(const void **table, const void *id) {
  (void)id;
  *table = NULL;
  return CODE_NOT_FOUND;
}
