/* A run: each thread takes a ready task whose locks are free, its own first, runs it, and readies those that waited for
 * it.
 *
 * A thread that finds none says that it is idle, looks once more, and sleeps at the gate. Whoever ends a task gives its
 * locks back and readies others first, then counts it off `left`, and then looks for idle threads. The sleeper reads
 * `left` between saying that it is idle and looking: either it sees what the other did, or the other sees it. One is
 * woken at a time; who finds a task and sees more wakes the next.
 *
 * So `left` and `idle` are seq_cst: each thread writes one and then reads the other, and in an order that all share one of
 * the two sees what the other wrote. Steps of `left` are exchanges, each of which passes on what those before it released:
 * who reads it sees the locks and queues, relaxed as they are, of all whose steps it sees. `stopped` is seq_cst beside
 * them: it is raised before the gate, and read behind the gate's value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "context/trace.h"
#include "exec/team.h"
#include "tasks/phases.h"
#include "tasks/ranks_messages.h"

/* Behind a change that others may wait for, and a step of `left`; without one where nothing has changed, but somebody may
 * sleep who was not woken for it. */
static void wake(struct run *r, int most) {
  if ((r->threads > 1 || r->phases) && atomic_load(&r->idle) > 0)
    gate_open_for(&r->gate, most);
}

/* A step of `left` that counts nothing. */
void run_changed(struct run *r, int most) {
  atomic_fetch_add(&r->left, 0);
  wake(r, most);
}

/* Locks are free again: all that were refused them look again, the device's thread too. */
static void wake_refused(struct run *r) {
  run_changed(r, r->threads);
  if (r->phases)
    gate_open(&r->phases->gate);
}

static void stop(struct run *r) {
  atomic_store(&r->stopped, true);
  gate_open(&r->gate);
  if (r->phases)
    gate_open(&r->phases->gate);
}

/* ---- errors ---- */

/* On several ranks the others wait for this one's messages: these go on, and its tasks do nothing more. */
static void give_up(struct run *r) {
  if (r->messages && !r->lost)
    atomic_store(&r->failed, true);
  else
    stop(r);
}

int run_fail(struct run *r, int code, const char *format, ...) {
  va_list args;
  struct text words = {0};
  va_start(args, format);
  text_vaddf(&words, format, args);
  va_end(args);
  pthread_mutex_lock(&r->mutex);
  if (!r->err->code)
    error_set(r->err, code, "%s", text_str(&words));
  pthread_mutex_unlock(&r->mutex);
  text_free(&words);
  give_up(r);
  return code;
}

int run_fail_memory(struct run *r, const char *what, size_t bytes) {
  pthread_mutex_lock(&r->mutex);
  if (!r->err->code)
    error_memory_of(r->err, what, r->graph->name, bytes);
  r->lost = true;
  pthread_mutex_unlock(&r->mutex);
  stop(r);
  return OP_ERR_MEMORY;
}

/* ---- which queue ---- */

enum { MOST_OWNERS = 16 };
struct votes {
  int thread[MOST_OWNERS], count[MOST_OWNERS], n;
};

/* relaxed, here and in own: an old owner means a task in a queue that is less near. */
static void vote(const struct run *r, struct row row, struct votes *v) {
  for (const int *i = row.begin; i < row.end && *i >= 0; i++) {
    const int owner = atomic_load_explicit(&r->graph->resources[*i].owner, memory_order_relaxed);
    int k = 0;
    if (owner < 0)
      continue;
    while (k < v->n && v->thread[k] != owner % r->threads)
      k++;
    if (k == MOST_OWNERS)
      continue;
    if (k == v->n)
      v->thread[v->n++] = owner % r->threads;
    v->count[k]++;
  }
}

static struct row task_uses(const struct task_graph *g, const struct task *task) {
  if (task->is_added)
    return (struct row){0};
  return relation_row(&g->uses, (size_t)(task - g->tasks));
}

