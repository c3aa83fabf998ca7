#include "owners.h"

#include "memory.h"
#include "threads.h"

#include <stdlib.h>

static int most_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* How many of a row's targets are the thread's. */
static int own_of(const struct owners *made, int t, const int *row, int adding) {
  int own = 0;
  for (int k = 0; k < adding; k++)
    own += owners_has(made, t, row[k]);
  return own;
}

struct owners owners_make(int elements, int arity, int adding, const int *table, int targets) {
  struct owners made = {.threads = most_threads()};
  const int threads = made.threads;
  made.low = room(threads + 1, sizeof *made.low);
  made.first_run = room(threads + 1, sizeof *made.first_run);
  made.first_border = room(threads + 1, sizeof *made.first_border);
  made.run = room(2LL * elements + 2, sizeof *made.run);
  made.border = room((long long)adding * elements + 1, sizeof *made.border);
  for (int t = 0; t <= threads; t++)
    made.low[t] = (int)((long long)targets * t / threads);
  int runs = 0, borders = 0;
  for (int t = 0; t < threads; t++) {
    made.first_run[t] = runs;
    made.first_border[t] = borders;
    for (int e = 0; e < elements; e++) {
      const int own = own_of(&made, t, table + (long long)arity * e, adding);
      if (own == adding && runs > made.first_run[t] && made.run[2 * runs - 1] == e) {
        made.run[2 * runs - 1]++;
      } else if (own == adding) {
        made.run[2 * runs] = e;
        made.run[2 * runs++ + 1] = e + 1;
      } else if (own) {
        made.border[borders++] = e;
      }
    }
  }
  made.first_run[threads] = runs;
  made.first_border[threads] = borders;
  return made;
}

void owners_free(struct owners *owners) {
  free(owners->low);
  free(owners->first_run);
  free(owners->run);
  free(owners->first_border);
  free(owners->border);
  *owners = (struct owners){0};
}
