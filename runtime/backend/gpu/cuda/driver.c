#include "driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- opening ---- */
static int open_library(struct cuda_driver *d, const char *named, struct error *err) {
  const struct cuda_family *f = d->family;
  if (*named)
    d->library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
  for (int i = 0; !*named && !d->library && f->usual[i]; i++)
    d->library = dlopen(f->usual[i], RTLD_NOW | RTLD_LOCAL);
  if (!d->library && *named)
    return error_set(err, OP_ERR_BACKEND,
                     "the %s that %s names cannot be opened: %s; unset %s to use the installed one",
                     f->library, f->variable, dlerror(), f->variable);
  if (!d->library)
    return error_set(
        err, OP_ERR_BACKEND,
        "there is no %s on this machine: the dynamic linker knows no %s, or name the library in %s", f->name,
        f->missing, f->variable);
  struct link_map *map = NULL;
  d->path = strdup(dlinfo(d->library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name ? map->l_name : named);
  return d->path ? OP_OK : error_memory(err, "the driver's name", 0);
}

#define CUDA_PLACE(name, symbol, hip, parameters) (void **)(void *)&d->name,
static void find_later_entries(struct cuda_driver *d) {
  void **const members[] = {CUDA_LATER_ENTRIES(CUDA_PLACE)};
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    *members[i] = dlsym(d->library, d->family->later_symbols[i]);
}

static int find_entries(struct cuda_driver *d, struct error *err) {
  void **const members[] = {CUDA_ENTRIES(CUDA_PLACE)};
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    if (!*members[i] && !(*members[i] = dlsym(d->library, d->family->symbols[i])))
      return error_set(err, OP_ERR_BACKEND,
                       "%s has no entry %s: it is no %s, or one older than %s; install a newer one", d->path,
                       d->family->symbols[i], d->family->library, d->family->oldest);
  return OP_OK;
}
#undef CUDA_PLACE

static int start(const struct cuda_driver *d, struct error *err) {
  const int result = d->init(0);
  if (result == CUDA_NO_DEVICE || result == CUDA_INVALID_DEVICE) /* old libraries of HIP say the second */
    return error_set(err, OP_ERR_BACKEND, "the %s %s sees no GPU (%s", d->family->library, d->path,
                     d->family->hidden);
  if (result && cuda_check(d, result, err, "starting the %s %s", d->family->library, d->path))
    return err->code = OP_ERR_BACKEND;
  return OP_OK;
}

int cuda_family_open(struct cuda_driver *d, const struct cuda_family *family, const char *named,
                     struct error *err) {
  *d = (struct cuda_driver){
      .family = family, .error_name = family->error_name, .error_string = family->error_string};
  int code = open_library(d, named, err);
  if (!code)
    code = find_entries(d, err);
  if (!code)
    find_later_entries(d);
  if (!code)
    code = start(d, err);
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

/* ---- devices ---- */
static int read_device(const struct cuda_driver *d, int ordinal, struct cuda_device *out, struct error *err) {
  *out = (struct cuda_device){.ordinal = ordinal};
  int code = d->device_get(&out->handle, ordinal);
  if (!code)
    code = d->device_name(out->name, sizeof out->name, out->handle);
  if (!code)
    code = d->device_memory(&out->memory, out->handle);
  code = cuda_check(d, code, err, "reading the properties of GPU %d", ordinal);
  return code ? code : d->family->read(d, out, err);
}

int cuda_device_choose(const struct cuda_driver *d, int wanted, int rank, struct cuda_device *out,
                       struct error *err) {
  int count = 0;
  int code = cuda_check(d, d->device_count(&count), err, "counting GPUs");
  if (code)
    return code;
  if (count <= 0)
    return error_set(err, OP_ERR_BACKEND, "the %s %s sees no GPU (%s", d->family->library, d->path,
                     d->family->hidden);
  if (wanted >= count)
    return error_set(err, OP_ERR_BACKEND, "OP2_DEVICE=%d: this machine has %d GPU%s, numbered from 0", wanted,
                     count, count == 1 ? "" : "s");
  return read_device(d, wanted >= 0 ? wanted : rank % count, out, err);
}

void cuda_family_describe(const struct cuda_family *family, const char *named, struct text *out) {
  struct cuda_driver d;
  struct error err = {0};
  int count = 0;
  if (cuda_family_open(&d, family, named, &err)) {
    text_addf(out, "no driver: %s", error_message(&err));
    error_free(&err);
    return;
  }
  text_addf(out, "%s %d.%d (%s)", family->version, d.version / family->major,
            d.version % family->major / family->minor, d.path);
  if (d.device_count(&count) || !count)
    text_add(out, "; no GPU");
  for (int i = 0; i < count; i++) {
    struct cuda_device device;
    if (read_device(&d, i, &device, &err)) {
      text_addf(out, "; GPU %d: %s", i, error_message(&err));
      continue;
    }
    text_addf(out, "; GPU %d: %s, %s, %.1f GB", i, device.name, device.arch, (double)device.memory / 1e9);
    family->show(&device, out);
  }
  error_free(&err);
  cuda_driver_close(&d);
}

/* ---- CUDA ---- */
/* Numbers of cuDeviceGetAttribute. */
enum {
  ATTRIBUTE_BLOCK_THREADS = 1,
  ATTRIBUTE_BLOCK_SHARED = 8,
  ATTRIBUTE_MULTIPROCESSORS = 16,
  ATTRIBUTE_MAJOR = 75,
  ATTRIBUTE_MINOR = 76,
  ATTRIBUTE_BLOCK_SHARED_OPTIN = 97
};

static int read_cuda(const struct cuda_driver *d, struct cuda_device *out, struct error *err) {
  int major = 0, minor = 0, code = 0;
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
  out->capability = 10 * major + minor;
  snprintf(out->arch, sizeof out->arch, "sm_%d", out->capability);
  if (out->shared_most < out->shared)
    out->shared_most = out->shared;
  return cuda_check(d, code, err, "reading the properties of GPU %d", out->ordinal);
}

static void show_cuda(const struct cuda_device *device, struct text *out) {
  text_addf(out, ", %d multiprocessors, %d bytes of shared memory a block", device->multiprocessors,
            device->shared_most);
}

static const char *const usual[] = {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1", NULL};
#define CUDA_SYMBOL(name, symbol, hip, parameters) #symbol,
static const char *const symbols[] = {CUDA_ENTRIES(CUDA_SYMBOL)};
static const char *const later_symbols[] = {CUDA_LATER_ENTRIES(CUDA_SYMBOL)};
#undef CUDA_SYMBOL

const struct cuda_family cuda_family = {
    .name = "CUDA driver",
    .library = "CUDA driver",
    .variable = "OP2_CUDA_DRIVER",
    .usual = usual,
    .missing =
        "libcuda.so.1, and there is no /usr/lib/wsl/lib/libcuda.so.1; install NVIDIA's driver (Debian: "
        "package libcuda1)",
    .oldest = "CUDA 11",
    .hidden =
        "CUDA_ERROR_NO_DEVICE): there is none, or CUDA_VISIBLE_DEVICES or the container hides it; check "
        "with nvidia-smi",
    .symbols = symbols,
    .later_symbols = later_symbols,
    .version = "driver",
    .major = 1000,
    .minor = 10,
    .read = read_cuda,
    .show = show_cuda};
