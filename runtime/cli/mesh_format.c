#include "cli/mesh_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/plugin.h"

static int open_hdf5(struct cli *cli, struct file_plugin *plugin, struct error *err) {
  return file_plugin_open(plugin, "serial", env_value(&cli->env, ENV_PLUGINS), err);
}

static int write_hdf5(struct cli *cli, const struct mesh_file *m, const char *path, struct error *err) {
  struct file_plugin plugin = {0};
  const int code = open_hdf5(cli, &plugin, err);
  return code ? code : mesh_write_hdf5(m, plugin.table, path, err);
}

static int write_airfoil(struct cli *cli, const struct mesh_file *m, const char *path, struct error *err) {
  (void)cli;
  return mesh_write_airfoil(m, path, err);
}

static const struct mesh_format formats[] = {
    {"hdf5", {".h5", ".hdf5", ".hdf"}, write_hdf5, NULL},
    {"airfoil", {".dat", ".txt"}, write_airfoil, mesh_airfoil_holds}};
enum { FORMATS = sizeof formats / sizeof *formats };

const struct mesh_format *mesh_format_by_word(const char *word) {
  for (int i = 0; i < FORMATS; i++)
    if (strcmp(formats[i].word, word) == 0)
      return &formats[i];
  return NULL;
}

const struct mesh_format *mesh_format_by_suffix(const char *path) {
  const char *dot = strrchr(path, '.');
  for (int i = 0; dot && dot > path && i < FORMATS; i++)
    for (int s = 0; s < 3 && formats[i].suffixes[s]; s++)
      if (strcmp(dot, formats[i].suffixes[s]) == 0)
        return &formats[i];
  return NULL;
}

/* The eight bytes that HDF5's files begin with. */
static bool looks_like_hdf5(const char *path) {
  static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  unsigned char bytes[8] = {0};
  FILE *file = fopen(path, "rb");
  const bool same = file && fread(bytes, 1, 8, file) == 8 && memcmp(bytes, mark, 8) == 0;
  if (file)
    fclose(file);
  return same;
}

/* *text is the caller's to free, and has a NUL behind its `length` bytes. */
static int read_whole(const char *path, char **text, size_t *length, struct error *err) {
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
  fclose(file);
  return code;
}

/* airfoil's text begins with a number. */
static bool may_be_airfoil(const char *text) {
  text += strspn(text, " \t\r\n");
  return !*text || strchr("+-.0123456789", *text);
}

static int read_text(struct mesh_file *m, const char *path, struct error *err) {
  char *text = NULL;
  size_t length = 0;
  int code = read_whole(path, &text, &length, err);
  if (!code && !may_be_airfoil(text))
    code =
        error_set(err, OP_ERR_FILE,
                  "%s: this is neither HDF5 in OP2's layout nor OP2's airfoil text, which begins with four "
                  "numbers; python3 -m op2jit.mesh convert reads Gmsh, VTK and other formats",
                  path);
  if (!code)
    code = mesh_parse_airfoil(m, path, text, length, err);
  free(text);
  return code;
}

int mesh_read(struct cli *cli, struct mesh_file *m, const char *path, struct error *err) {
  struct file_plugin plugin = {0};
  if (!looks_like_hdf5(path))
    return read_text(m, path, err);
  const int code = open_hdf5(cli, &plugin, err);
  return code ? code : mesh_read_hdf5(m, plugin.table, path, err);
}
