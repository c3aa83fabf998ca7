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

int deep_schedule_new(struct schedule *out, long rows, const struct copies_list *run, struct error *err) {
  long items = 0;
  for (int filling = 0; filling < 2; filling++) {
    if (filling && schedule_new(out, items, 1, 0, err))
      return err->code;
    if (filling)
      schedule_add_phase(out, false);
    items = 0;
    for (long i = 0, end; i < run->count; i = end, items++) {
      const int first = run->elements[i];
      for (end = i + 1;
           end < run->count && run->elements[end] == first + (end - i) && run->elements[end] != rows;)
        end++;
      if (filling)
        schedule_add_item(out, first < rows ? WITH_ROWS : APART, first, first + (end - i), -1);
    }
  }
  for (int i = 0; i < out->nitems; i++)
    out->items[i].slot = 0; /* of results that nobody reads */
  return OP_OK;
}

int deep_loop_run_some(const struct launch *launch, const struct schedule *schedule, const struct work *work,
                       struct error *err) {
  const struct loop *loop = launch->loop;
  struct work works[WORKS] = {[WITH_ROWS] = *work, [APART] = *work};
  if (!schedule->nitems)
    return OP_OK;
  unsigned char *slot = array_new(1, loop->ready.slot_bytes);
  void **frame = make_frame(launch, launch->deep);
  const bool all = slot && frame;
  if (all) {
    if (loop->ready.nreductions)
      launch_start_slot(launch, slot);
    works[WITH_ROWS].slots = works[APART].slots = slot;
    works[APART].frame = frame;
    executor_run(NULL,
                 &(struct execution){.schedule = schedule, .works = works, .nworks = WORKS, .threads = 1});
  }
  free(slot);
  free(frame);
  return all ? OP_OK : no_memory(err);
}

int deep_loop_run(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct work work;
  const int code = launch->loop->backend->work(ctx, launch, &work, err);
  return code ? code : deep_loop_run_some(launch, &launch->deep->schedule, &work, err);
}
