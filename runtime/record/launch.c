/* A launch: what it has, and what it starts from. Reductions have one slot per schedule item. */
#include "record/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/list.h"
#include "include/op2jit.h"
#include "mesh/data.h"
#include "record/results.h"

enum { ALIGN = 16, SLOT_ALIGN = 64 };

/* ---- where things are ---- */

static bool place(size_t *end, size_t bytes, size_t *offset) {
  *offset = *end;
  return size_add(*end, bytes + (ALIGN - bytes % ALIGN) % ALIGN, end);
}

/* Behind an exact sum, which is limbs of each value, there is a row for an element; behind an exact extremum its start, and
 * such a row. */
static size_t slot_bytes(const struct loop_arg *arg) {
  const size_t more = arg->form == DESC_INFO  ? PAYLOAD_NUMBER
                      : !arg->exact           ? 0
                      : arg->access == OP_INC ? (size_t)arg->dim * sizeof(struct exact)
                                              : 2 * arg->bytes;
  return arg->bytes + more;
}

/* Slots lie close, and none on more lines than it must: those of one thread are neighbours but for a few, and what the
 * others have written is fetched line by line. */
static bool round_slot(size_t *bytes) {
  size_t rounded = ALIGN;
  while (rounded < *bytes && rounded < SLOT_ALIGN)
    rounded *= 2;
  if (*bytes > rounded)
    return size_add(*bytes, (SLOT_ALIGN - *bytes % SLOT_ALIGN) % SLOT_ALIGN, bytes);
  *bytes = *bytes ? rounded : 0;
  return true;
}

int loop_layout(struct loop *loop, struct error *err) {
  size_t slot = 0, globals = 0;
  bool fits = true;
  loop->ready.nreductions = loop->nvalues = 0;
  loop->ready.tells = loop->ready.hands_on = false;
  for (int i = 0; i < loop->nargs; i++) {
    struct loop_arg *arg = &loop->args[i];
    bool payload = arg->form == DESC_INFO;
    if (payload || arg_is_copied(arg) || arg_is_reduction(arg))
      loop->values[loop->nvalues++] = (unsigned char)i;
    if (arg->gbl)
      loop->ready.hands_on = true;
    else
      loop->ready.tells |= payload || arg_is_reduction(arg) || (arg_is_global(arg) && arg->access != OP_READ);
    if (arg_is_copied(arg))
      fits &= place(&globals, arg->bytes, &arg->offset);
    else if (arg_is_reduction(arg) || payload) {
      size_t bytes = slot_bytes(arg);
      fits &= place(&slot, bytes, &arg->offset);
      if (arg->info >= 0)
        fits &= place(&globals, arg->bytes, &arg->start);
      loop->ready.reductions[loop->ready.nreductions++] =
          (struct reduction){.index = desc_slot_arg(&loop->desc, i), .offset = arg->offset, .bytes = bytes};
    }
  }
  fits &= round_slot(&slot);
  if (!fits)
    return error_set(err, OP_ERR_SIZE, "loop %s: the globals are more than can be addressed", loop->name);
  loop->ready.slot_bytes = slot;
  loop->ready.global_bytes = globals;
  free(loop->ready.frame);
  loop->ready.frame = array_new((size_t)desc_slots(&loop->desc), sizeof *loop->ready.frame);
  return loop->ready.frame ? OP_OK : error_memory(err, "a loop's frame", (size_t)desc_slots(&loop->desc));
}

/* ---- life, and what it starts from ---- */

struct launch *launch_new(struct loop *loop, struct error *err) {
  struct launch *launch = calloc(1, sizeof *launch);
  if (launch)
    launch->loop = loop;
  else
    error_memory(err, "a loop's launch", sizeof *launch);
  return launch;
}

void launch_free(struct launch *launch) {
  if (!launch)
    return;
  free(launch->globals);
  free(launch->frame);
  free(launch->slots);
  free(launch->file);
  free(launch);
}

int launch_ended(const struct launch *launch, int code, struct error *err) {
  return code && launch->line > 0 && launch->file ? error_prefix(err, "%s:%d: ", launch->file, launch->line)
                                                  : code;
}

