#include "aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MACHINE_DIGITS = 8, HOST_MOST = 256 };
static const char last[] = ".part";

static uint32_t mix(uint32_t hash, const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ p[i]) * 16777619u;
  return hash;
}

/* Of the name of the host, and of what gives processes their numbers: containers have each their own. */
static uint32_t machine(void) {
  char host[HOST_MOST] = "";
  struct stat numbers = {0};
  gethostname(host, sizeof host - 1);
  if (stat("/proc/self/ns/pid", &numbers) != 0)
    numbers.st_ino = 0;
  return mix(mix(2166136261u, host, strlen(host)), &numbers.st_ino, sizeof numbers.st_ino);
}

/* What stands behind FILE and a dot: this machine, a process that is no more, and the ending. */
static bool is_left_over(const char *words) {
  char mine[MACHINE_DIGITS + 2], *stop;
  snprintf(mine, sizeof mine, "%0*x.", MACHINE_DIGITS, machine());
  if (strncmp(words, mine, sizeof mine - 1) != 0)
    return false;
  words += sizeof mine - 1;
  errno = 0;
  const long pid = *words >= '1' && *words <= '9' ? strtol(words, &stop, 10) : 0;
  return pid > 0 && pid <= INT32_MAX && !errno && strcmp(stop, last) == 0 && kill((pid_t)pid, 0) != 0 &&
         errno == ESRCH;
}

/* A folder that cannot be looked through keeps what it has. */
static void clean(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  const size_t length = strlen(name);
  char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  DIR *dir = folder ? opendir(folder) : NULL;
  for (struct dirent *e; dir && (e = readdir(dir));)
    if (strncmp(e->d_name, name, length) == 0 && e->d_name[length] == '.' &&
        is_left_over(e->d_name + length + 1))
      unlinkat(dirfd(dir), e->d_name, 0);
  if (dir)
    closedir(dir);
  free(folder);
}

int aside_name(const char *path, struct text *out, struct error *err) {
  clean(path);
  text_clear(out);
  text_addf(out, "%s.%0*x.%ld%s", path, MACHINE_DIGITS, machine(), (long)getpid(), last);
  return text_ok(out) ? OP_OK : error_memory(err, "a file's name", strlen(path));
}

/* ---- files ---- */

int aside_refused(const char *path, struct error *err) {
  return error_set(err, OP_ERR_FILE,
                   "the file %s cannot be written: %s; name one in a folder that is there and may be written",
                   path, strerror(errno));
}

static bool begins_with(const char *path, const char *start) {
  return strncmp(path, start, strlen(start)) == 0;
}

/* A stream may lead to a file, of which others write more. */
static bool is_stream(const char *path) {
  struct stat there;
  return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0 ||
         begins_with(path, "/dev/fd/") || begins_with(path, "/proc/") ||
         (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode));
}

/* Which file it is, and what it is called meanwhile. */
static int find_place(struct aside *a, const char *path, struct error *err) {
  if (is_stream(path)) {
    text_add(&a->path, path);
    return text_ok(&a->path) ? OP_OK : error_memory(err, "a file's name", strlen(path));
  }
  char real[PATH_MAX];
  text_add(&a->path, realpath(path, real) ? real : path);
  return text_ok(&a->path) ? aside_name(text_str(&a->path), &a->name, err)
                           : error_memory(err, "a file's name", strlen(path));
}

int aside_open(struct aside *a, const char *path, struct error *err) {
  *a = (struct aside){0};
  if (find_place(a, path, err))
    return err->code;
  a->file = a->name.length ? fopen(text_str(&a->name), "wb") : fopen(text_str(&a->path), "ab");
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

/* To open a pipe would wait for its reader. */
int aside_check(const char *path, struct error *err) {
  struct aside a;
  struct stat there;
  if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
    errno = EISDIR;
    return aside_refused(path, err);
  }
  if (is_stream(path))
    return OP_OK;
  const int code = aside_open(&a, path, err);
  if (a.file) {
    fclose(a.file);
    a.file = NULL;
    unlink(text_str(&a.name));
  }
  return aside_close(&a, code, err);
}
