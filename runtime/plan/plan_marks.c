/* Marks of targets, and how many threads have marks of their own. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "plan/plan_inner.h"

/* Fewer elements are not worth waking the threads, and each thread needs marks of its own. */
static const long parallel_from = 100000;

int marks_new(struct marks *m, const struct plan_column *columns, int ncolumns, struct error *err) {
  size_t total = 0, first[OP_MAX_ARGS];
  memset(m, 0, sizeof *m);
  m->of_column = array_new((size_t)ncolumns, sizeof *m->of_column);
  size_t *offsets = ncolumns <= OP_MAX_ARGS ? first : array_new((size_t)ncolumns, sizeof *offsets);
  bool fits = m->of_column && offsets;
  for (int c = 0; c < ncolumns && fits; c++) {
    int same = 0;
    while (columns[same].target != columns[c].target)
      same++;
    offsets[c] = same < c ? offsets[same] : total;
    if (same == c)
      fits = size_add(total, (size_t)columns[c].target_size, &total);
  }
  m->all = fits ? array_new(total, sizeof *m->all) : NULL;
  m->count = total;
  for (int c = 0; c < ncolumns && m->all; c++)
    m->of_column[c] = m->all + offsets[c];
  if (offsets != first)
    free(offsets);
  if (m->all)
    return OP_OK;
  marks_free(m);
  return error_memory(err, "the marks of a plan", total * sizeof *m->all);
}

void marks_free(struct marks *m) {
  free(m->of_column);
  free(m->all);
  memset(m, 0, sizeof *m);
}

int plan_threads(const struct plan *plan, const struct team *team) {
  int threads = team_threads(team);
  if (plan->size < parallel_from || plan->nblocks < 2)
    return 1;
  if (threads > PLAN_MOST_THREADS)
    threads = PLAN_MOST_THREADS;
  return threads < plan->nblocks ? threads : plan->nblocks;
}
