#include "context/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/size.h"

static const struct {
  const char *name, *row;
} kinds[TRACE_KINDS] = {
    [TRACE_LOOP] = {"loop", "loops"},       [TRACE_TRIAL] = {"trial", "loops"},
    [TRACE_PLAN] = {"plan", "preparing"},   [TRACE_COMPILE] = {"compile", "preparing"},
    [TRACE_LOAD] = {"load", "preparing"},   [TRACE_EXCHANGE] = {"exchange", "exchange"},
    [TRACE_WAIT] = {"wait", "waiting"},     [TRACE_COPY] = {"copy", "device"},
    [TRACE_CALL] = {"call", "other calls"},
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

/* ---- tools ---- */

int trace_add_tool(struct trace *t, const struct op_tool *tool, struct error *err) {
  struct op_tool *tools = array_more(t->tools, (size_t)t->ntools, sizeof *tools);
  if (!tools)
    return error_memory(err, "a tool", sizeof *tools);
  t->tools = tools;
  tools[t->ntools++] = *tool;
  t->wanted = true;
  return OP_OK;
}

void trace_loop_begins(const struct trace *t, const char *name) {
  for (int i = 0; i < t->ntools; i++)
    if (t->tools[i].loop_begins)
      t->tools[i].loop_begins(t->tools[i].user, name);
}

static void tell_tools(const struct trace *t, enum trace_kind kind, const char *name, const char *detail,
                       double seconds, double bytes) {
  for (int i = 0; i < t->ntools; i++)
    if (t->tools[i].event)
      t->tools[i].event(t->tools[i].user, (enum op_event)kind, name ? name : "", detail ? detail : "",
                        seconds, bytes);
}

/* ---- spans ---- */

void trace_span(struct trace *t, enum trace_kind kind, const char *name, const char *detail, double start,
                double seconds, double bytes) {
  if (!t->wanted)
    return;
  tell_tools(t, kind, name, detail, seconds, bytes);
  if (t->most == 0)
    return;
  const bool room = t->count < t->most;
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
  for (int i = t->ntools - 1; i >= 0; i--)
    if (t->tools[i].finish)
      t->tools[i].finish(t->tools[i].user);
  free(t->tools);
  for (int i = 0; i < t->words.count; i++)
    free(t->words.items[i]);
  list_free(&t->words);
  free(t->events);
}