/* The thread that owns most of what the task locks and uses; of several the one with the least to do. */
static struct worker *choose_worker(const struct run *r, struct worker *own, const struct task *task) {
  struct votes v = {.n = 0};
  struct worker *best = own;
  int most = 0, least = 0;
  if (r->threads == 1)
    return own;
  vote(r, task_locks(r->graph, task), &v);
  vote(r, task_uses(r->graph, task), &v);
  for (int k = 0; k < v.n; k++) {
    struct worker *w = &r->workers[v.thread[k]];
    const int ready = atomic_load_explicit(&w->ready.count, memory_order_relaxed); /* a hint */
    if (v.count[k] < most || (v.count[k] == most && ready >= least))
      continue;
    best = w;
    most = v.count[k];
    least = ready;
  }
  return best;
}

/* The thread has near what it works on now. */
static void own(const struct task_graph *g, struct row row, int thread) {
  for (const int *i = row.begin; i < row.end && *i >= 0; i++) {
    struct resource *r = &g->resources[*i];
    if (!r->fixed && atomic_load_explicit(&r->owner, memory_order_relaxed) != thread)
      atomic_store_explicit(&r->owner, thread, memory_order_relaxed);
  }
}

/* ---- readying, and ending ---- */

bool run_ready(struct run *r, struct worker *w, struct task *task) {
  if ((r->messages && messages_put(r, w, task)) || (r->phases && r->phases->calls->put(r->phases, task)))
    return true;
  /* Tasks without work come first: others wait behind them. */
  const bool works = r->graph->types[task->type].function;
  const double weight = works ? (double)task->weight : (double)INFINITY;
  if (ready_put(&choose_worker(r, w, task)->ready, task, weight))
    return true;
  if (task->is_added)
    free(task);
  run_fail_memory(r, "the ready tasks of graph", sizeof(struct entry));
  return false;
}

void run_finish(struct run *r, struct worker *w, struct task *task) {
  while (task) {
    struct task *parent = NULL;
    if (task->is_added) {
      parent = ((struct added *)(void *)task)->parent;
      free(task);
    } else {
      const struct task_graph *g = r->graph;
      for (struct row row = relation_row(&g->after, (size_t)(task - g->tasks)); row.begin < row.end;
           row.begin++)
        /* release: the task's results; acquire: the last of those before has the results of all, and hands them on */
        if (atomic_fetch_sub_explicit(&g->tasks[*row.begin].wait, 1, memory_order_acq_rel) == 1)
          run_ready(r, w, &g->tasks[*row.begin]);
      /* For the next run. relaxed: nobody counts there any more, and that run begins behind this one's end. */
      atomic_store_explicit(&task->wait, task->before, memory_order_relaxed);
    }
    if (atomic_fetch_sub(&r->left, 1) == 1)
      stop(r);
    else
      wake(r, 1);
    /* release and acquire, as above: those behind the parent see what was added too */
    task = parent && atomic_fetch_sub_explicit(&parent->wait, 1, memory_order_acq_rel) == 1 ? parent : NULL;
  }
}

/* ---- running ---- */

/* Costs follow what is measured, and one long interruption counts little. */
static void learn(struct task *task, double seconds, bool first) {
  const double share = first ? 1 : 0.25, cost = (double)task->cost;
  if (!task->is_added)
    task->cost =
        (float)(cost + share * (seconds - cost)); /* not in floats: the first cost may be 1, and this 1e-8 */
}

void worker_did(const struct run *r, struct worker *w, int type, int thread, long begin, long end,
                size_t bytes) {
  w->types[type].count++;
  w->types[type].ns += end - begin;
  struct event *events = r->recording ? array_more(w->events, w->nevents, sizeof *events) : NULL;
  if (!events)
    return; /* nobody looks, or there is a picture with a gap */
  w->events = events;
  events[w->nevents++] =
      (struct event){.type = type, .thread = thread, .begin = begin, .end = end, .bytes = bytes};
}

static void work(struct run *r, struct worker *w, struct task *task, op_task_function *function) {
  const long begin = clock_ns();
  atomic_store_explicit(&w->running.task, task, memory_order_relaxed);
  function(&w->running, task->data);
  atomic_store_explicit(&w->running.task, NULL, memory_order_relaxed);
  const long end = clock_ns();
  w->busy += end - begin;
  if (!r->phases) /* what tasks take on a device nobody knows, and costs have one unit */
    learn(task, 1e-9 * (double)(end - begin), r->graph->runs == 0);
  worker_did(r, w, task->type, w->thread, begin, end, 0);
}

