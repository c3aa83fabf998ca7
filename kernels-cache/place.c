/* The place of a file: its directories, who may write there, and the kind of file system. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "inner.h"

bool store_default_path(struct text *out, const char *xdg_cache_home, const char *home) {
  if (xdg_cache_home && xdg_cache_home[0] == '/')
    text_addf(out, "%s/op2jit/kernels.db", xdg_cache_home);
  else if (home && home[0] == '/')
    text_addf(out, "%s/.cache/op2jit/kernels.db", home);
  else
    return false;
  return text_ok(out);
}

static char *directory_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    return strdup(".");
  return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static bool make_directories(char *directory, struct text *reason) {
  for (char *p = directory + 1;; p++) {
    if (*p != '/' && *p != '\0')
      continue;
    char kept = *p;
    *p = '\0';
    int code = mkdir(directory, 0700) == 0 ? 0 : errno;
    if (code && code != EEXIST && access(directory, F_OK) != 0) {
      text_addf(reason, "the directory %s cannot be made: %s", directory, strerror(code));
      return false;
    }
    *p = kept;
    if (kept == '\0')
      return true;
  }
}

bool place_create(const char *path, bool *made, struct text *reason) {
  *made = false;
  char *directory = directory_of(path);
  if (!directory) {
    text_add(reason, "out of memory");
    return false;
  }
  bool good = make_directories(directory, reason);
  free(directory);
  if (!good)
    return false;
  /* Only a new file is opened: closing a file that SQLite has open in this process would drop its locks. */
  int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno != EEXIST) {
    text_addf(reason, "%s cannot be made: %s", path, strerror(errno));
    return false;
  }
  *made = fd >= 0;
  if (fd >= 0)
    close(fd);
  return true;
}

static bool trusted(const char *path, const struct stat *st, const char *what, const char *why,
                    struct text *reason) {
  uid_t self = geteuid();
  if (st->st_uid != self && st->st_uid != 0) {
    text_addf(reason, "the %s %s belongs to user %u, not to you (%u) or root: %s", what, path,
              (unsigned)st->st_uid, (unsigned)self, why);
    return false;
  }
  if (st->st_mode & (S_IWGRP | S_IWOTH)) {
    text_addf(reason, "the %s %s can be written by %s: %s", what, path,
              st->st_mode & S_IWOTH ? "everybody" : "its group", why);
    if (st->st_mode & S_ISVTX) /* as /tmp, which others need as it is */
      text_add(reason, ". Name a folder in it that only you can write to");
    else
      text_addf(reason, ". Run: chmod go-w '%s'", path);
    return false;
  }
  return true;
}

bool place_trusted(const char *path, const char *why, struct text *reason) {
  static const char *const beside[] = {"", "-wal", "-journal"};
  struct stat st;
  for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
    struct text name = {0};
    text_addf(&name, "%s%s", path, beside[i]);
    bool there = text_ok(&name) && stat(text_str(&name), &st) == 0;
    bool good = text_ok(&name);
    if (i == 0 && !there) {
      text_addf(reason, "%s: %s", path, strerror(errno));
      good = false;
    } else if (there && !S_ISREG(st.st_mode)) {
      text_addf(reason, "%s is not a file", text_str(&name));
      good = false;
    } else if (there)
      good = trusted(text_str(&name), &st, "file", why, reason);
    text_free(&name);
    if (!good)
      return false;
  }
  char *directory = directory_of(path);
  bool good = directory && stat(directory, &st) == 0 && trusted(directory, &st, "directory", why, reason);
  free(directory);
  return good;
}

/* The bytes that tell are two: the header's number of the application, and the text of the first table in the page
 * behind it. */
bool place_looks_like_cache(const char *path) {
  enum { MOST = 1 << 16, APPLICATION_AT = 68 };
  static const char table[] = "CREATE TABLE signature(id INTEGER PRIMARY KEY";
  unsigned char *head = malloc(MOST);
  FILE *file = head ? fopen(path, "rbe") : NULL;
  const size_t got = file ? fread(head, 1, MOST, file) : 0;
  /* not a message: what SQLite keeps of a schema */
  bool ours = got > 0 && memmem(head, got, table, sizeof table - 1);
  if (got >= APPLICATION_AT + 4) {
    const unsigned char *a = head + APPLICATION_AT;
    ours |= ((uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3]) == STORE_APPLICATION;
  }
  if (file)
    fclose(file);
  free(head);
  return ours;
}

/* WAL is used only on file systems that are local for certain, for other hosts do not see its shared memory. */
static const struct {
  unsigned long magic;
  const char *name;
  bool local;
} systems[] = {
    {0xEF53, "ext4", true},          {0x58465342, "xfs", true},    {0x9123683E, "btrfs", true},
    {0x01021994, "tmpfs", true},     {0x2FC12FC1, "zfs", true},    {0xF2F52010, "f2fs", true},
    {0x794C7630, "overlayfs", true}, {0x858458F6, "ramfs", true},  {0xCA451A4E, "bcachefs", true},
    {0x3153464A, "jfs", true},       {0x6969, "nfs", false},       {0x517B, "smb", false},
    {0xFE534D42, "smb2", false},     {0xFF534D42, "cifs", false},  {0x0BD00BD0, "lustre", false},
    {0x47504653, "gpfs", false},     {0xAAD7AAEA, "panfs", false}, {0x19830326, "beegfs", false},
    {0x00C36400, "ceph", false},     {0x5346414F, "afs", false},   {0x01021997, "9p", false},
    {0x65735546, "fuse", false},     {0x7461636F, "ocfs2", false}, {0x01161970, "gfs2", false},
    {0x786F4256, "vboxsf", false},
};

const char *place_file_system(const char *path) {
  struct statfs fs;
  char *directory = directory_of(path);
  int failed = !directory || statfs(directory, &fs) != 0;
  free(directory);
  for (size_t i = 0; !failed && i < sizeof systems / sizeof *systems; i++)
    if ((unsigned long)fs.f_type == systems[i].magic)
      return systems[i].name;
  return "unknown";
}

bool place_is_local(const char *file_system) {
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
    if (strcmp(systems[i].name, file_system) == 0)
      return systems[i].local;
  return false;
}

void place_uri(const char *path, const char *query, struct text *out) {
  static const char hex[] = "0123456789ABCDEF";
  text_add(out, "file:");
  for (const unsigned char *p = (const unsigned char *)path; *p; p++)
    if (*p == '%' || *p == '?' || *p == '#' || *p <= ' ' || *p >= 127) {
      text_add_char(out, '%');
      text_add_char(out, hex[*p >> 4]);
      text_add_char(out, hex[*p & 15]);
    } else
      text_add_char(out, (char)*p);
  text_add(out, query);
}

bool place_other_name(const char *path, int version, struct text *out) {
  const char *slash = strrchr(path, '/');
  const char *dot = strrchr(path, '.');
  if (!dot || (slash && dot < slash) || dot == path)
    dot = path + strlen(path);
  text_add_bytes(out, path, (size_t)(dot - path));
  text_addf(out, ".v%d%s", version, dot);
  return text_ok(out);
}
