#include <dlfcn.h>
#include <stdlib.h>

#include "base/types.h"
#include "base/whereami.h"
#include "context/context.h"
#include "context/env.h"
#include "files/io.h"

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

int file_plugin_open(struct file_plugin *plugin, const char *first, struct error *err) {
  if (plugin->table)
    return OP_OK;
  struct text path = {0};
  int code = plugin_path("op2jit-hdf5.so", first, &path, err);
  if (code == OP_ERR_NOT_BUILT)
    error_prefix(err, "HDF5 files cannot be used (Debian: libhdf5-dev, meson option -Dhdf5=enabled): ");
  if (!code)
    code = open_at(plugin, text_str(&path), err);
  text_free(&path);
  return code;
}

/* ---- the state of files in a context ---- */
struct io *io_state(struct op_context *ctx) {
  if (!ctx->io)
    ctx->io = calloc(1, sizeof *ctx->io);
  return ctx->io;
}

int io_table(struct op_context *ctx, const struct file_table **out, struct error *err) {
  struct io *io = io_state(ctx);
  int code = io ? file_plugin_open(&io->plugin, env_value(ctx->env, ENV_PLUGINS), err)
                : error_memory(err, "the state of files", sizeof *io);
  if (!io || !io->everywhere)
    code = together_agree(ctx->comm, code, err);
  if (code)
    return code;
  io->everywhere = true;
  *out = io->plugin.table;
  return OP_OK;
}

void io_free(struct io *io) {
  if (!io)
    return;
  for (int i = 0; i < io->series.count; i++) {
    struct vtk_series *series = io->series.items[i];
    text_free(&series->path);
    text_free(&series->mesh_file);
    text_free(&series->points_file);
    free(series);
  }
  list_free(&io->series);
  free(io);
}
