#include "tasks/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "ranks/agree.h"
#include "tasks/ranks_messages.h"

/* ---- what the program says ---- */

bool tasks_on_ranks(const struct task_graph *g) {
  return g->ranks;
}

int tasks_ranks(struct task_graph *g, int form, struct error *err) {
  if (form != OP_GRAPH_WHOLE && form != OP_GRAPH_PARTS)
    return error_set(err, OP_ERR_ARGUMENT,
                     "graph \"%s\": %d is no way to share it; give OP_GRAPH_WHOLE or OP_GRAPH_PARTS", g->name,
                     form);
  if (g->ranks || g->ntypes || g->ntasks || g->nresources)
    return error_set(err, OP_ERR_STATE,
                     "graph \"%s\" is %s; call op_graph_ranks once, as the first call with the graph",
                     g->name, g->ranks ? "of all ranks already" : "not empty");
  struct graph_ranks *k = array_new(1, sizeof *k);
  if (!k)
    return error_memory_of(err, "graph", g->name, sizeof *k);
  k->form = form;
  g->ranks = k;
  if (tasks_add_type(g, "send", NULL, err) && tasks_add_type(g, "receive", NULL, err))
    return OP_OK;
  tasks_back_to(g, (struct tasks_mark){0});
  ranks_free(k);
  g->ranks = NULL;
  return err->code;
}

static int refuse_one_process(const struct task_graph *g, const char *call, struct error *err) {
  return error_set(
      err, OP_ERR_STATE,
      "graph \"%s\" is of one process, and %s says something of ranks; call op_graph_ranks first", g->name,
      call);
}

int tasks_owner(struct task_graph *g, op_resource resource, int rank, struct error *err) {
  const int index = tasks_index(g, resource, NUMBER_RESOURCE, err);
  if (index < 0)
    return err->code;
  if (!g->ranks)
    return refuse_one_process(g, "op_graph_owner", err);
  if (rank < 0)
    return error_set(err, OP_ERR_ARGUMENT, "graph \"%s\": rank %d cannot own a resource; give one from 0",
                     g->name, rank);
  g->more[index].rank = rank;
  g->ranks->changed = true;
  return OP_OK;
}

static int say(struct task_graph *g, int what, int task, long long key, struct error *err) {
  g->ranks->changed = true;
  return ranks_add_keyed(g, &g->ranks->said[what], (struct keyed){key, task}, err);
}

int tasks_place(struct task_graph *g, op_task task, int rank, struct error *err) {
  const int index = tasks_index(g, task, NUMBER_TASK, err);
  if (index < 0)
    return err->code;
  if (!g->ranks)
    return refuse_one_process(g, "op_graph_place", err);
  if (rank < OP_EVERY_RANK)
    return error_set(err, OP_ERR_ARGUMENT,
                     "graph \"%s\": a task cannot run on rank %d; give one from 0, or OP_EVERY_RANK", g->name,
                     rank);
  return say(g, PLACED, index, rank, err);
}

static int add_keyed(struct task_graph *g, int what, op_task task, long long key, const char *call,
                     struct error *err) {
  const int index = tasks_index(g, task, NUMBER_TASK, err);
  if (index < 0)
    return err->code;
  if (!g->ranks || g->ranks->form != OP_GRAPH_PARTS)
    return error_set(err, OP_ERR_STATE,
                     "graph \"%s\": %s is for graphs of which each rank adds its part (OP_GRAPH_PARTS)",
                     g->name, call);
  return say(g, what, index, key, err);
}

int tasks_key(struct task_graph *g, op_task task, long long key, struct error *err) {
  return add_keyed(g, KEYS, task, key, "op_graph_key", err);
}

int tasks_depend_key(struct task_graph *g, op_task task, long long key, struct error *err) {
  return add_keyed(g, WAITS, task, key, "op_graph_depend_key", err);
}

/* ---- memory that the library keeps ---- */

