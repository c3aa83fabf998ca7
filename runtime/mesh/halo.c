#include "mesh/halo.h"

#include <stdlib.h>

void halo_note_ranks(const struct halo_side *receive, int *rank) {
  for (int i = 0; i < receive->count; i++)
    for (long k = receive->first[i]; k < receive->first[i + 1]; k++)
      rank[receive->elements[k]] = receive->ranks[i];
}

void halo_side_free(struct halo_side *side) {
  free(side->ranks);
  free(side->first);
  free(side->elements);
  *side = (struct halo_side){0};
}

void halo_exchange_free(struct halo_exchange *exchange) {
  halo_side_free(&exchange->send);
  halo_side_free(&exchange->receive);
}

void ring_set_free(struct ring_set *rings, int layers) {
  for (int v = 0; rings->exchanges && v <= 2 * layers + 1; v++)
    halo_exchange_free(&rings->exchanges[v]);
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
  halo_exchange_free(&d->exec);
  halo_exchange_free(&d->nonexec);
  halo_exchange_free(&d->home);
  ring_set_free(&d->rings, d->layers);
  free(d);
}

void map_halo_free(struct halo_exchange *halo) {
  if (halo)
    halo_exchange_free(halo);
  free(halo);
}
