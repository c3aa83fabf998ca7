#include "loop/loop_past.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

/* As arguments go in a record, but for the dat. */
static bool same_kind(const op_arg *a, const op_arg *b) {
  return a->map == b->map && a->form == b->form && a->idx == b->idx && a->dim == b->dim &&
         a->type == b->type && a->access == b->access && a->present == b->present;
}

static bool is_of(const struct loop_past *past, const struct loop *loop) {
  if (past->set != loop->set_handle || past->nargs != loop->nargs)
    return false;
  for (int i = 0; i < loop->nargs; i++)
    if (!same_kind(&past->keys[i], &loop->keys[i]))
      return false;
  return strcmp(past->name, loop->name) == 0 && strcmp(past->text, loop->text) == 0;
}

static void add(struct loop_stats *sum, const struct loop_stats *s) {
  struct loop_stats all = *s; /* bytes and the like: of the last one */
  all.calls += sum->calls;
  all.seconds += sum->seconds;
  all.slowest = sum->slowest > s->slowest ? sum->slowest : s->slowest;
  all.plan_seconds += sum->plan_seconds;
  all.compile_seconds += sum->compile_seconds;
  all.trials += sum->trials;
  all.trial_seconds += sum->trial_seconds;
  all.compiled |= sum->compiled;
  all.from_cache |= sum->from_cache;
  all.tried += sum->tried;
  all.exchange_seconds += sum->exchange_seconds;
  all.waiting_seconds += sum->waiting_seconds;
  all.exchanges += sum->exchanges;
  all.messages += sum->messages;
  all.bytes_sent += sum->bytes_sent;
  *sum = all;
}

static void free_past(struct loop_past *past) {
  free(past->name);
  free(past->text);
  free(past->variant);
  free(past->keys);
}

static struct loop_past *append(struct loop_pasts *pasts, const struct loop *loop) {
  struct loop_past *items = array_more(pasts->items, (size_t)pasts->count, sizeof *items);
  if (!items)
    return NULL;
  pasts->items = items;
  struct loop_past *past = &items[pasts->count];
  *past = (struct loop_past){.name = strdup(loop->name),
                             .text = strdup(loop->text),
                             .set = loop->set_handle,
                             .nargs = loop->nargs,
                             .keys = array_new((size_t)loop->nargs, sizeof *past->keys),
                             .order = loop->order};
  if (!past->name || !past->text || !past->keys) {
    free_past(past);
    return NULL;
  }
  memcpy(past->keys, loop->keys, (size_t)loop->nargs * sizeof *past->keys);
  pasts->count++;
  return past;
}

void loop_past_keep(struct loop_pasts *pasts, const struct loop *loop) {
  struct loop_past *past = NULL;
  if (loop->stats.calls == 0)
    return;
  for (int i = 0; i < pasts->count && !past; i++)
    if (is_of(&pasts->items[i], loop))
      past = &pasts->items[i];
  if (!past && !(past = append(pasts, loop)))
    return;
  add(&past->stats, &loop->stats);
  /* Words of the backend go with the record. */
  if (loop->stats.variant) {
    free(past->variant);
    past->variant = strdup(loop->stats.variant);
  }
  past->stats.variant = past->variant;
  past->stats.scalar = NULL;
}

void loop_pasts_free(struct loop_pasts *pasts) {
  for (int i = 0; i < pasts->count; i++)
    free_past(&pasts->items[i]);
  free(pasts->items);
  *pasts = (struct loop_pasts){0};
}
