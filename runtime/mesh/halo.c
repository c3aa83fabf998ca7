#include "mesh/halo.h"

#include <stdlib.h>

void halo_side_free(struct halo_side *side) {
  free(side->ranks);
  free(side->first);
  free(side->elements);
  *side = (struct halo_side){0};
}

void distribution_free(struct distribution *d) {
  if (!d)
    return;
  free(d->declared_first);
  free(d->numbers);
  struct halo_exchange *const exchanges[] = {&d->exec, &d->nonexec, &d->home};
  for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
    halo_side_free(&exchanges[i]->send);
    halo_side_free(&exchanges[i]->receive);
  }
  free(d);
}

void map_halo_free(struct map_halo *halo) {
  if (!halo)
    return;
  halo_side_free(&halo->exchange.send);
  halo_side_free(&halo->exchange.receive);
  free(halo);
}
