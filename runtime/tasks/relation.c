/* For each task some numbers, sorted by counting. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tasks/inner.h"

int relation_add(struct relation *r, int task, int other, struct error *err) {
  struct pair *added = array_more(r->added, r->nadded, sizeof *added);
  if (!added)
    return error_memory(err, "what tasks wait for and lock", r->nadded * sizeof *added);
  r->added = added;
  added[r->nadded++] = (struct pair){task, other};
  return OP_OK;
}

/* How many each task has, summed up: at[t] is where the row of t ends. */
static void count_rows(const struct relation *r, unsigned *at, int ntasks) {
  for (int t = 0; r->at && t < r->tasks; t++)
    at[t] += r->at[t + 1] - r->at[t];
  for (size_t i = 0; i < r->nadded; i++)
    at[r->added[i].task]++;
  for (int t = 1; t <= ntasks; t++)
    at[t] += at[t - 1];
}

/* From behind, so that at[t] ends as where the row begins, and pairs keep their order. */
static void fill_rows(const struct relation *r, unsigned *at, int *items) {
  for (size_t i = r->nadded; i-- > 0;)
    items[--at[r->added[i].task]] = r->added[i].other;
  for (int t = r->at ? r->tasks : 0; t-- > 0;)
    for (unsigned i = r->at[t + 1]; i-- > r->at[t];)
      items[--at[t]] = r->items[i];
}

int relation_sort(struct relation *r, int ntasks, struct error *err) {
  if (r->nadded == 0 && (!r->at || r->tasks == ntasks))
    return OP_OK;
  const size_t count = r->count + r->nadded;
  if (count > UINT_MAX)
    return error_set(err, OP_ERR_SIZE,
                     "a graph of %zu dependencies or locks is too large; use larger tasks, or tasks that "
                     "join others",
                     count);
  unsigned *at = array_new((size_t)ntasks + 1, sizeof *at);
  int *items = array_new(count, sizeof *items);
  if (!at || !items) {
    free(at);
    free(items);
    return error_memory(err, "what tasks wait for and lock", count * sizeof *items);
  }
  count_rows(r, at, ntasks);
  fill_rows(r, at, items);
  relation_free(r);
  *r = (struct relation){.at = at, .items = items, .count = count, .tasks = ntasks};
  return OP_OK;
}

void relation_free(struct relation *r) {
  free(r->added);
  free(r->at);
  free(r->items);
  memset(r, 0, sizeof *r);
}

size_t relation_bytes(const struct relation *r) {
  return r->nadded * sizeof *r->added + r->count * sizeof *r->items +
         (r->at ? ((size_t)r->tasks + 1) * sizeof *r->at : 0);
}
