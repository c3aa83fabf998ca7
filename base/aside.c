#include "aside.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int aside_refused(const char *path, struct error *err) {
  return error_set(err, OP_ERR_FILE,
                   "the file %s cannot be written: %s; name one in a folder that is there and may be written",
                   path, strerror(errno));
}

/* True: a device or a pipe, or a stream of the process (/dev/stdout), which others write too. */
static bool is_stream(const char *path) {
  static const char *const streams[] = {"/dev/std", "/dev/fd/", "/proc/"};
  struct stat there;
  bool stream = stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
    stream |= strncmp(path, streams[i], strlen(streams[i])) == 0;
  return stream;
}

int aside_name(const char *path, long pid, struct text *file, struct text *name, struct error *err) {
  char real[PATH_MAX];
  text_add(file, realpath(path, real) ? real : path);
  text_addf(name, "%s.%ld.part", text_str(file), pid);
  return text_ok(file) && text_ok(name) ? OP_OK : error_memory(err, "a file's name", strlen(path));
}

int aside_open(struct aside *a, const char *path, struct error *err) {
  const bool stream = is_stream(path);
  struct stat there;
  *a = (struct aside){0};
  if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
    errno = EISDIR;
    return aside_refused(path, err);
  }
  if (stream)
    text_add(&a->path, path);
  else if (aside_name(path, (long)getpid(), &a->path, &a->name, err))
    return err->code;
  a->file = stream ? fopen(path, "ab") : fopen(text_str(&a->name), "wb");
  return a->file ? OP_OK : aside_refused(path, err);
}

int aside_close(struct aside *a, int code, struct error *err) {
  const char *path = text_str(&a->path), *name = text_str(&a->name);
  if (a->file) {
    if (fclose(a->file) != 0 && !code)
      code = aside_refused(path, err);
    if (!code && *name && rename(name, path) != 0)
      code = error_set(err, OP_ERR_FILE, "the file %s cannot be replaced: %s", path, strerror(errno));
    if (code && *name)
      unlink(name);
  }
  text_free(&a->path);
  text_free(&a->name);
  a->file = NULL;
  return code;
}

/* Streams are not opened: opening a pipe would wait for its reader. */
int aside_check(const char *path, struct error *err) {
  struct aside a;
  if (is_stream(path))
    return OP_OK;
  const int code = aside_open(&a, path, err);
  aside_close(&a, OP_ERR_FILE, err);
  return code;
}

int aside_whole(const char *path, const void *bytes, size_t length, struct error *err) {
  struct aside a;
  int code = aside_open(&a, path, err);
  if (!code && fwrite(bytes, 1, length, a.file) != length)
    code = aside_refused(path, err);
  return aside_close(&a, code, err);
}

int file_read(const char *path, struct text *out, struct error *err) {
  char part[1 << 16];
  size_t n;
  FILE *file = fopen(path, "rb");
  if (!file)
    return error_set(err, OP_ERR_FILE, "%s cannot be opened: %s", path, strerror(errno));
  while (text_ok(out) && (n = fread(part, 1, sizeof part, file)) > 0)
    text_add_bytes(out, part, n);
  const int why = ferror(file) ? errno : 0;
  fclose(file);
  if (why)
    return error_set(err, OP_ERR_FILE, "%s cannot be read: %s", path, strerror(why));
  return text_ok(out) ? OP_OK : error_memory(err, "a file", out->length);
}
