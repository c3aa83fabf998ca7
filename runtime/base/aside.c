#include "base/aside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
