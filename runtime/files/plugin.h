/* The HDF5 plugin of a process: found and opened at the first use, the one that fits how the ranks talk. */
#ifndef OP2JIT_FILES_PLUGIN_H
#define OP2JIT_FILES_PLUGIN_H

#include <stdint.h>

#include "files/files.h"
#include "files/io.h"
#include "files/layout.h"

struct file_plugin {
  void *library; /* of dlopen; never closed */
  const struct file_table *table;
};

/* `flavour` is "serial", "openmpi" or "mpich"; `first` a folder to look in first, or NULL. OP_ERR_NOT_BUILT names
 * the package. Once open it stays what it is. */
int file_plugin_open(struct file_plugin *plugin, const char *flavour, const char *first, struct error *err);

/* ---- the inside of struct io ---- */
/* A series of steps that this process writes: where its mesh was written last. */
struct vtk_series {
  struct text path;           /* of the index */
  struct text mesh_file;      /* with the cells, beside the index */
  struct text points_file;    /* with the points */
  int points;                 /* id of the dat of coordinates */
  uint64_t version;           /* of it, when it was written */
  uint64_t cells;             /* a fingerprint of the maps that are cells */
  int mesh_step, points_step; /* when; -1: not yet */
};

struct io {
  struct file_plugin plugin;
  bool everywhere;    /* all ranks have opened it */
  struct list series; /* of struct vtk_series */
};

#endif
