#include "mesh/halo.h"

#include <stdlib.h>

void halo_side_free(struct halo_side *side) {
  free(side->ranks);
  free(side->first);
  free(side->elements);
  *side = (struct halo_side){0};
}

void ring_set_free(struct ring_set *rings, int layers) {
  for (int v = 0; rings->exchanges && v <= 2 * layers + 1; v++) {
    halo_side_free(&rings->exchanges[v].send);
    halo_side_free(&rings->exchanges[v].receive);
  }
  free(rings->numbers);
  free(rings->ends);
  free(rings->exchanges);
  *rings = (struct ring_set){0};
}

long set_rows(const struct set *set) {
  const struct distribution *d = set->spread;
  return d && d->layers ? d->rings.ends[2 * d->layers + 1] : set->extents[EXTENT_NONEXEC];
}

void distribution_free(struct distribution *d) {
  if (!d)
    return;
  free(d->numbers);
  struct halo_exchange *const exchanges[] = {&d->exec, &d->nonexec, &d->home};
  for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
    halo_side_free(&exchanges[i]->send);
    halo_side_free(&exchanges[i]->receive);
  }
  ring_set_free(&d->rings, d->layers);
  free(d);
}

void map_halo_free(struct map_halo *halo) {
  if (!halo)
    return;
  halo_side_free(&halo->exchange.send);
  halo_side_free(&halo->exchange.receive);
  free(halo);
}
