/* The plugin's table: files are opened, closed and looked through here. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "inner.h"

#ifdef OP2JIT_FILES_MPI
#include <mpi.h>
#endif

/* ---- open and close ---- */

/* All ranks of a communicator open one file to read; HDF5 asks one of them only for what is small. */
static bool join(hid_t access, int fortran) {
#ifdef OP2JIT_FILES_MPI
  return H5Pset_fapl_mpio(access, MPI_Comm_f2c((MPI_Fint)fortran), MPI_INFO_NULL) >= 0 &&
         H5Pset_all_coll_metadata_ops(access, true) >= 0;
#else
  (void)access, (void)fortran;
  return false;
#endif
}

static void open_id(struct file *file, const char *path, enum file_mode mode, int fortran) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  /* Whatever an object is left open by, closing the file closes it. */
  bool good = access >= 0 && H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0;
  if (good && fortran == FILE_ALONE)
    good = (file->driver = hdf5_driver_use(access)) >= 0;
  else if (good)
    good = join(access, fortran);
  if (good)
    file->id = mode == FILE_CREATE ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)
                                   : H5Fopen(path, mode == FILE_READ ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access);
  /* Closing the list must not wipe out why the file did not open. */
  hid_t stack = H5Eget_current_stack();
  H5Pclose(access);
  H5Eset_current_stack(stack);
}

static void free_file(struct file *file) {
  hdf5_driver_release(file->driver);
  free(file->path);
  free(file);
}

static int open_file(struct file **out, const char *path, const char *shown, enum file_mode mode, int fortran,
                     struct error *err) {
  struct file *file = calloc(1, sizeof *file);
  if (!file || !(file->path = strdup(shown))) {
    free(file);
    return error_memory(err, "a file", sizeof *file);
  }
  *file = (struct file){.path = file->path, .id = -1, .driver = -1, .together = fortran != FILE_ALONE};
  struct quiet before = quiet_begin();
  open_id(file, path, mode, fortran);
  int code = file->id >= 0 ? OP_OK
                           : hdf5_failed(file, NULL,
                                         mode == FILE_CREATE ? "the file cannot be made"
                                                             : "the file cannot be opened as an HDF5 file",
                                         err);
  if (code)
    free_file(file);
  else
    *out = file;
  quiet_end(before);
  return code;
}

static int close_file(struct file *file, struct error *err) {
  struct quiet before = quiet_begin();
  /* Everything is written now, while HDF5 can be asked how it went. */
  bool good = H5Fflush(file->id, H5F_SCOPE_GLOBAL) >= 0;
  good = good && (file->together || hdf5_driver_trouble(file->id) == 0);
  int code = good ? OP_OK : hdf5_failed(file, NULL, "the file cannot be finished", err);
  if (H5Fclose(file->id) < 0 && !code) {
    file->id = -1;
    code = hdf5_failed(file, NULL, "the file cannot be finished", err);
  }
  free_file(file);
  quiet_end(before);
  return code;
}

/* ---- what is in it ---- */

static enum file_kind kind_of(struct file *file, const char *name) {
  struct quiet before = quiet_begin();
  const enum file_kind kind = hdf5_kind(file, name);
  quiet_end(before);
  return kind;
}

struct walk {
  bool (*visit)(void *user, const char *name);
  void *user;
};

static herr_t step(hid_t id, const char *name, const H5O_info_t *info, void *user) {
  struct walk *walk = user;
  (void)id;
  return info->type != H5O_TYPE_DATASET || walk->visit(walk->user, name) ? 0 : 1;
}

static int each(struct file *file, bool (*visit)(void *user, const char *name), void *user,
                struct error *err) {
  struct quiet before = quiet_begin();
  struct walk walk = {visit, user};
  int code = H5Ovisit(file->id, H5_INDEX_NAME, H5_ITER_INC, step, &walk) >= 0
                 ? OP_OK
                 : hdf5_failed(file, NULL, "its datasets cannot be listed", err);
  quiet_end(before);
  return code;
}

__attribute__((visibility("default"))) extern const struct file_table op2jit_file_table;
const struct file_table op2jit_file_table = {
    .version = FILE_TABLE_VERSION,
    .name = OP2JIT_FILES_NAME,
    .structs = types_look_into,
    .open = open_file,
    .close = close_file,
    .kind = kind_of,
    .look = hdf5_look,
    .read = hdf5_read,
    .create = hdf5_create,
    .place = hdf5_place,
    .write = hdf5_write,
    .put_number = hdf5_put_number,
    .put_text = hdf5_put_text,
    .get_number = hdf5_get_number,
    .get_text = hdf5_get_text,
    .each = each,
};
