#include "touch.h"

#include "memory.h"
#include "threads.h"

#include <string.h>

void *touched_copy(const void *from, long long count, size_t size, int parallel) {
  char *made = room(count, size);
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
