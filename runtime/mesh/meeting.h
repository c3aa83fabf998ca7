/* Different elements that come to one target, through some columns of their maps: whoever writes there must know. They are
 * looked for once for each set of columns, and kept with a map. */
#ifndef OP2JIT_MESH_MEETING_H
#define OP2JIT_MESH_MEETING_H

#include <stdbool.h>

#include "base/error.h"

struct map;
struct set;

/* Targets of an element: its own number (no map), a column of a map, all of them (idx below 0), or the entries of its row
 * in a ragged map. */
struct meeting_column {
  const struct map *map;
  int idx;
  bool entry;
};

struct meeting {
  long first, second, target; /* two elements that come to this target; first is -1 where none do */
  bool repeats;               /* some element may come to one target twice */
};

/* Look at the elements that are executed here, and targets in `to`, in the library's numbers. The result is kept with
 * `keeper`, one of the maps, until the mesh has another epoch. OP_ERR_MEMORY. */
int meeting_find(struct map *keeper, unsigned epoch, const struct set *to,
                 const struct meeting_column *columns, int count, struct meeting *out, struct error *err);
void meeting_free(struct map *keeper);

#endif
