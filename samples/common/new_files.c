#include "new_files.h"

#include "beside.h"
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* What comes about under another name beside its own (beside.h): any file, also a device or a pipe, which are written as they are,
 * or one of the library's. */
enum form { ANY, INDEX, HDF5 };

/* One option can stand for several files. */
struct new_file {
  const char *option, *given;
  char *path;
  enum form form;
};

enum { FILES_AN_OPTION = 2 };

/* ---- which files an option stands for ---- */

static char *joined(const char *stem, size_t length, const char *ending) {
  const size_t n = strlen(ending) + 1;
  char *path = room((long long)length + (long long)n, 1);
  memcpy(path, stem, length);
  memcpy(path + length, ending, n);
  return path;
}

static int ends_with(const char *text, const char *ending) {
  const size_t length = strlen(text), n = strlen(ending);
  return length >= n && !strcasecmp(text + length - n, ending);
}

/* As op_write_vtk names them: NAME, NAME.xdmf and NAME.xmf are one. */
static int vtk_files(const char *option, const char *name, struct new_file out[FILES_AN_OPTION]) {
  const size_t length = strlen(name);
  const char *ending = length > 4 && !strcmp(name + length - 4, ".xmf") ? ".xmf" : ".xdmf";
  const size_t n = strlen(ending),
               stem = length > n && !strcmp(name + length - n, ending) ? length - n : length;
  out[0] = (struct new_file){option, name, joined(name, stem, ending), INDEX};
  out[1] = (struct new_file){option, name, joined(name, stem, ".data.h5"), HDF5};
  return 2;
}

/* How many files; none, if the option has no value or names no new file. */
static int files_of(const struct option_entry *entry, struct new_file out[FILES_AN_OPTION]) {
  const char *given = entry->kind >= OPTION_NEW_FILE ? *(const char *const *)entry->value : NULL;
  if (!given)
    return 0;
  if (entry->kind == OPTION_NEW_VTK)
    return vtk_files(entry->name, given, out);
  out[0] = (struct new_file){entry->name, given, joined(given, strlen(given), ""),
                             entry->kind == OPTION_NEW_HDF5 ? HDF5 : ANY};
  return 1;
}

/* ---- names ---- */

static int is_folder(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && S_ISDIR(there.st_mode);
}

static enum options_outcome look_at_name(const struct option_entry *entry, const char *name) {
  static const char *const others[] = {".gif", ".jpg", ".jpeg", ".svg", ".bmp", ".tif", ".tiff", ".pdf"};
  const size_t length = strlen(name);
  if (entry->kind == OPTION_NEW_VTK && (is_folder(name) || name[length - 1] == '/'))
    return options_refuse("--%s %s: this is a directory; expected a name for files, such as %s%s%s",
                          entry->name, name, name, name[length - 1] == '/' ? "" : "/", "field");
  for (size_t k = 0; entry->kind == OPTION_NEW_PICTURE && k < sizeof others / sizeof *others; k++)
    if (ends_with(name, others[k]))
      return options_refuse("--%s %s: pictures are PNG files; expected a name such as %.*s.png", entry->name,
                            name, (int)(length - strlen(others[k])), name);
  return OPTIONS_RUN;
}

/* ---- can they be written? ---- */

/* 0, or why not. Ranks that try at the same time do no harm. */
static int unmakable(const char *path) {
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file < 0)
    return errno == EEXIST ? 0 : errno;
  close(file);
  unlink(path);
  return 0;
}

/* The same for the file beside that one. */
static int unmakable_beside(const char *path) {
  char *other = beside_name(path);
  const int trouble = unmakable(other);
  free(other);
  return trouble;
}

/* NULL, or why not. What is there stays as it is, and what is not there stays away. */
static const char *unwritable(const struct new_file *file) {
  struct stat there;
  int trouble = 0;
  if (stat(file->path, &there) != 0)
    trouble = errno != ENOENT ? errno : beside_is_stream(file->path) ? unmakable(file->path) : 0;
  else if (S_ISDIR(there.st_mode))
    trouble = EISDIR;
  else if (file->form != ANY && !S_ISREG(there.st_mode))
    return "it is a device or a pipe";
  else if (access(file->path, file->form == HDF5 ? R_OK | W_OK : W_OK) != 0)
    trouble = errno;
  if (!trouble && !beside_is_stream(file->path))
    trouble = unmakable_beside(file->path);
  return trouble ? strerror(trouble) : NULL;
}

