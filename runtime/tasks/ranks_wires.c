/* The part of one rank. All ranks walk through all tasks in one order and know of each unit which ranks have what was
 * written to it last. Where a task needs a unit that its rank has not, a message brings it: one for each rank and each
 * time that the unit was written, however many tasks read it. Both sides of a message come to it at the same step, and so
 * to the same tag, without asking each other. A dependency between two ranks that no such message covers has one of its
 * own, which carries nothing.
 *
 * Each step only lets later ones wait for earlier ones, so that the parts together have no circle. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "tasks/ranks_messages.h"

struct numbers {
  int *items;
  size_t count;
};

/* A unit, at this step. Tasks of the part are named by their numbers there. */
struct unit {
  int place;              /* who wrote it last, together: a rank or EVERY_RANK */
  bool closed;            /* somebody else has that: who writes now does not belong to those */
  int send;               /* if `place` is this rank: the task that sends it, -1: none yet */
  int gate, source;       /* here: the message before which none may write it; that brought it; -1 */
  struct numbers writers; /* of the whole, who wrote it last together */
  struct numbers since;   /* here: who touched it since it came last */
};

/* Rank `rank` knows by this message that the task is over. */
struct reach {
  int next, rank, message;
};

struct walk {
  struct arrays arrays; /* but for those that grow */
  const struct wires *w;
  struct task_graph *local;
  struct messages *m;
  struct unit *units;
  uint64_t *valid; /* a bit for each unit and rank */
  size_t words;
  int *node;     /* of each task of the whole: the one of the part, -1 */
  int *arrival;  /* of each message of all ranks: the task of the part that receives it, -1 */
  int narrivals; /* messages so far */
  int *heads;    /* of each task of the whole: the first of its reaches, -1 */
  struct reach *reaches;
  int nreaches;
  int *sent;                /* of each pair of ranks: messages so far */
  struct numbers *out, *in; /* of each rank: the tasks of the part that send to it, and receive from it */
  struct relation before;   /* what each task of the whole waits for */
  int *marks, *asked, mark; /* of each unit, and of each rank: the last step that it was looked at in */
  struct error *err;
};

/* ---- tasks of the part ---- */

static int fail(struct walk *k) {
  return k->err->code
             ? k->err->code
             : error_memory_of(k->err, "the part of a rank of graph", k->w->whole->name, sizeof(int));
}

static int add_number(struct walk *k, struct numbers *to, int number) {
  int *items = array_more(to->items, to->count, sizeof *items);
  if (!items)
    return fail(k);
  to->items = items;
  items[to->count++] = number;
  return OP_OK;
}

/* `second` waits for `first`, if both are here. */
static int wait_for(struct walk *k, int second, int first) {
  if (first < 0 || second < 0 || first == second)
    return OP_OK;
  if (relation_add(&k->local->after, first, second, k->err))
    return k->err->code;
  k->local->tasks[second].before++;
  return OP_OK;
}

static int wait_for_all(struct walk *k, int second, const struct numbers *first) {
  int code = OP_OK;
  for (size_t i = 0; !code && i < first->count; i++)
    code = wait_for(k, second, first->items[i]);
  return code;
}

/* -1 with an error. */
static int add_node(struct walk *k, int type, int origin) {
  int *origins = array_more(k->local->origins, (size_t)k->local->ntasks, sizeof *origins);
  if (origins)
    k->local->origins = origins;
  struct task *task = origins ? tasks_new_task(k->local, k->err) : NULL;
  if (!task) {
    fail(k);
    return -1;
  }
  task->type = type;
  origins[k->local->ntasks - 1] = origin;
  return k->local->ntasks - 1;
}

static bool is_here(const struct walk *k, int place) {
  return place == k->w->me || place == EVERY_RANK;
}

/* ---- messages ---- */

/* MPI keeps the order of messages of one tag: so those that share one wait for each other. `nodes`: that have messages with this
 * peer. */
static bool add_message(struct walk *k, struct numbers *nodes, struct message said) {
  const size_t most = COMM_MOST_TAG;
  if (said.node < 0)
    return true;
  if (add_number(k, nodes, said.node) ||
      (nodes->count > most && wait_for(k, said.node, nodes->items[nodes->count - 1 - most])))
    return false;
  struct message *items = array_more(k->m->items, (size_t)k->m->count, sizeof *items);
  if (!items)
    return fail(k), false;
  k->m->items = items;
  items[k->m->count++] = said;
  return true;
}

