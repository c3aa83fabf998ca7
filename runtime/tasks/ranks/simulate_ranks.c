/* A run on ranks that is only thought of: each has its part, so many threads, and one link to the network, on which its
 * messages leave one after the other. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "ranks/agree.h"
#include "tasks/ranks/messages.h"

/* What happens: a task ends; what a task sends has left; something arrives for one that receives. */
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

/* Sends get their numbers among those to one rank, in `waits`, which means nothing else here. */
static bool number_messages(struct network *n, int rank, int *counts) {
  struct simulated *s = &n->ranks[rank];
  struct messages *m = s->part->messages;
  const int ranks = n->said->ranks;
  s->receives = array_new((size_t)m->count, sizeof *s->receives);
  s->receive_at = array_new((size_t)ranks + 1, sizeof *s->receive_at);
  if (!s->receives || !s->receive_at)
    return false;
  memset(counts, 0, (size_t)ranks * sizeof *counts);
  for (int i = 0; i < m->count; i++) {
    struct message *one = &m->items[i];
    if (s->part->tasks[one->node].type == TYPE_SEND)
      one->waits = counts[one->peer]++;
    else
      s->receive_at[one->peer + 1]++;
  }
  for (int r = 0; r < ranks; r++)
    s->receive_at[r + 1] += s->receive_at[r];
  memset(counts, 0, (size_t)ranks * sizeof *counts);
  for (int i = 0; i < m->count; i++)
    if (s->part->tasks[m->items[i].node].type == TYPE_RECEIVE)
      s->receives[s->receive_at[m->items[i].peer] + counts[m->items[i].peer]++] = m->items[i].node;
  return true;
}

/* ---- tasks ---- */

static bool is_over(struct network *n, int rank, int node);

/* One thing less to wait for. */
static bool count_down(struct network *n, int rank, int node) {
  struct simulated *s = &n->ranks[rank];
  struct task *task = &s->part->tasks[node];
  if (--s->waits[node] > 0)
    return true;
  if (task->type == TYPE_SEND)
    return send(n, rank, node);
  if (task->type == TYPE_RECEIVE)
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
  for (int r = 0; r < n->said->ranks; r++)
    for (int t = 0; t < n->ranks[r].part->ntasks; t++)
      n->ranks[r].waits[t] =
          n->ranks[r].part->tasks[t].before + 1 + (n->ranks[r].part->tasks[t].type == TYPE_RECEIVE);
  /* One more, so that none is looked at before all are set. */
  for (int r = 0; r < n->said->ranks; r++) {
    for (int t = 0; whole && t < n->ranks[r].part->ntasks; t++)
      whole = count_down(n, r, t);
    whole = whole && begins(n, r);
  }
  while (whole && n->nheap > 0)
    whole = happens(n, next(n));
  return whole;
}

/* ---- the parts ---- */

static int make_part(struct task_graph *g, struct network *n, const struct wires *w, int *counts,
                     struct error *err) {
  struct simulated *s = &n->ranks[w->me];
  int code = wires_build(w, &s->part, err);
  if (code)
    return code;
  s->part->types = array_new((size_t)w->whole->ntypes, sizeof *s->part->types);
  s->waits = array_new((size_t)s->part->ntasks, sizeof *s->waits);
  if (!s->part->types || !s->waits || !number_messages(n, w->me, counts))
    return error_memory_of(err, "the simulation of graph", g->name,
                           (size_t)s->part->ntasks * sizeof *s->waits);
  memcpy(s->part->types, w->whole->types, (size_t)w->whole->ntypes * sizeof *s->part->types);
  return tasks_prepare(s->part, err);
}

static double simulate(struct task_graph *g, const op_graph_network_t *said,
                       const struct tasks_options *options, struct error *err) {
  const size_t ranks = (size_t)said->ranks;
  struct task_graph *whole = ranks_whole(g);
  const double between = g->spans - g->busy - g->idle;
  struct network n = {.said = said, .step = g->executed && between > 0 ? between / (double)g->executed : 0};
  struct units units = {0};
  int *place = array_new((size_t)whole->ntasks, sizeof *place), *counts = array_new(ranks, sizeof *counts);
  n.ranks = array_new(ranks, sizeof *n.ranks);
  int code = OP_OK;
  if (!place || !counts || !n.ranks)
    code = error_memory_of(err, "the simulation of graph", g->name, (size_t)whole->ntasks * sizeof *place);
  for (size_t r = 0; n.ranks && r < ranks; r++)
    pthread_mutex_init(&n.ranks[r].ready.mutex, NULL);
  if (!code)
    code = units_find(whole, &units, err);
  code = agree_on_success(options->comm, code, err);
  if (!code)
    code = place_units(whole, &units, NULL, said->ranks, options, err);
  if (!code)
    code = place_tasks(whole, &units, said->ranks, place, err);
  for (int r = 0; !code && r < said->ranks; r++)
    code = make_part(g, &n,
                     &(struct wires){.whole = whole,
                                     .units = &units,
                                     .place = place,
                                     .me = r,
                                     .ranks = said->ranks,
                                     .ordered = g->ranks->ordered},
                     counts, err);
  if (!code && !simulates(&n))
    code = error_memory_of(err, "the simulation of graph", g->name, n.nheap * sizeof *n.heap);
  for (size_t r = 0; n.ranks && r < ranks; r++) {
    struct simulated *s = &n.ranks[r];
    pthread_mutex_destroy(&s->ready.mutex);
    free(s->ready.heap);
    free(s->waits);
    free(s->receives);
    free(s->receive_at);
    tasks_free(s->part);
  }
  units_free(&units);
  free(n.ranks);
  free(n.heap);
  free(place);
  free(counts);
  return code ? -1 : n.now;
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
    code = ranks_costs(g, comm, err);
  const double seconds = code ? -1 : simulate(g, said, options, err);
  return agree_on_success(comm, seconds < 0 ? err->code : OP_OK, err) ? -1 : seconds;
}
