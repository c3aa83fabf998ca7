/* A run that is only thought of: each rank has its part, so many threads, and one link to the network, on which its
 * messages leave one after the other. Each task takes as long as it was measured to take. Ready tasks of a rank lie in one
 * heap, as if stealing cost nothing; locks are those of a run. A graph of one process is the part of a single rank. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "ranks/agree.h"
#include "tasks/ranks_messages.h"

/* An event: a task ends; a task's messages have left; a message arrives for a task that receives. */
enum what { ENDS, LEFT, ARRIVES };
struct happening {
  double at;
  enum what what;
  int rank, node;
};

struct simulated {
  struct task_graph *part;
  struct ready ready;
  int running;
  int *waits;    /* of each task; of one that receives it counts what is to arrive too */
  int *receives; /* tasks that receive, those from one rank together, in order: from receive_at[rank] on */
  int *receive_at;
  double link; /* when it is free again */
};

struct network {
  struct arrays arrays; /* but for heaps */
  const op_graph_network_t *said;
  struct simulated *ranks;
  struct happening *heap;
  size_t nheap;
  double now, step;
};

static bool add(struct network *n, struct happening h) {
  struct happening *heap = array_more(n->heap, n->nheap, sizeof *heap);
  if (!heap)
    return false;
  n->heap = heap;
  size_t i = n->nheap++;
  for (; i > 0 && heap[(i - 1) / 2].at > h.at; i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = h;
  return true;
}

static struct happening next(struct network *n) {
  const struct happening first = n->heap[0], last = n->heap[--n->nheap];
  size_t i = 0;
  for (size_t child = 1; child < n->nheap; child = 2 * i + 1) {
    if (child + 1 < n->nheap && n->heap[child + 1].at < n->heap[child].at)
      child++;
    if (n->heap[child].at >= last.at)
      break;
    n->heap[i] = n->heap[child];
    i = child;
  }
  n->heap[i] = last;
  return first;
}

/* ---- messages ---- */

/* The task there that receives the message: the same number among those from here. */
static int receiver(const struct network *n, int rank, int message) {
  const struct messages *m = n->ranks[rank].part->messages;
  const struct simulated *to = &n->ranks[m->items[message].peer];
  return to->receives[to->receive_at[rank] + m->items[message].waits];
}

static bool send(struct network *n, int rank, int node) {
  struct simulated *s = &n->ranks[rank];
  const struct messages *m = s->part->messages;
  bool whole = true;
  for (int i = m->first[node]; i >= 0 && whole; i = m->items[i].next) {
    const double begins = s->link > n->now ? s->link : n->now;
    s->link = begins + (double)m->items[i].bytes / n->said->bytes_per_second;
    whole = add(
        n, (struct happening){s->link + n->said->latency, ARRIVES, m->items[i].peer, receiver(n, rank, i)});
  }
  return whole && add(n, (struct happening){s->link > n->now ? s->link : n->now, LEFT, rank, node});
}

static bool is_message(const struct simulated *s, int node, int type) {
  return s->part->messages && s->part->tasks[node].type == type;
}

/* Sends get their numbers among those to one rank, in `waits`, which means nothing else here. */
static void number_messages(struct network *n, struct simulated *s) {
  const int ranks = n->said->ranks;
  struct messages *m = s->part->messages;
  int *sent = arrays_add(&n->arrays, (size_t)ranks, sizeof *sent),
      *received = arrays_add(&n->arrays, (size_t)ranks, sizeof *received);
  s->receives = arrays_add(&n->arrays, (size_t)m->count, sizeof *s->receives);
  s->receive_at = arrays_add(&n->arrays, (size_t)ranks + 1, sizeof *s->receive_at);
  if (n->arrays.failed)
    return;
  for (int i = 0; i < m->count; i++)
    if (is_message(s, m->items[i].node, TYPE_SEND))
      m->items[i].waits = sent[m->items[i].peer]++;
    else
      s->receive_at[m->items[i].peer + 1]++;
  for (int r = 0; r < ranks; r++)
    s->receive_at[r + 1] += s->receive_at[r];
  for (int i = 0; i < m->count; i++)
    if (is_message(s, m->items[i].node, TYPE_RECEIVE))
      s->receives[s->receive_at[m->items[i].peer] + received[m->items[i].peer]++] = m->items[i].node;
}

/* ---- tasks ---- */

static bool is_over(struct network *n, int rank, int node);

/* One thing less to wait for. */
static bool count_down(struct network *n, int rank, int node) {
  struct simulated *s = &n->ranks[rank];
  struct task *task = &s->part->tasks[node];
  if (--s->waits[node] > 0)
    return true;
  if (is_message(s, node, TYPE_SEND))
    return send(n, rank, node);
  if (is_message(s, node, TYPE_RECEIVE))
    return is_over(n, rank, node);
  return ready_put(&s->ready, task, s->part->types[task->type].function ? (double)task->weight : DBL_MAX);
}

static bool is_over(struct network *n, int rank, int node) {
  bool whole = true;
  for (struct row row = relation_row(&n->ranks[rank].part->after, (size_t)node); whole && row.begin < row.end;
       row.begin++)
    whole = count_down(n, rank, *row.begin);
  return whole;
}

static bool begins(struct network *n, int rank) {
  struct simulated *s = &n->ranks[rank];
  long long refused = 0;
  bool disturbed = false, whole = true;
  while (whole && s->running < n->said->threads) {
    struct task *task = ready_take(&s->ready, s->part, true, &refused, &disturbed);
    if (!task)
      break;
    const double cost = s->part->types[task->type].function ? (double)task->cost : 0;
    s->running++;
    whole = add(n, (struct happening){n->now + n->step + cost, ENDS, rank, (int)(task - s->part->tasks)});
  }
  return whole;
}

static bool happens(struct network *n, struct happening h) {
  struct simulated *s = &n->ranks[h.rank];
  n->now = h.at;
  if (h.what == ENDS) {
    s->running--;
    locks_give(s->part, task_locks(s->part, &s->part->tasks[h.node]));
  }
  const bool whole = h.what == ARRIVES ? count_down(n, h.rank, h.node) : is_over(n, h.rank, h.node);
  return whole && begins(n, h.rank);
}

static bool simulates(struct network *n) {
  bool whole = true;
  /* One more to wait for, so that none is looked at before all are set. */
  for (int r = 0; r < n->said->ranks; r++)
    for (int t = 0; t < n->ranks[r].part->ntasks; t++)
      n->ranks[r].waits[t] =
          n->ranks[r].part->tasks[t].before + 1 + is_message(&n->ranks[r], t, TYPE_RECEIVE);
  for (int r = 0; r < n->said->ranks; r++) {
    for (int t = 0; whole && t < n->ranks[r].part->ntasks; t++)
      whole = count_down(n, r, t);
    whole = whole && begins(n, r);
  }
  while (whole && n->nheap > 0)
    whole = happens(n, next(n));
  return whole;
}

double simulate_parts(struct task_graph *const *parts, const op_graph_network_t *said,
                      const struct task_graph *measured, struct error *err) {
  const double between = measured->spans - measured->busy - measured->idle;
  struct network n = {.said = said,
                      .step = measured->executed && between > 0 ? between / (double)measured->executed : 0};
  n.ranks = arrays_add(&n.arrays, (size_t)said->ranks, sizeof *n.ranks);
  for (int r = 0; n.ranks && r < said->ranks; r++) {
    struct simulated *s = &n.ranks[r];
    s->part = parts[r];
    pthread_mutex_init(&s->ready.mutex, NULL);
    s->waits = arrays_add(&n.arrays, (size_t)s->part->ntasks, sizeof *s->waits);
    if (s->part->messages)
      number_messages(&n, s);
  }
  const bool whole = !n.arrays.failed && simulates(&n);
  for (int r = 0; n.ranks && r < said->ranks; r++) {
    struct simulated *s = &n.ranks[r];
    s->part->unfinished = !whole; /* some may have their locks yet */
    pthread_mutex_destroy(&s->ready.mutex);
    free(s->ready.heap);
  }
  arrays_free(&n.arrays);
  free(n.heap);
  if (!whole)
    error_memory_of(err, "the simulation of graph", measured->name, n.nheap * sizeof *n.heap);
  return whole ? n.now : -1;
}

/* ---- the threads of one process ---- */

double tasks_simulate(struct task_graph *g, int threads, struct error *err) {
  if (threads < 1) {
    error_set(err, OP_ERR_ARGUMENT, "graph \"%s\" cannot run on %d threads; give 1 or more", g->name,
              threads);
    return -1;
  }
  if (g->ranks) {
    error_set(err, OP_ERR_STATE,
              "graph \"%s\" is of all ranks; call op_graph_simulate_ranks for it, which may be of one rank",
              g->name);
    return -1;
  }
  if (g->runs == 0 && g->device.runs > 0) {
    error_set(err, OP_ERR_STATE,
              "graph \"%s\" ran on a device, which does not say what single tasks take; run the program with "
              "OP2_BACKEND=openmp for it",
              g->name);
    return -1;
  }
  if (g->runs == 0 || !g->sorted) {
    error_set(
        err, OP_ERR_STATE,
        "graph \"%s\" has not run since it was changed, so nobody knows what its tasks cost; run it first",
        g->name);
    return -1;
  }
  if (tasks_prepare(g, err)) /* the last run may have ended early */
    return -1;
  tasks_weigh(g);
  return simulate_parts(&g, &(op_graph_network_t){.ranks = 1, .threads = threads}, g, err);
}

/* ---- the parts ---- */

static int make_part(struct task_graph **part, const struct wires *w, struct error *err) {
  int code = wires_build(w, part, err);
  if (code)
    return code;
  const size_t ntypes = (size_t)w->whole->ntypes;
  (*part)->types = array_new(ntypes, sizeof *(*part)->types);
  if (!(*part)->types)
    return error_memory_of(err, "the simulation of graph", w->whole->name, ntypes * sizeof *(*part)->types);
  memcpy((*part)->types, w->whole->types, ntypes * sizeof *(*part)->types);
  return tasks_prepare(*part, err);
}

static double simulate(struct task_graph *g, const op_graph_network_t *said,
                       const struct tasks_options *options, struct error *err) {
  struct task_graph *whole = ranks_whole(g),
                    **parts = array_new((size_t)said->ranks, sizeof(struct task_graph *));
  struct units units = {0};
  int *place = array_new((size_t)whole->ntasks, sizeof *place);
  double seconds = -1;
  int code = OP_OK;
  if (!place || !parts)
    code = error_memory_of(err, "the simulation of graph", g->name, (size_t)whole->ntasks * sizeof *place);
  if (!code)
    code = units_find(whole, &units, err);
  code = agree_on_success(options->comm, code, err);
  if (!code)
    code = place_units(whole, &units, NULL, said->ranks, options, err);
  if (!code)
    code = place_tasks(whole, &units, said->ranks, place, err);
  struct wires w = {
      .whole = whole, .units = &units, .place = place, .ranks = said->ranks, .ordered = g->ranks->ordered};
  for (; !code && w.me < said->ranks; w.me++)
    code = make_part(&parts[w.me], &w, err);
  if (!code)
    seconds = simulate_parts(parts, said, g, err);
  for (int r = 0; parts && r < said->ranks; r++)
    tasks_free(parts[r]);
  units_free(&units);
  free(parts);
  free(place);
  return seconds;
}

double tasks_simulate_ranks(struct task_graph *g, const op_graph_network_t *said,
                            const struct tasks_options *options, struct error *err) {
  struct comm *comm = options->comm;
  int code = OP_OK;
  if (!g->ranks || g->runs == 0 || !g->ranks->local)
    code = error_set(
        err, OP_ERR_STATE, "graph \"%s\" %s", g->name,
        g->ranks ? "has not run since it was changed, so nobody knows what its tasks cost; run it first"
                 : "is of one process; call op_graph_simulate, or first op_graph_ranks");
  else if (!said || said->ranks < 1 || said->threads < 1 || !(said->latency >= 0) ||
           !(said->bytes_per_second > 0))
    code = error_set(
        err, OP_ERR_ARGUMENT,
        "graph \"%s\" cannot run on such ranks; give 1 or more ranks and threads, a latency of 0 or "
        "more seconds, and bytes a second",
        g->name);
  if (!g->ranks) /* this call is then no call of all ranks */
    return -1;
  code = agree_on_success(comm, code, err);
  if (!code)
    code = ranks_costs(ranks_whole(g), g->ranks->local, comm, err);
  const double seconds = code ? -1 : simulate(g, said, options, err);
  return agree_on_success(comm, seconds < 0 ? err->code : OP_OK, err) ? -1 : seconds;
}
