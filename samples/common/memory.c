#include "memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64 };

void *room(long long count, size_t size) {
  void *block = NULL;
  if (count >= 0 && (unsigned long long)count < SIZE_MAX / 2 / size) {
    size_t bytes = (size_t)count * size;
    block = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE + LINE);
  }
  if (!block) {
    fprintf(stderr, "no memory for %lld things of %zu bytes\n", count, size);
    exit(EXIT_FAILURE);
  }
  return block;
}
