/* A mesh as the op2jit command has it between two files: sets, and tables on them, in memory. */
#ifndef OP2JIT_IO_MESH_FILE_H
#define OP2JIT_IO_MESH_FILE_H

#include "base/error.h"
#include "base/types.h"

struct file_table;

struct mesh_set {
  char *name;
  long long size;
};

struct mesh_table {
  char *name;
  int set, to; /* numbers of sets; `to` negative: data, not a map */
  int columns;
  enum type_code type; /* maps: TYPE_INT */
  void *values;
  bool guessed; /* that it is a map or data, and of what, follows from sizes only */
};

/* A dataset of an HDF5 file that is on no set: a constant, or what the library makes nothing of. */
struct mesh_other {
  char *name;
  bool constant;
  long long dim;
  char words[48]; /* its type, for people */
};

struct mesh_file {
  const char *format; /* for people: "HDF5" */
  const char *
      coordinates; /* the dat that the user says holds them, for airfoil's text; NULL: the only one that can */
  struct mesh_set *sets;
  struct mesh_table *tables;
  struct mesh_other *others;
  int nsets, ntables, nothers;
  char *source; /* the HDF5 file that the mesh is from; NULL: it is from a text */
};

void mesh_file_free(struct mesh_file *m);
/* The number of a new set; -1 with the error set. */
int mesh_add_set(struct mesh_file *m, const char *name, long long size, struct error *err);
/* OP_ERR_MEMORY: it is not noted. */
int mesh_add_other(struct mesh_file *m, const char *name, bool constant, long long dim, const char *words,
                   struct error *err);
/* A table with room for its values, zeroed; NULL with the error set. */
struct mesh_table *mesh_add_table(struct mesh_file *m, const char *name, int set, int to, int columns,
                                  enum type_code type, struct error *err);

/* OP2's airfoil text, in memory; `text` ends with a NUL behind `length` bytes. Map entries need not be in range. */
int mesh_parse_airfoil(struct mesh_file *m, const char *path, const char *text, size_t length,
                       struct error *err);
int mesh_write_airfoil(const struct mesh_file *m, const char *path, struct error *err);
/* Whether table number `table` of a mesh that such a file can hold is in it; what a format has no place for is
 * left out. */
bool mesh_airfoil_holds(const struct mesh_file *m, int table);

/* OP2's layout. Of what is from such a file all goes along. */
int mesh_read_hdf5(struct mesh_file *m, const struct file_table *table, const char *path, struct error *err);
int mesh_write_hdf5(const struct mesh_file *m, const struct file_table *table, const char *path,
                    struct error *err);

/* ---- what is known of a map ---- */
struct mesh_bad {
  long long count;      /* entries outside the target set */
  long long row, value; /* the first of them */
  int column;
};
struct mesh_map_info {
  struct mesh_bad bad;
  long long degree_min, degree_max; /* rows that name a target; bad entries are left out */
  double degree_mean;
  long long unused;    /* targets that no row names */
  long long bandwidth; /* largest difference of two entries of a row */
  long long repeated;  /* rows that name a target twice */
};
int mesh_map_look(const struct mesh_file *m, const struct mesh_table *t, struct mesh_map_info *out,
                  struct error *err);
/* Parts of the mesh that no map connects; elements of no map are parts of their own. */
int mesh_components(const struct mesh_file *m, long long *out, struct error *err);
/* Values that are not finite. */
long long mesh_not_finite(const struct mesh_file *m, const struct mesh_table *t);

#endif
