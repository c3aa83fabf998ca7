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

/* The names are those that the root's process gives. */
static int name_both(struct writing *w, const char *path, struct error *err) {
  long long pid = getpid();
  int code = together_broadcast(w->comm, &pid, sizeof pid, err);
  if (!code)
    code = aside_name(path, (long)pid, &w->path, &w->aside, err);
  return together_agree(w->comm, code, err);
}

static bool copy_bytes(int from, int to) {
  ssize_t n = 0;
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

/* On the root: a file that exists must be one that may be written. */
static int check_path(const char *path, bool there, const struct stat *status, struct error *err) {
  if (!there)
    return errno == ENOENT ? OP_OK : cannot_write(path, err);
  if (!S_ISREG(status->st_mode))
    return error_set(err, OP_ERR_FILE, "%s is not a file; name one", path);
  return access(path, W_OK) == 0 ? OP_OK : cannot_write(path, err);
}

/* On the root: what is written, with what is kept of what was there. */
static int open_aside(struct writing *w, const char *path, const char *base, struct error *err) {
  struct stat status;
  const bool there = stat(text_str(&w->path), &status) == 0,
             copies = base && (there || strcmp(base, path) != 0);
  int code = check_path(text_str(&w->path), there, &status, err);
  if (!code && copies)
    code = copy_file(base, text_str(&w->aside), err);
  /* HDF5 says only that it cannot make a file; the system says why. */
  if (!code && (w->rows = open(text_str(&w->aside), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) < 0)
    code = cannot_write(path, err);
  return code ? code
              : w->table->open(&w->file, text_str(&w->aside), path, copies ? FILE_UPDATE : FILE_CREATE, err);
}

int writing_begin(struct writing *w, const struct file_table *table, struct comm *comm, const char *path,
                  const char *base, struct error *err) {
  *w = (struct writing){.comm = comm, .table = table, .rows = -1};
  int code = name_both(w, path, err);
  if (!code && together_is_root(comm))
    code = open_aside(w, path, base, err);
  code = together_agree(comm, code, err);
  if (!code && w->rows < 0 && (w->rows = open(text_str(&w->aside), O_WRONLY | O_CLOEXEC)) < 0)
    code = cannot_write(path, err);
  code = together_agree(comm, code, err);
  if (code)
    writing_end(w, code, err);
  return code;
}

struct layout writing_layout(const struct writing *w, const char *path) {
  return (struct layout){.table = w->table, .file = w->file, .comm = w->comm, .path = path, .rows = w->rows};
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
  if (w->file)
    code = layout_close_file(w->table, w->file, code, err);
  if (together_is_root(w->comm)) {
    if (!code)
      code = take_place(w, err);
    if (code)
      unlink(text_str(&w->aside));
  }
  code = together_agree(w->comm, code, err);
  text_free(&w->path);
  text_free(&w->aside);
  return code;
}
