/* Rows for files: those of dats and maps as this rank declared them, in the user's order and numbers. All
 * collective. */
#ifndef OP2JIT_FILES_SAVE_H
#define OP2JIT_FILES_SAVE_H

#include "files/layout.h"
#include "mesh/mesh.h"

struct dat;

/* Rows low .. low + count - 1, `bytes` each, into `out`. Under ranks: all of this rank's rows at once. */
typedef int rows_source(struct op_context *ctx, void *object, long low, long count, void *out,
                        struct error *err);

/* `object` is a struct dat, a struct map. */
int rows_of_dat(struct op_context *ctx, void *object, long low, long count, void *out, struct error *err);
/* Numbers of map_number_type; of a ragged one a row is the target of one of its entries. */
int rows_of_map(struct op_context *ctx, void *object, long low, long count, void *out, struct error *err);
/* int, or long long if the user's numbers of the target set are beyond it. */
enum type_code map_number_type(const struct map *map);

/* All rows of a map that this rank declared, in the user's order and numbers: targets first[e] .. first[e + 1] - 1 are
 * element e's. To be forgotten, also after an error. */
struct rows_known {
  long long *first, *targets;
};
int rows_know(struct op_context *ctx, const struct map *map, struct rows_known *out, struct error *err);
void rows_forget(struct rows_known *rows);

/* A table that is there, and where its rows come from. */
struct rows_table {
  const char *name;
  enum type_code type;
  int dim;
  const struct set *set;
  long long before; /* rows in front of those of the set */
  rows_source *source;
  void *object;
};
/* This rank's rows, behind what the ranks before it have. */
int rows_write(struct op_context *ctx, struct layout *l, const struct rows_table *t, struct error *err);

#endif
