/* Tapes begin and end. */
#include <limits.h>
#include <stdlib.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/temporary.h"
#include "mesh/handles.h"
#include "mesh/subset.h"
#include "spread/spread.h"
#include "tape/tape.h"

static void start_things(const struct tapes *tapes) {
  for (int i = 0; i < tapes->things.count; i++) {
    struct thing *thing = tapes->things.items[i];
    thing->changed = thing->read = thing->wanted = thing->wanted_before = -1;
    thing->used = thing->input = thing->varied = thing->moved = thing->zero = false;
  }
}

static struct tape *make(struct op_context *ctx, struct tapes *tapes, struct error *err) {
  struct tape *tape = calloc(1, sizeof *tape);
  if (tape && (tape->checkpoints = array_new(1, sizeof *tape->checkpoints)) &&
      (tape->handle = handle_new(ctx->handles, HANDLE_TAPE, tape)) && list_add(&tapes->all, tape)) {
    tape->ncheckpoints = 1;
    tape->home = INT_MAX;
    return tape;
  }
  if (tape && tape->handle)
    handle_release(ctx->handles, tape->handle, NULL);
  if (tape)
    free(tape->checkpoints);
  free(tape);
  error_memory(err, "a tape", sizeof *tape);
  return NULL;
}

struct tape *tape_begin(struct op_context *ctx, int ninputs, struct dat *const inputs[], size_t bytes,
                        struct error *err) {
  struct tapes *tapes = tapes_get(ctx, err);
  if (!tapes || (!mesh_is_distributed(ctx) && mesh_distribute(ctx, err)))
    return NULL;
  struct tape *tape = make(ctx, tapes, err);
  if (!tape)
    return NULL;
  start_things(tapes);
  if (bytes)
    keep_free_spare(ctx);
  tape->store.budget = bytes;
  for (int i = 0; i < ninputs; i++) {
    struct thing *thing = thing_of_dat(ctx, inputs[i], err);
    if (!thing) {
      tape_free(ctx, tape);
      return NULL;
    }
    thing->used = thing->input = thing->varied = true;
  }
  tape->recording = true;
  tape->carries = tapes->tangents;
  tapes->tape = tape;
  ctx->recorder = &tape_recorder;
  return tape;
}

static void free_event(struct op_context *ctx, struct tape *tape, struct event *event) {
  for (int c = 0; c < event->nchanges; c++)
    keep_drop(ctx, tape, &event->changes[c]);
  free(event->changes);
  free(event->values);
  free(event->constant);
}

/* Lets go of the dats that the program has freed meanwhile. */
static void let_go(struct op_context *ctx, struct tape *tape) {
  while (tape->held_dats.count) {
    struct dat *dat = tape->held_dats.items[0];
    list_remove(&tape->held_dats, dat);
    things_forget(ctx, dat);
    dat_forget(ctx, dat);
  }
  list_free(&tape->held_dats);
}

void tape_spend(struct op_context *ctx, struct tape *tape) {
  struct tapes *tapes = ctx->tapes;
  if (tape->spent)
    return;
  for (int e = 0; e < tape->nevents; e++)
    free_event(ctx, tape, &tape->events[e]);
  for (int i = 0; i < tape->sites.count; i++)
    tape_site_free(tape->sites.items[i]);
  list_free(&tape->sites);
  for (int i = 0; i < tapes->things.count; i++) {
    struct thing *thing = tapes->things.items[i];
    struct dat *const own[] = {thing->twin, thing->last};
    for (int k = 0; k < 2; k++)
      if (own[k])
        dat_forget(ctx, own[k]);
    free(thing->last_value);
    thing->twin = thing->last = NULL;
    thing->last_value = NULL;
  }
  if (tape->store.budget)
    keep_free_spare(ctx);
  let_go(ctx, tape);
  free(tape->events);
  free(tape->checkpoints);
  free(tape->fixed);
  tape->fixed = NULL;
  tape->events = NULL;
  tape->checkpoints = NULL;
  tape->spent = true;
  tape->recording = false;
  tape->store.bytes = 0;
  if (tapes->tape == tape)
    tapes->tape = NULL;
  ctx->recorder = tapes->tangents ? &tape_recorder : NULL;
}

void tape_free(struct op_context *ctx, struct tape *tape) {
  tape_spend(ctx, tape);
  list_remove(&ctx->tapes->all, tape);
  handle_release(ctx->handles, tape->handle, NULL);
  list_free(&tape->held_sets);
  free(tape->steps);
  free(tape);
}

void tapes_free(struct op_context *ctx) {
  struct tapes *tapes = ctx->tapes;
  if (!tapes)
    return;
  while (tapes->all.count)
    tape_free(ctx, tapes->all.items[0]);
  struct list *const sites[] = {&tapes->sites, &tapes->alone};
  for (int l = 0; l < 2; l++)
    for (int i = 0; i < sites[l]->count; i++)
      tape_site_free(sites[l]->items[i]);
  for (int i = 0; i < tapes->things.count; i++)
    free(tapes->things.items[i]);
  for (int i = 0; i < tapes->said.count; i++)
    said_free(tapes->said.items[i]);
  struct list *const lists[] = {&tapes->all,  &tapes->sites,   &tapes->alone, &tapes->things,
                                &tapes->said, &tapes->nowhere, &tapes->spare, &tapes->candidates};
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    list_free(lists[l]);
  plugin_free(&tapes->plugin);
  free(tapes);
  ctx->tapes = NULL;
  ctx->recorder = NULL;
}
