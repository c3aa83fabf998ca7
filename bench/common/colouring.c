#include "colouring.h"

#include "memory.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_COLOURS = 64 };

/* The colours that blocks before this one have left on its targets. */
static unsigned long long colours_met(const int *entries, long long count, const unsigned long long *used) {
  unsigned long long met = 0;
  for (long long i = 0; i < count; i++)
    met |= used[entries[i]];
  return met;
}

static int lowest_free(unsigned long long met) {
  if (met == ~0ULL) {
    options_refuse("a block meets %d colours; take larger blocks", MAX_COLOURS);
    exit(EXIT_FAILURE);
  }
  return __builtin_ctzll(~met);
}

struct colouring colouring_make(int elements, int arity, const int *table, int targets, int block_size) {
  struct colouring made = {.block_size = block_size, .elements = elements};
  made.blocks = (int)(((long long)elements + block_size - 1) / block_size);
  made.order = room(made.blocks + 1, sizeof *made.order);
  made.first = room(MAX_COLOURS + 1, sizeof *made.first);
  int *colour = room(made.blocks + 1, sizeof *colour);
  unsigned long long *used = room(targets, sizeof *used);
  memset(used, 0, (size_t)targets * sizeof *used);
  int count[MAX_COLOURS] = {0};

  for (int block = 0; block < made.blocks; block++) {
    const int *entries = table + (long long)colouring_begin(&made, block) * arity;
    long long entry_count = (long long)(colouring_end(&made, block) - colouring_begin(&made, block)) * arity;
    colour[block] = lowest_free(colours_met(entries, entry_count, used));
    count[colour[block]]++;
    for (long long i = 0; i < entry_count; i++)
      used[entries[i]] |= 1ULL << colour[block];
    if (colour[block] + 1 > made.colours)
      made.colours = colour[block] + 1;
  }

  made.first[0] = 0;
  for (int c = 0; c < made.colours; c++)
    made.first[c + 1] = made.first[c] + count[c];
  int next[MAX_COLOURS];
  for (int c = 0; c < made.colours; c++)
    next[c] = made.first[c];
  for (int block = 0; block < made.blocks; block++)
    made.order[next[colour[block]]++] = block;
  free(colour);
  free(used);
  return made;
}

void colouring_free(struct colouring *colouring) {
  free(colouring->first);
  free(colouring->order);
  *colouring = (struct colouring){0};
}
