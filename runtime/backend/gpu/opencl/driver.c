/* The library of OpenCL and its devices. */
#include "backend/gpu/opencl/driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gpu/log.h"
#include "base/clock.h"
#include "base/list.h"
#include "include/op2jit.h"

/* Numbers of clGetPlatformInfo and clGetDeviceInfo. */
enum {
  PLATFORM_VERSION = 0x0901,
  PLATFORM_NAME = 0x0902,
  DEVICE_TYPE = 0x1000,
  DEVICE_UNITS = 0x1002,
  DEVICE_GROUP = 0x1004,
  DEVICE_MOST_MEMORY = 0x1010,
  DEVICE_MEMORY = 0x101F,
  DEVICE_LOCAL = 0x1023,
  DEVICE_AVAILABLE = 0x1027,
  DEVICE_COMPILER = 0x1028,
  DEVICE_NAME = 0x102B,
  DRIVER_VERSION = 0x102D,
  DEVICE_VERSION = 0x102F,
  DEVICE_EXTENSIONS = 0x1030,
  DEVICE_SUB_GROUP_SIZES = 0x4108, /* of cl_intel_required_subgroup_size */
  DEVICE_SHARED = 0x1053,          /* "SVM capabilities" */
  DEVICE_ORDERS = 0x1063, /* "atomic memory capabilities" of OpenCL 3.0, ACQUIRES and ALL_GROUPS among them */
  SHARES_BUFFERS = 2,
  ACQUIRES = 2,
  ALL_GROUPS = 32,
  TYPE_CPU = 2
};
static const unsigned long ALL_TYPES = 0xFFFFFFFF;

