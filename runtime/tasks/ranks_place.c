/* Which rank has which unit, and runs which task. All ranks come to the same answer by themselves: they know the whole
 * graph, and the same costs. */
#include <stdlib.h>

#include "base/list.h"
#include "tasks/ranks.h"

/* ---- units ---- */

static struct row locks_of(const struct task_graph *g, int task) {
  return relation_row(&g->locks, (size_t)task);
}

/* The weight of a unit: costs of the tasks that lock it. A task's cost is shared out among its locks. */
static void weigh_units(const struct task_graph *g, const struct units *u, double *weight) {
  for (int t = 0; t < g->ntasks; t++) {
    long count = 0;
    for (struct row row = locks_of(g, t); row.begin < row.end && *row.begin >= 0; row.begin++)
      count += u->end[*row.begin] - u->begin[*row.begin];
    for (struct row row = locks_of(g, t); row.begin < row.end && *row.begin >= 0; row.begin++)
      for (int i = u->begin[*row.begin]; i < u->end[*row.begin]; i++)
        weight[i] += (double)g->tasks[t].cost / (double)count;
  }
}

/* Without a partitioner: equal sums of costs, in the order of the units. */
static void place_blocks(struct units *u, const double *weight, int ranks) {
  double sum = 0, before = 0;
  for (int i = 0; i < u->count; i++)
    sum += u->owner[i] == NO_RANK ? weight[i] : 0;
  for (int i = 0; i < u->count; i++) {
    if (u->owner[i] != NO_RANK)
      continue;
    const int rank = sum > 0 ? (int)((before + weight[i] / 2) / sum * ranks) : 0;
    before += weight[i];
    u->owner[i] = rank < ranks ? rank : ranks - 1;
  }
}

/* Neighbours are those that one task locks, of many only some: a chain of them. */
static int add_neighbours(const struct task_graph *g, const struct units *u, const int *number,
                          struct relation *to, struct error *err) {
  enum { FEW = 8 };
  int code = OP_OK;
  for (int t = 0; !code && t < g->ntasks; t++) {
    int found[FEW], n = 0;
    for (struct row row = locks_of(g, t); row.begin < row.end && *row.begin >= 0; row.begin++)
      for (int i = u->begin[*row.begin]; !code && i < u->end[*row.begin]; i++) {
        if (number[i] < 0)
          continue;
        for (int k = 0; !code && k < n; k++) {
          code = relation_add(to, number[i], found[k], err);
          if (!code)
            code = relation_add(to, found[k], number[i], err);
        }
        found[n < FEW ? n++ : FEW - 1] = number[i];
      }
  }
  return code;
}

/* Each neighbour once. */
static void make_rows(const struct relation *r, struct unit_graph *graph) {
  long count = 0;
  for (int i = 0; i < graph->count; i++) {
    int *begin = r->at ? r->items + r->at[i] : NULL;
    const size_t n = r->at ? r->at[i + 1] - r->at[i] : 0;
    graph->start[i] = count;
    if (n)
      qsort(begin, n, sizeof *begin, tasks_by_number);
    for (size_t k = 0; k < n; k++)
      if (begin[k] != i && (k == 0 || begin[k] != begin[k - 1]))
        graph->neighbours[count++] = begin[k];
  }
  graph->start[graph->count] = count;
}

static int ask_partitioner(const struct task_graph *g, struct units *u, const double *weight, int ranks,
                           const struct tasks_options *options, int code, struct error *err) {
  struct unit_graph graph = {.count = 0};
  struct relation near = {0};
  double sum = 0;
  struct arrays arrays = {0};
  int *number = arrays_add(&arrays, (size_t)u->count, sizeof *number),
      *part = arrays_add(&arrays, (size_t)u->count, sizeof *part);
  if (!code && arrays.failed)
    code = error_memory_of(err, "the units of graph", g->name, (size_t)u->count);
  for (int i = 0; !code && i < u->count; i++) {
    number[i] = u->owner[i] == NO_RANK ? graph.count++ : -1;
    sum += weight[i];
  }
  if (!code)
    code = add_neighbours(g, u, number, &near, err);
  if (!code)
    code = relation_sort(&near, graph.count, err);
  if (!code) {
    graph.start = arrays_add(&arrays, (size_t)graph.count + 1, sizeof *graph.start);
    graph.neighbours = arrays_add(&arrays, near.count, sizeof *graph.neighbours);
    graph.weights = arrays_add(&arrays, (size_t)graph.count, sizeof *graph.weights);
  }
  if (!code && arrays.failed)
    code = error_memory_of(err, "the units of graph", g->name, near.count * sizeof *graph.neighbours);
  if (!code)
    make_rows(&near, &graph);
  for (int i = 0; !code && i < u->count; i++)
    if (number[i] >= 0)
      graph.weights[number[i]] = 1 + (long long)(sum > 0 ? 1e6 * weight[i] / sum : 0);
  code = options->partition(options->argument, &graph, ranks, part, code, err);
  for (int i = 0; !code && i < u->count; i++)
    if (number[i] >= 0 && part[number[i]] >= 0)
      u->owner[i] = part[number[i]];
  relation_free(&near);
  arrays_free(&arrays);
  return code;
}

