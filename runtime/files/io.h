/* Files of a context: meshes and results in OP2's layout, and steps for ParaView. All collective. After an error
 * on any rank all ranks have it, and nothing was declared or changed. */
#ifndef OP2JIT_FILES_IO_H
#define OP2JIT_FILES_IO_H

#include <stdint.h>

#include "files/files.h"
#include "files/layout.h"
#include "mesh/mesh.h"

struct dat;
struct io; /* in the context: the plugin, and the series of steps that were begun */

/* The plugin, opened at the first use. */
int io_table(struct op_context *ctx, const struct file_table **out, struct error *err);
struct io *io_state(struct op_context *ctx);
void io_free(struct io *io);

/* ---- load.c ---- */
struct set *load_set(struct op_context *ctx, const char *path, const char *name, struct error *err);
/* As many elements as the dataset `data_name` has rows. */
struct set *load_set_of(struct op_context *ctx, const char *path, const char *name, const char *data_name,
                        struct error *err);
struct map *load_map(struct op_context *ctx, struct set *from, struct set *to, int arity, const char *path,
                     const char *name, struct error *err);
/* Reads a ragged map as save_mesh writes it. */
struct map *load_ragged(struct op_context *ctx, struct set *from, struct set *to, const char *path,
                        const char *name, struct error *err);
#define RAGGED_OFFSETS "_offsets" /* behind a ragged map's name */
struct dat *load_dat(struct op_context *ctx, struct set *set, int dim, const char *type, const char *path,
                     const char *name, struct error *err);
int load_const(struct op_context *ctx, const char *name, int dim, const char *type, void *value,
               const char *path, struct error *err);

/* Checks the arguments of a constant before anything is done. */
int check_const(const char *name, int dim, enum type_code code, const char *type, const void *value,
                struct error *err);

/* ---- save.c ---- */
int save_const(struct op_context *ctx, const char *name, int dim, const char *type, const void *value,
               const char *path, struct error *err);
/* All sets, maps and dats; temporaries are left out. The file is made anew. */
int save_mesh(struct op_context *ctx, const char *path, struct error *err);
/* Into a file that may hold other datasets already. */
int save_dat(struct op_context *ctx, struct dat *dat, const char *path, const char *name, struct error *err);

/* ---- vtk.c ---- */
/* `time`: NULL: the step's number. */
int vtk_write(struct op_context *ctx, const char *path, int step, const double *time, int count,
              struct dat *const dats[], struct error *err);

/* ---- plugin.c: the HDF5 plugin of a process, found and opened at the first use ---- */

struct file_plugin {
  void *library; /* of dlopen; never closed */
  const struct file_table *table;
};

/* `first`: a folder to look in first, or NULL. OP_ERR_NOT_BUILT names the package. Once open it stays what it is. */
int file_plugin_open(struct file_plugin *plugin, const char *first, struct error *err);

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
