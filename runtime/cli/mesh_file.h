/* A mesh in memory, as the op2jit command looks at it: sets, and tables on them. */
#ifndef OP2JIT_CLI_MESH_FILE_H
#define OP2JIT_CLI_MESH_FILE_H

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
  bool guessed; /* its sets, and whether it is a map, follow from sizes only */
};

/* A dataset of an HDF5 file that is on no set: a constant, or what the library makes nothing of. */
struct mesh_other {
  char *name;
  bool constant;
  long long dim;
  char words[48]; /* its type, for people */
};

struct mesh_file {
  struct mesh_set *sets;
  struct mesh_table *tables;
  struct mesh_other *others;
  int nsets, ntables, nothers;
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

/* A file in OP2's layout. Map entries need not be in range. */
int mesh_read_hdf5(struct mesh_file *m, const struct file_table *table, const char *path, struct error *err);

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
