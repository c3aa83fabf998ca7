/* The HDF5 plugin of a process: found and opened at the first use, the one that fits how the ranks talk. */
#ifndef OP2JIT_IO_PLUGIN_H
#define OP2JIT_IO_PLUGIN_H

#include "files/files.h"

struct file_plugin {
  void *library; /* of dlopen; never closed */
  const struct file_table *table;
};

/* `flavour` is "serial", "openmpi" or "mpich"; `first` a folder to look in first, or NULL. OP_ERR_NOT_BUILT names
 * the package. Once open it stays what it is. */
int file_plugin_open(struct file_plugin *plugin, const char *flavour, const char *first, struct error *err);

#endif
