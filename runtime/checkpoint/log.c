/* The history of a run: kinds of events, and their order in few numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "checkpoint/inner.h"

static int push(struct happened *h, struct pair pair, struct error *err) {
  struct pair *pairs = array_more(h->pairs, h->npairs, sizeof *pairs);
  if (!pairs)
    return error_memory(err, "what happened before a checkpoint", h->npairs * sizeof *pairs);
  h->pairs = pairs;
  pairs[h->npairs++] = pair;
  return OP_OK;
}

int happened_end_pair(struct happened *h, struct error *err) {
  const int code = h->open.distance ? push(h, h->open, err) : OP_OK;
  if (!code)
    h->open = (struct pair){0};
  return code;
}

static int at(const struct history *history, long long event) {
  return history->ring[event % HISTORY];
}

static void note(struct history *history, int kind) {
  history->ring[history->count++ % HISTORY] = kind;
}

int happened_add(struct happened *h, int kind, struct error *err) {
  const int most = 1 << 30;
  struct kind *k = &h->kinds[kind];
  const long long now = h->history.count, back = now - k->last;
  int code = OP_OK;
  if (h->open.distance && h->open.what < most && at(&h->history, now - h->open.distance) == kind)
    h->open.what++;
  else if (!(code = happened_end_pair(h, err))) {
    if (k->last >= 0 && back < HISTORY)
      h->open = (struct pair){.distance = (int)back, .what = 1};
    else
      code = push(h, (struct pair){.what = kind}, err);
  }
  if (code)
    return code;
  note(&h->history, kind);
  k->last = now;
  return OP_OK;
}

int happened_kind(struct happened *h, uint64_t hash, const char *line) {
  for (size_t i = 0; i < h->nkinds; i++)
    if (h->kinds[i].hash == hash)
      return (int)i;
  struct kind *kinds = array_more(h->kinds, h->nkinds, sizeof *kinds);
  char *copy = kinds ? strdup(line) : NULL;
  if (kinds)
    h->kinds = kinds;
  if (!copy)
    return -1;
  for (char *end = copy; (end = strchr(end, '\n'));)
    *end = ' '; /* in the file each has a line */
  kinds[h->nkinds] = (struct kind){.hash = hash, .line = copy, .last = -1};
  return (int)h->nkinds++;
}

void happened_free(struct happened *h) {
  for (size_t i = 0; i < h->nkinds; i++) {
    free(h->kinds[i].line);
    free(h->kinds[i].accesses);
  }
  free(h->kinds);
  free(h->pairs);
}

int replay_next(struct replay *r) {
  if (r->at >= r->npairs)
    return -1;
  const struct pair *pair = &r->pairs[r->at];
  const long long back = r->history.count - pair->distance;
  if (pair->distance < 0 || pair->distance >= HISTORY || back < 0 || pair->what < 0)
    return -1;
  const int kind = pair->distance ? at(&r->history, back) : pair->what;
  if (++r->done >= (pair->distance ? pair->what : 1)) {
    r->done = 0;
    r->at++;
  }
  note(&r->history, kind);
  return kind;
}
