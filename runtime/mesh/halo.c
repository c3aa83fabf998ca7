#include "mesh/halo.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/list.h"

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

enum { LINE = 64, WINDOWS = 4, BITS = 64 };

/* Rows of the table that may fill half of the cache. */
static long window_of(int arity, size_t row_bytes, size_t cache_bytes) {
  const size_t each = (size_t)arity * (row_bytes > LINE ? row_bytes : LINE);
  return (long)(cache_bytes / 2 / each) + 1;
}

/* Lines of one target, each once in `seen`. */
static long count_target(uint64_t *seen, size_t first, size_t behind) {
  long count = 0;
  for (size_t line = first / LINE; line * LINE < behind; line++) {
    const uint64_t bit = UINT64_C(1) << line % BITS;
    count += !(seen[line / BITS] & bit);
    seen[line / BITS] |= bit;
  }
  return count;
}

static void forget_target(uint64_t *seen, size_t first, size_t behind) {
  for (size_t line = first / LINE; line * LINE < behind; line++)
    seen[line / BITS] = 0;
}

double reach_fetches(const int *table, long rows, int arity, long targets, size_t row_bytes,
                     size_t cache_bytes) {
  const size_t bytes = (size_t)targets * row_bytes;
  if (rows <= 0 || targets <= 0 || bytes <= cache_bytes)
    return 0;
  const long window = window_of(arity, row_bytes, cache_bytes);
  uint64_t *seen = array_new(bytes / LINE / BITS + 2, sizeof *seen);
  if (!seen || window >= rows) {
    free(seen);
    return 0;
  }
  double lines = 0, walked = 0;
  for (int w = 0; w < WINDOWS; w++) {
    const long begin = (rows - window) / (WINDOWS - 1) * w;
    const size_t first = (size_t)begin * (size_t)arity, entries = (size_t)window * (size_t)arity;
    for (size_t i = first; i < first + entries; i++)
      lines += (double)count_target(seen, (size_t)table[i] * row_bytes, ((size_t)table[i] + 1) * row_bytes);
    for (size_t i = first; i < first + entries; i++)
      forget_target(seen, (size_t)table[i] * row_bytes, ((size_t)table[i] + 1) * row_bytes);
    walked += (double)window;
  }
  free(seen);
  return lines / walked * (double)rows / ((double)bytes / LINE);
}