int place_named(const struct task_graph *g, int resource) {
  while (resource >= 0 && g->more[resource].rank < 0)
    resource = g->resources[resource].parent;
  return resource >= 0 ? g->more[resource].rank : -1;
}

int place_units(struct task_graph *g, struct units *u, const int *home, int ranks,
                const struct tasks_options *options, struct error *err) {
  bool named = true;
  for (int i = 0; i < u->count; i++) {
    const int rank = place_named(g, u->resource[i]);
    u->owner[i] = rank >= 0 ? rank % ranks : home ? home[u->resource[i]] : NO_RANK;
    if (ranks == 1)
      u->owner[i] = 0;
    named = named && u->owner[i] != NO_RANK;
  }
  if (named)
    return OP_OK;
  double *weight = array_new((size_t)u->count, sizeof *weight);
  int code = weight ? OP_OK : error_memory_of(err, "the units of graph", g->name, (size_t)u->count);
  if (weight)
    weigh_units(g, u, weight);
  /* The partitioner is asked on all ranks, or on none. */
  if (options && options->partition)
    code = ask_partitioner(g, u, weight, ranks, options, code, err);
  if (!code) /* those that the partitioner left */
    place_blocks(u, weight, ranks);
  free(weight);
  return code;
}

/* ---- tasks ---- */

struct places {
  const struct task_graph *g;
  const struct units *u;
  int ranks;
  double *load, *score; /* of each rank */
  int *at, *hint;       /* where a unit was changed last; of a task: where one before it runs */
};

/* To all ranks that have what the rows name; false: they name nothing. */
static bool add_scores(struct places *p, struct row row) {
  bool any = false;
  for (; row.begin < row.end && *row.begin >= 0; row.begin++)
    for (int i = p->u->begin[*row.begin]; i < p->u->end[*row.begin]; i++) {
      any = true;
      p->score[p->u->owner[i]] += 1 + (double)p->u->bytes[i];
      if (p->at[i] >= 0)
        p->score[p->at[i]] += 1e-3 * (1 + (double)p->u->bytes[i]);
    }
  return any;
}

/* Ranks that have at least half as much of it as the one with most are good enough: the one with the least to do is chosen. */
static int choose(struct places *p, int task) {
  int best = -1;
  for (int r = 0; r < p->ranks; r++)
    p->score[r] = 0;
  if (!add_scores(p, locks_of(p->g, task)) && !add_scores(p, relation_row(&p->g->uses, (size_t)task)) &&
      p->hint[task] >= 0)
    return p->hint[task];
  double most = 0;
  for (int r = 0; r < p->ranks; r++)
    most = p->score[r] > most ? p->score[r] : most;
  for (int r = 0; r < p->ranks; r++)
    if (2 * p->score[r] >= most && (best < 0 || p->load[r] < p->load[best]))
      best = r;
  return best;
}

static void note(struct places *p, int task, int rank) {
  const struct task_graph *g = p->g;
  if (rank >= 0 && g->types[g->tasks[task].type].function)
    p->load[rank] += (double)g->tasks[task].cost;
  for (struct row row = locks_of(g, task); row.begin < row.end && *row.begin >= 0; row.begin++)
    for (int i = p->u->begin[*row.begin]; i < p->u->end[*row.begin]; i++)
      p->at[i] = rank;
  for (struct row row = relation_row(&g->after, (size_t)task); row.begin < row.end; row.begin++)
    p->hint[*row.begin] = rank;
}

int place_tasks(const struct task_graph *g, const struct units *u, int ranks, int *place, struct error *err) {
  struct places p = {.g = g, .u = u, .ranks = ranks};
  struct arrays arrays = {0};
  p.load = arrays_add(&arrays, (size_t)ranks, sizeof *p.load);
  p.score = arrays_add(&arrays, (size_t)ranks, sizeof *p.score);
  p.at = arrays_add(&arrays, (size_t)u->count, sizeof *p.at);
  p.hint = arrays_add(&arrays, (size_t)g->ntasks, sizeof *p.hint);
  int code = OP_OK;
  if (arrays.failed)
    code = error_memory_of(err, "the places of tasks of graph", g->name, (size_t)g->ntasks * sizeof *p.hint);
  for (int t = 0; !code && t < g->ntasks; t++) {
    place[t] = NO_RANK;
    p.hint[t] = NO_RANK;
  }
  for (int i = 0; !code && i < u->count; i++)
    p.at[i] = u->owner[i];
  for (size_t i = 0; !code && i < g->ranks->said[PLACED].count; i++) {
    const struct keyed *said = &g->ranks->said[PLACED].items[i];
    place[said->task] = said->key < 0 ? EVERY_RANK : (int)said->key % ranks;
  }
  for (int i = 0; !code && i < g->ntasks; i++) {
    const int t = g->order[i];
    if (place[t] == NO_RANK)
      place[t] = choose(&p, t);
    note(&p, t, place[t]);
  }
  arrays_free(&arrays);
  return code;
}

