/* The HIP library and its devices. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/hip/hip.h"

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

static const char *const usual[] = {"libamdhip64.so.7",
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
    .usual = usual,
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