static void look_behind(struct run *r, const struct task *task) {
  struct error err = {0};
  if (check_after(r->check, task, &err))
    run_fail(r, err.code, "%s", error_message(&err));
  error_free(&err);
}

static void execute(struct run *r, struct worker *w, struct task *task) {
  const struct task_graph *g = r->graph;
  op_task_function *function = g->types[task->type].function;
  if (r->phases && r->phases->calls->put(r->phases, task)) { /* the device changed what it locks meanwhile */
    locks_give(g, task_locks(g, task));
    wake_refused(r);
    return;
  }
  /* relaxed: all before it have counted, and who counts next was added by this thread, by the mutex of a queue */
  atomic_store_explicit(&task->wait, 1, memory_order_relaxed);
  if (r->threads > 1) {
    own(g, task_locks(g, task), w->thread);
    own(g, task_uses(g, task), w->thread);
  }
  w->executed++;
  /* relaxed: one task more that still works does no harm */
  if (function && !(r->messages && atomic_load_explicit(&r->failed, memory_order_relaxed)))
    work(r, w, task, function);
  if (r->check)
    look_behind(r, task);
  if (r->phases)
    r->phases->calls->changed(r->phases, task);
  locks_give(g, task_locks(g, task));
  if (r->phases)
    gate_open(&r->phases->gate);
  /* Mostly it added none: then nobody else counts here. acquire: what those that it added did; release: its own, if
   * another thread is the last. */
  if (atomic_load_explicit(&task->wait, memory_order_acquire) == 1 ||
      atomic_fetch_sub_explicit(&task->wait, 1, memory_order_acq_rel) == 1)
    run_finish(r, w, task);
  else
    run_changed(r, 1);
}

/* ---- finding ---- */

static struct task *take_from(struct run *r, struct worker *w, struct worker *from, bool surely) {
  bool disturbed = false;
  struct task *task = ready_take(&from->ready, r->graph, surely, &w->refused, &disturbed);
  if (disturbed)
    wake_refused(r);
  /* relaxed: who puts one there later wakes for it */
  if (task && atomic_load_explicit(&from->ready.count, memory_order_relaxed) > 0)
    wake(r, 1);
  return task;
}

/* `surely`: it waits for threads that look at the same queue, so that nothing is overlooked. */
static struct task *look(struct run *r, struct worker *w, bool surely) {
  struct task *task = take_from(r, w, w, true);
  if (task || r->threads == 1)
    return task;
  w->random = w->random * 6364136223846793005u + 1442695040888963407u;
  const int start = (int)((w->random >> 33) % (unsigned)r->threads);
  for (int i = 0; i < r->threads && !task; i++) {
    struct worker *from = &r->workers[(start + i) % r->threads];
    if (from != w)
      task = take_from(r, w, from, surely);
  }
  w->stolen += task != NULL;
  return task;
}

static struct task *look_or_sleep(struct run *r, struct worker *w) {
  const uint32_t seen =
      gate_value(&r->gate); /* acquire: before the look, which so sees what the gate was opened for */
  atomic_fetch_add(&r->idle, 1);
  struct task *task = NULL;
  if (atomic_load(&r->left) > 0 && !atomic_load(&r->stopped)) {
    task = look(r, w, true);
    if (!task && !atomic_load(&r->stopped) && !messages_await(r, w))
      team_await(r->team, &r->gate, seen);
  }
  atomic_fetch_sub(&r->idle, 1);
  return task;
}

static struct task *next_task(struct run *r, struct worker *w) {
  struct task *task = look(r, w, false);
  if (task)
    return task;
  const long begin = clock_ns();
  while (!task && !atomic_load(&r->stopped)) {
    if (r->messages)
      messages_move(r, w, true);
    task = look_or_sleep(r, w);
  }
  w->idle += clock_ns() - begin;
  return task;
}

