/* HIPRTC, AMD's run-time compiler: finding it, and compiling. */
#include "backend/gpu/hip/hip.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/gpu/gpu.h"
#include "backend/gpu/log.h"
#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "context/env.h"
#include "jit/key/elf_note.h"

enum { COMPILATION = 6 };

/* Old libraries of HIP have the compiler inside. */
static const char *const usual[] = {"libhiprtc.so.7",   "libhiprtc.so.6",   "libhiprtc.so.5",
                                    "libhiprtc.so",     "libamdhip64.so.7", "libamdhip64.so.6",
                                    "libamdhip64.so.5", "libamdhip64.so",   "/opt/rocm/lib/libhiprtc.so"};

static int find_entries(struct hiprtc *r, struct error *err) {
  static const char *const symbols[] = {
#define HIPRTC_SYMBOL(name, symbol, parameters) #symbol,
      HIPRTC_ENTRIES(HIPRTC_SYMBOL)
#undef HIPRTC_SYMBOL
  };
  void **const members[] = {
#define HIPRTC_PLACE(name, symbol, parameters) (void **)(void *)&r->name,
      HIPRTC_ENTRIES(HIPRTC_PLACE)
#undef HIPRTC_PLACE
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (!(*members[i] = dlsym(r->library, symbols[i])))
      return error_set(err, OP_ERR_BACKEND, "%s has no entry %s: it is no HIPRTC", r->path, symbols[i]);
  return OP_OK;
}

static int read_facts(struct hiprtc *r, const char *named, struct error *err) {
  struct link_map *map = NULL;
  int major = 0, minor = 0;
  r->path = strdup(dlinfo(r->library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name ? map->l_name : named);
  if (!r->path)
    return error_memory(err, "HIPRTC's path", 0);
  const int code = find_entries(r, err);
  if (code)
    return code;
  if (r->get_version(&major, &minor))
    return error_set(err, OP_ERR_BACKEND, "%s does not say its version", r->path);
  snprintf(r->version, sizeof r->version, "%d.%d", major, minor);
  return OP_OK;
}

int hiprtc_open(struct hiprtc *r, const char *named, struct error *err) {
  *r = (struct hiprtc){0};
  if (*named)
    r->library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; !*named && i < sizeof usual / sizeof *usual && !r->library; i++) {
    r->library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
    if (r->library && !dlsym(r->library, "hiprtcCreateProgram")) {
      dlclose(r->library);
      r->library = NULL;
    }
  }
  int code = OP_OK;
  if (!r->library && *named)
    code = error_set(err, OP_ERR_BACKEND, "the HIPRTC that OP2_HIPRTC names cannot be opened: %s", dlerror());
  else if (!r->library)
    code = error_set(err, OP_ERR_BACKEND,
                     "HIPRTC, the compiler for AMD's GPUs, was not found: the dynamic linker knows no "
                     "libhiprtc.so and no libamdhip64.so with it; install ROCm (Debian: packages "
                     "libamdhip64-5 and libhiprtc-builtins5), or name the library in OP2_HIPRTC");
  else
    code = read_facts(r, named, err);
  if (code)
    hiprtc_close(r);
  return code;
}

void hiprtc_close(struct hiprtc *r) {
  free(r->path); /* the library keeps threads: it stays */
  *r = (struct hiprtc){0};
}

/* ---- compiling ---- */
struct options {
  const char *items[16];
  int count;
  char arch[96], lanes[32];
};

static void add(struct options *o, const char *option) {
  o->items[o->count++] = option;
}

static void choose_options(const struct compile_request *r, struct options *o) {
  snprintf(o->arch, sizeof o->arch, "--offload-arch=%s", r->cpu);
  snprintf(o->lanes, sizeof o->lanes, "-DOP2_LANES=%d", hip_width(r->cpu));
  add(o, o->arch);
  add(o, o->lanes);
  add(o, "-std=c++17");
  add(o, "-O3");
  if (r->fp && strcmp(r->fp, "fast") == 0)
    add(o, "-ffast-math");
  else
    add(o, r->fp && strcmp(r->fp, "contract") != 0 ? "-ffp-contract=off" : "-ffp-contract=fast");
  if (!r->warnings)
    add(o, "-w");
  if (r->debug)
    add(o, "-g");
}

static void take_log(const struct hiprtc *r, void *program, struct gpu_log *log) {
  size_t size = 0;
  if (r->log_size(program, &size) || size <= 1)
    return;
  char *words = calloc(size + 1, 1);
  if (words && !r->log(program, words))
    text_add(&log->words, words);
  free(words);
}

static int take_code(const struct hiprtc *r, void *program, struct compile_result *result) {
  size_t size = 0;
  if (r->code_size(program, &size) || !size)
    return 2;
  char *binary = array_new(size + 1, 1);
  return gpu_log_take(result, binary, size, binary && r->code(program, binary));
}

static int build(const struct hiprtc *r, const struct compile_request *request, struct gpu_log *log,
                 struct compile_result *result) {
  enum { MOST = 16 };
  const char *texts[MOST] = {0}, *names[MOST] = {0};
  int n = 0;
  void *program = NULL;
  struct options options = {.count = 0};
  for (int i = 1; i < request->nfiles && n < MOST; i++, n++) {
    texts[n] = request->files[i].text;
    names[n] = request->files[i].name;
  }
  choose_options(request, &options);
  struct text source = {0}; /* else messages name a file of the compiler's */
  text_addf(&source, "#line 1 \"%s\"\n%s", request->files[0].name, request->files[0].text);
  const bool made =
      text_ok(&source) && !r->create(&program, text_str(&source), request->files[0].name, n, texts, names);
  text_free(&source);
  if (!made)
    return 2;
  const int code = r->compile(program, options.count, options.items);
  take_log(r, program, log);
  const int status = code ? (code == COMPILATION ? 1 : 2) : take_code(r, program, result);
  r->destroy(&program);
  return status;
}

void hiprtc_compile(struct hiprtc *r, const struct compile_request *request, struct compile_result *result) {
  struct gpu_log *log = gpu_log_new(result);
  if (!log)
    return;
  const double start = clock_seconds();
  result->status = build(r, request, log, result);
  result->seconds_front = clock_seconds() - start;
  gpu_log_finish(log, "HIPRTC made no binary", result);
}

/* HIP's own functions in the table of drivers: opening, and the compiler. */

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

/* ---- the HIP library and its devices ---- */
enum {
  GROUP_THREADS = 1024,
  GROUP_SHARED = 65536, /* of every GPU that HIP knows */
  PROPERTIES = 8192     /* bytes; no version's are as many */
};

/* Two versions of the properties, and how far into them the architecture's name is. */
static const struct {
  const char *symbol;
  size_t arch_at;
} properties[] = {{"hipGetDevicePropertiesR0600", 1160}, {"hipGetDeviceProperties", 396}};

int hip_width(const char *arch) {
  /* gfx10, gfx11 and gfx12 have five digits; the first two name the generation. */
  const size_t digits = strspn(arch + 3, "0123456789abcdef");
  return digits >= 4 && arch[3] == '1' ? 32 : 64;
}

/* ---- what codes mean: older libraries can only print it ---- */
static const struct {
  int code;
  const char *name, *meaning;
} codes[] = {{1, "hipErrorInvalidValue", "invalid argument"},
             {2, "hipErrorOutOfMemory", "out of memory"},
             {3, "hipErrorNotInitialized", "initialization error"},
             {98, "hipErrorInvalidDeviceFunction", "invalid device function"},
             {CUDA_NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
             {CUDA_INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
             {200, "hipErrorInvalidImage", "device kernel image is invalid"},
             {201, "hipErrorInvalidContext", "invalid device context"},
             {209, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
             {400, "hipErrorInvalidHandle", "invalid resource handle"},
             {500, "hipErrorNotFound", "named symbol not found"},
             {700, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
             {701, "hipErrorLaunchOutOfResources", "too many resources requested for launch"},
             {702, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
             {710, "hipErrorAssert", "device-side assert triggered"},
             {719, "hipErrorLaunchFailure", "unspecified launch failure"},
             {999, "hipErrorUnknown", "unknown error"}};

static size_t find_code(int code) {
  size_t i = 0;
  while (i < sizeof codes / sizeof *codes && codes[i].code != code)
    i++;
  return i;
}

static int code_name(int code, const char **out) {
  const size_t i = find_code(code);
  *out = i < sizeof codes / sizeof *codes ? codes[i].name : NULL;
  return !*out;
}

static int code_meaning(int code, const char **out) {
  const size_t i = find_code(code);
  *out = i < sizeof codes / sizeof *codes ? codes[i].meaning : NULL;
  return !*out;
}

/* ---- devices ---- */
static int read_hip(const struct cuda_driver *d, struct cuda_device *out, struct error *err) {
  unsigned char *bytes = calloc(1, PROPERTIES);
  int (*get)(void *, int) = NULL, code = OP_OK;
  if (!bytes)
    return error_memory(err, "a GPU's properties", PROPERTIES);
  out->max_threads = GROUP_THREADS;
  out->shared = out->shared_most = GROUP_SHARED;
  for (size_t i = 0; !get && i < sizeof properties / sizeof *properties; i++) {
    void *entry = dlsym(d->library, properties[i].symbol);
    memcpy(&get, &entry, sizeof get);
    if (get)
      code = cuda_check(d, get(bytes, out->ordinal), err, "reading the properties of GPU %d", out->ordinal);
    if (get && !code)
      snprintf(out->arch, sizeof out->arch, "%.63s", (const char *)bytes + properties[i].arch_at);
  }
  free(bytes);
  if (!code && strncmp(out->arch, "gfx", 3) != 0)
    code = error_set(err, OP_ERR_BACKEND, "%s does not say what kind of GPU number %d is", d->path,
                     out->ordinal);
  return code;
}

static void show_hip(const struct cuda_device *device, struct text *out) {
  text_addf(out, ", wavefronts of %d", hip_width(device->arch));
}

static const char *const driver_usual[] = {"libamdhip64.so.7",
                                           "libamdhip64.so.6",
                                           "libamdhip64.so.5",
                                           "libamdhip64.so",
                                           "/opt/rocm/lib/libamdhip64.so",
                                           NULL};
#define HIP_SYMBOL(name, symbol, hip, parameters) #hip,
static const char *const symbols[] = {CUDA_ENTRIES(HIP_SYMBOL)};
static const char *const later_symbols[] = {CUDA_LATER_ENTRIES(HIP_SYMBOL)};
#undef HIP_SYMBOL

const struct cuda_family hip_family = {
    .name = "HIP",
    .library = "HIP library",
    .variable = "OP2_HIP",
    .usual = driver_usual,
    .missing = "libamdhip64.so.7, libamdhip64.so.6 or libamdhip64.so.5, and there is no "
               "/opt/rocm/lib/libamdhip64.so; install ROCm (Debian: package libamdhip64-5)",
    .oldest = "ROCm 5",
    .hidden = "hipErrorNoDevice): there is none, or HIP_VISIBLE_DEVICES, the container or the rights of "
              "/dev/kfd hide it; check with rocminfo",
    .symbols = symbols,
    .later_symbols = later_symbols,
    .hip_nodes = true,
    .version = "HIP",
    .major = 10000000,
    .minor = 100000,
    .error_name = code_name,
    .error_string = code_meaning,
    .read = read_hip,
    .show = show_hip};
