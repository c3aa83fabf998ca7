/* Declarations of OP2's programs: arrays of dats and maps, by the address of their first element (arrays.c), and
 * variables of constants. */
#ifndef OP2JIT_FORTRAN_KNOWN_H
#define OP2JIT_FORTRAN_KNOWN_H

#include <stdbool.h>

#include "base/types.h"

struct op_context;

struct known {
  const void *array;
  const void *handle; /* of a dat, or of a map if `is_map`; NULL: of a constant */
  bool is_map;
  void *copy; /* the array, where it is the library's: a table for Fortran; a constant's name, "": not said */
  enum type_code type; /* of a constant, and its values */
  int dim;
};

/* False: no memory. `copy` belongs to the list then. */
bool known_add(struct op_context *ctx, struct known known);
/* The declared object was not freed. */
bool known_lives(const struct op_context *ctx, const struct known *k);
void known_free(struct op_context *ctx);

#endif
