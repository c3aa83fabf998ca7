/* The arrays that dats and maps were declared with, by the address of their first element: for programs of OP2, see
 * arrays.c. */
#ifndef OP2JIT_FORTRAN_KNOWN_H
#define OP2JIT_FORTRAN_KNOWN_H

#include <stdbool.h>

struct op_context;

struct known {
  const void *array;
  const void *handle; /* of a dat, or of a map if `is_map` */
  bool is_map;
  int *copy; /* the array, where it is the library's: a table for Fortran */
};

/* False: no memory. `copy` belongs to the list then. */
bool known_add(struct op_context *ctx, const void *array, const void *handle, bool is_map, int *copy);
/* What it stands for was not freed. */
bool known_lives(const struct op_context *ctx, const struct known *k);
void known_free(struct op_context *ctx);

#endif
