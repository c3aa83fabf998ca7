/* The inside of struct io. */
#ifndef OP2JIT_IO_STATE_H
#define OP2JIT_IO_STATE_H

#include <stdint.h>

#include "files/io.h"
#include "files/plugin.h"
#include "files/together.h"

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
