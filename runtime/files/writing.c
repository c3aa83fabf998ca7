#include "files/writing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/aside.h"

enum { COPY_BYTES = 1 << 20 };

static int cannot_write(const char *path, struct error *err) {
  return error_set(err, OP_ERR_FILE, "the file %s cannot be written: %s", path, strerror(errno));
}

/* ---- names ---- */

/* The root's text, for all ranks. */
static int tell_text(struct comm *comm, struct text *text, struct error *err) {
  long long length = (long long)text->length;
  int code = together_broadcast(comm, &length, sizeof length, err);
  if (!code && !together_is_root(comm)) {
    text_clear(text);
    for (long long i = 0; i < length; i++)
      text_add_char(text, ' ');
    code = text_ok(text) ? OP_OK : error_memory(err, "a file's name", (size_t)length);
  }
  code = together_agree(comm, code, err);
  return code || !length ? code : together_broadcast(comm, text->data, (size_t)length, err);
}

/* A link is followed, so that it stays one. The names are the root's. */
static int name_files(struct writing *w, const char *path, struct error *err) {
  int code = OP_OK;
  if (together_is_root(w->comm)) {
    char *real = realpath(path, NULL);
    text_add(&w->path, real ? real : path);
    free(real);
    code = text_ok(&w->path) ? aside_name(text_str(&w->path), &w->aside, err)
                             : error_memory(err, "a file's name", strlen(path));
  }
  code = together_agree(w->comm, code, err);
  if (!code)
    code = tell_text(w->comm, &w->path, err);
  return code ? code : tell_text(w->comm, &w->aside, err);
}

/* ---- what was there ---- */

static bool copy_bytes(int from, int to) {
  /* Shares the blocks where the file system can. */
  off_t left = lseek(from, 0, SEEK_END);
  if (left < 0 || lseek(from, 0, SEEK_SET) < 0)
    return false;
  ssize_t n = 1;
  while (left > 0 && (n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0)) > 0)
    left -= n;
  if (left == 0)
    return true;
  if (errno == ENOSPC || errno == EFBIG || errno == EIO || errno == EDQUOT)
    return false;
  char *buffer = malloc(COPY_BYTES);
  bool good = buffer != NULL;
  while (good && (n = read(from, buffer, COPY_BYTES)) > 0)
    for (ssize_t at = 0, m; good && at < n; at += m)
      good = (m = write(to, buffer + at, (size_t)(n - at))) > 0;
  free(buffer);
  return good && n == 0;
}

static int copy_file(const char *from, const char *to, struct error *err) {
  int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, code = OP_OK;
  if (in < 0)
    return error_set(err, OP_ERR_FILE, "the file %s cannot be read: %s", from, strerror(errno));
  out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0 || !copy_bytes(in, out))
    code = cannot_write(from, err);
  if (out >= 0 && close(out) != 0 && !code)
    code = cannot_write(from, err);
  if (code && out >= 0)
    unlink(to);
  close(in);
  return code;
}

/* On the root: *there says whether the file exists; it must be one that may be written. */
static int prepare(struct writing *w, bool keep, long long *there, struct error *err) {
  const char *path = text_str(&w->path);
  struct stat status;
  *there = stat(path, &status) == 0;
  if (!*there)
    return errno == ENOENT ? OP_OK : cannot_write(path, err);
  if (!S_ISREG(status.st_mode))
    return error_set(err, OP_ERR_FILE, "%s is not a file; name one", path);
  if (access(path, W_OK) != 0)
    return cannot_write(path, err);
  return keep ? copy_file(path, text_str(&w->aside), err) : OP_OK;
}

/* ---- begin and end ---- */

static void writing_free(struct writing *w) {
  text_free(&w->path);
  text_free(&w->aside);
}

/* HDF5 says only that it cannot make a file; the system says why. */
static int can_make(const char *aside, const char *path, struct error *err) {
  int fd = open(aside, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return cannot_write(path, err);
  close(fd);
  return OP_OK;
}

/* On the root: what is written, with what is kept of what was there. */
static int open_aside(struct writing *w, const char *path, bool keep, struct error *err) {
  long long there = 0;
  int code = prepare(w, keep, &there, err);
  if (!code)
    code = can_make(text_str(&w->aside), path, err);
  return code ? code
              : w->table->open(&w->file, text_str(&w->aside), path, keep && there ? FILE_UPDATE : FILE_CREATE,
                               FILE_ALONE, err);
}

int writing_begin(struct writing *w, const struct file_table *table, struct comm *comm, const char *path,
                  bool keep, struct error *err) {
  *w = (struct writing){.comm = comm, .table = table, .rows = -1};
  int code = name_files(w, path, err);
  if (!code && together_is_root(comm))
    code = open_aside(w, path, keep, err);
  code = together_agree(comm, code, err);
  if (!code && (w->rows = open(text_str(&w->aside), O_WRONLY | O_CLOEXEC)) < 0)
    code = cannot_write(path, err);
  code = together_agree(comm, code, err);
  if (code)
    writing_end(w, code, err);
  return code;
}

struct layout writing_layout(const struct writing *w, const char *path) {
  return (struct layout){
      .table = w->table, .file = w->file, .comm = w->comm, .path = path, .apart = true, .rows = w->rows};
}

/* With the rights of the file that is replaced. */
static int take_place(const struct writing *w, struct error *err) {
  const char *path = text_str(&w->path), *aside = text_str(&w->aside);
  struct stat status;
  const bool there = stat(path, &status) == 0;
  if ((there && chmod(aside, status.st_mode & 07777) != 0) || rename(aside, path) != 0)
    return error_set(err, OP_ERR_FILE, "the file %s cannot be replaced: %s", path, strerror(errno));
  return OP_OK;
}

int writing_end(struct writing *w, int code, struct error *err) {
  /* All rows are in the file before the root ends it. */
  if (w->rows >= 0 && close(w->rows) != 0 && !code)
    code = cannot_write(text_str(&w->path), err);
  code = together_agree(w->comm, code, err);
  if (w->file) {
    struct error second = {0};
    const int closed = w->table->close(w->file, &second);
    if (!code && closed)
      code = error_copy(err, &second);
    error_free(&second);
  }
  if (together_is_root(w->comm)) {
    if (!code)
      code = take_place(w, err);
    if (code)
      unlink(text_str(&w->aside));
  }
  code = together_agree(w->comm, code, err);
  writing_free(w);
  return code;
}
