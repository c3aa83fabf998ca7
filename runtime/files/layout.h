/* OP2's layout of meshes in files, over a file_table. A set is a dataset of one whole number. A map is a table
 * [size][arity] of whole numbers, a dat a table [size][dim]; both have the attributes size, dim and type, which
 * are written and not relied on; what was written here says also which sets they belong to (from, to; set). A
 * table of one column may have one dimension only. A constant is a dataset [dim]. */
#ifndef OP2JIT_FILES_LAYOUT_H
#define OP2JIT_FILES_LAYOUT_H

#include "files/files.h"
#include "ranks/comm.h"

/* Agreements of ranks about files. A comm of one rank, or NULL, has nothing to settle. All
 * collective. */

static inline bool together_alone(const struct comm *comm) {
  return !comm || comm->size == 1;
}
static inline bool together_is_root(const struct comm *comm) {
  return !comm || comm->rank == 0;
}

/* All ranks go on, or all return one rank's error (agree.h). */
int together_agree(struct comm *comm, int code, struct error *err);
/* The largest of the ranks' numbers. */
int together_most(struct comm *comm, long long *value, struct error *err);
int together_broadcast(struct comm *comm, void *data, size_t bytes, struct error *err);
/* The rows of `total` that belong to this rank when they are divided evenly, in rank order. */
void together_share(const struct comm *comm, long long total, long long *first, long long *count);

struct op_context;

/* An open file, and the ranks that have it open. */
struct layout {
  const struct file_table *table;
  struct file *file;
  struct comm *comm;
  const char *path;    /* for messages; the caller's */
  double whole, moved; /* bytes of the table that is moved now, and of these what is done; 0: none is */
  const struct op_context *ctx; /* is told of large tables; NULL: nobody is */
  int rows;                     /* a descriptor to write rows by */
  long long place;              /* of the table that is being written, from the beginning of the file */
  int columns;                  /* of that table */
};

/* For reading. Each rank opens the file by itself, so that nobody waits for another in between; how it went is settled at
 * the end. */
int layout_open(struct layout *l, const struct file_table *table, struct comm *comm, const char *path,
                struct error *err);
/* Closes one process's file. Returns `code`, or what went wrong first. */
int layout_close_file(const struct file_table *table, struct file *file, int code, struct error *err);
/* Returns `code`, or what all ranks agree on. */
int layout_close(struct layout *l, int code, struct error *err);

/* Looks at a dataset. If it is missing, the error names those of the file. */
int layout_find(struct layout *l, const char *name, struct file_dataset *out, struct error *err);
/* A table of `dim` columns, with its number of rows. `whole`: only whole numbers will do. */
int layout_find_table(struct layout *l, const char *name, int dim, bool whole, long long *rows,
                      struct file_dataset *out, struct error *err);
/* One whole number is a set, unless an attribute says its dim, as that of a table or a constant. */
bool layout_is_set(const struct layout *l, const char *name, const struct file_dataset *d);
/* The size of a set. */
int layout_read_size(struct layout *l, const char *name, long long *size, struct error *err);
/* This rank's rows. Bools become 0 or 1. */
int layout_read(struct layout *l, const char *name, enum type_code type, int dim, long long first,
                long long rows, void *out, struct error *err);

/* For writing (writing.h): the file is open on the root, which makes all tables; each rank puts its rows where
 * they belong. */
int layout_write_size(struct layout *l, const char *name, long long size, struct error *err);
/* A new table with its attributes: "dim" and, unless NULL, up to two more that name sets. */
struct layout_link {
  const char *attribute, *value;
};
int layout_new_table(struct layout *l, const char *name, enum type_code type, const char *type_words, int dim,
                     long long rows, const struct layout_link links[2], struct error *err);
/* The same without attributes, of any number of dimensions. */
int layout_create(struct layout *l, const char *name, enum type_code type, int rank,
                  const long long extents[], struct error *err);
/* For who waits: the calls of layout_write that follow move so many bytes of this rank together; 0: that was it. */
void layout_expect(struct layout *l, double bytes);
/* Rows that this rank has at hand from `first` on, at any time again for those behind them. `type` is the table's. */
int layout_write(struct layout *l, const char *name, enum type_code type, int dim, long long first,
                 long long rows, const void *data, struct error *err);

/* Bytes that are moved at a time. */
enum { LAYOUT_ROUND = 8 << 20 };

#endif