static int keep_room(struct task_graph *g, int resource, struct error *err) {
  struct graph_ranks *k = g->ranks;
  struct task_graph *whole = ranks_whole(g);
  struct resource_more *more = &whole->more[resource];
  struct kept_room *rooms = array_more(k->rooms, k->nrooms, sizeof *rooms);
  if (rooms)
    k->rooms = rooms;
  void *memory = array_new(more->bytes, 1);
  if (!rooms || !memory) {
    free(memory);
    return error_memory_of(err, "the memory of resources of graph", g->name, more->bytes);
  }
  rooms[k->nrooms++] = (struct kept_room){.resource = resource, .bytes = more->bytes, .memory = memory};
  more->memory = memory;
  return OP_OK;
}

static bool lies_in(const struct resource_more *inner, const struct resource_more *outer) {
  const uintptr_t begin = (uintptr_t)outer->memory, at = (uintptr_t)inner->memory;
  return at >= begin && inner->bytes <= outer->bytes && at - begin <= outer->bytes - inner->bytes;
}

static int refuse_memory(const struct task_graph *g, const struct task_graph *whole, int inner, int outer,
                         struct error *err) {
  const bool has_memory = whole->more[outer].memory;
  struct text words = {0};
  text_add(&words, has_memory ? "the memory of " : "the library keeps memory for ");
  tasks_resource_words(whole, inner, &words);
  text_add(&words, has_memory ? " is not in that of " : ", and so it has none for ");
  tasks_resource_words(whole, outer, &words);
  text_add(&words, has_memory ? ", in which it lies; name a part of that memory by op_graph_memory"
                              : ", in which that lies; name memory of both by op_graph_memory, or of the "
                                "former alone");
  return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
}

/* Only the memory of units travels: a task that touches a resource around them must find their memory in it. In parts a task may be on a
 * rank that knows no such memory, and gets none. */
static int look_around(struct task_graph *g, int resource, struct error *err) {
  const struct units *u = &g->ranks->units;
  const struct task_graph *whole = ranks_whole(g);
  const struct resource_more *outer = &whole->more[resource];
  for (int k = u->begin[resource]; outer->bytes && k < u->end[resource]; k++) {
    const int unit = u->resource[k];
    if (unit != resource && u->bytes[k] &&
        !(outer->memory ? lies_in(&whole->more[unit], outer) : !!g->ranks->whole))
      return refuse_memory(g, whole, unit, resource, err);
  }
  return OP_OK;
}

/* Memory for the units that tasks here touch, and for those that this rank has between runs. */
static int keep_rooms(struct task_graph *g, struct task_graph *local, int rank, struct error *err) {
  const struct units *u = &g->ranks->units;
  struct task_graph *whole = ranks_whole(g);
  bool *needed = array_new((size_t)u->count, sizeof *needed);
  int code =
      needed ? OP_OK : error_memory_of(err, "the memory of resources of graph", g->name, (size_t)u->count);
  const struct relation *rows[] = {&local->locks, &local->uses};
  for (int i = 0; !code && i < 2; i++)
    for (size_t n = 0; n < rows[i]->count; n++)
      for (int r = rows[i]->items[n], k = r < 0 ? 0 : u->begin[r]; r >= 0 && k < u->end[r]; k++)
        needed[k] = true;
  for (int k = 0; !code && k < u->count; k++) {
    const int r = u->resource[k];
    if (u->bytes[k] && !whole->more[r].memory && (needed[k] || u->owner[k] == rank))
      code = keep_room(g, r, err);
    local->more[r].memory = whole->more[r].memory;
  }
  for (int i = 0; !code && i < 2; i++)
    for (size_t n = 0; !code && n < rows[i]->count; n++)
      code = rows[i]->items[n] < 0 ? OP_OK : look_around(g, rows[i]->items[n], err);
  free(needed);
  return code;
}

/* ---- the part of this rank ---- */

/* Types of a whole are those of several ranks. */
static int own_types(struct task_graph *g, struct task_graph *local, int rank, struct error *err) {
  const struct task_graph *whole = ranks_whole(g);
  local->types = array_new((size_t)g->ntypes, sizeof *local->types);
  if (!local->types)
    return error_memory_of(err, "the types of graph", g->name, (size_t)g->ntypes * sizeof *local->types);
  for (int i = 0; i < g->ntypes; i++) {
    local->types[i].name = strdup(g->types[i].name);
    local->types[i].function = g->types[i].function;
    local->ntypes += local->types[i].name != NULL;
    if (!local->types[i].name)
      return error_memory_of(err, "the types of graph", g->name, strlen(g->types[i].name));
  }
  for (int t = 0; whole != g && t < local->ntasks; t++) {
    int own = 0;
    const char *name = whole->types[local->tasks[t].type].name;
    while (own < g->ntypes && strcmp(g->types[own].name, name) != 0)
      own++;
    if (own == g->ntypes) {
      struct text words = {0};
      tasks_task_words(local, &local->tasks[t], &words);
      text_addf(
          &words,
          " is to run on rank %d, which has no type \"%s\"; let every rank call op_graph_type for it, or "
          "say by op_graph_place where it runs",
          rank, name);
      return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
    }
    local->tasks[t].type = own;
  }
  return OP_OK;
}

