#include "tasks/ranks_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"

/* Between two tasks MPI is asked only so often; who has nothing else to do asks all the time. */
static const long between_ns = 20000;

/* ---- life ---- */

void messages_free(struct messages *m) {
  if (!m)
    return;
  for (int i = 0; m->comm && i < m->count; i++)
    if (m->items[i].request)
      m->comm->table->request_free(m->comm, m->items[i].request);
  pthread_mutex_destroy(&m->mutex);
  free(m->items);
  arrays_free(&m->arrays);
  free(m);
}

/* An empty message is not sent: one that carries nothing has a byte. */
static int open_one(struct task_graph *local, struct messages *m, int i, struct error *err) {
  struct message *one = &m->items[i];
  const struct comm_table *table = m->comm->table;
  const size_t bytes = one->bytes ? one->bytes : 1;
  union {
    const void *read;
    void *memory;
  } at = {.memory = &m->signals[i]};
  if (one->bytes)
    at.read = local->more[one->resource].memory;
  return local->tasks[one->node].type == TYPE_SEND
             ? table->send_init(m->comm, at.read, bytes, one->peer, one->tag, &one->request, err)
             : table->receive_init(m->comm, at.memory, bytes, one->peer, one->tag, &one->request, err);
}

int messages_open(struct task_graph *local, struct comm *comm, struct error *err) {
  struct messages *m = local->messages;
  const size_t count = (size_t)m->count, nodes = (size_t)local->ntasks;
  int code = OP_OK;
  m->comm = comm;
  m->signals = arrays_add(&m->arrays, count, 1);
  m->put = arrays_add(&m->arrays, nodes, sizeof *m->put);
  m->taken = arrays_add(&m->arrays, nodes, sizeof *m->taken);
  m->active = arrays_add(&m->arrays, count, sizeof *m->active);
  m->requests = arrays_add(&m->arrays, count, sizeof(struct comm_request *));
  m->done = arrays_add(&m->arrays, count, sizeof *m->done);
  if (m->arrays.failed)
    return error_memory_of(err, "the messages of graph", local->name, count * sizeof *m->items);
  for (int i = 0; !code && i < m->count; i++) {
    const struct row row = relation_row(&local->after, (size_t)m->items[i].node);
    m->items[i].waits = row.begin < row.end ? *row.begin : -1;
    code = open_one(local, m, i, err);
  }
  return code;
}

/* ---- a run ---- */

void messages_begin(struct run *r) {
  struct messages *m = r->messages;
  if (!m)
    return;
  m->nput = m->nactive = 0;
  m->tested = m->stalled = m->waited = 0;
  m->told = false;
}

bool messages_put(struct run *r, struct worker *w, struct task *task) {
  struct messages *m = r->messages;
  if (task->is_added || task->type >= TYPES_OF_MESSAGES)
    return false;
  pthread_mutex_lock(&m->mutex);
  m->put[m->nput++] = task;
  pthread_mutex_unlock(&m->mutex);
  /* The one that sleeps may be any of them. seq_cst: `nput` before `idle`, as thread 0 says that it is idle before it looks
   * at `nput` for the last time; one sees the other. */
  if (w->thread != 0 && atomic_load(&r->idle) > 0)
    gate_open(&r->gate);
  return true;
}

/* Messages cannot go on: the run ends here, and the other ranks are told behind it. */
static void lose(struct run *r, struct error *err) {
  r->lost = true;
  run_fail(r, err->code, "%s", error_message(err));
  error_free(err);
}

/* A message that arrives is no change by a task that runs meanwhile. */
static void hide(struct run *r, const struct message *one, bool hidden) {
  if (r->check && one->resource >= 0 && r->graph->tasks[one->node].type == TYPE_RECEIVE)
    check_hide(r->check, one->resource, hidden);
}

static void begin_all(struct run *r) {
  struct messages *m = r->messages;
  struct error err = {0};
  pthread_mutex_lock(&m->mutex);
  const int count = m->nput;
  memcpy(m->taken, m->put, (size_t)count * sizeof *m->put);
  m->nput = 0;
  pthread_mutex_unlock(&m->mutex);
  const long now = clock_ns();
  for (int k = 0; k < count && !err.code; k++) {
    const int node = (int)(m->taken[k] - r->graph->tasks);
    m->left[node] = 0;
    for (int i = m->first[node]; i >= 0 && !err.code; i = m->items[i].next) {
      struct message *one = &m->items[i];
      one->began = now;
      m->left[node]++;
      hide(r, one, true);
      m->requests[m->nactive] = one->request;
      m->active[m->nactive++] = i;
      m->comm->table->start_own(m->comm, one->request, &err);
    }
  }
  if (err.code)
    lose(r, &err);
}

