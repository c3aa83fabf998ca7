#include "report/forms.h"

void report_csv(const struct report *r, struct text *out) {
  const double giga = 1e9;
  text_add(out, "ranks,threads,count,total time,plan time,mpi time,GB total,GB/s,kernel name\n");
  for (int i = 0; i < r->nrows; i++) {
    const struct report_row *row = &r->rows[i];
    text_addf(out, "%d,%d,%lld,%f,%f,%f,%f,%f,%s\n", r->ranks, r->threads, row->stats.calls,
              row->stats.seconds, row->stats.plan_seconds, row->across.exchange_seconds,
              (double)row->stats.calls * row->stats.bytes / giga, report_rate(row), row->name);
  }
}
