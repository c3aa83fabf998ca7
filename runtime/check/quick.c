#include "check/quick.h"

#include <stdlib.h>
#include <string.h>

#include "backend/native/native.h"
#include "base/size.h"
#include "context.h"
#include "jit/generate/watched.h"
#include "jit/jit.h"

void quick_open(struct quick *q, struct op_context *ctx, const struct loop *loop) {
  const struct shape shape = {.watched = true};
  struct error ignored = {0};
  struct jit *jit = NULL;
  struct jit_code code = {0};
  if (loop->backend == &backend_native || !watched_fits(&loop->desc))
    return;
  if (!context_jit(ctx, &jit, &ignored) && !jit_code(jit, &loop->desc, &shape, &code, &ignored)) {
    q->frame = array_new((size_t)watched_slots(&loop->desc), sizeof(void *));
    q->run = q->frame ? code.run : NULL;
  }
  error_free(&ignored);
}

void quick_free(struct quick *q) {
  free(q->frame);
  *q = (struct quick){0};
}

void quick_aim(struct quick *q, const struct cell *cell) {
  const struct loop *loop = cell->loop;
  const struct desc *d = &loop->desc;
  memcpy(q->frame, loop->frame, (size_t)desc_slots(d) * sizeof(void *));
  for (int r = 0; r < loop->nreductions; r++)
    q->frame[loop->reductions[r].index] = loop->slots + loop->reductions[r].offset;
  for (int i = 0; i < d->nargs; i++)
    q->frame[watched_slot_row(d, i)] = cell->args[i].rows ? cell_row(cell, 0, i, 0) : cell->args[i].memory[0];
  q->frame[watched_slot_stop(d)] = &q->stop;
}

long quick_run(struct quick *q, long begin, long end) {
  q->stop = end;
  q->run(q->frame, NULL, begin, end);
  return q->stop;
}