int ranks_first_home(const struct task_graph *whole, const int *home, int resource) {
  int above = whole->resources[resource].parent;
  while (above >= 0 && !whole->more[above].bytes)
    above = whole->resources[above].parent;
  return above >= 0 ? home[above] : NO_RANK;
}

/* Owners of units, and ranks of tasks. Owners that nobody named may change. */
static int find_places(struct task_graph *g, const struct tasks_options *o, bool anew, struct error *err) {
  struct graph_ranks *k = g->ranks;
  struct task_graph *whole = ranks_whole(g);
  const int ranks = o->comm->size;
  int code = units_find(whole, &k->units, err);
  int *home = code ? k->home : array_resize(k->home, (size_t)whole->nresources, sizeof *home);
  if (!code && !home)
    code = error_memory_of(err, "the resources of graph", g->name, (size_t)whole->nresources * sizeof *home);
  if (home)
    k->home = home;
  for (; !code && k->nhomes < whole->nresources; k->nhomes++)
    k->home[k->nhomes] = ranks_first_home(whole, home, k->nhomes);
  code = agree_on_success(o->comm, code, err);
  if (!code)
    code = place_units(whole, &k->units, anew ? NULL : k->home, ranks, o, err);
  free(k->place);
  k->place = array_new((size_t)whole->ntasks, sizeof *k->place);
  if (!code && !k->place)
    code = error_memory_of(err, "the places of tasks of graph", g->name, (size_t)whole->ntasks);
  return code ? code : place_tasks(whole, &k->units, ranks, k->place, err);
}

static void sum_messages(struct graph_ranks *k) {
  k->messages = k->bytes = 0;
  for (int i = 0; i < k->local->messages->count; i++) {
    const struct message *one = &k->local->messages->items[i];
    const bool sends = k->local->tasks[one->node].type == TYPE_SEND;
    k->messages += sends;
    k->bytes += sends ? (long long)one->bytes : 0;
  }
}

static int build_part(struct task_graph *g, const struct tasks_options *o, struct error *err) {
  struct graph_ranks *k = g->ranks;
  struct task_graph *whole = ranks_whole(g);
  const int rank = o->comm->rank;
  const struct wires w = {.whole = whole,
                          .units = &k->units,
                          .place = k->place,
                          .home = k->home,
                          .me = rank,
                          .ranks = o->comm->size,
                          .ordered = o->ordered};
  tasks_free(k->local);
  k->local = NULL;
  int code = wires_build(&w, &k->local, err);
  if (!code)
    code = own_types(g, k->local, rank, err);
  if (!code)
    code = tasks_prepare(k->local, err);
  if (!code)
    code = keep_rooms(g, k->local, rank, err);
  if (!code && k->local->messages->count == 0) {
    messages_free(k->local->messages);
    k->local->messages = NULL;
    k->messages = k->bytes = 0;
  } else if (!code) {
    code = messages_open(k->local, o->messages, err);
    sum_messages(k);
  }
  if (!code) {
    k->local->runs = g->runs;
    k->local->unit = g->unit;
    k->ordered = o->ordered;
    k->changed = false;
  }
  return code;
}

/* ---- costs ---- */

