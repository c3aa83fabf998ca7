#include "driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of cuDeviceGetAttribute. */
enum {
  ATTRIBUTE_BLOCK_THREADS = 1,
  ATTRIBUTE_BLOCK_SHARED = 8,
  ATTRIBUTE_MULTIPROCESSORS = 16,
  ATTRIBUTE_MAJOR = 75,
  ATTRIBUTE_MINOR = 76,
  ATTRIBUTE_BLOCK_SHARED_OPTIN = 97
};

static const char *const usual[] = {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1"};

static int no_library(const char *named, const char *reason, struct error *err) {
  if (*named)
    return error_set(err, OP_ERR_BACKEND,
                     "the CUDA driver that OP2_CUDA_DRIVER names cannot be opened: %s; unset "
                     "OP2_CUDA_DRIVER to use the installed driver",
                     reason);
  return error_set(
      err, OP_ERR_BACKEND,
      "there is no CUDA driver on this machine: the dynamic linker knows no %s, and there is no %s; "
      "install NVIDIA's driver (Debian: package libcuda1), or name the library in OP2_CUDA_DRIVER",
      usual[0], usual[2]);
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
  return d->path ? OP_OK : error_memory(err, "the driver's name", 0);
}

static void find_graph_entries(struct cuda_driver *d) {
#define CUDA_FIND(name, symbol, parameters) *(void **)(void *)&d->name = dlsym(d->library, #symbol);
  CUDA_GRAPH_ENTRIES(CUDA_FIND)
#undef CUDA_FIND
}

static int find_entries(struct cuda_driver *d, struct error *err) {
  static const char *const symbols[] = {
#define CUDA_SYMBOL(name, symbol, hip, parameters) #symbol,
      CUDA_ENTRIES(CUDA_SYMBOL)
#undef CUDA_SYMBOL
  };
  void **const members[] = {
#define CUDA_PLACE(name, symbol, hip, parameters) (void **)(void *)&d->name,
      CUDA_ENTRIES(CUDA_PLACE)
#undef CUDA_PLACE
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
    if (!(*members[i] = dlsym(d->library, symbols[i])))
      return error_set(
          err, OP_ERR_BACKEND,
          "%s has no entry %s: it is no CUDA driver, or one older than CUDA 11; install a newer driver",
          d->path, symbols[i]);
  return OP_OK;
}

int cuda_check(const struct cuda_driver *d, int code, struct error *err, const char *doing, ...) {
  if (!code)
    return OP_OK;
  const char *name = NULL, *meaning = NULL;
  if (d->error_name(code, &name) || !name)
    name = "an unknown code";
  if (d->error_string(code, &meaning) || !meaning)
    meaning = "no description";
  struct text what = {0};
  va_list args;
  va_start(args, doing);
  text_vaddf(&what, doing, args);
  va_end(args);
  int kind = code == CUDA_OUT_OF_MEMORY ? OP_ERR_MEMORY : OP_ERR_DEVICE;
  error_set(err, kind, "%s failed: %s (%s, %d)", text_str(&what), meaning, name, code);
  text_free(&what);
  return kind;
}

int cuda_driver_open(struct cuda_driver *d, const char *named, struct error *err) {
  *d = (struct cuda_driver){0};
  int code = open_library(d, named, err);
  if (!code)
    code = find_entries(d, err);
  if (!code)
    find_graph_entries(d);
  if (!code) {
    int result = d->init(0);
    if (result == CUDA_NO_DEVICE)
      code = error_set(
          err, OP_ERR_BACKEND,
          "the CUDA driver %s sees no GPU (CUDA_ERROR_NO_DEVICE): there is none, or CUDA_VISIBLE_DEVICES "
          "or the container hides it; check with nvidia-smi",
          d->path);
    else if (result && cuda_check(d, result, err, "starting the CUDA driver %s", d->path))
      code = err->code = OP_ERR_BACKEND;
  }
  if (!code && d->driver_version(&d->version))
    d->version = 0;
  if (code)
    cuda_driver_close(d);
  return code;
}

void cuda_driver_close(struct cuda_driver *d) {
  /* The driver keeps threads and handlers of its own: it is never unloaded. */
  free(d->path);
  *d = (struct cuda_driver){0};
}

int cuda_device_read(const struct cuda_driver *d, int ordinal, struct cuda_device *out, struct error *err) {
  *out = (struct cuda_device){.ordinal = ordinal};
  int major = 0, minor = 0;
  int code = d->device_get(&out->handle, ordinal);
  const struct {
    int attribute, *value;
  } wanted[] = {{ATTRIBUTE_MAJOR, &major},
                {ATTRIBUTE_MINOR, &minor},
                {ATTRIBUTE_BLOCK_THREADS, &out->max_threads},
                {ATTRIBUTE_BLOCK_SHARED, &out->shared},
                {ATTRIBUTE_BLOCK_SHARED_OPTIN, &out->shared_most},
                {ATTRIBUTE_MULTIPROCESSORS, &out->multiprocessors}};
  for (size_t i = 0; !code && i < sizeof wanted / sizeof *wanted; i++)
    code = d->device_attribute(wanted[i].value, wanted[i].attribute, out->handle);
  if (!code)
    code = d->device_name(out->name, sizeof out->name, out->handle);
  if (!code)
    code = d->device_memory(&out->memory, out->handle);
  out->capability = 10 * major + minor;
  if (out->shared_most < out->shared)
    out->shared_most = out->shared;
  return cuda_check(d, code, err, "reading the properties of GPU %d", ordinal);
}

int cuda_device_choose(const struct cuda_driver *d, int wanted, int rank, struct cuda_device *out,
                       struct error *err) {
  int count = 0;
  int code = cuda_check(d, d->device_count(&count), err, "counting GPUs");
  if (code)
    return code;
  if (count <= 0)
    return error_set(err, OP_ERR_BACKEND, "the CUDA driver %s sees no GPU; check with nvidia-smi", d->path);
  if (wanted >= count)
    return error_set(err, OP_ERR_BACKEND, "OP2_DEVICE=%d: this machine has %d GPU%s, numbered from 0", wanted,
                     count, count == 1 ? "" : "s");
  return cuda_device_read(d, wanted >= 0 ? wanted : rank % count, out, err);
}

void cuda_driver_describe(const char *named, struct text *out) {
  struct cuda_driver d;
  struct error err = {0};
  int count = 0;
  if (cuda_driver_open(&d, named, &err)) {
    text_addf(out, "no driver: %s", error_message(&err));
    error_free(&err);
    return;
  }
  text_addf(out, "driver %d.%d (%s)", d.version / 1000, d.version % 1000 / 10, d.path);
  if (d.device_count(&count) || !count)
    text_add(out, "; no GPU");
  for (int i = 0; i < count; i++) {
    struct cuda_device device;
    if (cuda_device_read(&d, i, &device, &err))
      text_addf(out, "; GPU %d: %s", i, error_message(&err));
    else
      text_addf(out, "; GPU %d: %s, sm_%d, %.1f GB, %d multiprocessors, %d bytes of shared memory a block", i,
                device.name, device.capability, (double)device.memory / 1e9, device.multiprocessors,
                device.shared_most);
  }
  error_free(&err);
  cuda_driver_close(&d);
}