static void run_thread(void *argument, int thread, int threads) {
  struct run *r = argument;
  struct worker *w = &r->workers[thread];
  const long begin = clock_ns();
  (void)threads; /* fewer than were asked for: these take what lies with the others */
  /* acquire is enough: results are handed on by the team's end, and a thread that sees it late looks once more */
  while (!atomic_load_explicit(&r->stopped, memory_order_acquire)) {
    if (r->messages)
      messages_move(r, w, false);
    struct task *task = next_task(r, w);
    if (task)
      execute(r, w, task);
  }
  w->span = clock_ns() - begin;
}

/* ---- the whole run ---- */

void run_free(struct run *r) {
  if (!r)
    return;
  for (int i = 0; i < r->nworkers; i++) {
    struct worker *w = &r->workers[i];
    pthread_mutex_destroy(&w->ready.mutex);
    free(w->ready.heap);
    free(w->types);
    free(w->events);
  }
  pthread_mutex_destroy(&r->mutex);
  free(r->workers);
  free(r);
}

static struct run *run_new(struct task_graph *g, int threads, int workers) {
  struct run *r = NULL;
  size_t bytes;
  if (posix_memalign((void **)&r, _Alignof(struct run), sizeof *r) != 0)
    return NULL;
  memset(r, 0, sizeof *r);
  if (!size_mul((size_t)workers, sizeof *r->workers, &bytes) ||
      posix_memalign((void **)&r->workers, _Alignof(struct worker), bytes) != 0) {
    free(r);
    return NULL;
  }
  memset(r->workers, 0, bytes);
  r->graph = g;
  pthread_mutex_init(&r->mutex, NULL);
  bool whole = true;
  r->threads = threads;
  for (r->nworkers = 0; r->nworkers < workers; r->nworkers++) {
    struct worker *w = &r->workers[r->nworkers];
    *w = (struct worker){
        .thread = r->nworkers, .random = (uint64_t)r->nworkers, .running = {.run = r, .worker = w}};
    pthread_mutex_init(&w->ready.mutex, NULL);
    whole = (w->types = array_new((size_t)g->ntypes, sizeof *w->types)) && whole;
  }
  r->ntypes = g->ntypes;
  if (whole)
    return r;
  run_free(r);
  return NULL;
}

/* The memory of the last run is used again. */
static int begin(struct task_graph *g, const struct tasks_options *options, struct error *err) {
  const int threads = options->checked || !options->team || options->threads < 1 ? 1 : options->threads;
  const int workers = threads + (options->phases != NULL);
  if (!g->run || g->run->threads != threads || g->run->nworkers != workers || g->run->ntypes != g->ntypes) {
    run_free(g->run);
    g->run = run_new(g, threads, workers);
  }
  struct run *r = g->run;
  if (!r)
    return error_memory_of(err, "a run of graph", g->name, (size_t)threads * sizeof *r->workers);
  r->team = options->team;
  r->err = err;
  r->check = NULL;
  r->messages = g->messages;
  r->phases = options->phases;
  r->failed = r->lost = false;
  r->recording = options->trace && options->trace->most > 0;
  r->left = g->ntasks;
  r->idle = 0;
  r->stopped = g->ntasks == 0;
  for (int i = 0; i < workers; i++) {
    struct worker *w = &r->workers[i];
    w->span = w->busy = w->idle = 0;
    w->executed = w->stolen = w->refused = 0;
    w->nevents = w->told = 0;
    memset(w->types, 0, (size_t)g->ntypes * sizeof *w->types);
  }
  messages_begin(r);
  if (r->phases)
    r->phases->calls->begin(r->phases, r);
  return options->checked && !r->phases ? check_begin(&r->check, g, err) : OP_OK;
}

/* Neighbours go to one thread, the same one in each run: it has their data near. */
static void ready_roots(struct run *r) {
  const struct task_graph *g = r->graph;
  for (int i = 0; i < g->nroots; i++) {
    struct worker *w = &r->workers[(long long)i * r->threads / g->nroots];
    if (!run_ready(r, w, &g->tasks[g->order[i]]))
      return;
  }
}