int ranks_costs(struct task_graph *whole, const struct task_graph *from, struct comm *comm,
                struct error *err) {
  const size_t tasks = (size_t)whole->ntasks;
  double *costs = array_new(tasks, sizeof *costs);
  int code = costs ? OP_OK : error_memory_of(err, "the costs of graph", whole->name, tasks * sizeof *costs);
  code = agree_on_success(comm, code, err);
  for (int t = 0; !code && t < from->ntasks; t++) {
    const int origin = from->origins ? from->origins[t] : t;
    if (origin >= 0)
      costs[origin] = (double)from->tasks[t].cost;
  }
  if (!code)
    code = comm->table->reduce_all(comm, costs, whole->ntasks, COMM_DOUBLE, COMM_MAX, err);
  for (int t = 0; !code && t < whole->ntasks; t++)
    whole->tasks[t].cost = (float)costs[t];
  free(costs);
  return code;
}

/* Once costs are known: is it worth other owners? The same answer on all ranks. */
static int find_balance(struct task_graph *g, const struct tasks_options *o, bool *anew, struct error *err) {
  static const double enough = 1.1;
  struct graph_ranks *k = g->ranks;
  struct task_graph *whole = ranks_whole(g);
  bool named = true;
  *anew = false;
  for (int i = 0; i < k->units.count; i++)
    named = named && place_named(whole, k->units.resource[i]) >= 0;
  if (named || comm_alone(o->comm))
    return OP_OK;
  const int code = ranks_costs(whole, k->local, o->comm, err);
  *anew = !code && place_imbalance(whole, k->place, o->comm->size) > enough;
  return code;
}

/* ---- a run ---- */

/* All ranks know whether one of them has to build its part. */
static int agree_on_run(struct task_graph *g, const struct tasks_options *o, bool *build, struct error *err) {
  struct text facts = {0};
  struct agreement a = {.facts = &facts};
  text_addf(&facts, "call\top_graph_run of graph \"%s\"\nparts\t%d\nruns\t%lld\n", g->name, g->ranks->form,
            g->runs);
  a.numbers[0] = g->ranks->changed || !g->ranks->local || !g->sorted || g->ranks->ordered != o->ordered;
  const int code = agree(o->comm, &a, err);
  *build = a.numbers[0] != 0;
  text_free(&facts);
  return code;
}

static int prepare(struct task_graph *g, const struct tasks_options *o, struct error *err) {
  bool build = false, anew = false;
  int code = agree_on_run(g, o, &build, err);
  if (!code && build)
    code = ranks_share(g, o->comm, err);
  else if (!code && (g->runs == 1 || g->runs == 4 || g->runs == 16))
    code = find_balance(g, o, &anew, err);
  if (code || (!build && !anew))
    return code;
  code = find_places(g, o, anew, err);
  if (!code)
    code = build_part(g, o, err);
  return agree_on_success(o->comm, code, err);
}

/* Units are with their owners again; where they began elsewhere the next run has other messages. */
static void note_homes(struct graph_ranks *k) {
  const struct units *u = &k->units;
  for (int i = 0; i < u->count; i++) {
    const int home = k->home[u->resource[i]];
    k->changed = k->changed || (home != NO_RANK && home != u->owner[i]);
  }
  for (int r = 0; r < k->nhomes; r++)
    k->home[r] = u->begin[r] < u->end[r] ? u->owner[u->begin[r]] : NO_RANK;
}

static int ranks_run(struct task_graph *g, const struct tasks_options *options, struct error *err) {
  int code = prepare(g, options, err);
  if (code)
    return code;
  struct task_graph *local = g->ranks->local;
  const long long runs = g->runs;
  if (options->checked)
    code = agree_on_success(options->comm, check_uses(ranks_whole(g), err), err);
  if (!code)
    code = tasks_prepare(local, err);
  if (!code)
    code = run_prepared(g, local, options, err);
  if (code && local->run && local->run->lost && !comm_alone(options->comm))
    options->messages->table->tell(options->messages, err);
  code = agree_on_success(options->comm, code, err);
  g->ranks->size = options->comm->size;
  g->ranks->waited = local->messages ? 1e-9 * (double)local->messages->waited : 0;
  if (code) { /* which counts on no rank, though some came to its end */
    g->ranks->changed = true;
    g->runs = runs;
  } else
    note_homes(g->ranks);
  return code;
}

int tasks_run(struct task_graph *g, const struct tasks_options *options, struct error *err) {
  if (g->ranks)
    return ranks_run(g, options, err);
  int code = tasks_need_device(g, err);
  if (!code)
    code = tasks_prepare(g, err);
  return code ? code : run_prepared(g, g, options, err);
}
