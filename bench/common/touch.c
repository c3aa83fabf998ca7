#include "touch.h"

#include "memory.h"
#include "options.h"
#include "threads.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096, LARGE = 1 << 16, HUGE_PAGE = 2 << 20 };

/* Arrays that begin at the same place of a page compete for the same few lines of each cache: large ones begin at
 * some line or other. What malloc gave stands in front of it. */
static void *room_at_some_line(size_t bytes) {
  size_t alignment = bytes >= (size_t)HUGE_PAGE ? HUGE_PAGE : LINE, lead = LINE;
  void *base = NULL;
  if (posix_memalign(&base, alignment, bytes + PAGE + LINE)) {
    options_refuse("no memory for %zu bytes", bytes);
    exit(EXIT_FAILURE);
  }
  if (alignment == HUGE_PAGE)
    madvise(base, bytes + PAGE + LINE, MADV_HUGEPAGE);
  if (bytes >= LARGE)
    lead = LINE * (1 + ((uint64_t)(uintptr_t)base / PAGE * 0x9E3779B97F4A7C15u >> 58));
  void **memory = (void **)((unsigned char *)base + lead);
  memory[-1] = base;
  return memory;
}

void *touched_copy(const void *from, long long count, size_t size, int parallel) {
  (void)parallel; /* without OpenMP */
  char *made = room_at_some_line(room_bytes(count, size));
#pragma omp parallel if (parallel)
  {
    size_t begin = (size_t)(count * thread_number() / thread_count()) * size;
    size_t end = (size_t)(count * (thread_number() + 1) / thread_count()) * size;
    if (from)
      memcpy(made + begin, (const char *)from + begin, end - begin);
    else
      memset(made + begin, 0, end - begin);
  }
  return made;
}

void touched_free(void *memory) {
  if (memory)
    free(((void **)memory)[-1]);
}
