#include "report/report_ranks.h"

#include "base/size.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"

/* What is added up over the ranks, by loop. */
enum { SECONDS, EXCHANGE, WAITING, EXCHANGES, MESSAGES, BYTES, REDUNDANT, SUMS };

static void own_sums(const struct loop_stats *s, double *sums) {
  sums[SECONDS] = s->seconds;
  sums[EXCHANGE] = s->exchange_seconds;
  sums[WAITING] = s->waiting_seconds;
  sums[EXCHANGES] = (double)s->exchanges;
  sums[MESSAGES] = (double)s->messages;
  sums[BYTES] = (double)s->bytes_sent;
  sums[REDUNDANT] = s->redundant;
}

static void fill_row(struct report_row *row, const double *sums, double least, double most, int ranks) {
  row->least = least;
  row->mean = sums[SECONDS] / ranks;
  row->most = most;
  row->across = (struct report_across){.exchange_seconds = sums[EXCHANGE] / ranks,
                                       .waiting_seconds = sums[WAITING] / ranks,
                                       .exchanges = (long long)(sums[EXCHANGES] / ranks),
                                       .messages = (long long)sums[MESSAGES],
                                       .bytes_sent = sums[BYTES],
                                       .redundant = sums[REDUNDANT] / ranks};
}

/* `values`: sums of each row, then least, then most. */
static int reduce_rows(struct op_context *ctx, const struct loop_stats *const *stats, struct report_row *rows,
                       int nrows, double *values, struct error *err) {
  struct comm *c = ctx->agreement;
  double *least = values + (size_t)nrows * SUMS, *most = least + nrows;
  for (int i = 0; i < nrows; i++) {
    own_sums(stats[i], values + (size_t)i * SUMS);
    least[i] = most[i] = stats[i]->seconds;
  }
  int code = c->table->reduce_all(c, values, nrows * SUMS, COMM_DOUBLE, COMM_SUM, err);
  if (!code)
    code = c->table->reduce_all(c, least, nrows, COMM_DOUBLE, COMM_MIN, err);
  if (!code)
    code = c->table->reduce_all(c, most, nrows, COMM_DOUBLE, COMM_MAX, err);
  for (int i = 0; !code && i < nrows; i++)
    fill_row(&rows[i], values + (size_t)i * SUMS, least[i], most[i], c->size);
  return code;
}

/* What each rank says of each row: the ranks come one after the other, then row by row. */
static int gather_rows(struct op_context *ctx, const struct loop_stats *const *stats, struct report_row *rows,
                       int nrows, struct report_rank **by_rank, struct error *err) {
  struct comm *c = ctx->agreement;
  const size_t bytes = (size_t)nrows * sizeof **by_rank;
  struct report_rank *mine = array_new((size_t)nrows, sizeof *mine);
  struct report_rank *all = array_new((size_t)nrows * (size_t)c->size, sizeof *all);
  *by_rank = array_new((size_t)nrows * (size_t)c->size, sizeof **by_rank);
  int code = mine && all && *by_rank ? OP_OK : error_memory(err, "a report", bytes * (size_t)c->size);
  code = agree_on_success(c, code, err);
  for (int i = 0; !code && i < nrows; i++)
    mine[i] = (struct report_rank){.seconds = stats[i]->seconds,
                                   .exchange_seconds = stats[i]->exchange_seconds,
                                   .waiting_seconds = stats[i]->waiting_seconds,
                                   .messages = (double)stats[i]->messages,
                                   .bytes_sent = (double)stats[i]->bytes_sent};
  if (!code)
    code = c->table->gather_all(c, mine, bytes, all, err);
  for (int i = 0; !code && i < nrows; i++) {
    rows[i].by_rank = *by_rank + (size_t)i * (size_t)c->size;
    for (int rank = 0; rank < c->size; rank++)
      (*by_rank)[i * c->size + rank] = all[rank * nrows + i];
  }
  free(mine);
  free(all);
  return code;
}

int report_over_ranks(struct op_context *ctx, const struct loop_stats *const *stats, struct report_row *rows,
                      int nrows, struct report_rank **by_rank, int code, struct error *err) {
  if (comm_alone(ctx->comm))
    return code;
  double *values = array_new((size_t)nrows, (SUMS + 2) * sizeof *values);
  if (!code && !values)
    code = error_memory(err, "a report", (size_t)nrows * (SUMS + 2) * sizeof *values);
  code = agree_on_call(ctx, code, err, "a report\nloops\t%d\n", nrows);
  if (!code)
    code = reduce_rows(ctx, stats, rows, nrows, values, err);
  if (!code)
    code = gather_rows(ctx, stats, rows, nrows, by_rank, err);
  free(values);
  return code;
}
