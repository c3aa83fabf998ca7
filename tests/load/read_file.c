#include "read_file.h"

#include <stdio.h>
#include <stdlib.h>

void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = NULL;
  long length = 0;
  if (file && fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
    *size = (size_t)length;
    bytes = malloc(*size + 1);
    if (bytes && fread(bytes, 1, *size, file) != *size) {
      free(bytes);
      bytes = NULL;
    }
  }
  if (file)
    fclose(file);
  if (!bytes) {
    perror(path);
    exit(2);
  }
  return bytes;
}
