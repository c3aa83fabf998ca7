/* The HIP library and its devices. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/hip/hip.h"

enum {
  GROUP_THREADS = 1024,
  GROUP_SHARED = 65536, /* of every GPU that HIP knows */
  PROPERTIES = 8192,    /* bytes; no version's are as many */
  NO_DEVICE = 100,
  INVALID_DEVICE = 101
};

static const char *const usual[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                    "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"};

/* Two versions of the properties, and how far into them the architecture's name is. */
static const struct {
  const char *symbol;
  size_t arch_at;
} properties[] = {{"hipGetDevicePropertiesR0600", 1160}, {"hipGetDeviceProperties", 396}};

int hip_width(const char *arch) {
  /* gfx10, gfx11 and gfx12 have five digits, of which two name the generation. */
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
             {NO_DEVICE, "hipErrorNoDevice", "no ROCm-capable device is detected"},
             {INVALID_DEVICE, "hipErrorInvalidDevice", "invalid device ordinal"},
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

static int code_name(int code, const char **out) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) {
      *out = codes[i].name;
      return 0;
    }
  return 1;
}

static int code_meaning(int code, const char **out) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].code == code) {
      *out = codes[i].meaning;
      return 0;
    }
  return 1;
}

/* ---- the library ---- */
static int no_library(const char *named, const char *reason, struct error *err) {
  if (*named)
    return error_set(err, OP_ERR_BACKEND,
                     "the HIP library that OP2_HIP names cannot be opened: %s; unset OP2_HIP to use the "
                     "installed one",
                     reason);
  return error_set(err, OP_ERR_BACKEND,
                   "there is no HIP on this machine: the dynamic linker knows no %s, %s or %s, and there is "
                   "no %s; install ROCm (Debian: package libamdhip64-5), or name the library in OP2_HIP",
                   usual[0], usual[1], usual[2], usual[4]);
}

static int find_entries(struct cuda_driver *d, struct error *err) {
  static const char *const symbols[] = {
#define HIP_SYMBOL(name, symbol, hip, parameters) #hip,
      CUDA_ENTRIES(HIP_SYMBOL)
#undef HIP_SYMBOL
  };
  void **const members[] = {
#define HIP_PLACE(name, symbol, hip, parameters) (void **)(void *)&d->name,
      CUDA_ENTRIES(HIP_PLACE)
#undef HIP_PLACE
  };
  d->error_name = code_name;
  d->error_string = code_meaning;
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (!*members[i] && !(*members[i] = dlsym(d->library, symbols[i])))
      return error_set(err, OP_ERR_BACKEND,
                       "%s has no entry %s: it is no HIP library, or one older than ROCm 5; install a newer",
                       d->path, symbols[i]);
  return OP_OK;
}

static int open_library(struct cuda_driver *d, const char *named, struct error *err) {
  if (*named)
    d->library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; !*named && !d->library && i < sizeof usual / sizeof *usual; i++)
    d->library = dlopen(usual[i], RTLD_NOW | RTLD_LOCAL);
  if (!d->library)
    return no_library(named, dlerror(), err);
  struct link_map *map = NULL;
  d->path = strdup(dlinfo(d->library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name ? map->l_name : named);
  return d->path ? find_entries(d, err) : error_memory(err, "the driver's name", 0);
}

int hip_driver_open(struct cuda_driver *d, const char *named, struct error *err) {
  *d = (struct cuda_driver){0};
  int code = open_library(d, named, err);
  if (!code) {
    const int result = d->init(0);
    if (result == NO_DEVICE || result == INVALID_DEVICE) /* old libraries say the second */
      code = error_set(err, OP_ERR_BACKEND,
                       "the HIP library %s sees no GPU (hipErrorNoDevice): there is none, or "
                       "HIP_VISIBLE_DEVICES, the container or the rights of /dev/kfd hide it; check with "
                       "rocminfo",
                       d->path);
    else if (result && cuda_check(d, result, err, "starting the HIP library %s", d->path))
      code = err->code = OP_ERR_BACKEND;
  }
  if (!code && d->driver_version(&d->version))
    d->version = 0;
  if (code)
    cuda_driver_close(d);
  return code;
}

/* ---- devices ---- */
static int read_arch(const struct cuda_driver *d, int ordinal, char *out, size_t size, struct error *err) {
  unsigned char *bytes = calloc(1, PROPERTIES);
  int (*get)(void *, int) = NULL, code = OP_OK;
  if (!bytes)
    return error_memory(err, "a GPU's properties", PROPERTIES);
  *out = '\0';
  for (size_t i = 0; !get && i < sizeof properties / sizeof *properties; i++) {
    void *entry = dlsym(d->library, properties[i].symbol);
    memcpy(&get, &entry, sizeof get);
    if (get)
      code = cuda_check(d, get(bytes, ordinal), err, "reading the properties of GPU %d", ordinal);
    if (get && !code)
      snprintf(out, size, "%.63s", (const char *)bytes + properties[i].arch_at);
  }
  free(bytes);
  if (!code && strncmp(out, "gfx", 3) != 0)
    code = error_set(err, OP_ERR_BACKEND, "%s does not say what kind of GPU number %d is", d->path, ordinal);
  return code;
}

static int read_device(const struct cuda_driver *d, int ordinal, struct hip *out, struct error *err) {
  struct cuda_device *device = &out->cuda.device;
  *device = (struct cuda_device){
      .ordinal = ordinal, .max_threads = GROUP_THREADS, .shared = GROUP_SHARED, .shared_most = GROUP_SHARED};
  int code = d->device_get(&device->handle, ordinal);
  if (!code)
    code = d->device_name(device->name, sizeof device->name, device->handle);
  if (!code)
    code = d->device_memory(&device->memory, device->handle);
  code = cuda_check(d, code, err, "reading the properties of GPU %d", ordinal);
  return code ? code : read_arch(d, ordinal, out->arch, sizeof out->arch, err);
}

int hip_device_choose(const struct cuda_driver *d, int wanted, int rank, struct hip *out, struct error *err) {
  int count = 0;
  int code = cuda_check(d, d->device_count(&count), err, "counting GPUs");
  if (code)
    return code;
  if (count <= 0)
    return error_set(err, OP_ERR_BACKEND, "the HIP library %s sees no GPU; check with rocminfo", d->path);
  if (wanted >= count)
    return error_set(err, OP_ERR_BACKEND, "OP2_DEVICE=%d: this machine has %d GPU%s, numbered from 0", wanted,
                     count, count == 1 ? "" : "s");
  return read_device(d, wanted >= 0 ? wanted : rank % count, out, err);
}

void hip_driver_describe(const char *named, struct text *out) {
  struct cuda_driver d;
  struct error err = {0};
  int count = 0;
  if (hip_driver_open(&d, named, &err)) {
    text_addf(out, "no driver: %s", error_message(&err));
    error_free(&err);
    return;
  }
  text_addf(out, "HIP %d.%d (%s)", d.version / 10000000, d.version / 100000 % 100, d.path);
  if (d.device_count(&count) || !count)
    text_add(out, "; no GPU");
  for (int i = 0; i < count; i++) {
    struct hip device;
    if (read_device(&d, i, &device, &err))
      text_addf(out, "; GPU %d: %s", i, error_message(&err));
    else
      text_addf(out, "; GPU %d: %s, %s, wavefronts of %d, %.1f GB", i, device.cuda.device.name, device.arch,
                hip_width(device.arch), (double)device.cuda.device.memory / 1e9);
  }
  error_free(&err);
  cuda_driver_close(&d);
}