double place_imbalance(const struct task_graph *g, const int *place, int ranks) {
  double sum = 0, most = 0;
  for (int r = 0; r < ranks; r++) {
    double load = 0;
    for (int t = 0; t < g->ntasks; t++)
      if (place[t] == r && g->types[g->tasks[t].type].function)
        load += (double)g->tasks[t].cost;
    sum += load;
    most = load > most ? load : most;
  }
  return sum > 0 ? most * ranks / sum : 1;
}

/* Units: the memory of resources that have memory, and none of those in them has. A resource without any memory in it,
 * around it or of its own is a unit too if nothing lies in it: only a lock. */

/* Facts about a resource. Resources around it have lower numbers. */
struct known {
  size_t below; /* bytes of the nearest ones in it that have memory */
  int around;   /* the unit in which it lies; the resource itself; -1: none */
  int count;    /* units in it */
  bool parted;  /* something lies in it */
};

static size_t bytes_of(const struct task_graph *g, const struct known *k, int r) {
  return g->more[r].bytes ? g->more[r].bytes : k[r].below;
}

static int refuse(const struct task_graph *g, int resource, const char *why, struct error *err) {
  struct text words = {0};
  tasks_resource_words(g, resource, &words);
  text_add(&words, why);
  return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
}

static int look_at_memory(const struct task_graph *g, struct known *k, struct error *err) {
  for (int r = g->nresources; r-- > 0;) {
    const int above = g->resources[r].parent;
    if (g->more[r].bytes && k[r].below && k[r].below != g->more[r].bytes)
      return refuse(
          g, r,
          " has memory that is not what the resources in it have together; on several ranks these must "
          "cover it, or have none",
          err);
    if (above >= 0) {
      k[above].below += bytes_of(g, k, r);
      k[above].parted = true;
    }
  }
  for (int r = 0; r < g->nresources; r++) {
    const int above = g->resources[r].parent;
    k[r].around = above >= 0 ? k[above].around : -1;
    if (k[r].around < 0 && ((g->more[r].bytes && !k[r].below) || !k[r].parted))
      k[r].around = r;
  }
  return OP_OK;
}

/* Resources in one another lie behind one another. */
static void number(const struct task_graph *g, struct known *k, struct units *u, int *next) {
  for (int r = g->nresources; r-- > 0;) {
    const int above = g->resources[r].parent;
    k[r].count += k[r].around == r;
    if (above >= 0)
      k[above].count += k[r].count;
  }
  for (int r = 0; r < g->nresources; r++) {
    const int above = g->resources[r].parent, around = k[r].around;
    int *from = above >= 0 ? &next[above] : &u->count;
    const int at = *from;
    *from += k[r].count;
    next[r] = at;
    u->begin[r] = around >= 0 && around != r ? u->begin[around] : at;
    u->end[r] = around >= 0 && around != r ? u->end[around] : at + k[r].count;
    if (around == r) {
      u->resource[at] = r;
      u->bytes[at] = g->more[r].bytes;
    }
  }
}

int units_find(const struct task_graph *g, struct units *u, struct error *err) {
  const size_t n = (size_t)g->nresources;
  struct arrays own = {0};
  struct known *k = arrays_add(&own, n, sizeof *k);
  int *next = arrays_add(&own, n, sizeof *next), code = OP_OK;
  units_free(u);
  u->resource = arrays_add(&u->arrays, n, sizeof *u->resource);
  u->begin = arrays_add(&u->arrays, n, sizeof *u->begin);
  u->end = arrays_add(&u->arrays, n, sizeof *u->end);
  u->bytes = arrays_add(&u->arrays, n, sizeof *u->bytes);
  u->owner = arrays_add(&u->arrays, n, sizeof *u->owner);
  if (own.failed || u->arrays.failed)
    code = error_memory_of(err, "the resources of graph", g->name, n * sizeof *k);
  if (!code)
    code = look_at_memory(g, k, err);
  if (!code)
    number(g, k, u, next);
  arrays_free(&own);
  return code;
}
