/* Gives an object's sections addresses, copies and links them: one region with code first, then constants, then
 * data, so that every distance fits 32 bits. */
#ifndef OP2JIT_JIT_LOAD_PLACE_H
#define OP2JIT_JIT_LOAD_PLACE_H

#include "jit/load/load_extern.h"
#include "jit/load/load_object.h"

struct placed {
  unsigned char *region; /* mmap */
  size_t bytes;
  size_t *section_offset; /* by section; meaningful for those that object_loads */
  size_t *symbol_offset;  /* by symbol: where a defined one is in the region; SIZE_MAX if it is not there */
};

/* OP_ERR_FILE: a function that is unknown, a distance that does not fit; OP_ERR_MEMORY. The region is
 * executable and no longer writable where there is code. */
int place_object(struct placed *placed, const struct object *object, struct externs *externs,
                 struct error *err);
void placed_free(struct placed *placed);

#endif
