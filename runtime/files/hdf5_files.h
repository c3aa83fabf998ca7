/* The HDF5 plugin's own parts. HDF5 keeps one stack of errors per thread and prints it by itself; both are the
 * host program's as much as ours, so that every call of the table is wrapped in quiet_begin and quiet_end. */
#ifndef OP2JIT_FILES_HDF5_FILES_H
#define OP2JIT_FILES_HDF5_FILES_H

#include <hdf5.h>

#include "files/files.h"

struct file {
  hid_t id;
  hid_t driver;
  char *path; /* for messages */
};

struct quiet {
  H5E_auto2_t print;
  void *user;
};
struct quiet quiet_begin(void);
void quiet_end(struct quiet before);

/* "FILE: DATASET: what: the reason"; `name` may be NULL. Returns OP_ERR_FILE. */
int hdf5_failed(const struct file *file, const char *name, const char *what, struct error *err);

/* The driver of files (hdf5_driver.c), for a list of properties of access: negative, or what is to be released when the file
 * is closed (HDF5 forgets a driver before it closes the last file by it). */
hid_t hdf5_driver_use(hid_t access);
void hdf5_driver_release(hid_t id);
/* The errno of what could not be written, 0 if all could. */
int hdf5_driver_trouble(hid_t file);

enum file_kind hdf5_kind(const struct file *file, const char *name);

int hdf5_look(struct file *file, const char *name, struct file_dataset *out, struct error *err);
int hdf5_read(struct file *file, const char *name, enum type_code type, long long first, long long rows,
              void *out, struct error *err);
int hdf5_create(struct file *file, const char *name, enum type_code type, int rank, const long long extents[],
                struct error *err);
int hdf5_place(struct file *file, const char *name, long long *place, struct error *err);
int hdf5_write(struct file *file, const char *name, enum type_code type, long long first, long long rows,
               const void *data, struct error *err);

#endif
