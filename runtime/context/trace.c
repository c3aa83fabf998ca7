#include "context/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"

enum { MOST_EVENTS = 1 << 20 };

static const struct {
  const char *name, *row;
} kinds[TRACE_KINDS] = {
    [TRACE_LOOP] = {"loop", "loops"},     [TRACE_TRIAL] = {"trial", "loops"},
    [TRACE_PLAN] = {"plan", "preparing"}, [TRACE_COMPILE] = {"compile", "preparing"},
    [TRACE_LOAD] = {"load", "preparing"}, [TRACE_EXCHANGE] = {"exchange", "exchange"},
    [TRACE_WAIT] = {"wait", "waiting"},   [TRACE_CALL] = {"call", "other calls"},
};

const char *trace_kind_name(enum trace_kind kind) {
  return kinds[kind].name;
}

const char *trace_kind_row(enum trace_kind kind) {
  return kinds[kind].row;
}

/* Few: the names of loops and their variants. NULL: no memory. */
static const char *keep(struct trace *t, const char *word) {
  if (!word || !*word)
    return "";
  for (int i = 0; i < t->words.count; i++)
    if (strcmp(t->words.items[i], word) == 0)
      return t->words.items[i];
  char *copy = strdup(word);
  if (!copy || !list_add(&t->words, copy)) {
    free(copy);
    return NULL;
  }
  return copy;
}

void trace_span(struct trace *t, enum trace_kind kind, const char *name, const char *detail, double start,
                double seconds, double bytes) {
  if (!t->wanted)
    return;
  const bool room = t->count < (t->most ? t->most : MOST_EVENTS);
  const char *kept = room ? keep(t, name) : NULL, *more = room ? keep(t, detail) : NULL;
  struct trace_event *events = kept && more ? array_more(t->events, (size_t)t->count, sizeof *events) : NULL;
  if (!events) {
    t->lost++;
    return;
  }
  t->events = events;
  events[t->count++] = (struct trace_event){
      .kind = kind, .name = kept, .detail = more, .start = start, .seconds = seconds, .bytes = bytes};
}

void trace_until_now(struct trace *t, enum trace_kind kind, const char *name, const char *detail,
                     double start, double bytes) {
  if (t->wanted)
    trace_span(t, kind, name, detail, start, clock_seconds() - start, bytes);
}

void trace_free(struct trace *t) {
  for (int i = 0; i < t->words.count; i++)
    free(t->words.items[i]);
  list_free(&t->words);
  free(t->events);
}
