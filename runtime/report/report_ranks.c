/* Figures of loops over all ranks. */
#include <math.h>

#include "base/list.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "report/forms.h"

static struct report_rank rank_of(const struct loop_stats *s) {
  return (struct report_rank){.seconds = s->seconds,
                              .exchange_seconds = s->exchange_seconds,
                              .waiting_seconds = s->waiting_seconds,
                              .messages = (double)s->messages,
                              .bytes_sent = (double)s->bytes_sent,
                              .exchanges = (double)s->exchanges,
                              .redundant = s->redundant};
}

/* By what each rank says of it. */
static void fill_row(struct report_row *row, int ranks) {
  struct report_rank all = {0};
  row->least = row->most = row->by_rank[0].seconds;
  for (int i = 0; i < ranks; i++) {
    const struct report_rank *one = &row->by_rank[i];
    row->least = one->seconds < row->least ? one->seconds : row->least;
    row->most = one->seconds > row->most ? one->seconds : row->most;
    all.seconds += one->seconds;
    all.exchange_seconds += one->exchange_seconds;
    all.waiting_seconds += one->waiting_seconds;
    all.messages += one->messages;
    all.bytes_sent += one->bytes_sent;
    all.exchanges += one->exchanges;
    all.redundant += one->redundant;
  }
  row->across = (struct report_rank){
      all.seconds / ranks, all.exchange_seconds / ranks, all.waiting_seconds / ranks, all.messages,
      all.bytes_sent,      floor(all.exchanges / ranks), all.redundant / ranks};
}

/* The ranks' answers come one behind the other, and are needed row by row. */
static int gather_rows(struct comm *c, struct report *r, struct report_rank *mine, struct report_rank *all,
                       struct error *err) {
  for (int i = 0; i < r->nrows; i++)
    mine[i] = rank_of(&r->rows[i].stats);
  const int code = c->table->gather_all(c, mine, (size_t)r->nrows * sizeof *mine, all, err);
  for (int i = 0; !code && i < r->nrows; i++) {
    struct report_rank *row = r->by_rank + (size_t)i * (size_t)c->size;
    for (int rank = 0; rank < c->size; rank++)
      row[rank] = all[rank * r->nrows + i];
    r->rows[i].by_rank = row;
    fill_row(&r->rows[i], c->size);
  }
  return code;
}

int report_over_ranks(struct op_context *ctx, struct report *r, int code, struct error *err) {
  struct comm *c = ctx->agreement;
  if (comm_alone(ctx->comm))
    return code;
  const size_t count = (size_t)r->nrows * (size_t)c->size;
  struct report_rank *mine = array_new((size_t)r->nrows, sizeof *mine), *all = array_new(count, sizeof *all);
  r->by_rank = array_new(count, sizeof *r->by_rank);
  if (!code && !(mine && all && r->by_rank))
    code = error_memory(err, "a report", count * sizeof *all);
  code = agree_on_call(ctx, code, err, "a report\nloops\t%d\n", r->nrows);
  if (!code)
    code = gather_rows(c, r, mine, all, err);
  free(mine);
  free(all);
  return code;
}