static bool next_shares(const struct walk *k, int from, int to) {
  return k->sent[from * k->w->ranks + to] >= COMM_MOST_TAG;
}

/* One from rank to rank; `send` and `receive` are tasks of the part or -1. Returns its number, -1 with an error. */
static int connect(struct walk *k, int from, int to, int send, int receive, int resource, size_t bytes) {
  int *arrival = array_more(k->arrival, (size_t)k->narrivals, sizeof *arrival);
  const int tag = k->sent[from * k->w->ranks + to]++ % COMM_MOST_TAG;
  if (!arrival)
    return fail(k), -1;
  k->arrival = arrival;
  arrival[k->narrivals] = receive;
  struct message message = {
      .node = send, .resource = resource, .peer = to, .tag = tag, .bytes = bytes, .waits = -1};
  if (!add_message(k, &k->out[to], message))
    return -1;
  message.node = receive;
  message.peer = from;
  return add_message(k, &k->in[from], message) ? k->narrivals++ : -1;
}

static int reach(struct walk *k, int task, int rank, int message) {
  struct reach *reaches = array_more(k->reaches, (size_t)k->nreaches, sizeof *reaches);
  if (!reaches)
    return fail(k);
  k->reaches = reaches;
  reaches[k->nreaches] = (struct reach){.next = k->heads[task], .rank = rank, .message = message};
  k->heads[task] = k->nreaches++;
  return OP_OK;
}

static int find_reach(const struct walk *k, int task, int rank) {
  for (int i = k->heads[task]; i >= 0; i = k->reaches[i].next)
    if (k->reaches[i].rank == rank)
      return k->reaches[i].message;
  return -1;
}

static bool has_waiting(const struct walk *k, int task) {
  const struct row row = relation_row(&k->w->whole->after, (size_t)task);
  return row.begin < row.end;
}

static bool is_valid(const struct walk *k, int unit, int rank) {
  return k->valid[(size_t)unit * k->words + (size_t)rank / 64] >> (rank % 64) & 1;
}

static void set_valid(struct walk *k, int unit, int rank) {
  k->valid[(size_t)unit * k->words + (size_t)rank / 64] |= (uint64_t)1 << (rank % 64);
}

/* The task that sends what was written last: behind those that wrote it. */
static int send_of(struct walk *k, struct unit *u, int unit, int to) {
  if (u->place != k->w->me)
    return -1;
  if (u->send >= 0 && !next_shares(k, u->place, to))
    return u->send;
  const int send = add_node(k, TYPE_SEND, -1);
  if (send < 0)
    return -1;
  int code = wait_for(k, send, u->source);
  for (size_t i = 0; !code && i < u->writers.count; i++)
    code = wait_for(k, send, k->node[u->writers.items[i]]);
  if (!code)
    code = relation_add(&k->local->locks, send, k->w->units->resource[unit], k->err);
  if (!code)
    code = add_number(k, &u->since, send);
  /* Whoever writes next waits for all of them. */
  if (!code && u->send >= 0)
    code = wait_for(k, send, u->send);
  u->send = send;
  return code ? -1 : send;
}

/* The message takes the place of what is here: behind all that touched that. */
static int receive_of(struct walk *k, struct unit *u, int unit, int to) {
  if (to != k->w->me)
    return -1;
  const int receive = add_node(k, TYPE_RECEIVE, -1);
  if (receive < 0 || wait_for_all(k, receive, &u->since) || wait_for(k, receive, u->source) ||
      relation_add(&k->local->locks, receive, k->w->units->resource[unit], k->err))
    return -1;
  u->since.count = 0;
  u->source = receive;
  return receive;
}

/* The unit comes to a rank that has it not. */
static int bring(struct walk *k, int unit, int to) {
  struct unit *u = &k->units[unit];
  const int from = u->place;
  const int send = send_of(k, u, unit, to), receive = k->err->code ? -1 : receive_of(k, u, unit, to);
  if (k->err->code)
    return k->err->code;
  const int message =
      connect(k, from, to, send, receive, k->w->units->resource[unit], k->w->units->bytes[unit]);
  int code = message < 0 ? fail(k) : OP_OK;
  for (size_t i = 0; !code && i < u->writers.count; i++)
    if (has_waiting(k, u->writers.items[i]))
      code = reach(k, u->writers.items[i], to, message);
  u->closed = true;
  set_valid(k, unit, to);
  return code;
}

