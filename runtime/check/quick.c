#include "check/quick.h"

#include <stdlib.h>
#include <string.h>

#include "backend/native/native.h"
#include "base/log.h"
#include "base/size.h"
#include "check/trap.h"
#include "context/context.h"
#include "jit/generate/watched.h"

void quick_open(struct quick *q, struct op_context *ctx, const struct loop *loop) {
  const struct shape shape = {.watched = true};
  struct error why = {0};
  if (loop->backend == &backend_native)
    return;
  range_function run;
  if (cell_code(ctx, &loop->desc, &shape, &run, &why))
    log_line(ctx->log, LOG_INFO, "check",
             "loop %s stays slow in the checking form, without code of its own: %s", loop->name,
             error_message(&why));
  else if ((q->frame = array_new((size_t)watched_slots(&loop->desc), sizeof(void *))))
    q->run = run;
  error_free(&why);
}

void quick_free(struct quick *q) {
  free(q->frame);
  *q = (struct quick){0};
}

void quick_aim(struct quick *q, const struct cell *cell) {
  const struct loop *loop = cell->loop;
  const struct desc *d = &loop->desc;
  memcpy(q->frame, cell->launch->frame, (size_t)desc_slots(d) * sizeof(void *));
  for (int r = 0; r < loop->nreductions; r++)
    q->frame[loop->reductions[r].index] = cell->launch->slots + loop->reductions[r].offset;
  for (int i = 0; i < d->nargs; i++)
    q->frame[watched_slot_row(d, i)] = cell->args[i].rows ? cell_row(cell, 0, i, 0) : cell->args[i].memory[0];
  q->frame[watched_slot_stop(d)] = &q->stop;
}

struct range {
  const struct quick *quick;
  long begin, end;
};

static void run_range(void *user) {
  const struct range *range = user;
  range->quick->run(range->quick->frame, NULL, range->begin, range->end);
}

long quick_run(struct quick *q, long begin, long end) {
  struct range range = {q, begin, end};
  q->stop = end;
  return trap_call(run_range, &range) ? q->stop : -1;
}
