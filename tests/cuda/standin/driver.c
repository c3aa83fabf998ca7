/* The driver's entry points, as far as op2jit uses them: life, devices, contexts, errors. queue.c has streams and
 * launches, transfer.c memory, program.c modules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entries.h"

struct standin_settings standin_settings;

static struct {
  bool ready;
  int error; /* sticky: a kernel failed */
  int fault; /* the last context's */
  long calls;
} driver;
static _Thread_local int context_of; /* device + 1 of the thread's current context, 0: none */

/* ---- settings ---- */
static long long number(const char *name, long long usual) {
  const char *s = getenv(name);
  return s && *s ? strtoll(s, NULL, 0) : usual;
}

static void read_settings(void) {
  struct standin_settings *s = &standin_settings;
  const char *mode = getenv("STANDIN_MODE"), *fail = getenv("STANDIN_FAIL");
  s->checked = mode && strcmp(mode, "checked") == 0;
  s->reachable = number("STANDIN_REACHABLE", 0) != 0;
  s->dependents = number("STANDIN_DEPENDENT", 0) != 0;
  s->seed = (unsigned long long)number("STANDIN_SEED", 0);
  s->memory = (size_t)number("STANDIN_MEMORY", 1LL << 30);
  s->devices = (int)number("STANDIN_DEVICES", 1);
  s->capability = (int)number("STANDIN_CAPABILITY", 90);
  s->gfx = (int)number("STANDIN_GFX", 0x90a);
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

int driver_enter(const char *call) {
  if (!driver.ready)
    return CODE_NOT_INITIALIZED;
  if (driver.error)
    return driver.error;
  if (strcmp(call, standin_settings.fail_call) == 0 && --standin_settings.fail_at == 0)
    return standin_settings.fail_code;
  return CODE_OK;
}
int driver_enter_context(const char *call) {
  int code = driver_enter(call);
  return code ? code : context_of ? CODE_OK : CODE_INVALID_CONTEXT;
}

int driver_error(void) {
  return driver.error;
}
int driver_fail(int code) {
  return driver.error = code;
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
  int code = driver_enter(__func__);
  *count = code ? 0 : standin_settings.devices;
  return code;
}
EXPORT int cuDeviceGet(int *device, int ordinal) {
  int code = driver_enter(__func__);
  if (!code && (ordinal < 0 || ordinal >= standin_settings.devices))
    code = CODE_INVALID_DEVICE;
  *device = ordinal;
  return code;
}
EXPORT int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, (size_t)size, "stand-in %d", device);
  return driver_enter(__func__);
}
EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  *bytes = standin_settings.memory;
  return driver_enter(__func__);
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
  return driver_enter(__func__);
}
EXPORT int cuDevicePrimaryCtxRetain(void **context, int device) {
  int code = driver_enter(__func__);
  *context = (void *)(uintptr_t)(device + 1);
  if (!code && getenv("STANDIN_FAULTS"))
    code = driver.fault;
  return code;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  queue_drain();
  driver.fault = driver.error;
  driver.error = CODE_OK;
  context_of = 0;
  return CODE_OK;
}
EXPORT int cuCtxSetCurrent(void *context) {
  context_of = (int)(uintptr_t)context;
  return driver.ready ? CODE_OK : CODE_NOT_INITIALIZED;
}
EXPORT int cuCtxSynchronize(void) {
  ENTER();
  return queue_drain();
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
    {CODE_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
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
