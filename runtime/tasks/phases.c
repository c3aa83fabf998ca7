#include "tasks/phases.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"

/* ---- what is ready ---- */

static bool is_of_device(const struct phases *p, const struct task *task) {
  return !task->is_added && (p->alone || p->g->types[task->type].text);
}

static bool phases_put(struct phases *p, struct task *task) {
  const struct task_graph *g = p->g;
  if (!task->is_added && p->taken[task - g->tasks]) /* it waited for others of its phase */
    return true;
  if (!is_of_device(p, task) &&
      (!g->types[task->type].function ||
       (!copies_reach(p, task_locks(g, task), REACH_LOOK) &&
        (task->is_added || !copies_reach(p, relation_row(&g->uses, (size_t)(task - g->tasks)), REACH_LOOK)))))
    return false;
  pthread_mutex_lock(&p->mutex);
  struct task **put = array_more(p->put, p->nput, sizeof *put);
  if (put) {
    p->put = put;
    put[p->nput++] = task;
  }
  pthread_mutex_unlock(&p->mutex);
  if (!put)
    run_fail_memory(p->run, "the ready tasks of graph", sizeof(struct task *));
  gate_open(&p->gate);
  return true;
}

static void phases_changed(struct phases *p, const struct task *task) {
  copies_reach(p, task_locks(p->g, task), REACH_CHANGED);
}

/* The device's go to its own; what others need is copied back, and they are ready. False: there are none of these. */
static bool serve(struct phases *p) {
  const struct task_graph *g = p->g;
  pthread_mutex_lock(&p->mutex);
  struct task **put = p->put;
  const size_t nput = p->nput;
  size_t rest = 0;
  p->put = NULL;
  p->nput = 0;
  pthread_mutex_unlock(&p->mutex);
  for (size_t i = 0; i < nput; i++) {
    if (is_of_device(p, put[i])) {
      p->ready[p->nready++] = put[i];
      continue;
    }
    copies_reach(p, task_locks(g, put[i]), REACH_WANT);
    if (!put[i]->is_added)
      copies_reach(p, relation_row(&g->uses, (size_t)(put[i] - g->tasks)), REACH_WANT);
    put[rest++] = put[i];
  }
  const bool copied = rest && copies_out(p, false);
  for (size_t i = 0; i < rest; i++)
    if (copied) {
      run_ready(p->run, p->run->workers, put[i]);
      run_changed(p->run, p->run->threads);
    } else if (put[i]->is_added)
      free(put[i]);
  free(put);
  return rest;
}

/* ---- a phase ---- */

enum { FREE, HELD, NEEDED };
static bool is_held(const struct phases *p, int resource) {
  while (resource >= 0 && p->held[resource] != HELD)
    resource = p->g->resources[resource].parent;
  return resource >= 0;
}

static bool all_held(const struct phases *p, int task) {
  struct row row = task_locks(p->g, &p->g->tasks[task]);
  while (row.begin < row.end && *row.begin >= 0 && is_held(p, *row.begin))
    row.begin++;
  return p->alone || row.begin == row.end || *row.begin < 0;
}

static void include(struct phases *p, int task) {
  p->taken[task] = 1;
  p->tasks[p->ntasks++] = task;
}

/* A task that waits for nothing but tasks of the phase comes along. */
static void gather(struct phases *p, bool held) {
  const struct task_graph *g = p->g;
  p->ntasks = 0;
  for (int i = 0; i < p->nready; i++)
    if (!held || all_held(p, (int)(p->ready[i] - g->tasks)))
      include(p, (int)(p->ready[i] - g->tasks));
  for (int i = 0; i < p->ntasks; i++)
    for (struct row row = relation_row(&g->after, (size_t)p->tasks[i]); row.begin < row.end; row.begin++) {
      const struct task_type *type = &g->types[g->tasks[*row.begin].type];
      p->inside[*row.begin]++;
      if ((type->text || !type->function) &&
          atomic_load_explicit(&g->tasks[*row.begin].wait, memory_order_acquire) == p->inside[*row.begin] &&
          (!held || all_held(p, *row.begin)))
        include(p, *row.begin);
    }
}

static void forget(struct phases *p) {
  const struct task_graph *g = p->g;
  for (int i = 0; i < p->ntasks; i++) {
    for (struct row row = relation_row(&g->after, (size_t)p->tasks[i]); row.begin < row.end; row.begin++)
      p->inside[*row.begin] = 0;
    p->taken[p->tasks[i]] = 0;
  }
}