/* Whether something is there that is no HDF5 file. Its mark stands at 0, 512, 1024, 2048 and so on: what is before it is a user's. */
static int is_other_than_hdf5(const char *path) {
  static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
  enum { FIRST_USER_BLOCK = 512 };
  unsigned char bytes[sizeof mark];
  const int file = open(path, O_RDONLY);
  if (file < 0)
    return errno != ENOENT;
  int found = 0;
  for (off_t at = 0; !found && pread(file, bytes, sizeof bytes, at) == (ssize_t)sizeof bytes;
       at = at ? 2 * at : FIRST_USER_BLOCK)
    found = !memcmp(bytes, mark, sizeof mark);
  close(file);
  return !found;
}

/* Whether something is there that op_write_vtk did not write. */
static int is_other_than_index(const char *path) {
  static const char mark[] = "<?xml version=\"1.0\"?>\n<!-- op2jit index ";
  char bytes[sizeof mark] = "";
  const int file = open(path, O_RDONLY);
  if (file < 0)
    return errno != ENOENT;
  const ssize_t n = read(file, bytes, sizeof mark - 1);
  close(file);
  return n && strcmp(bytes, mark) != 0;
}

static enum options_outcome look_at_file(const struct new_file *file) {
  const char *reason = unwritable(file);
  const int itself = !strcmp(file->path, file->given);
  if (reason)
    return options_refuse("--%s %s: the file %s%scannot be written: %s", file->option, file->given,
                          itself ? "" : file->path, itself ? "" : " ", reason);
  if (file->form == HDF5 && is_other_than_hdf5(file->path))
    return options_refuse("--%s %s: %s is not an HDF5 file; it is left alone", file->option, file->given,
                          itself ? "this" : file->path);
  if (file->form == INDEX && is_other_than_index(file->path))
    return options_refuse("--%s %s: %s is no index that this program writes; it is left alone", file->option,
                          file->given, itself ? "this" : file->path);
  return OPTIONS_RUN;
}

/* ---- are they different? ---- */

static int is_same_place(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static char *folder_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? joined(path, (size_t)(slash - path) + 1, "") : joined(".", 1, "");
}

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Devices can be written to more than once. */
static int is_same_file(const char *one, const char *other) {
  struct stat there;
  if (stat(one, &there) == 0)
    return S_ISREG(there.st_mode) && is_same_place(one, other);
  char *a = folder_of(one), *b = folder_of(other);
  const int same = !strcmp(base_of(one), base_of(other)) && is_same_place(a, b);
  free(a);
  free(b);
  return same;
}

static enum options_outcome look_at_others(int count, const struct new_file files[]) {
  for (int i = 0; i < count; i++)
    for (int j = 0; j < i; j++)
      if (is_same_file(files[j].path, files[i].path))
        return options_refuse("--%s %s and --%s %s: both would write %s; expected two names", files[j].option,
                              files[j].given, files[i].option, files[i].given, files[i].path);
  return OPTIONS_RUN;
}

enum options_outcome new_files_look(int count, const struct option_entry entries[]) {
  struct new_file *files = room((long long)FILES_AN_OPTION * count, sizeof *files);
  enum options_outcome outcome = OPTIONS_RUN;
  int n = 0;
  for (int i = 0; i < count; i++) {
    const int before = n;
    n += files_of(&entries[i], files + n);
    if (outcome == OPTIONS_RUN && n > before)
      outcome = look_at_name(&entries[i], files[before].given);
  }
  if (outcome == OPTIONS_RUN)
    outcome = look_at_others(n, files);
  for (int i = 0; i < n; i++) {
    if (outcome == OPTIONS_RUN)
      outcome = look_at_file(&files[i]);
    free(files[i].path);
  }
  free(files);
  return outcome;
}
