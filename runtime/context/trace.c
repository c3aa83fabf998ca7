#include "context/trace.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"

static const struct {
  const char *name, *row;
} kinds[TRACE_KINDS] = {
    [TRACE_LOOP] = {"loop", "loops"},       [TRACE_TRIAL] = {"trial", "loops"},
    [TRACE_PLAN] = {"plan", "preparing"},   [TRACE_COMPILE] = {"compile", "preparing"},
    [TRACE_LOAD] = {"load", "preparing"},   [TRACE_EXCHANGE] = {"exchange", "exchange"},
    [TRACE_WAIT] = {"wait", "waiting"},     [TRACE_COPY] = {"copy", "device"},
    [TRACE_CALL] = {"call", "other calls"}, [TRACE_PROVE] = {"prove", "preparing"},
    [TRACE_FILE] = {"file", "files"},       [TRACE_THREAD] = {"work", "thread"},
    [TRACE_TASK] = {"task", "thread"},
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

static void add(struct trace *t, const char *name, const char *detail, struct trace_event event) {
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
  event.name = kept;
  event.detail = more;
  events[t->count++] = event;
}

void trace_graph_ran(struct trace *t) {
  t->runs += t->runs < INT_MAX;
}

void trace_task(struct trace *t, const char *type, const char *graph, int thread, double start,
                double seconds, double bytes) {
  add(t, type, graph,
      (struct trace_event){.kind = TRACE_TASK,
                           .thread = thread,
                           .run = t->runs,
                           .start = start,
                           .seconds = seconds,
                           .bytes = bytes});
}

void trace_span(struct trace *t, enum trace_kind kind, const char *name, const char *detail, double start,
                double seconds, double bytes) {
  if (!t->wanted)
    return;
  tell_tools(t, kind, name, detail, seconds, bytes);
  add(t, name, detail,
      (struct trace_event){.kind = kind, .start = start, .seconds = seconds, .bytes = bytes});
}

void trace_until_now(struct trace *t, enum trace_kind kind, const char *name, const char *detail,
                     double start, double bytes) {
  if (t->wanted)
    trace_span(t, kind, name, detail, start, clock_seconds() - start, bytes);
}

/* ---- threads ---- */

struct trace_thread *trace_room(struct trace *t, int count) {
  if (count < 1)
    return NULL;
  struct trace_thread *threads =
      count > t->nthreads ? array_resize(t->threads, (size_t)count, sizeof *threads) : t->threads;
  if (!threads)
    return NULL;
  t->threads = threads;
  t->nthreads = count > t->nthreads ? count : t->nthreads;
  memset(t->threads, 0, (size_t)t->nthreads * sizeof *t->threads);
  return t->threads;
}

void trace_threads_ran(struct trace *t, const char *name, const char *detail) {
  for (int i = 0; i < t->nthreads; i++)
    if (t->threads[i].start > 0)
      add(t, name, detail,
          (struct trace_event){.kind = TRACE_THREAD,
                               .thread = i,
                               .start = t->threads[i].start,
                               .seconds = t->threads[i].seconds,
                               .waited = t->threads[i].waited});
  for (int i = 0; i < t->nthreads; i++)
    t->threads[i].start = 0;
}

void trace_called(struct trace *t, const char *name, double seconds) {
  int i = 0;
  while (i < t->ncalls && strcmp(t->calls[i].name, name) != 0)
    i++;
  if (i == TRACE_CALLS)
    return;
  if (i == t->ncalls)
    t->calls[t->ncalls++] = (struct trace_call){.name = name};
  t->calls[i].times++;
  t->calls[i].seconds += seconds;
}

void trace_free(struct trace *t) {
  free(t->threads);
  for (int i = t->ntools - 1; i >= 0; i--)
    if (t->tools[i].finish)
      t->tools[i].finish(t->tools[i].user);
  free(t->tools);
  for (int i = 0; i < t->words.count; i++)
    free(t->words.items[i]);
  list_free(&t->words);
  free(t->events);
}
