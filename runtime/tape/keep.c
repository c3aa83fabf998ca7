/* Events that change things, and the old values of dats and globals: kept, given back, counted. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "loop/temporary.h"
#include "tape/tape.h"

void keep_count(struct op_context *ctx, struct tape *tape, size_t bytes) {
  struct store_of_versions *store = &tape->store;
  if (store->spare && store->bytes + store->spare + bytes > store->budget) {
    keep_free_spare(ctx);
    store->spare = 0;
  }
  tape->store.bytes += bytes;
  if (tape->store.bytes > tape->store.most)
    tape->store.most = tape->store.bytes;
}

/* Memory that this tape or one before it had: to get it from the system anew takes longer than a loop. */
static struct dat *spare_version(struct tapes *tapes, const struct dat *like) {
  for (int i = tapes->spare.count - 1; i >= 0; i--) {
    struct dat *dat = tapes->spare.items[i];
    if (dat->set != like->set || dat->dim != like->dim || dat->type != like->type || dat->soa != like->soa ||
        dat->apart != like->apart)
      continue;
    list_remove(&tapes->spare, dat);
    dat->blank = true;
    return dat;
  }
  return NULL;
}

static struct dat *version_new(struct op_context *ctx, struct tape *tape, const struct thing *thing,
                               struct error *err) {
  struct dat *version = spare_version(ctx->tapes, thing->dat);
  if (version)
    tape->store.spare -= tape->store.spare < thing->bytes ? tape->store.spare : thing->bytes;
  keep_count(ctx, tape, thing->bytes);
  if (!version && !(version = dat_like(ctx, thing->dat, "an old value", err)))
    tape->store.bytes -= thing->bytes;
  return version;
}

/* Within a budget it counts as long as it is there. */
static void version_free(struct op_context *ctx, struct tape *tape, struct dat *version, size_t bytes) {
  if (!list_add(&ctx->tapes->spare, version))
    dat_forget(ctx, version);
  else if (tape->store.budget)
    tape->store.spare += bytes;
}

void keep_free_spare(struct op_context *ctx) {
  struct list *const lists[] = {&ctx->tapes->spare, &ctx->tapes->candidates};
  for (int l = 0; l < 2; l++)
    while (lists[l]->count) {
      struct dat *dat = lists[l]->items[lists[l]->count - 1];
      list_remove(lists[l], dat);
      dat_forget(ctx, dat);
    }
}

/* By way of a dat that is always the same, so that there is one loop that copies. It has memory only meanwhile. */
static int copy(struct op_context *ctx, struct tape *tape, struct thing *thing, struct dat *kept,
                struct error *err) {
  if (!thing->twin) {
    if (!(thing->twin = dat_like(ctx, thing->dat, "an old value", err)))
      return err->code;
    dat_leave_memory(ctx, thing->twin);
  }
  int code = queue_flush(ctx, err);
  if (!code)
    code = dat_swap(ctx, thing->twin, kept, err);
  if (!code)
    code = tape_run_copy(ctx, thing->dat, thing->twin, err);
  if (!code)
    code = queue_flush(ctx, err);
  tape->store.copied++;
  return code ? code : dat_swap(ctx, thing->twin, kept, err);
}

static int keep_dat(struct op_context *ctx, struct tape *tape, struct change *change, struct error *err) {
  struct thing *thing = change->thing;
  change->kept = version_new(ctx, tape, thing, err);
  if (!change->kept)
    return err->code;
  if (!change->whole)
    return copy(ctx, tape, thing, change->kept, err);
  const int code = queue_flush(ctx, err);
  return code ? code : dat_swap(ctx, thing->dat, change->kept, err);
}

static int keep_value(struct op_context *ctx, struct change *change, struct error *err) {
  struct gbl *gbl = change->thing->gbl;
  const int code = tape_need_gbl(ctx, gbl, err);
  if (code)
    return code;
  change->value = malloc(gbl->bytes);
  if (!change->value)
    return error_memory_of(err, "an old value of global", gbl->name, gbl->bytes);
  memcpy(change->value, gbl->value, gbl->bytes);
  return OP_OK;
}

