#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The first word of what Linux says of the first processor's largest cache; 0, or -1. */
static int read_cache(const char *what, char *word, int size) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index3/%s", what);
  FILE *file = fopen(path, "r");
  char *line = file ? fgets(word, size, file) : NULL;
  if (file)
    fclose(file);
  return line ? 0 : -1;
}

/* In a list such as 0-3,8-11. */
static long processors_in(const char *list) {
  long count = 0;
  while (*list >= '0' && *list <= '9') {
    char *end;
    long first = strtol(list, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
    count += last - first + 1;
    list = *end == ',' ? end + 1 : end;
  }
  return count;
}

/* All caches of the last level together; several processors share one. */
static double cache_bytes(void) {
  char size[32], list[256];
  if (read_cache("size", size, sizeof size) || read_cache("shared_cpu_list", list, sizeof list))
    return 32.0 * (1 << 20);
  long sharing = processors_in(list), all = sysconf(_SC_NPROCESSORS_ONLN);
  return 1024 * strtod(size, NULL) * (sharing > 0 && all > sharing ? (double)all / (double)sharing : 1);
}

int stream_worth(double bytes) {
  return bytes > 1.5 * cache_bytes();
}