static int make(struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  const size_t nframe = (size_t)desc_slots(&loop->desc);
  free(launch->globals);
  free(launch->frame);
  free(launch->slots);
  launch->slots = NULL;
  launch->slots_capacity = 0;
  launch->exchange = NULL;
  launch->globals = array_new(loop->ready.global_bytes, 1);
  launch->frame = array_new(nframe, sizeof *launch->frame);
  if (!launch->globals || !launch->frame)
    return error_memory(err, "a loop's globals", loop->ready.global_bytes);
  memcpy(launch->frame, loop->ready.frame, nframe * sizeof *launch->frame);
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_GBL && (arg->access != OP_WORK || arg->started) && arg->present)
      launch->frame[desc_slot_arg(&loop->desc, i)] = launch->globals + arg->offset;
    if (arg->info >= 0)
      launch->frame[desc_slot_start(&loop->desc, i)] = launch->globals + arg->start;
  }
  launch->made = loop->ready.made;
  return OP_OK;
}

int launch_fit(struct launch *launch, struct error *err) {
  return launch->made == launch->loop->ready.made ? OP_OK : make(launch, err);
}

void launch_set_slots(struct launch *launch, int part, int nslots) {
  launch->part_slots[part].count = nslots;
  launch->part_slots[part].first =
      part ? launch->part_slots[part - 1].first + launch->part_slots[part - 1].count : 0;
}

static int count_slots(const struct launch *launch) {
  const int last = launch->loop->ready.nparts - 1;
  return launch->part_slots[last].first + launch->part_slots[last].count;
}

void launch_start_slot(const struct launch *launch, unsigned char *slot) {
  static const long long nobody = -1;
  for (int i = 0; i < launch->loop->nargs; i++) {
    const struct loop_arg *arg = &launch->loop->args[i];
    if (arg->form == DESC_INFO) {
      memcpy(slot + arg->offset, &nobody, sizeof nobody);
      memcpy(slot + arg->offset + sizeof nobody, launch->user[i], arg->bytes);
    } else if (arg_is_reduction(arg)) {
      if (arg->exact && arg->access == OP_INC)
        memset(slot + arg->offset, 0, (size_t)arg->dim * sizeof(struct exact));
      else if (arg->access == OP_INC)
        type_start_sum(arg->type, slot + arg->offset, (size_t)arg->dim);
      else
        for (int copy = 0; copy <= arg->exact; copy++)
          memcpy(slot + arg->offset + (size_t)copy * arg->bytes, launch->user[i], arg->bytes);
    }
  }
}

/* One by what it holds, the others as copies of all that there are already. */
static void start_slots(const struct launch *launch, size_t nslots) {
  const size_t bytes = launch->loop->ready.slot_bytes;
  launch_start_slot(launch, launch->slots);
  for (size_t done = 1, next; done < nslots; done = next) {
    next = nslots - done < done ? nslots : 2 * done;
    memcpy(launch->slots + done * bytes, launch->slots, (next - done) * bytes);
  }
}

static int grow_slots(struct launch *launch, int nslots, struct error *err) {
  size_t bytes;
  unsigned char *slots = NULL;
  if (size_mul((size_t)nslots, launch->loop->ready.slot_bytes, &bytes) && size_add(bytes, SLOT_ALIGN, &bytes))
    slots = aligned_alloc(SLOT_ALIGN, bytes / SLOT_ALIGN * SLOT_ALIGN);
  if (!slots)
    return error_memory(err, "partial results", (size_t)nslots * launch->loop->ready.slot_bytes);
  free(launch->slots);
  launch->slots = slots;
  launch->slots_capacity = nslots;
  return OP_OK;
}

static void start_value(struct launch *launch, int i) {
  const struct loop_arg *arg = &launch->loop->args[i];
  if (arg_is_copied(arg))
    memcpy(launch->globals + arg->offset, launch->user[i], arg->bytes);
  else if (arg_is_reduction(arg) && arg->info >= 0)
    memcpy(launch->globals + arg->start, launch->user[i], arg->bytes);
}

int launch_start_slots(struct launch *launch, struct error *err) {
  const int nslots = launch->loop->ready.nreductions ? count_slots(launch) : 0;
  if (nslots > launch->slots_capacity && grow_slots(launch, nslots, err))
    return err->code;
  if (nslots > 0)
    start_slots(launch, (size_t)nslots);
  return OP_OK;
}

int launch_start(struct launch *launch, struct error *err) {
  const struct loop *loop = launch->loop;
  for (int v = 0; v < loop->nvalues; v++)
    start_value(launch, loop->values[v]);
  return launch_start_slots(launch, err);
}

void launch_start_handles(struct launch *launch) {
  const struct loop *loop = launch->loop;
  if (!loop->ready.hands_on)
    return;
  for (int v = 0; v < loop->nvalues; v++)
    if (loop->args[loop->values[v]].gbl)
      start_value(launch, loop->values[v]);
  if (loop->ready.nreductions && count_slots(launch) > 0) /* a rank may have no element */
    start_slots(launch, (size_t)count_slots(launch));
}
