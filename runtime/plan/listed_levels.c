/* Elements that meet, in the order of their numbers: each is behind all those with lower numbers that it shares a target with. */
#include <stdlib.h>

#include "base/list.h"
#include "plan/listed.h"
#include "plan/plan_staging.h"

/* The first level in which none of the element's targets is any more. Its targets are in that one then. */
static int level_of(const struct marks *m, const struct plan_request *r, long e) {
  uint32_t level = 0;
  for (int c = 0; c < r->ncolumns; c++)
    for (long p = column_place(&r->columns[c], e); p < column_place(&r->columns[c], e + 1); p++) {
      const uint32_t next = m->of_column[c][column_target(&r->columns[c], p)];
      level = next > level ? next : level;
    }
  for (int c = 0; c < r->ncolumns; c++)
    for (long p = column_place(&r->columns[c], e); p < column_place(&r->columns[c], e + 1); p++)
      m->of_column[c][column_target(&r->columns[c], p)] = level + 1;
  return (int)level;
}

/* By levels, and in each by numbers. */
static int list_levels(struct plan *plan, const int *order, const int *level, struct error *err) {
  plan->colour_first = array_new((size_t)plan->ncolours + 2, sizeof *plan->colour_first);
  plan->block_map = array_new((size_t)plan->size, sizeof *plan->block_map);
  if (!plan->colour_first || !plan->block_map)
    return error_memory(err, "elements in a list", (size_t)plan->size * sizeof *plan->block_map);
  int *next = plan->colour_first + 1;
  for (long e = 0; e < plan->size; e++)
    next[level[e] + 1]++;
  for (int k = 0; k < plan->ncolours; k++)
    next[k + 1] += next[k];
  for (long i = 0; i < plan->size; i++)
    plan->block_map[next[level[order[i]]]++] = order[i];
  return OP_OK;
}

int plan_levels(struct plan *plan, const struct plan_request *r, struct error *err) {
  struct marks m = {0};
  *plan = (struct plan){.size = r->size, .block_size = 1, .nblocks = (int)r->size};
  int *order = array_new((size_t)r->size, sizeof *order), *level = array_new((size_t)r->size, sizeof *level);
  int code =
      order && level ? OP_OK : error_memory(err, "elements in a list", (size_t)r->size * 2 * sizeof *order);
  if (!code)
    code = plan_sort(order, r, err);
  if (!code)
    code = marks_new(&m, r->columns, r->ncolumns, err);
  for (long i = 0; i < r->size && !code; i++) {
    level[order[i]] = level_of(&m, r, order[i]);
    if (level[order[i]] >= plan->ncolours)
      plan->ncolours = level[order[i]] + 1;
  }
  if (!code)
    code = list_levels(plan, order, level, err);
  marks_free(&m);
  free(order);
  free(level);
  if (code)
    plan_free(plan);
  return code;
}
