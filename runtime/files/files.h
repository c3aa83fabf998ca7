/* Files of named tables of numbers, as a plugin reads and writes them: the contract between files/ and
 * files/hdf5_files.c. A dataset is a table of rows; a row holds whatever the extents behind the first say. Names may hold
 * '/': folders in the file, made as needed. Each process opens a file by itself to read. Only one writes through the plugin;
 * others put their rows where it says that they are. Errors: OP_OK, or a code with the error set; the file library's own
 * words are part of the message. */
#ifndef OP2JIT_FILES_FILES_H
#define OP2JIT_FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/types.h"

struct file; /* an open file */

enum file_mode {
  FILE_READ,
  FILE_UPDATE, /* it is there */
  FILE_CREATE  /* it is not, or is emptied */
};

enum { FILE_RANK_MOST = 8 };

/* Shape and type of a dataset. */
struct file_dataset {
  int rank;                          /* 0: a single value */
  long long extents[FILE_RANK_MOST]; /* of which the first counts rows */
  enum type_code type; /* what holds its values without loss; TYPE_NONE: no type of the library does */
  bool compound;       /* structs; `type` is TYPE_NONE then */
  char words[48];      /* for messages: "32-bit integers", "strings" */
};

/* The thing that a name leads to. */
enum file_kind { FILE_NOTHING, FILE_DATASET, FILE_OTHER };

/* Exported as `op2jit_file_table`. */
struct file_table {
  int version;                               /* of this table: FILE_TABLE_VERSION */
  void (*structs)(struct type_table *table); /* what the structs of the program are; said once */
  /* `shown`: what messages call the file. */
  int (*open)(struct file **out, const char *path, const char *shown, enum file_mode mode, struct error *err);
  /* Always frees; an error means that what was written may not be all there. */
  int (*close)(struct file *file, struct error *err);
  enum file_kind (*kind)(struct file *file, const char *name);
  int (*look)(struct file *file, const char *name, struct file_dataset *out, struct error *err);
  /* Rows first .. first + rows - 1 as values of `type`. A value that does not fit is an error. Each rank its own
   * rows, also none. */
  int (*read)(struct file *file, const char *name, enum type_code type, long long first, long long rows,
              void *out, struct error *err);
  /* A new dataset; one of that name is replaced, a folder is an error. */
  int (*create)(struct file *file, const char *name, enum type_code type, int rank, const long long extents[],
                struct error *err);
  /* Where the rows of a dataset that was made here lie, one behind the other in the type that it was made of: from the
   * beginning of the file in bytes. -1: it has none. */
  int (*place)(struct file *file, const char *name, long long *place, struct error *err);
  /* `type` is the dataset's own. */
  int (*write)(struct file *file, const char *name, enum type_code type, long long first, long long rows,
               const void *data, struct error *err);
  /* Attributes of a dataset, in place of those of the name. Numbers are int where they fit. */
  int (*put_number)(struct file *file, const char *name, const char *attribute, long long value,
                    struct error *err);
  int (*put_text)(struct file *file, const char *name, const char *attribute, const char *value,
                  struct error *err);
  bool (*get_number)(struct file *file, const char *name, const char *attribute, long long *value);
  /* False too if it does not fit. */
  bool (*get_text)(struct file *file, const char *name, const char *attribute, char *out, size_t size);
  /* All datasets with their paths in the file, folder by folder; ends early if `visit` gives false. */
  int (*each)(struct file *file, bool (*visit)(void *user, const char *name), void *user, struct error *err);
};
enum { FILE_TABLE_VERSION = 7 };

#endif
