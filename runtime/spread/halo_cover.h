/* Maps that need nothing more, once another map's part of the halo was exchanged. */
#ifndef OP2JIT_HALO_COVER_H
#define OP2JIT_HALO_COVER_H

#include "base/error.h"

struct op_context;
struct map;

/* Other maps whose part of the halo is contained in this one's, on all ranks. */
struct halo_cover {
  struct halo_cover *next;
  const struct map *map;
  const struct map **others;
  int count;
};

/* Find it in the list, or make it and put it there. Collective, once per map and epoch. */
int halo_cover_get(struct op_context *ctx, struct halo_cover **covers, const struct map *map,
                   const struct halo_cover **out, struct error *err);
void halo_covers_free(struct halo_cover *covers);

#endif