/* ---- a task, and what it touches ---- */

static void begin_version(struct walk *k, int unit, int place) {
  struct unit *u = &k->units[unit];
  u->gate = u->place == k->w->me ? u->send : -1;
  u->send = -1;
  u->closed = false;
  u->place = place;
  u->writers.count = 0;
  memset(k->valid + (size_t)unit * k->words, place == EVERY_RANK ? 0xff : 0, k->words * sizeof *k->valid);
  if (place >= 0)
    set_valid(k, unit, place);
}

static int write_unit(struct walk *k, int task, int place, int unit) {
  struct unit *u = &k->units[unit];
  const int node = k->node[task];
  const bool alone = k->w->ordered || place == EVERY_RANK || u->place == EVERY_RANK;
  int code = OP_OK;
  if (alone && node >= 0) {
    code = wait_for_all(k, node, &u->since);
    u->since.count = 0;
  }
  if (alone || u->place != place || u->closed)
    begin_version(k, unit, place);
  if (!code)
    code = wait_for(k, node, u->gate);
  return code ? code : add_number(k, &u->writers, task);
}

static int read_unit(struct walk *k, int task, int unit) {
  const struct unit *u = &k->units[unit];
  int code = OP_OK;
  for (size_t i = 0; k->w->ordered && !code && i < u->writers.count; i++)
    code = wait_for(k, k->node[task], k->node[u->writers.items[i]]);
  return code;
}

static int touch(struct walk *k, int task, int place, int unit, bool writes) {
  struct unit *u = &k->units[unit];
  int code = OP_OK;
  if (k->marks[unit] == k->mark)
    return OP_OK;
  k->marks[unit] = k->mark;
  for (int r = place < 0 ? 0 : place; !code && r < (place < 0 ? k->w->ranks : place + 1); r++)
    if (!is_valid(k, unit, r))
      code = bring(k, unit, r);
  if (!code && is_here(k, place))
    code = wait_for(k, k->node[task], u->source);
  if (!code)
    code = writes ? write_unit(k, task, place, unit) : read_unit(k, task, unit);
  if (!code && k->node[task] >= 0)
    code = add_number(k, &u->since, k->node[task]);
  return code;
}

static int touch_row(struct walk *k, int task, int place, struct row row, bool writes) {
  int code = OP_OK;
  for (; row.begin < row.end && *row.begin >= 0; row.begin++)
    for (int i = k->w->units->begin[*row.begin]; !code && i < k->w->units->end[*row.begin]; i++)
      code = touch(k, task, place, i, writes);
  return code;
}

/* Tasks before this one that run on rank `from`, and that no message covers, get one message together. A single one's message
 * serves later tasks too. */
static int signal(struct walk *k, int task, int from, int to) {
  const struct row row = relation_row(&k->before, (size_t)task);
  const int here = k->w->me == to ? k->node[task] : -1;
  int count = 0, single = -1, code = OP_OK;
  for (const int *b = row.begin; !code && b < row.end; b++) {
    if (k->w->place[*b] != from)
      continue;
    const int known = find_reach(k, *b, to);
    if (known >= 0)
      code = wait_for(k, here, k->arrival[known]);
    else {
      count++;
      single = *b;
    }
  }
  if (code || count == 0)
    return code;
  const int send = from == k->w->me ? add_node(k, TYPE_SEND, -1) : -1,
            receive = to == k->w->me ? add_node(k, TYPE_RECEIVE, -1) : -1;
  for (const int *b = row.begin; !k->err->code && send >= 0 && b < row.end; b++)
    if (k->w->place[*b] == from && find_reach(k, *b, to) < 0)
      code = wait_for(k, send, k->node[*b]);
  const int message = k->err->code ? -1 : connect(k, from, to, send, receive, -1, 0);
  if (message < 0)
    return fail(k);
  code = wait_for(k, here, receive);
  return code || count > 1 ? code : reach(k, single, to, message);
}

