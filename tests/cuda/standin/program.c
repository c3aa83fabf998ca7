/* The driver's entry points for programs: modules, functions, variables. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "entries.h"

/* ---- modules ---- */
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

/* An image is a line "STANDIN CUBIN 90 12345\n", "STANDIN PTX 90 12345\n" or "STANDIN HSACO 2314 12345\n" and that many
 * bytes of a program. */
static int load(void **module, const char *image) {
  char kind[8];
  int arch;
  long size;
  if (sscanf(image, "STANDIN %7s %d %ld", kind, &arch, &size) != 3)
    return CODE_INVALID_IMAGE;
  const char *elf = strchr(image, '\n') + 1;
  int have = standin_settings.capability;
  bool fits = strcmp(kind, "HSACO") == 0   ? arch == standin_settings.gfx
              : strcmp(kind, "CUBIN") == 0 ? arch / 10 == have / 10 && arch <= have
                                           : arch <= have;
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
  queue_drain();
  close_program(module);
  return CODE_OK;
}
/* ---- functions and variables ---- */
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
  remember_variable((uintptr_t)p, *bytes);
  *out = device_address((uintptr_t)p);
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
