#include "memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

/* Names that the linker gives: NAME becomes __wrap_NAME, __real_NAME is the library's own. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
int __real_posix_memalign(void **p, size_t alignment, size_t n);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
char *__real_realpath(const char *path, char *out);
void *__real_mmap(void *at, size_t n, int protection, int flags, int file, off_t offset);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
int __wrap_posix_memalign(void **p, size_t alignment, size_t n);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
char *__wrap_realpath(const char *path, char *out);
void *__wrap_mmap(void *at, size_t n, int protection, int flags, int file, off_t offset);
void __wrap_free(void *p);

/* Threads of the library allocate as well. */
static struct {
  enum failing how;
  long at;
  atomic_long asked, refused, live;
} state;

void memory_fail(enum failing how, long at) {
  state.how = how;
  state.at = at;
  state.asked = 0;
  state.refused = 0;
}

long memory_asked(void) {
  return state.asked;
}

long memory_refused(void) {
  return state.refused;
}

long memory_live(void) {
  return state.live;
}

bool memory_refuses(void) {
  long number = state.asked++;
  bool refused = state.how == FAIL_ONCE ? number == state.at : state.how == FAIL_FROM && number >= state.at;
  state.refused += refused;
  if (refused)
    errno = ENOMEM;
  return refused;
}

static void *counted(void *p) {
  state.live += p != NULL;
  return p;
}

void *__wrap_malloc(size_t n) {
  return memory_refuses() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size) {
  return memory_refuses() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n) {
  if (memory_refuses())
    return NULL;
  return p ? __real_realloc(p, n) : counted(__real_realloc(p, n));
}

void *__wrap_aligned_alloc(size_t alignment, size_t n) {
  return memory_refuses() ? NULL : counted(__real_aligned_alloc(alignment, n));
}

int __wrap_posix_memalign(void **p, size_t alignment, size_t n) {
  int status = memory_refuses() ? ENOMEM : __real_posix_memalign(p, alignment, n);
  state.live += status == 0;
  return status;
}

char *__wrap_strdup(const char *s) {
  return memory_refuses() ? NULL : counted(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n) {
  return memory_refuses() ? NULL : counted(__real_strndup(s, n));
}

/* In a buffer of its own. */
char *__wrap_realpath(const char *path, char *out) {
  if (!out && memory_refuses())
    return NULL;
  return out ? __real_realpath(path, out) : counted(__real_realpath(path, NULL));
}

void *__wrap_mmap(void *at, size_t n, int protection, int flags, int file, off_t offset) {
  return memory_refuses() ? MAP_FAILED : __real_mmap(at, n, protection, flags, file, offset);
}

void __wrap_free(void *p) {
  state.live -= p != NULL;
  __real_free(p);
}