/* Frees the tasks that an error left in the queues. */
static void drop_rest(struct run *r) {
  for (int i = 0; i < r->threads; i++) {
    struct ready *q = &r->workers[i].ready;
    for (int k = 0; k < q->count; k++)
      if (q->heap[k].task->is_added)
        free(q->heap[k].task);
    q->count = 0;
  }
}

/* From the program's units to seconds: for tasks that come later. */
static double find_unit(const struct run *r, double before) {
  long ns = 0;
  for (int i = 0; i < r->threads; i++)
    ns += r->workers[i].busy;
  return before > 0 ? 1e-9 * (double)ns / before : 0;
}

static double summed_costs(const struct task_graph *g) {
  double sum = 0;
  for (int t = 0; t < g->ntasks; t++)
    sum += g->types[g->tasks[t].type].function ? (double)g->tasks[t].cost : 0;
  return sum;
}

static void sum_up(struct task_graph *g, const struct run *r, double seconds) {
  g->seconds = seconds;
  g->spans = g->busy = g->idle = 0;
  g->executed = g->stolen = g->refused = 0;
  for (int i = 0; i < r->nworkers; i++) {
    const struct worker *w = &r->workers[i];
    g->spans += 1e-9 * (double)w->span;
    g->busy += 1e-9 * (double)w->busy;
    g->idle += 1e-9 * (double)w->idle;
    g->executed += w->executed;
    g->stolen += w->stolen;
    g->refused += w->refused;
    for (int t = 0; t < g->ntypes; t++) {
      g->types[t].count += w->types[t].count;
      g->types[t].seconds += 1e-9 * (double)w->types[t].ns;
    }
  }
  /* Before a thread woke, and after it found that all is done, it had no task either. */
  const struct on_device none = {.runs = g->device.runs};
  const int threads = r->phases ? r->phases->calls->sum(r->phases) : r->threads;
  if (!r->phases)
    g->device = none;
  const double outside = seconds * threads - g->spans;
  if (outside > 0) {
    g->spans += outside;
    g->idle += outside;
  }
  g->runs += !r->phases;
  g->sums.runs++;
  g->sums.executed += g->executed;
  g->sums.seconds += seconds;
  g->sums.busy += g->busy;
  g->sums.idle += g->idle;
  g->sums.thread_seconds += g->spans;
}

/* In the order in which they began, so that a trace that has no room for all has the beginning of the run. */
static struct worker *first_to_tell(const struct run *r) {
  struct worker *first = NULL;
  for (int i = 0; i < r->nworkers; i++) {
    struct worker *w = &r->workers[i];
    if (w->told < w->nevents && (!first || w->events[w->told].begin < first->events[first->told].begin))
      first = w;
  }
  return first;
}

static void tell_trace(const struct task_graph *g, const struct run *r, struct trace *trace) {
  if (!r->recording)
    return;
  trace_graph_ran(trace);
  for (struct worker *w; (w = first_to_tell(r)); w->told++) {
    const struct event *e = &w->events[w->told];
    trace_task(trace, g->types[e->type].name, g->name, e->thread, 1e-9 * (double)e->begin,
               1e-9 * (double)(e->end - e->begin), (double)e->bytes);
  }
}

int run_prepared(struct task_graph *to, struct task_graph *g, const struct tasks_options *options,
                 struct error *err) {
  const int code = begin(g, options, err);
  if (code)
    return code;
  struct run *r = g->run;
  const double units = g->runs == 0 ? summed_costs(g) : 0;
  const double start = clock_seconds();
  ready_roots(r);
  const bool hosts = !r->phases || r->phases->calls->start(r->phases);
  if (hosts)
    team_run(r->team, r->threads, run_thread, r);
  if (r->phases)
    r->phases->calls->end(r->phases);
  check_done(r->check);
  if (err->code) {
    drop_rest(r);
    g->unfinished = true;
    return err->code;
  }
  if (g->runs == 0 && !r->phases)
    g->unit = find_unit(r, units);
  sum_up(to, r, clock_seconds() - start);
  if (to != g) {
    g->runs++;
    to->unit = to->unit > 0 ? to->unit : g->unit;
  }
  tell_trace(to, r, options->trace);
  return OP_OK;
}
