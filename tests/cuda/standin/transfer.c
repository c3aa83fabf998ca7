/* The driver's entry points for memory: allocations, copies and fills. */
#include <stdlib.h>
#include <string.h>

#include "entries.h"

/* ---- addresses ---- */
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

void remember_variable(uintptr_t base, size_t bytes) {
  variables[nvariables % MAX_VARIABLES].base = base;
  variables[nvariables % MAX_VARIABLES].bytes = bytes;
  nvariables += nvariables < MAX_VARIABLES;
}

static uintptr_t without_tag(address p) {
  return (uintptr_t)(p & ~STANDIN_TAG);
}

address device_address(uintptr_t at) {
  return standin_settings.reachable ? at : at | STANDIN_TAG;
}

bool is_of_device(address p) {
  if (!standin_settings.reachable)
    return (p & STANDIN_TAG) != 0;
  /* Also beside what is allocated: programs may move the beginning of an array. */
  const struct region *r = memory_find((uintptr_t)p);
  return r ? !r->pinned : memory_in_arena((uintptr_t)p) || in_variable((uintptr_t)p, 1);
}

uintptr_t device_range(address p, size_t bytes) {
  uintptr_t a = without_tag(p);
  if (is_of_device(p) && in_variable(a, bytes))
    return a;
  struct region *r = is_of_device(p) ? memory_find(a) : NULL;
  return r && r->live && bytes <= r->bytes && a - r->base <= r->bytes - bytes ? a : 0;
}

/* ---- allocations ---- */
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
  *out = device_address(r->base);
  return CODE_OK;
}
EXPORT int cuMemFree_v2(address p) {
  queue_drain();
  const struct region *r = memory_find(without_tag(p));
  return !p || (r && !r->taken && memory_free(r->base, false)) ? CODE_OK : CODE_INVALID_VALUE;
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
  queue_drain();
  return !p || memory_free((uintptr_t)p, true) ? CODE_OK : CODE_INVALID_VALUE;
}

/* ---- copies and fills ---- */
bool is_pinned(const void *p) {
  struct region *r = memory_find((uintptr_t)p);
  return r && r->pinned && r->live;
}

static int copy_in(address to, const void *from, size_t bytes, void *stream, bool wait) {
  uintptr_t a = device_range(to, bytes);
  if (!bytes)
    return CODE_OK;
  if (!a || !from || is_of_device((uintptr_t)from))
    return CODE_INVALID_VALUE;
  struct work *w = queue_add(WORK_COPY, stream);
  if (!w)
    return CODE_OUT_OF_MEMORY;
  w->to = a, w->from = (uintptr_t)from, w->bytes = bytes;
  if (!wait && !is_pinned(from) && (w->staged = malloc(bytes)))
    memcpy(w->staged, from, bytes);
  return wait ? queue_drain() : CODE_OK;
}
static int copy_out(void *to, address from, size_t bytes, void *stream, bool wait) {
  uintptr_t a = device_range(from, bytes);
  if (!bytes)
    return CODE_OK;
  if (!a || !to || is_of_device((uintptr_t)to))
    return CODE_INVALID_VALUE;
  struct work *w = queue_add(WORK_COPY, stream);
  if (!w)
    return CODE_OUT_OF_MEMORY;
  w->to = (uintptr_t)to, w->from = a, w->bytes = bytes;
  return wait || !is_pinned(to) ? queue_drain() : CODE_OK;
}
EXPORT int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes) {
  ENTER();
  return copy_in(to, from, bytes, NULL, true);
}
EXPORT int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream) {
  ENTER();
  return copy_in(to, from, bytes, stream, false);
}
EXPORT int cuMemcpyDtoH_v2(void *to, address from, size_t bytes) {
  ENTER();
  return copy_out(to, from, bytes, NULL, true);
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream) {
  ENTER();
  return copy_out(to, from, bytes, stream, false);
}
EXPORT int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream) {
  ENTER();
  uintptr_t a = device_range(to, bytes), b = device_range(from, bytes);
  struct work *w = a && b ? queue_add(WORK_COPY, stream) : NULL;
  if (!w)
    return CODE_INVALID_VALUE;
  w->to = a, w->from = b, w->bytes = bytes;
  return CODE_OK;
}
EXPORT int cuMemsetD8Async(address to, unsigned char value, size_t bytes, void *stream) {
  ENTER();
  uintptr_t a = device_range(to, bytes);
  struct work *w = a ? queue_add(WORK_SET, stream) : NULL;
  if (!w)
    return CODE_INVALID_VALUE;
  w->to = a, w->bytes = bytes, w->value = value;
  return CODE_OK;
}