/* Messages that are over leave the list before tasks are readied by them. */
static int take_done(struct messages *m, int *over) {
  int left = 0, count = 0;
  for (int k = 0; k < m->nactive; k++) {
    if (m->done[k]) {
      over[count++] = m->active[k];
      continue;
    }
    m->active[left] = m->active[k];
    m->requests[left++] = m->requests[k];
  }
  m->nactive = left;
  return count;
}

static void ask(struct run *r, struct worker *w, long now) {
  enum { ROUND = 64 };
  struct messages *m = r->messages;
  struct error err = {0};
  int over[ROUND];
  m->tested = now;
  if (m->comm->table->test_some(m->comm, m->requests, m->nactive, m->done, &err)) {
    lose(r, &err);
    return;
  }
  int n = 0;
  for (int k = 0; k < m->nactive; k++) /* the others are found the next time: they stay over */
    m->done[k] = m->done[k] && n++ < ROUND;
  const int count = take_done(m, over);
  if (count > 0)
    m->stalled = 0;
  for (int k = 0; k < count; k++) {
    const struct message *one = &m->items[over[k]];
    struct task *task = &r->graph->tasks[one->node];
    worker_did(r, w, task->type, r->threads, one->began, now, 0);
    hide(r, one, false);
    if (--m->left[one->node] > 0)
      continue;
    run_finish(r, w, task);
  }
}

void messages_move(struct run *r, struct worker *w, bool idle) {
  struct messages *m = r->messages;
  if (w->thread != 0 || r->lost)
    return;
  /* relaxed: a hint, the tasks are handed over under the mutex */
  if (atomic_load_explicit(&m->nput, memory_order_relaxed) > 0)
    begin_all(r);
  if (m->nactive == 0)
    return;
  const long now = clock_ns();
  if (idle || now - m->tested > between_ns)
    ask(r, w, now);
}

/* ---- waiting ---- */

/* Names a few of the messages that this rank waits for: which task needs what, from which rank. */
static void tell(const struct run *r, double seconds) {
  enum { SHOWN = 4 };
  const struct messages *m = r->messages;
  struct text words = {0};
  int shown = 0;
  text_addf(&words, "op2jit: rank %d: warning: graph \"%s\" has waited for %.0f s: ", m->comm->rank,
            r->graph->name, seconds);
  for (int k = 0; k < m->nactive; k++) {
    const struct message *one = &m->items[m->active[k]];
    const bool receives = r->graph->tasks[one->node].type == TYPE_RECEIVE;
    if (shown++ >= SHOWN)
      continue;
    text_add(&words, shown > 1 ? "; " : "");
    if (receives && one->waits >= 0)
      tasks_task_words(r->graph, &r->graph->tasks[one->waits], &words);
    else
      text_add(&words, receives ? "the end of the run" : "a message");
    text_add(&words, " waits for ");
    if (one->resource >= 0)
      tasks_resource_words(r->graph, one->resource, &words);
    else
      text_add(&words, "the end of a task");
    text_addf(&words, receives ? " from rank %d" : " to be taken by rank %d", one->peer);
  }
  if (shown > SHOWN)
    text_addf(&words, "; and %d more", shown - SHOWN);
  text_add(&words, "\n");
  fputs(text_str(&words), stderr);
  text_free(&words);
}

bool messages_await(struct run *r, struct worker *w) {
  struct messages *m = r->messages;
  struct error err = {0};
  if (!m || w->thread != 0 || (m->nactive == 0 && atomic_load(&m->nput) == 0))
    return false;
  if (m->nput > 0)
    return true;
  const long begin = clock_ns();
  const bool anew = m->stalled == 0;
  if (anew)
    m->stalled = begin;
  if (m->comm->table->pause(m->comm, anew, &err)) {
    lose(r, &err);
    return true;
  }
  const long now = clock_ns();
  const double seconds = 1e-9 * (double)(now - m->stalled);
  m->waited += now - begin;
  if (m->comm->hang > 0 && seconds > m->comm->hang && !m->told) {
    m->told = true;
    tell(r, seconds);
  }
  return true;
}