static int keep_gbl(struct op_context *ctx, struct tape *tape, struct change *change, struct error *err) {
  const int code = keep_value(ctx, change, err);
  if (!code)
    keep_count(ctx, tape, change->thing->bytes);
  return code;
}

int keep_now(struct op_context *ctx, struct tape *tape, struct change *change, struct error *err) {
  tape->store.versions++;
  return change->thing->dat ? keep_dat(ctx, tape, change, err) : keep_gbl(ctx, tape, change, err);
}

bool keep_is_needed(const struct tape *tape, int e, const struct change *change) {
  if (change->wanted > change->changed && change->wanted >= tape->taped)
    return true;
  for (int c = 0; c < tape->ncheckpoints; c++) {
    const int at = tape->checkpoints[c];
    if (change->changed < at && at <= e && (change->read >= at || !change->whole))
      return true;
  }
  return false;
}

int keep_change(struct op_context *ctx, struct tape *tape, int e, struct change *change, struct error *err) {
  if (!keep_is_needed(tape, e, change) || keep_knows(change))
    return OP_OK;
  const int code = keep_room(ctx, tape, change->thing->bytes, err);
  if (code || !keep_is_needed(tape, e, change))
    return code;
  return keep_now(ctx, tape, change, err);
}

int keep_exchange(struct op_context *ctx, struct change *change, struct error *err) {
  struct thing *thing = change->thing;
  if (change->kept)
    return dat_swap(ctx, thing->dat, change->kept, err);
  if (!change->value)
    return OP_OK;
  struct gbl *gbl = thing->gbl;
  const int code = gbl_need(ctx, gbl, SPACE_HOST, err);
  for (size_t i = 0; !code && i < gbl->bytes; i++) {
    const unsigned char held = gbl->value[i];
    gbl->value[i] = change->value[i];
    change->value[i] = held;
  }
  if (!code)
    gbl_wrote(gbl, SPACE_HOST);
  gbl->common = false; /* as far as is known of old values */
  return code;
}

int keep_copy_gbl(struct op_context *ctx, struct thing *from, struct thing *to, struct error *err) {
  struct change change = {.thing = from};
  int code = keep_value(ctx, &change, err);
  change.thing = to;
  if (!code)
    code = keep_exchange(ctx, &change, err);
  free(change.value);
  return code;
}

void keep_drop(struct op_context *ctx, struct tape *tape, struct change *change) {
  if (change->kept)
    version_free(ctx, tape, change->kept, change->thing->bytes);
  if (change->kept || change->value)
    tape->store.bytes -= change->thing->bytes;
  free(change->value);
  change->kept = NULL;
  change->value = NULL;
}

void keep_prune(struct op_context *ctx, struct tape *tape, int begin, int end) {
  for (int e = begin; e < end; e++)
    for (int c = 0; c < tape->events[e].nchanges; c++)
      if (!keep_is_needed(tape, e, &tape->events[e].changes[c]))
        keep_drop(ctx, tape, &tape->events[e].changes[c]);
}

/* ---- events ---- */

struct event *tape_event(struct tape *tape, enum event_kind kind, struct error *err) {
  struct event *events = array_more(tape->events, (size_t)tape->nevents, sizeof *events);
  if (!events) {
    error_memory(err, "the events of a tape", (size_t)tape->nevents * sizeof *events);
    return NULL;
  }
  tape->events = events;
  events[tape->nevents] = (struct event){.kind = kind};
  tape->at = tape->nevents + 1;
  return &events[tape->nevents++];
}

int tape_change(struct op_context *ctx, struct tape *tape, struct event *event, struct thing *thing,
                bool whole, struct error *err) {
  const int e = (int)(event - tape->events);
  struct change *changes = array_more(event->changes, (size_t)event->nchanges, sizeof *changes);
  if (!changes)
    return error_memory(err, "what an event changes", sizeof *changes);
  event->changes = changes;
  struct change *change = &changes[event->nchanges++];
  *change = (struct change){.thing = thing,
                            .changed = thing->changed,
                            .read = thing->read,
                            .wanted = thing->wanted,
                            .whole = whole,
                            .zero = tape->recording && thing->zero};
  const int code = keep_change(ctx, tape, e, change, err);
  thing->changed = e;
  thing->zero = false;
  return code;
}