static int depend(struct walk *k, int task, int place) {
  const struct row row = relation_row(&k->before, (size_t)task);
  int code = OP_OK;
  for (const int *b = row.begin; !code && b < row.end; b++) {
    const int from = k->w->place[*b];
    if (is_here(k, from) && is_here(k, place))
      code = wait_for(k, k->node[task], k->node[*b]);
    if (from < 0)
      continue;
    const bool first = k->asked[from] != k->mark;
    k->asked[from] = k->mark;
    for (int r = place < 0 ? 0 : place; first && !code && r < (place < 0 ? k->w->ranks : place + 1); r++)
      if (r != from)
        code = signal(k, task, from, r);
  }
  return code;
}

static int copy_row(struct walk *k, struct relation *to, int node, struct row row) {
  int code = OP_OK;
  for (; !code && row.begin < row.end && *row.begin >= 0; row.begin++)
    code = relation_add(to, node, *row.begin, k->err);
  return code;
}

static int step(struct walk *k, int task) {
  const struct task_graph *g = k->w->whole;
  const int place = k->w->place[task];
  const struct row locks = relation_row(&g->locks, (size_t)task), uses = relation_row(&g->uses, (size_t)task);
  int code = OP_OK;
  k->mark++;
  if (is_here(k, place)) {
    const int node = add_node(k, g->tasks[task].type, task);
    if (node < 0)
      return fail(k);
    k->node[task] = node;
    k->local->tasks[node].data = g->tasks[task].data;
    k->local->tasks[node].cost = g->tasks[task].cost;
    code = copy_row(k, &k->local->locks, node, locks);
    if (!code)
      code = copy_row(k, &k->local->uses, node, uses);
  }
  if (!code)
    code = touch_row(k, task, place, locks, true);
  if (!code)
    code = touch_row(k, task, place, uses, false);
  return code ? code : depend(k, task, place);
}

/* ---- the order ---- */

/* Among tasks on one level none waits for another. First come those that need what several ranks have, by turns of pairs
 * of ranks, so that messages leave early; while these travel, a rank has its own. In the one order for any number of
 * ranks the numbers of tasks count. */
struct place_in_order {
  int level, turn, task;
};

static int by_place(const void *a, const void *b) {
  const struct place_in_order *x = a, *y = b;
  if (x->level != y->level)
    return x->level < y->level ? -1 : 1;
  if (x->turn != y->turn)
    return x->turn < y->turn ? -1 : 1;
  return (x->task > y->task) - (x->task < y->task);
}

static int turn_of(const struct wires *w, int task) {
  const int place = w->place[task];
  for (struct row row = relation_row(&w->whole->locks, (size_t)task); row.begin < row.end && *row.begin >= 0;
       row.begin++)
    for (int i = w->units->begin[*row.begin]; i < w->units->end[*row.begin]; i++)
      if (place >= 0 && w->units->owner[i] != place)
        return (place + w->units->owner[i]) % w->ranks;
  return w->ranks;
}

static struct place_in_order *find_order(const struct wires *w) {
  const struct task_graph *g = w->whole;
  struct place_in_order *order = array_new((size_t)g->ntasks, sizeof *order);
  for (int t = 0; order && t < g->ntasks; t++)
    order[t] = (struct place_in_order){.task = t, .turn = w->ordered ? 0 : turn_of(w, t)};
  for (int i = 0; order && i < g->ntasks; i++) {
    const int t = g->order[i];
    for (struct row row = relation_row(&g->after, (size_t)t); row.begin < row.end; row.begin++)
      if (order[*row.begin].level <= order[t].level)
        order[*row.begin].level = order[t].level + 1;
  }
  if (order)
    qsort(order, (size_t)g->ntasks, sizeof *order, by_place);
  return order;
}

/* ---- the whole walk ---- */

/* Types are the graph's own ones, on this rank; resources are the whole's, with locks of their own. */
static struct task_graph *new_part(const struct wires *w) {
  const struct task_graph *g = w->whole;
  struct task_graph *local = tasks_new(g->name, g->serial);
  if (!local)
    return NULL;
  local->of = g;
  local->resources = array_new((size_t)g->nresources, sizeof *local->resources);
  local->more = array_new((size_t)g->nresources, sizeof *local->more);
  local->messages = array_new(1, sizeof *local->messages);
  if (!local->resources || !local->more || !local->messages) {
    tasks_free(local);
    return NULL;
  }
  pthread_mutex_init(&local->messages->mutex, NULL);
  local->nresources = g->nresources;
  for (int r = 0; r < g->nresources; r++) {
    const struct resource *from = &g->resources[r];
    local->resources[r] =
        (struct resource){.parent = from->parent, .owner = from->owner, .fixed = from->fixed};
    local->more[r] = (struct resource_more){.memory = g->more[r].memory, .bytes = g->more[r].bytes};
  }
  return local;
}

