#include "loop/spread/copies.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/size.h"
#include "mesh/data.h"

static int no_memory(struct error *err) {
  return error_memory(err, "the copies that a chain runs on", 0);
}

/* The launch's frame, where maps and dats are those apart. NULL: no memory. */
static void **make_frame(const struct launch *launch, const struct deep_loop *l) {
  const struct desc *d = &launch->loop->desc;
  const size_t slots = (size_t)desc_slots(d);
  void **frame = array_new(slots, sizeof *frame);
  if (!frame)
    return NULL;
  memcpy(frame, launch->frame, slots * sizeof *frame);
  for (int k = 0; k < l->naparts; k++) {
    const struct apart *a = &l->aparts[k];
    const struct desc_arg *described = &d->args[a->arg];
    const uintptr_t before = (uintptr_t)(a->first * a->map->arity) * sizeof *a->table;
    frame[desc_slot_dat(d, described->dat)] = a->values.replicas[SPACE_HOST].memory;
    frame[desc_slot_stride(d, described->dat)] = (void *)(uintptr_t)a->values.stride;
    frame[desc_slot_map(d, described->map)] = (void *)((uintptr_t)a->table - before);
  }
  return frame;
}

int deep_loop_run(struct op_context *ctx, struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  const struct deep_loop *l = launch->deep;
  struct work works[WORKS];
  if (!l->schedule.nitems)
    return OP_OK;
  int code = loop->backend->work(ctx, launch, &works[WITH_ROWS], err);
  if (code)
    return code;
  unsigned char *slot = array_new(1, loop->ready.slot_bytes);
  void **frame = make_frame(launch, l);
  if (!slot || !frame)
    code = no_memory(err);
  else {
    if (loop->ready.nreductions)
      launch_start_slot(launch, slot);
    works[WITH_ROWS].slots = slot;
    works[APART] = works[WITH_ROWS];
    works[APART].frame = frame;
    executor_run(
        NULL, &(struct execution){.schedule = &l->schedule, .works = works, .nworks = WORKS, .threads = 1});
  }
  free(slot);
  free(frame);
  return code;
}