const char *opencl_code(int code) {
  static const struct {
    int code;
    const char *name;
  } names[] = {{-1, "CL_DEVICE_NOT_FOUND"},
               {-2, "CL_DEVICE_NOT_AVAILABLE"},
               {-3, "CL_COMPILER_NOT_AVAILABLE"},
               {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
               {-5, "CL_OUT_OF_RESOURCES"},
               {-6, "CL_OUT_OF_HOST_MEMORY"},
               {-11, "CL_BUILD_PROGRAM_FAILURE"},
               {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
               {-30, "CL_INVALID_VALUE"},
               {-36, "CL_INVALID_COMMAND_QUEUE"},
               {-38, "CL_INVALID_MEM_OBJECT"},
               {-42, "CL_INVALID_BINARY"},
               {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
               {-46, "CL_INVALID_KERNEL_NAME"},
               {-51, "CL_INVALID_ARG_SIZE"},
               {-52, "CL_INVALID_KERNEL_ARGS"},
               {-54, "CL_INVALID_WORK_GROUP_SIZE"},
               {-61, "CL_INVALID_BUFFER_SIZE"},
               {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code)
      return names[i].name;
  return "an unknown code";
}

int opencl_driver_open(struct opencl_driver *d, const char *named, struct error *err) {
  static const char *const symbols[] = {
#define OPENCL_SYMBOL(name, symbol, result, parameters) #symbol,
      OPENCL_ENTRIES(OPENCL_SYMBOL)
#undef OPENCL_SYMBOL
  };
  *d = (struct opencl_driver){0};
  void **const members[] = {
#define OPENCL_PLACE(name, symbol, result, parameters) (void **)(void *)&d->name,
      OPENCL_ENTRIES(OPENCL_PLACE)
#undef OPENCL_PLACE
  };
  d->library = dlopen(*named ? named : "libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!d->library && *named)
    return error_set(err, OP_ERR_BACKEND, "the OpenCL library that OP2_OPENCL names cannot be opened: %s",
                     dlerror());
  if (!d->library)
    return error_set(
        err, OP_ERR_BACKEND,
        "there is no OpenCL on this machine: the dynamic linker knows no libOpenCL.so.1; install it and "
        "your device's driver (Debian: package ocl-icd-libopencl1, and pocl-opencl-icd for CPUs), or "
        "name the library in OP2_OPENCL");
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (!(*members[i] = dlsym(d->library, symbols[i])))
      return error_set(err, OP_ERR_BACKEND, "%s has no entry %s: it is no OpenCL 1.2",
                       *named ? named : "libOpenCL.so.1", symbols[i]);
  const struct {
    void **entry;
    const char *symbol;
  } newer[] = {{(void **)(void *)&d->shared_new, "clSVMAlloc"},
               {(void **)(void *)&d->shared_free, "clSVMFree"},
               {(void **)(void *)&d->shared_argument, "clSetKernelArgSVMPointer"}};
  for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
    *newer[i].entry = dlsym(d->library, newer[i].symbol);
  return OP_OK;
}

/* ---- devices ---- */
static void words(const struct opencl_driver *d, opencl_object device, unsigned what, char *out,
                  size_t size) {
  char long_words[4096] = "";
  if (d->device_info(device, what, sizeof long_words - 1, long_words, NULL))
    long_words[0] = '\0';
  snprintf(out, size, "%s", long_words + strspn(long_words, " "));
}

static void platform_words(const struct opencl_driver *d, opencl_object platform, unsigned what, char *out,
                           size_t size) {
  if (d->platform_info(platform, what, size - 1, out, NULL))
    out[0] = '\0';
  out[size - 1] = '\0';
}

static unsigned long long number(const struct opencl_driver *d, opencl_object device, unsigned what,
                                 size_t size) {
  unsigned long long value = 0;
  return d->device_info(device, what, size, &value, NULL) ? 0 : value;
}

/* "OpenCL 3.0 PoCL" */
static int major_of(const struct opencl_choice *c) {
  int major = 0;
  return sscanf(c->device_version, "OpenCL %d", &major) == 1 ? major : 0;
}

const char *opencl_standard(const struct opencl_choice *c) {
  const int major = c->has_subgroups || c->has_tickets ? major_of(c) : 1;
  return major < 2 ? "CL1.2" : major == 2 ? "CL2.0" : "CL3.0";
}

/* The whole word: others begin like it. */
static bool has_word(const char *extensions, const char *word) {
  const size_t length = strlen(word);
  const char *at = strstr(extensions, word);
  while (at && at[length] != ' ' && at[length] != '\0')
    at = strstr(at + length, word);
  return at != NULL;
}

/* As many as a warp has, where a device does not say what it can have: a kernel finds out whether its sub-groups are whole
 * numbers of that. Sizes of groups are multiples of it. */
static void read_sub_groups(const struct opencl_driver *d, struct opencl_choice *c, const char *extensions) {
  enum { USUAL = 32, MOST = 16 };
  size_t sizes[MOST] = {0};
  c->has_subgroups = (major_of(c) >= 2 && has_word(extensions, "cl_khr_subgroups")) ||
                     has_word(extensions, "cl_intel_subgroups");
  c->lanes = c->has_subgroups ? USUAL : 0;
  if (!c->has_subgroups || !has_word(extensions, "cl_intel_required_subgroup_size") ||
      d->device_info(c->device, DEVICE_SUB_GROUP_SIZES, sizeof sizes, sizes, NULL))
    return;
  size_t most = 0;
  for (int i = 0; i < MOST; i++)
    if (sizes[i] && USUAL % sizes[i] == 0 && sizes[i] > most)
      most = sizes[i];
  c->are_sized = most > 0;
  c->lanes = most ? (int)most : USUAL;
}

/* Every device of OpenCL 2 has such atomic operations; since 3.0 it says so. Devices of 1.2 may have the same numbers for something
 * else. */
static void read_shared(const struct opencl_driver *d, struct opencl_choice *c) {
  enum { WANTED = ACQUIRES | ALL_GROUPS };
  const int major = major_of(c);
  c->has_tickets = major == 2 || (major > 2 && (number(d, c->device, DEVICE_ORDERS, 8) & WANTED) == WANTED);
  c->shares = major >= 2 && d->shared_new && d->shared_free && d->shared_argument &&
              (number(d, c->device, DEVICE_SHARED, 8) & SHARES_BUFFERS);
}

static void read_device(const struct opencl_driver *d, struct opencl_choice *c) {
  char extensions[4096];
  platform_words(d, c->platform, PLATFORM_NAME, c->platform_name, sizeof c->platform_name);
  platform_words(d, c->platform, PLATFORM_VERSION, c->platform_version, sizeof c->platform_version);
  words(d, c->device, DEVICE_NAME, c->device_name, sizeof c->device_name);
  words(d, c->device, DEVICE_VERSION, c->device_version, sizeof c->device_version);
  words(d, c->device, DRIVER_VERSION, c->driver_version, sizeof c->driver_version);
  words(d, c->device, DEVICE_EXTENSIONS, extensions, sizeof extensions);
  c->is_cpu = (number(d, c->device, DEVICE_TYPE, 8) & TYPE_CPU) != 0;
  c->units = (unsigned)number(d, c->device, DEVICE_UNITS, 4);
  c->group = (size_t)number(d, c->device, DEVICE_GROUP, sizeof(size_t));
  c->most_memory = (size_t)number(d, c->device, DEVICE_MOST_MEMORY, 8);
  c->memory = (size_t)number(d, c->device, DEVICE_MEMORY, 8);
  c->local = (size_t)number(d, c->device, DEVICE_LOCAL, 8);
  c->has_compiler = number(d, c->device, DEVICE_COMPILER, 4) && number(d, c->device, DEVICE_AVAILABLE, 4);
  c->has_double = strstr(extensions, "cl_khr_fp64") != NULL;
  c->has_atomics = strstr(extensions, "cl_khr_int64_base_atomics") != NULL;
  read_sub_groups(d, c, extensions);
  read_shared(d, c);
}

enum { OPENCL_MOST = 32 };
static int list_platform(const struct opencl_driver *d, opencl_object platform, int number_,
                         struct opencl_choice out[OPENCL_MOST], int count) {
  opencl_object devices[OPENCL_MOST] = {NULL};
  unsigned n = 0;
  if (d->devices(platform, ALL_TYPES, OPENCL_MOST, devices, &n))
    return count;
  for (unsigned i = 0; i < n && i < OPENCL_MOST && count < OPENCL_MOST; i++) {
    out[count] = (struct opencl_choice){
        .platform = platform, .device = devices[i], .platform_number = number_, .device_number = (int)i};
    read_device(d, &out[count++]);
  }
  return count;
}

/* All devices of all platforms; *count at most OPENCL_MOST. OP_ERR_BACKEND: there is none. */
static int list_devices(const struct opencl_driver *d, struct opencl_choice out[OPENCL_MOST], int *count,
                        struct error *err) {
  opencl_object platforms[OPENCL_MOST] = {NULL};
  unsigned n = 0;
  *count = 0;
  const int code = d->platforms(OPENCL_MOST, platforms, &n);
  if (code == OPENCL_NO_PLATFORM || (!code && !n))
    return error_set(
        err, OP_ERR_BACKEND,
        "OpenCL is installed, but no driver for it (no platform): install that of your device (Debian: "
        "package pocl-opencl-icd for CPUs); clinfo shows what is there");
  if (code)
    return error_set(err, OP_ERR_BACKEND, "asking OpenCL for its platforms failed: %s (%d)",
                     opencl_code(code), code);
  for (unsigned p = 0; p < n && p < OPENCL_MOST; p++)
    *count = list_platform(d, platforms[p], (int)p, out, *count);
  if (!*count)
    return error_set(err, OP_ERR_BACKEND, "OpenCL has %u platform%s, but none has a device", n,
                     n == 1 ? "" : "s");
  return OP_OK;
}

/* "0", "Portable" or nothing, as far as `end`. */
static bool means(const char *wanted, size_t length, int number_, const char *name) {
  char words_[96];
  snprintf(words_, sizeof words_, "%.*s", (int)length, wanted);
  if (!*words_)
    return true;
  char *end;
  const long n = strtol(words_, &end, 10);
  return *end ? strcasestr(name, words_) != NULL : n == number_;
}

static void add_names(const struct opencl_choice *all, int count, struct text *out) {
  for (int i = 0; i < count; i++)
    text_addf(out, "%s%d:%d %s (%s)", i ? ", " : "", all[i].platform_number, all[i].device_number,
              all[i].device_name, all[i].platform_name);
}

/* The number of the device among `all`, -1: none. */
static int pick(const struct opencl_choice *all, int count, const char *wanted, int rank) {
  const char *colon = strchr(wanted, ':');
  const size_t head = colon ? (size_t)(colon - wanted) : 0;
  const char *tail = colon ? colon + 1 : wanted;
  int gpus = 0;
  for (int i = 0; i < count; i++)
    gpus += !all[i].is_cpu;
  for (int i = 0, k = 0; !*wanted && gpus && i < count; i++)
    if (!all[i].is_cpu && k++ == rank % gpus)
      return i;
  for (int i = 0; i < count; i++)
    if (means(wanted, head, all[i].platform_number, all[i].platform_name) &&
        means(tail, strlen(tail), all[i].device_number, all[i].device_name))
      return i;
  return -1;
}

int opencl_choose(const struct opencl_driver *d, const char *wanted, int rank, struct opencl_choice *out,
                  struct error *err) {
  struct opencl_choice *all = calloc(OPENCL_MOST, sizeof *all);
  int count = 0;
  if (!all)
    return error_memory(err, "OpenCL's devices", OPENCL_MOST * sizeof *all);
  int code = list_devices(d, all, &count, err), found = code ? -1 : pick(all, count, wanted, rank);
  if (!code && found < 0) {
    struct text names = {0};
    add_names(all, count, &names);
    code = error_set(err, OP_ERR_BACKEND, "OP2_DEVICE=%s: OpenCL has no such device; there are %s", wanted,
                     text_str(&names));
    text_free(&names);
  }
  if (!code)
    *out = all[found];
  free(all);
  if (!code && !out->has_compiler)
    code = error_set(err, OP_ERR_BACKEND, "OpenCL device %d:%d (%s) is not available, or has no compiler",
                     out->platform_number, out->device_number, out->device_name);
  return code;
}

void opencl_describe(const char *named, struct text *out) {
  struct opencl_driver d;
  struct error err = {0};
  struct opencl_choice *all = calloc(OPENCL_MOST, sizeof *all);
  int count = 0;
  if (!all || opencl_driver_open(&d, named, &err) || list_devices(&d, all, &count, &err)) {
    text_addf(out, "no OpenCL: %s", error_message(&err));
  } else {
    for (int i = 0; i < count; i++)
      text_addf(
          out,
          "%s%d:%d %s (%s, driver %s): %s, %u units, %.1f GB, groups of %zu, %zu bytes of local memory%s%s%s",
          i ? "; " : "", all[i].platform_number, all[i].device_number, all[i].device_name,
          all[i].platform_name, all[i].driver_version, all[i].is_cpu ? "CPU" : "GPU", all[i].units,
          (double)all[i].memory / 1e9, all[i].group, all[i].local, all[i].has_double ? "" : ", no fp64",
          all[i].has_atomics ? "" : ", no 64-bit atomics", all[i].has_subgroups ? ", sub-groups" : "");
  }
  free(all);
  error_free(&err);
}

/* OpenCL's compiler: files put into one text, its log as messages, the program's binary. */

enum { BUILD_LOG = 0x1183, PROGRAM_SIZES = 0x1165, PROGRAM_BINARIES = 0x1166 };

static void take_log(const struct opencl *cl, opencl_object program, struct gpu_log *o) {
  size_t size = 0;
  if (cl->driver.build_info(program, cl->choice.device, BUILD_LOG, 0, NULL, &size) || size <= 1)
    return;
  char *log = calloc(size + 1, 1);
  if (log && !cl->driver.build_info(program, cl->choice.device, BUILD_LOG, size, log, NULL))
    text_add(&o->words, log);
  free(log);
}

/* The first file, with the others where it includes them: OpenCL 1.2 may read no files. */
static void join(const struct compile_request *r, struct text *out) {
  int line = 1;
  for (const char *at = r->files[0].text, *end; *at; at = end, line++) {
    const struct compile_file *file = NULL;
    end = strchr(at, '\n');
    end = end ? end + 1 : at + strlen(at);
    for (int i = 1; i < r->nfiles && strncmp(at, "#include \"", 10) == 0; i++)
      if (strncmp(at + 10, r->files[i].name, strlen(r->files[i].name)) == 0)
        file = &r->files[i];
    if (file)
      text_addf(out, "#line 1 \"%s\"\n%s\n#line %d \"%s\"\n", file->name, file->text, line + 1,
                r->files[0].name);
    else
      text_add_bytes(out, at, (size_t)(end - at));
  }
}

static void add_options(const struct opencl *cl, const struct compile_request *r, struct text *out) {
  text_addf(out, "-cl-std=%s -w", opencl_standard(&cl->choice));
  text_add(out, cl->choice.has_double ? " -DOP2_DOUBLE" : " -cl-single-precision-constant");
  text_add(out, cl->choice.has_atomics ? " -DOP2_ATOMICS" : "");
  text_add(out, cl->choice.has_tickets ? " -DOP2_TICKETS" : "");
  if (cl->choice.lanes)
    text_addf(out, " -DOP2_SUBGROUPS -DOP2_LANES=%d%s", cl->choice.lanes,
              cl->choice.are_sized ? " -DOP2_REQUIRED" : "");
  text_add(out, r->fp && strcmp(r->fp, "fast") == 0 ? " -cl-fast-relaxed-math" : "");
}

static int take_binary(const struct opencl *cl, opencl_object program, struct compile_result *result) {
  size_t size = 0;
  if (cl->driver.program_info(program, PROGRAM_SIZES, sizeof size, &size, NULL) || !size)
    return 2;
  void *binary = array_new(size + 1, 1);
  return gpu_log_take(result, binary, size,
                      binary &&
                          cl->driver.program_info(program, PROGRAM_BINARIES, sizeof binary, &binary, NULL));
}

static int build(const struct opencl *cl, const struct compile_request *r, struct gpu_log *o,
                 struct compile_result *result, int *why) {
  struct text source = {0}, options = {0};
  int code = 0;
  if (r->fp && (strcmp(r->fp, "strict") == 0 || r->fp[0] == 'r')) /* reproducible */
    text_add(&source, "#pragma OPENCL FP_CONTRACT OFF\n");
  text_addf(&source, "#line 1 \"%s\"\n", r->files[0].name);
  join(r, &source);
  add_options(cl, r, &options);
  const char *text = text_str(&source);
  const bool good = text_ok(&source) && text_ok(&options);
  opencl_object program =
      good ? cl->driver.program_source(cl->context, 1, &text, &source.length, &code) : NULL;
  if (good && !code)
    code = cl->driver.program_build(program, 1, &cl->choice.device, text_str(&options), NULL, NULL);
  if (code && program)
    take_log(cl, program, o);
  const int status = !good  ? 3
                     : code ? (code == OPENCL_BUILD_FAILED ? 1 : 2)
                            : take_binary(cl, program, result);
  if (program)
    cl->driver.program_free(program);
  text_free(&source);
  text_free(&options);
  *why = code;
  return status;
}

void opencl_compile(void *self, const struct compile_request *request, struct compile_result *result) {
  const struct opencl *cl = self;
  struct gpu_log *log = gpu_log_new(result);
  if (!log)
    return;
  const double start = clock_seconds();
  int code = 0;
  result->status = build(cl, request, log, result, &code);
  result->seconds_front = clock_seconds() - start;
  gpu_log_finish(log, code ? opencl_code(code) : "OpenCL made no binary", result);
}
