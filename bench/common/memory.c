#include "memory.h"

#include "options.h"

#include <stdint.h>
#include <stdlib.h>

enum { LINE = 64 };

static void end_without(long long count, size_t size) {
  options_refuse("no memory for %lld things of %zu bytes", count, size);
  exit(EXIT_FAILURE);
}

size_t room_bytes(long long count, size_t size) {
  if (count < 0 || (unsigned long long)count >= SIZE_MAX / 2 / size)
    end_without(count, size);
  return (size_t)count * size;
}

void *room(long long count, size_t size) {
  void *block = aligned_alloc(LINE, (room_bytes(count, size) + LINE - 1) / LINE * LINE + LINE);
  if (!block)
    end_without(count, size);
  return block;
}
