/* What the library's report has of ranks that wait, at any time. */
#include "figures.h"

#include <stdlib.h>

#include "api/api.h"
#include "context/context.h"
#include "record/record.h"

struct waiting waiting_so_far(void) {
  const struct op_context *ctx = api_context();
  struct loop **records = loop_records(ctx);
  struct waiting w = {0};
  for (size_t i = 0; records && i < ctx->loops->count; i++) {
    w.seconds += records[i]->stats.waiting_seconds;
    w.exchanging += records[i]->stats.exchange_seconds;
  }
  free(records);
  return w;
}