/* Tasks of the host do nothing meanwhile with what tasks of the phase lock. What they could need is taken, what lies around
 * others first, and tasks that then have all theirs come along. Where nobody else is, nothing needs to be held. */
static void hold(struct phases *p) {
  const struct task_graph *g = p->g;
  gather(p, false);
  for (int i = 0; i < p->ntasks; i++)
    for (struct row row = task_locks(g, &g->tasks[p->tasks[i]]); row.begin < row.end && *row.begin >= 0;
         row.begin++)
      p->held[*row.begin] = NEEDED;
  forget(p);
  bool disturbed = false;
  for (int r = 0; r < g->nresources; r++) {
    if (p->held[r] != NEEDED)
      continue;
    p->held[r] = FREE;
    if (is_held(p, r) || !locks_take(g, (struct row){&r, &r + 1}, &disturbed))
      continue;
    p->held[r] = HELD;
    p->locks[p->nlocks++] = r;
  }
  if (disturbed) /* others saw held for a moment what it did not get */
    run_changed(p->run, p->run->threads);
}

static void choose(struct phases *p) {
  int left = 0;
  p->nlocks = 0;
  if (!p->alone)
    hold(p);
  gather(p, true);
  for (int i = 0; i < p->nready; i++)
    if (!p->taken[p->ready[i] - p->g->tasks])
      p->ready[left++] = p->ready[i];
  p->nready = left;
}

static void want(struct phases *p) {
  const struct task_graph *g = p->g;
  for (int i = 0; i < p->ntasks; i++)
    for (struct row row = relation_row(&g->touched, (size_t)p->tasks[i]); row.begin < row.end; row.begin++)
      for (struct span s = copies_of(p, g->more[*row.begin].memory, g->more[*row.begin].bytes);
           s.begin < s.end; s.begin++)
        p->segments[s.begin].wanted = true;
}

static void note_changes(struct phases *p) {
  const struct task_graph *g = p->g;
  for (int i = 0; i < p->ntasks; i++)
    for (struct row row = relation_row(&g->touched, (size_t)p->tasks[i]); row.begin < row.end; row.begin++)
      if (locks_cover(g, task_locks(g, &g->tasks[p->tasks[i]]), *row.begin))
        for (struct span s = copies_of(p, g->more[*row.begin].memory, g->more[*row.begin].bytes);
             s.begin < s.end; s.begin++)
          atomic_store_explicit(&p->segments[s.begin].newest, NEWEST_DEVICE, memory_order_relaxed);
}

/* A device does not say what its groups did when: the kernel is work of all of them, shared out to types by what tasks cost. */
static void count(struct phases *p, int groups, long begin) {
  const struct task_graph *g = p->g;
  struct worker *w = p->worker;
  const long end = clock_ns(), busy = groups * (end - begin);
  double costs = 0;
  for (int i = 0; i < p->ntasks; i++)
    costs += g->types[g->tasks[p->tasks[i]].type].text ? (double)g->tasks[p->tasks[i]].cost : 0;
  for (int i = 0; i < p->ntasks; i++) {
    const struct task *task = &g->tasks[p->tasks[i]];
    struct type_time *type = &w->types[task->type];
    if (!g->types[task->type].text)
      continue;
    type->count++;
    type->ns += costs > 0 ? (long)((double)busy * (double)task->cost / costs) : 0;
  }
  w->busy += busy;
  w->executed += p->tables.items[TABLE_EXECUTED];
  w->refused += p->tables.items[TABLE_REFUSED];
  p->groups = groups > p->groups ? groups : p->groups;
  worker_did(p->run, w, g->copies + KERNEL, w->thread, begin, end, 0);
}

static bool launch(struct phases *p) {
  struct error err = {0};
  int groups = 0;
  want(p);
  if (!copies_in(p))
    return false;
  int code = tables_make(p, &err);
  const long begin = clock_ns();
  if (!code)
    code = p->device->work(p->device->self, &p->tables, &groups, &err);
  if (code)
    run_fail(p->run, code, "%s", error_message(&err));
  error_free(&err);
  if (!code)
    count(p, groups, begin);
  return !code;
}

/* False: nothing could run. */
static bool run_phase(struct phases *p) {
  choose(p);
  const bool ran = p->ntasks > 0 && launch(p);
  if (ran)
    note_changes(p);
  for (int i = 0; i < p->nlocks; i++)
    p->held[p->locks[i]] = FREE;
  locks_give(p->g, (struct row){p->locks, p->locks + p->nlocks});
  for (int i = 0; ran && i < p->ntasks; i++)
    run_finish(p->run, p->run->workers, &p->g->tasks[p->tasks[i]]);
  forget(p);
  if (p->nlocks > 0) /* others looked for them meanwhile */
    run_changed(p->run, p->run->threads);
  return ran;
}

