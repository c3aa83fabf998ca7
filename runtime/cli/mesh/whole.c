#include "whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/aside.h"

int whole_read(const char *path, char **text, size_t *length, struct error *err) {
  struct stat status;
  FILE *file = fopen(path, "rb");
  if (!file || fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode)) {
    int code = error_set(err, OP_ERR_FILE, "the file %s cannot be read: %s", path,
                         file ? "it is not a file" : strerror(errno));
    if (file)
      fclose(file);
    return code;
  }
  const size_t size = (size_t)status.st_size;
  int code = OP_OK;
  *text = malloc(size + 1);
  if (!*text)
    code = error_memory(err, "a file", size);
  else if ((*length = fread(*text, 1, size, file)) != size)
    code = error_set(err, OP_ERR_FILE, "the file %s cannot be read: %s", path,
                     ferror(file) ? strerror(errno) : "it becomes shorter while it is read");
  else
    (*text)[size] = '\0';
  if (code) {
    free(*text);
    *text = NULL;
  }
  fclose(file);
  return code;
}

int whole_write(const char *path, bool (*write)(FILE *file, void *user), void *user, struct error *err) {
  struct aside a;
  int code = aside_open(&a, path, err);
  if (!code && !write(a.file, user))
    code = aside_refused(path, err);
  return aside_close(&a, code, err);
}