static int begin(struct walk *k) {
  const struct wires *w = k->w;
  const struct task_graph *g = w->whole;
  const size_t tasks = (size_t)g->ntasks, units = (size_t)w->units->count, ranks = (size_t)w->ranks;
  k->words = (ranks + 63) / 64;
  k->units = arrays_add(&k->arrays, units, sizeof *k->units);
  k->valid = arrays_add(&k->arrays, units * k->words, sizeof *k->valid);
  k->node = arrays_add(&k->arrays, tasks, sizeof *k->node);
  k->heads = arrays_add(&k->arrays, tasks, sizeof *k->heads);
  k->sent = arrays_add(&k->arrays, ranks * ranks, sizeof *k->sent);
  k->out = arrays_add(&k->arrays, ranks, sizeof *k->out);
  k->in = arrays_add(&k->arrays, ranks, sizeof *k->in);
  k->marks = arrays_add(&k->arrays, units, sizeof *k->marks);
  k->asked = arrays_add(&k->arrays, ranks, sizeof *k->asked);
  k->local = new_part(w);
  if (k->arrays.failed || !k->local)
    return fail(k);
  k->m = k->local->messages;
  for (int t = 0; t < g->ntasks; t++)
    k->node[t] = k->heads[t] = -1;
  for (int u = 0; u < w->units->count; u++) {
    const int home = w->home ? w->home[w->units->resource[u]] : NO_RANK;
    k->units[u].gate = k->units[u].source = k->units[u].send = -1;
    k->units[u].place = home == NO_RANK ? w->units->owner[u] : home;
    set_valid(k, u, k->units[u].place);
  }
  int code = OP_OK;
  for (int t = 0; !code && t < g->ntasks; t++)
    for (struct row row = relation_row(&g->after, (size_t)t); !code && row.begin < row.end; row.begin++)
      code = relation_add(&k->before, *row.begin, t, k->err);
  return code ? code : relation_sort(&k->before, g->ntasks, k->err);
}

static void end(struct walk *k) {
  for (int u = 0; k->units && u < k->w->units->count; u++) {
    free(k->units[u].writers.items);
    free(k->units[u].since.items);
  }
  for (int r = 0; r < k->w->ranks; r++) {
    free(k->out ? k->out[r].items : NULL);
    free(k->in ? k->in[r].items : NULL);
  }
  relation_free(&k->before);
  free(k->arrival);
  free(k->reaches);
  arrays_free(&k->arrays);
}

/* Lists the messages of each task of the part. */
static int list_messages(struct walk *k) {
  struct task_graph *local = k->local;
  struct messages *m = k->m;
  m->first = arrays_add(&m->arrays, (size_t)local->ntasks, sizeof *m->first);
  m->left = arrays_add(&m->arrays, (size_t)local->ntasks, sizeof *m->left);
  if (m->arrays.failed)
    return fail(k);
  for (int t = 0; t < local->ntasks; t++)
    m->first[t] = -1;
  for (int i = m->count; i-- > 0;) {
    struct message *one = &m->items[i];
    one->next = m->first[one->node];
    m->first[one->node] = i;
  }
  return OP_OK;
}

int wires_build(const struct wires *w, struct task_graph **out, struct error *err) {
  struct walk k = {.w = w, .err = err};
  struct place_in_order *order = find_order(w);
  int code = order ? begin(&k) : fail(&k);
  for (int i = 0; !code && i < w->whole->ntasks; i++)
    code = step(&k, order[i].task);
  for (int u = 0; !code && u < w->units->count; u++)
    if (w->units->bytes[u] && !is_valid(&k, u, w->units->owner[u]))
      code = bring(&k, u, w->units->owner[u]);
  if (!code)
    code = list_messages(&k);
  end(&k);
  free(order);
  if (code)
    tasks_free(k.local);
  *out = code ? NULL : k.local;
  return code;
}