/* ---- the run ---- */

static void work(void *argument) {
  struct phases *p = argument;
  struct patience none = {.spin_ns = 0};
  p->device->enter(p->device->self);
  while (!atomic_load(&p->run->stopped)) {
    const uint32_t seen = gate_value(&p->gate);
    if (!serve(p) && !run_phase(p) && !atomic_load(&p->run->stopped))
      gate_wait(&p->gate, seen, &none);
  }
}

static void phases_begin(struct phases *p, struct run *r) {
  p->run = r;
  p->worker = &r->workers[r->threads];
  p->worker->thread = p->alone ? 0 : r->threads;
}

static bool phases_start(struct phases *p) {
  if (p->alone)
    return false;
  if (!copies_in(p)) /* the data of tasks: the host's change their own */
    return false;
  behind_open(&p->behind, 0);
  if (behind_begin(&p->behind, work, p))
    return true;
  run_fail_memory(p->run, "a thread for the device of graph", sizeof p->behind);
  return false;
}

/* Data that are newest on the device come back after an error too. */
static void phases_end(struct phases *p) {
  if (p->alone)
    work(p);
  behind_finish(&p->behind);
  if (p->groups || !p->run->err->code) {
    p->device->enter(p->device->self);
    copies_out(p, true);
  }
}

static int phases_sum(struct phases *p) {
  struct task_graph *g = p->g;
  const int threads = p->groups + (p->alone ? 0 : p->run->threads);
  g->device = (struct on_device){.groups = p->groups,
                                 .threads = threads,
                                 .runs = g->device.runs + 1,
                                 .bytes = (long long)p->all_bytes,
                                 .copies = p->copies};
  g->spans += 1e-9 * (double)p->worker->busy;
  return threads;
}

static int open_phases(struct phases *p, struct error *err) {
  struct task_graph *g = p->g;
  const size_t tasks = (size_t)g->ntasks, resources = (size_t)g->nresources;
  p->ready = arrays_add(&p->arrays, tasks, sizeof *p->ready);
  p->tasks = arrays_add(&p->arrays, tasks, sizeof *p->tasks);
  p->inside = arrays_add(&p->arrays, tasks, sizeof *p->inside);
  p->taken = arrays_add(&p->arrays, tasks, sizeof *p->taken);
  p->ranks = arrays_add(&p->arrays, tasks, sizeof *p->ranks);
  p->held = arrays_add(&p->arrays, resources, sizeof *p->held);
  p->locks = arrays_add(&p->arrays, resources, sizeof *p->locks);
  if (p->arrays.failed)
    return error_memory_of(err, "a run on a device of graph", g->name, tasks * sizeof *p->ready);
  int code = copies_find(p, err);
  if (!code)
    code = tables_open(p, err);
  p->all_bytes =
      p->bytes + p->tables.nitems * sizeof *p->tables.items + p->tables.nplaces * sizeof *p->tables.places;
  return code ? code : p->device->open(p->device->self, p->bytes, &p->tables, err);
}

static void close_phases(struct phases *p) {
  for (size_t i = 0; i < p->nput; i++)
    if (p->put[i]->is_added)
      free(p->put[i]);
  free(p->put);
  arrays_free(&p->arrays);
  pthread_mutex_destroy(&p->mutex);
}

static const struct phases_calls calls = {.put = phases_put,
                                          .changed = phases_changed,
                                          .begin = phases_begin,
                                          .start = phases_start,
                                          .end = phases_end,
                                          .sum = phases_sum};

int tasks_run_on_device(struct task_graph *g, const struct tasks_device *device,
                        const struct tasks_options *options, struct error *err) {
  struct phases p = {.calls = &calls, .g = g, .device = device, .alone = true};
  struct tasks_options o = *options;
  o.phases = &p;
  for (int t = 0; t < g->ntasks; t++) {
    const struct task_type *type = &g->types[g->tasks[t].type];
    p.alone = p.alone && (type->text || !type->function);
  }
  pthread_mutex_init(&p.mutex, NULL);
  int code = tasks_prepare(g, err);
  if (!code && o.checked)
    code = check_uses(g, err);
  if (!code)
    code = relation_sort(&g->touched, g->ntasks, err);
  if (!code)
    code = open_phases(&p, err);
  if (!code)
    code = run_prepared(g, g, &o, err);
  close_phases(&p);
  return code;
}
