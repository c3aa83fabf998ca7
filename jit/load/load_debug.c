#include "jit/load/load_debug.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* gdb's interface: it puts a breakpoint on the function, and reads the list when it is hit. The names and
 * shapes are gdb's. Weak and visible: if the process has another compiler of this kind, all share one list. */
struct debug_entry {
  struct debug_entry *next, *previous;
  const void *image;
  uint64_t size;
};
struct debug_descriptor {
  uint32_t version;
  uint32_t action;
  struct debug_entry *relevant, *first;
};
enum { DEBUG_NOTHING, DEBUG_REGISTER, DEBUG_UNREGISTER };

__attribute__((weak, visibility("default"))) extern struct debug_descriptor __jit_debug_descriptor;
__attribute__((weak, visibility("default"))) struct debug_descriptor __jit_debug_descriptor = {1, 0, NULL,
                                                                                               NULL};

__attribute__((weak, visibility("default"), noinline)) void __jit_debug_register_code(void);
__attribute__((weak, visibility("default"), noinline)) void __jit_debug_register_code(void) {
  __asm__ volatile("" ::: "memory"); /* or calls of an empty function would be left out */
}

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

struct debug_entry *debug_register(const void *image, size_t size) {
  struct debug_entry *entry = calloc(1, sizeof *entry);
  if (!entry)
    return NULL;
  entry->image = image;
  entry->size = size;
  pthread_mutex_lock(&list_lock);
  entry->next = __jit_debug_descriptor.first;
  if (entry->next)
    entry->next->previous = entry;
  __jit_debug_descriptor.first = __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = DEBUG_REGISTER;
  __jit_debug_register_code();
  pthread_mutex_unlock(&list_lock);
  return entry;
}

void debug_unregister(struct debug_entry *entry) {
  if (!entry)
    return;
  pthread_mutex_lock(&list_lock);
  if (entry->previous)
    entry->previous->next = entry->next;
  else
    __jit_debug_descriptor.first = entry->next;
  if (entry->next)
    entry->next->previous = entry->previous;
  __jit_debug_descriptor.relevant = entry;
  __jit_debug_descriptor.action = DEBUG_UNREGISTER;
  __jit_debug_register_code();
  __jit_debug_descriptor.relevant = NULL;
  __jit_debug_descriptor.action = DEBUG_NOTHING;
  pthread_mutex_unlock(&list_lock);
  free(entry);
}

void perf_map_add(const void *start, size_t size, const char *label, const char *function) {
  struct text path = {0}, line = {0};
  text_addf(&path, "/tmp/perf-%ld.map", (long)getpid());
  text_addf(&line, "%zx %zx %s:%s\n", (size_t)(uintptr_t)start, size, label, function);
  if (text_ok(&path) && text_ok(&line)) {
    /* The folder is everyone's, so links in it are not followed. */
    const int file = open(text_str(&path), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
      const ssize_t written = write(file, text_str(&line), line.length);
      (void)written;
      close(file);
    }
  }
  text_free(&path);
  text_free(&line);
}
