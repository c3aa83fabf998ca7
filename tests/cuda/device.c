#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int ok, const char *what, const struct error *err) {
  if (ok)
    return;
  fprintf(stderr, "%s: %s\n", what, err ? error_message(err) : "failed");
  exit(1);
}

static void attach(struct device *d) {
  struct error err = {0};
  must(!cuda_device_choose(&d->driver, -1, 0, &d->about, &err), "device", &err);
  must(!d->driver.context_retain(&d->context, d->about.handle), "context", NULL);
  must(!d->driver.context_set(d->context), "context", NULL);
}

void device_open(struct device *d, const char *mode) {
  struct error err = {0};
  const char *driver = getenv("OP2_CUDA_DRIVER"), *nvrtc = getenv("OP2_NVRTC");
  if (!driver || !nvrtc) {
    puts("skipped: OP2_CUDA_DRIVER and OP2_NVRTC name no stand-in");
    exit(77);
  }
  *d = (struct device){0};
  setenv("STANDIN_MODE", mode, 1);
  must(!cuda_family_open(&d->driver, &cuda_family, driver, &err), "driver", &err);
  must(!nvrtc_open(&d->nvrtc, &(struct nvrtc_places){.named = nvrtc}, &err), "nvrtc", &err);
  void *entry = dlsym(d->driver.library, "standin_findings"),
       *seed = dlsym(d->driver.library, "standin_seed");
  must(entry && seed, "OP2_CUDA_DRIVER is not the stand-in", NULL);
  memcpy(&d->findings, &entry, sizeof entry);
  memcpy(&d->seed, &seed, sizeof seed);
  attach(d);
}

void device_close(struct device *d) {
  d->driver.context_release(d->about.handle);
  nvrtc_close(d->nvrtc);
  cuda_driver_close(&d->driver);
}

void device_reset(struct device *d) {
  d->driver.context_release(d->about.handle);
  attach(d);
}

cuda_module device_compile(struct device *d, const char *name, const char *source, struct text *log) {
  struct compile_file file = {name, source, strlen(source)};
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d", d->about.capability);
  struct compile_request request = {.files = &file, .nfiles = 1, .cpu = arch, .fp = "contract"};
  struct compile_result result;
  nvrtc_compile(d->nvrtc, &request, NULL, 0, &result);
  for (int i = 0; i < result.nmessages; i++)
    text_addf(log, "%s:%d:%d: %s\n", result.messages[i].file, result.messages[i].line,
              result.messages[i].column, result.messages[i].text);
  cuda_module module = NULL;
  if (result.status == 0)
    must(!d->driver.module_load(&module, result.binary, 0, NULL, NULL), "loading a module", NULL);
  nvrtc_release(&result);
  return module;
}

cuda_address device_array(struct device *d, const void *data, size_t bytes) {
  cuda_address p = 0;
  must(!d->driver.memory_alloc(&p, bytes), "device memory", NULL);
  if (data)
    must(!d->driver.copy_in(p, data, bytes, NULL), "copying to the device", NULL);
  return p;
}

void device_fetch(struct device *d, void *out, cuda_address from, size_t bytes) {
  must(!d->driver.copy_out(out, from, bytes, NULL) && !d->driver.stream_wait(NULL), "copying from the device",
       NULL);
}

int device_launch(struct device *d, cuda_module module, const char *kernel, unsigned blocks, unsigned threads,
                  unsigned shared, void **parameters) {
  cuda_function function = NULL;
  must(!d->driver.module_function(&function, module, kernel), kernel, NULL);
  if (shared > 48 * 1024)
    must(!d->driver.function_set(function, 8, (int)shared), "opting in to shared memory", NULL);
  int code = d->driver.launch(function, blocks, 1, 1, threads, 1, 1, shared, NULL, parameters, NULL);
  return code ? code : d->driver.stream_wait(NULL);
}
