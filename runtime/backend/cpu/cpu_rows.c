/* How many targets the elements of a loop have, where a ragged map gives them different ones. */
#include "cpu_loop.h"
#include "mesh/mesh.h"
#include "record/columns.h"

/* Strips as wide as most are; an element with as many targets has many. */
enum { USUAL_WIDTH = 8, MANY = 64 };

static bool is_even(const long long *first) {
  const long long n = first[1] - first[0];
  bool even = n > 0 && n <= ROWS_MOST;
  for (int l = 1; l < USUAL_WIDTH; l++)
    even &= first[l + 1] - first[l] == n;
  return even;
}

void cpu_find_rows(const struct loop *loop, double *even, double *in_long) {
  const struct map *map = loop_open_map(loop);
  double elements = 0, alike = 0, targets = 0, many = 0;
  for (int p = 0; map && p < loop->ready.nparts; p++) {
    const struct loop_part *part = &loop->ready.parts[p];
    for (long e = part->begin; e + USUAL_WIDTH <= part->end; e += USUAL_WIDTH)
      alike += is_even(map->first + e) ? USUAL_WIDTH : 0;
    for (long e = part->begin; e < part->end; e++) {
      const double n = (double)(map->first[e + 1] - map->first[e]);
      targets += n;
      many += n >= MANY ? n : 0;
    }
    elements += (double)(part->end - part->begin);
  }
  *even = elements > 0 ? alike / elements : 0;
  *in_long = targets > 0 ? many / targets : 0;
}
