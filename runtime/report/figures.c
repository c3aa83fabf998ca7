/* Figures that are computed from those of loops, and the form of times. */
#include <stdio.h>

#include "report/forms.h"

enum report_origin report_origin(const struct report_row *row) {
  return row->stats.compiled ? REPORT_COMPILED : row->stats.from_cache ? REPORT_CACHE_HIT : REPORT_NATIVE;
}

double report_rate(const struct report_row *row) {
  return row->stats.seconds > 0 ? row->stats.bytes * (double)row->stats.calls / row->stats.seconds * 1e-9 : 0;
}

double report_share(const struct report *r, const struct report_row *row) {
  return r->triad > 0 ? report_rate(row) / r->triad : 0;
}

bool report_in_cache(const struct report *r, const struct report_row *row) {
  return row->stats.working_set < (double)r->cache_bytes;
}

double report_chain_rate(const struct tiled_facts *c) {
  return c->seconds > 0 ? c->bytes * (double)c->runs / c->seconds * 1e-9 : 0;
}

bool report_in_tiles(const struct report_row *row) {
  return 2 * row->stats.tiled_seconds > row->stats.seconds;
}

double report_seconds(const struct report *r) {
  double seconds = 0;
  for (int i = 0; i < r->nrows; i++)
    seconds += r->rows[i].stats.seconds;
  return seconds;
}

void report_three(char *out, size_t size, double value) {
  snprintf(out, size, "%.*f", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value);
}

void report_time(char *out, size_t size, double seconds) {
  static const struct {
    double unit;
    const char *name;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  size_t u = 0;
  char digits[32];
  while (u + 1 < sizeof units / sizeof *units && seconds < 0.9995 * units[u].unit)
    u++;
  report_three(digits, sizeof digits, seconds / units[u].unit);
  snprintf(out, size, "%s %s", digits, units[u].name);
}
