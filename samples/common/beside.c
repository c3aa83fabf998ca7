#include "beside.h"

#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What comes about is where it leads, and the link stays. */
static int is_link_to_nothing(const char *path) {
  struct stat link;
  return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && access(path, F_OK) != 0;
}

/* Others write more of the file that a stream leads to. */
int beside_is_stream(const char *path) {
  struct stat there;
  return is_link_to_nothing(path) || !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6) ||
         (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode));
}

/* Where a link leads. */
static char *place_of(const char *path) {
  char *real = realpath(path, NULL);
  if (real)
    return real;
  const size_t size = strlen(path) + 1;
  return memcpy(room((long long)size, 1), path, size);
}

/* With the host's number, since hosts may share the folder. */
char *beside_name(const char *path) {
  char ending[64], *place = place_of(path);
  snprintf(ending, sizeof ending, ".%08lx.%ld.part", (unsigned long)gethostid() & 0xFFFFFFFFul,
           (long)getpid());
  const long long size = (long long)strlen(place) + (long long)strlen(ending) + 1;
  char *other = room(size, 1);
  snprintf(other, (size_t)size, "%s%s", place, ending);
  free(place);
  return other;
}

static void release(struct beside *b) {
  const int reason = errno;
  free(b->path);
  free(b->name);
  *b = (struct beside){0};
  errno = reason;
}

int beside_open(struct beside *b, const char *path) {
  const int stream = beside_is_stream(path);
  *b = (struct beside){.path = place_of(path), .name = stream ? NULL : beside_name(path)};
  /* A pipe waits for its reader, who may want to see what was said so far. */
  if (stream)
    fflush(stdout);
  b->file = stream ? fopen(path, "wb") : fopen(b->name, "wb");
  if (b->file)
    return 0;
  release(b);
  return -1;
}

/* With the rights of the file that is replaced. */
static int take_place(const struct beside *b) {
  struct stat there;
  if (stat(b->path, &there) == 0 && chmod(b->name, there.st_mode & 07777) != 0)
    return -1;
  return rename(b->name, b->path);
}

int beside_close(struct beside *b) {
  int failed = ferror(b->file);
  failed = fclose(b->file) != 0 || failed;
  if (b->name) {
    failed = failed || take_place(b) != 0;
    const int reason = errno;
    if (failed)
      unlink(b->name);
    errno = reason;
  }
  release(b);
  return failed ? -1 : 0;
}
