/* Elements in patches: blocks of neighbours, so that few targets have elements of several blocks. */
#include <stdlib.h>

#include "base/size.h"
#include "plan/plan_inner.h"
#include "plan/warps/sums.h"

/* Targets that lead on: those of the patch that grows, and those where earlier ones ended, which the next one begins at. */
struct growing {
  const struct reverse_map *map; /* elements of each target */
  const struct plan_column *columns;
  int *patch;      /* per element, -1: none yet */
  int *next;       /* per target: the first of its entries that was not looked at */
  int *met;        /* per target: the patch, and 1, whose queue it was in last */
  int *queue;      /* of the patch */
  int *left;       /* of the earlier ones, in their order */
  long begin, end; /* of `left` */
  long element;    /* the first one that may have no patch */
};

/* The target's next element without a patch, -1: none. */
static long next_element(const struct growing *g, int target) {
  int *next = &g->next[target];
  for (; *next < g->map->first[target + 1]; (*next)++) {
    const long e = g->map->entries[*next] / g->map->columns;
    if (g->patch[e] < 0)
      return e;
  }
  return -1;
}

/* Where a patch begins, or goes on if its queue is empty: there are elements without one. */
static int seed(struct growing *g) {
  while (g->begin < g->end) {
    const int target = g->left[g->begin++];
    if (next_element(g, target) >= 0)
      return target;
  }
  while (g->patch[g->element] >= 0)
    g->element++;
  return column_target(&g->columns[0], g->element);
}

static void grow(struct growing *g, int patch, long elements) {
  long at = 0, end = 0;
  while (elements > 0) {
    if (at == end) {
      g->queue[end++] = seed(g);
      g->met[g->queue[at]] = patch + 1;
    }
    for (long e; elements > 0 && (e = next_element(g, g->queue[at])) >= 0; elements--) {
      g->patch[e] = patch;
      for (int c = 0; c < g->map->columns; c++) {
        const int target = column_target(&g->columns[c], e);
        if (g->met[target] != patch + 1)
          g->queue[end++] = target;
        g->met[target] = patch + 1;
      }
    }
    at += elements > 0;
  }
  while (at < end)
    g->left[g->end++] = g->queue[at++];
}

/* The elements of each patch stand in their own order. */
static int list_patches(struct plan *plan, const int *patch, struct error *err) {
  int *next = array_new((size_t)plan->nblocks, sizeof *next);
  plan->list = array_new((size_t)plan->size, sizeof *plan->list);
  if (next && plan->list)
    for (long e = 0; e < plan->size; e++)
      plan->list[(long)patch[e] * plan->block_size + next[patch[e]]++] = (int)e;
  free(next);
  return next && plan->list ? OP_OK : error_memory(err, "patches", (size_t)plan->size * sizeof *plan->list);
}

int plan_patches(struct plan *plan, const struct plan_column *columns, const struct reverse_map *map,
                 struct error *err) {
  const size_t targets = (size_t)map->size, entries = (size_t)map->first[map->size],
               of_patch = (size_t)plan->block_size * (size_t)map->columns + 1 + (size_t)plan->block_size;
  struct growing g = {.map = map,
                      .columns = columns,
                      .patch = array_new((size_t)plan->size, sizeof *g.patch),
                      .next = array_new(targets, sizeof *g.next),
                      .met = array_new(targets, sizeof *g.met),
                      .queue = array_new(of_patch, sizeof *g.queue),
                      .left = array_new(entries + (size_t)plan->size + 1, sizeof *g.left)};
  int code = OP_OK;
  if (!g.patch || !g.next || !g.met || !g.queue || !g.left)
    code = error_memory(err, "patches", (entries + (size_t)plan->size) * sizeof *g.left);
  for (long e = 0; e < plan->size && !code; e++)
    g.patch[e] = -1;
  for (size_t t = 0; t < targets && !code; t++)
    g.next[t] = map->first[t];
  for (int b = 0; b < plan->nblocks && !code; b++)
    grow(&g, b, block_end(plan, b) - block_begin(plan, b));
  if (!code)
    code = list_patches(plan, g.patch, err);
  free(g.patch);
  free(g.next);
  free(g.met);
  free(g.queue);
  free(g.left);
  return code;
}
