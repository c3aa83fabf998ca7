/* The driver's entry points for memory of other processes, and for flags that streams set and wait for. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "entries.h"

/* 64 bytes, as cuda.h has it: where the file is. */
struct handle {
  int pid, file;
  size_t bytes;
  char unused[48];
};

EXPORT int cuIpcGetMemHandle(struct handle *out, address p) {
  ENTER();
  const uintptr_t at = device_range(p, 1);
  const int file = at ? memory_give(at) : -1;
  if (file < 0)
    return CODE_INVALID_VALUE;
  memset(out, 0, sizeof *out);
  *out = (struct handle){.pid = (int)getpid(), .file = file, .bytes = memory_find(at)->bytes};
  return CODE_OK;
}

/* A process cannot open what is its own. */
EXPORT int cuIpcOpenMemHandle_v2(address *out, struct handle handle, unsigned flags) {
  char path[64];
  (void)flags;
  ENTER();
  if (handle.pid == (int)getpid())
    return CODE_INVALID_CONTEXT;
  snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.pid, handle.file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct region *r = file >= 0 ? memory_take(file, handle.bytes) : NULL;
  if (file >= 0)
    close(file);
  if (!r)
    return CODE_INVALID_VALUE;
  *out = device_address(r->base);
  return CODE_OK;
}

EXPORT int cuIpcCloseMemHandle(address p) {
  queue_drain();
  const uintptr_t at = device_range(p, 1);
  return at && memory_find(at)->taken && memory_free(at, false) ? CODE_OK : CODE_INVALID_VALUE;
}

static struct work *flag_work(enum work_kind kind, void *stream, address p, uint32_t number) {
  const uintptr_t at = p % sizeof number ? 0 : device_range(p, sizeof number);
  struct work *w = at ? queue_add(kind, stream) : NULL;
  if (w) {
    w->to = at;
    w->flag = number;
  }
  return w;
}

/* Another process may wait for it, and does not make this one go on: it is done now. */
EXPORT int cuStreamWriteValue32_v2(void *stream, address p, uint32_t number, unsigned flags) {
  ENTER();
  const struct work *w = flags ? NULL : flag_work(WORK_SET_FLAG, stream, p, number);
  return w ? queue_drain_to(w) : CODE_INVALID_VALUE;
}

EXPORT int cuStreamWaitValue32_v2(void *stream, address p, uint32_t number, unsigned flags) {
  ENTER();
  return !flags && flag_work(WORK_AWAIT_FLAG, stream, p, number) ? CODE_OK : CODE_INVALID_VALUE;
}
