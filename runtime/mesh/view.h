/* Views: dats on arrays that stay the program's (op_decl_dat_view). Where the library can, it works in the array;
 * else it keeps rows of its own, and brings the array up to date when the program acquires it. */
#ifndef OP2JIT_VIEW_H
#define OP2JIT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "op2jit.h"

struct op_context;
struct dat;
struct mesh;

struct view {
  void *array;      /* the program's: rows in the order in which this rank declared the elements */
  bool in_place;    /* the host's replica is the array */
  const char *why;  /* it is not, for the report */
  uint64_t version; /* of the dat, which the array holds. In place it is the host's replica that says so */
  bool acquired;
  op_access access; /* acquired for */
};

/* A view for a new dat, whose other members are set: in place if it can be. False: no memory. */
bool view_make(struct op_context *ctx, struct dat *dat, void *array);
/* OP_ERR_ALIAS if the array has bytes in common with that of another view. */
int view_check_overlap(const struct mesh *mesh, const char *name, const void *array, size_t bytes,
                       struct error *err);
/* May strips read behind the rows there, where no memory may be? */
bool view_is_read_past(const struct dat *dat, const void *array, size_t rows);
/* The host's replica moves to other memory, which holds the same values in another place: a view works in place no
 * more, for this reason. True: what was there is the program's array, and is not freed. The dat's version is raised
 * afterwards, by dat_wrote. */
bool view_leave(struct dat *dat, const char *why);

#endif
