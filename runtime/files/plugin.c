#include "files/plugin.h"

#include <dlfcn.h>
#include <string.h>

#include "base/types.h"
#include "base/whereami.h"

static int open_at(struct file_plugin *plugin, const char *path, struct error *err) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return error_set(err, OP_ERR_FILE, "the HDF5 plugin does not open: %s", why ? why : "no reason given");
  }
  const struct file_table *table = dlsym(library, "op2jit_file_table");
  if (!table || table->version != FILE_TABLE_VERSION) {
    dlclose(library);
    return error_set(err, OP_ERR_FILE,
                     "%s is not the HDF5 plugin of this version of op2jit; install both together", path);
  }
  table->structs(types_of_program());
  *plugin = (struct file_plugin){library, table};
  return OP_OK;
}

int file_plugin_open(struct file_plugin *plugin, const char *flavour, const char *first, struct error *err) {
  if (plugin->table)
    return OP_OK;
  struct text name = {0}, path = {0};
  text_addf(&name, "op2jit-hdf5-%s.so", flavour);
  int code = text_ok(&name) ? plugin_path(text_str(&name), first, &path, err)
                            : error_memory(err, "a plugin's name", name.length);
  if (code == OP_ERR_NOT_BUILT)
    error_prefix(err, "HDF5 files cannot be used (Debian: libhdf5-%s%sdev, meson option -Dhdf5=enabled): ",
                 strcmp(flavour, "serial") == 0 ? "" : flavour, strcmp(flavour, "serial") == 0 ? "" : "-");
  if (!code)
    code = open_at(plugin, text_str(&path), err);
  text_free(&name);
  text_free(&path);
  return code;
}
