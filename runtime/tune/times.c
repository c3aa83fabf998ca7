#include "tune/times.h"

#include <string.h>

/* They are few, and mostly in order. */
void times_sort(double *values, int count) {
  for (int i = 1; i < count; i++) {
    const double value = values[i];
    int at = i;
    for (; at > 0 && values[at - 1] > value; at--)
      values[at] = values[at - 1];
    values[at] = value;
  }
}

double times_median(const double *values, int count) {
  double sorted[TIMES_MOST];
  if (count == 0)
    return 0;
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  times_sort(sorted, count);
  return count % 2 ? sorted[count / 2] : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]);
}

double times_spread(const double *values, int count) {
  double sorted[TIMES_MOST];
  const double middle = times_median(values, count);
  if (count < 3 || middle <= 0)
    return 0;
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  times_sort(sorted, count);
  return 0.5 * (sorted[(3 * count) / 4] - sorted[count / 4]) / middle;
}
