/* The whole graph on each rank. Where every rank adds all of it, they compare what they added; else each sends its part to
 * all others. Types and resources of one name are the same; a resource without a name is its rank's own. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "ranks/agree.h"
#include "tasks/ranks.h"

/* ---- all of it on every rank ---- */

static unsigned long long hash_of(const void *bytes, size_t length, unsigned long long sum) {
  const unsigned char *p = bytes;
  while (length-- > 0)
    sum = (sum ^ *p++) * 1099511628211u;
  return sum;
}

static unsigned long long hash_rows(const struct relation *r) {
  const unsigned long long sum = hash_of(r->items, r->count * sizeof *r->items, 14695981039346656037u);
  return r->at ? hash_of(r->at, ((size_t)r->tasks + 1) * sizeof *r->at, sum) : sum;
}

static void add_facts(const struct task_graph *g, struct text *out) {
  const struct keyed_list *placed = &g->ranks->said[PLACED];
  unsigned long long types = 0, forest = 0, memory = 0;
  text_addf(out, "graph\t\"%s\"\ntypes\t", g->name);
  for (int i = TYPES_OF_MESSAGES; i < g->ntypes; i++)
    text_addf(out, "%s%s%s", i > TYPES_OF_MESSAGES ? ", " : "", g->types[i].name,
              g->types[i].function ? "" : " (nothing to do)");
  for (int t = 0; t < g->ntasks; t++)
    types = hash_of(&g->tasks[t].type, sizeof g->tasks[t].type, types + 1);
  for (int r = 0; r < g->nresources; r++) {
    forest = hash_of(&g->resources[r].parent, sizeof g->resources[r].parent, forest + 1);
    memory = hash_of(&g->more[r].bytes, sizeof g->more[r].bytes, memory + 1);
  }
  text_addf(out, "\ntasks\t%d\nresources\t%d\n", g->ntasks, g->nresources);
  text_addf(out, "the types of tasks (a sum)\t%llx\nwhich resources lie in which (a sum)\t%llx\n", types,
            forest);
  text_addf(out, "the bytes of resources (a sum)\t%llx\n", memory);
  text_addf(out, "dependencies\t%zu\ndependencies (a sum)\t%llx\n", g->after.count, hash_rows(&g->after));
  text_addf(out, "locks (a sum)\t%llx\nuses (a sum)\t%llx\n", hash_rows(&g->locks), hash_rows(&g->uses));
  text_addf(out, "places of tasks (a sum)\t%llx\n",
            hash_of(placed->items, placed->count * sizeof *placed->items, 1));
}

static int refuse_owners(const struct task_graph *g, int resource, long long one, long long other,
                         struct error *err) {
  struct text words = {0};
  tasks_resource_words(g, resource, &words);
  text_addf(&words,
            " has two owners: one rank says rank %lld, and another rank %lld; let all ranks say the same in "
            "op_graph_owner",
            one, other);
  return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
}

/* A rank that names no owner follows the others. */
static int compare_owners(struct task_graph *g, struct comm *comm, struct error *err) {
  const int n = g->nresources;
  long long *most = array_new((size_t)n, sizeof *most), *least = array_new((size_t)n, sizeof *least);
  int code = most && least ? OP_OK : error_memory_of(err, "the owners of graph", g->name, (size_t)n);
  code = agree_on_success(comm, code, err);
  for (int r = 0; !code && r < n; r++) {
    most[r] = g->more[r].rank;
    least[r] = g->more[r].rank < 0 ? INT_MAX : g->more[r].rank;
  }
  if (!code)
    code = comm->table->reduce_all(comm, most, n, COMM_LLONG, COMM_MAX, err);
  if (!code)
    code = comm->table->reduce_all(comm, least, n, COMM_LLONG, COMM_MIN, err);
  for (int r = 0; !code && r < n; r++) {
    if (most[r] >= 0 && most[r] != least[r])
      code = refuse_owners(g, r, least[r], most[r], err);
    g->more[r].rank = (int)most[r];
  }
  free(most);
  free(least);
  return agree_on_success(comm, code, err);
}

static int compare(struct task_graph *g, struct comm *comm, struct error *err) {
  struct text facts = {0};
  int code = tasks_prepare(g, err);
  if (!code)
    add_facts(g, &facts);
  code = agree(comm, &(struct agreement){.code = code, .facts = &facts}, err);
  text_free(&facts);
  if (!code && !comm_alone(comm))
    code = compare_owners(g, comm, err);
  /* Measured costs differ, and tasks must have the same places on all ranks. */
  if (!code && !comm_alone(comm))
    code = ranks_costs(g, g, comm, err);
  return code;
}

/* ---- parts: to bytes ---- */

static void put_int(struct text *out, long long value) {
  text_add_bytes(out, &value, sizeof value);
}
static void put_index(struct text *out, int value) {
  text_add_bytes(out, &value, sizeof value);
}
static void put_bytes(struct text *out, const void *bytes, size_t length) {
  put_int(out, (long long)length);
  if (length)
    text_add_bytes(out, bytes, length);
}
static void put_name(struct text *out, const char *name) {
  put_bytes(out, name ? name : "", name ? strlen(name) : 0);
}

/* Rows, which are sorted: they keep the program's order. Behind each is -1. */
static void put_relation(struct text *out, const struct relation *r, int ntasks) {
  for (int t = 0; t < ntasks; t++) {
    for (struct row row = relation_row(r, (size_t)t); row.begin < row.end && *row.begin >= 0; row.begin++)
      put_index(out, *row.begin);
    put_index(out, -1);
  }
}

static int put_part(const struct task_graph *g, struct text *out, struct error *err) {
  const struct graph_ranks *k = g->ranks;
  put_int(out, g->ntypes);
  for (int i = 0; i < g->ntypes; i++) {
    put_name(out, g->types[i].name);
    put_int(out, g->types[i].function != NULL);
  }
  put_int(out, g->nresources);
  for (int r = 0; r < g->nresources; r++) {
    put_name(out, g->more[r].name);
    put_int(out, g->resources[r].parent);
    put_int(out, (long long)g->more[r].bytes);
    put_int(out, g->more[r].rank);
  }
  put_int(out, g->ntasks);
  for (int t = 0; t < g->ntasks; t++) {
    put_int(out, g->tasks[t].type);
    put_bytes(out, &g->tasks[t].cost, sizeof g->tasks[t].cost);
    put_bytes(out, g->tasks[t].data, k->sizes[t]);
  }
  const struct relation *rows[] = {&g->after, &g->locks, &g->uses, &g->touched};
  for (int i = 0; i < 4; i++)
    put_relation(out, rows[i], g->ntasks);
  for (int i = 0; i < KEYED; i++)
    put_bytes(out, k->said[i].items, k->said[i].count * sizeof(struct keyed));
  return text_ok(out) ? OP_OK : error_memory_of(err, "a part of graph", g->name, out->length);
}

/* ---- parts: and back ---- */

/* A part has this form on all ranks, which are of one program: it is read without doubts. */
struct reader {
  const unsigned char *at;
};

static long long get_int(struct reader *in) {
  long long value;
  memcpy(&value, in->at, sizeof value);
  in->at += sizeof value;
  return value;
}
static int get_index(struct reader *in) {
  int value;
  memcpy(&value, in->at, sizeof value);
  in->at += sizeof value;
  return value;
}
static const void *get_bytes(struct reader *in, size_t *length) {
  *length = (size_t)get_int(in);
  const void *bytes = in->at;
  in->at += *length;
  return bytes;
}
/* To be freed; NULL: no memory. */
static char *get_name(struct reader *in) {
  size_t length;
  const char *name = get_bytes(in, &length);
  return strndup(name, length);
}

/* Names of resources of the whole, by their hashes. */
struct names {
  int *slots; /* 1 more than the resource; 0: free */
  size_t size;
};

static int *find_slot(const struct names *n, const struct task_graph *whole, const char *name) {
  size_t at = hash_of(name, strlen(name), 14695981039346656037u) % n->size;
  while (n->slots[at] && strcmp(whole->more[n->slots[at] - 1].name, name) != 0)
    at = (at + 1) % n->size;
  return &n->slots[at];
}

struct merge {
  struct task_graph *own, *whole;
  struct names names;
  int rank, from, first;  /* whose part it is; whose turn it is, its first task there */
  int *types, *resources; /* of that part, in the whole */
  struct error *err;
};

static void do_nothing(op_running *running, void *data) {
  (void)running, (void)data;
}

static int merge_types(struct merge *m, struct reader *in) {
  const int count = (int)get_int(in);
  m->types = array_new((size_t)count, sizeof *m->types);
  for (int i = 0; m->types && i < count; i++) {
    char *name = get_name(in);
    op_task_function *function = get_int(in) ? do_nothing : NULL;
    int at = 0;
    while (name && at < m->whole->ntypes && strcmp(m->whole->types[at].name, name) != 0)
      at++;
    if (name && at == m->whole->ntypes)
      tasks_add_type(m->whole, name, function, m->err);
    m->types[i] = at;
    const bool good = name && !m->err->code;
    free(name);
    if (!good)
      return m->err->code ? m->err->code : error_memory_of(m->err, "a part of graph", m->own->name, 1);
  }
  return m->types ? OP_OK : error_memory_of(m->err, "a part of graph", m->own->name, 1);
}

static int refuse_resource(const struct merge *m, int at, long long was, long long is, const char *what) {
  return error_set(m->err, OP_ERR_GRAPH,
                   "graph \"%s\": resource \"%s\" %s %lld by rank %d, and %lld before; what has one name is "
                   "one resource on all ranks",
                   m->own->name, m->whole->more[at].name, what, is, m->from, was);
}

static int merge_resource(struct merge *m, struct reader *in, int *out) {
  char *name = get_name(in);
  const int above = (int)get_int(in);
  const long long bytes = get_int(in), rank = get_int(in);
  if (!name)
    return error_memory_of(m->err, "a part of graph", m->own->name, 1);
  int *slot = *name ? find_slot(&m->names, m->whole, name) : NULL;
  const bool is_new = !slot || !*slot;
  if (is_new) {
    const op_resource parent = above >= 0 ? tasks_number(m->whole, NUMBER_RESOURCE, m->resources[above]) : 0;
    tasks_add_resource(m->whole, parent, *name ? name : NULL, m->err);
    if (slot && !m->err->code)
      *slot = m->whole->nresources;
  }
  free(name);
  if (m->err->code)
    return m->err->code;
  const int at = *out = is_new ? m->whole->nresources - 1 : *slot - 1;
  struct resource_more *more = &m->whole->more[at];
  if (bytes && more->bytes && (long long)more->bytes != bytes)
    return refuse_resource(m, at, (long long)more->bytes, bytes, "has its bytes said to be");
  if (rank >= 0 && more->rank >= 0 && more->rank != rank && !is_new && more->seen)
    return refuse_resource(m, at, more->rank, rank, "has two owners: it is said to be of rank");
  if (!is_new && m->whole->resources[at].parent != (above >= 0 ? m->resources[above] : -1))
    return error_set(
        m->err, OP_ERR_GRAPH,
        "graph \"%s\": rank %d puts resource \"%s\" into another one than a lower rank does; what has "
        "one name is one resource on all ranks",
        m->own->name, m->from, more->name);
  more->bytes = bytes ? (size_t)bytes : more->bytes;
  /* The rank that named it first has it, unless a rank names an owner; `seen` says until the first run that one did. */
  if (is_new || (rank >= 0 && !more->seen))
    more->rank = rank >= 0 ? (int)rank : m->from;
  more->seen = more->seen || rank >= 0;
  return OP_OK;
}

static int merge_resources(struct merge *m, struct reader *in) {
  const int count = (int)get_int(in);
  int code = OP_OK;
  struct graph_ranks *k = m->whole->ranks;
  k->from[m->from + 1] = k->from[m->from] + count;
  m->resources = k->resources + k->from[m->from];
  for (int i = 0; !code && i < count; i++) {
    code = merge_resource(m, in, &m->resources[i]);
    if (!code && m->from == m->rank && m->own->more[i].memory)
      m->whole->more[m->resources[i]].memory = m->own->more[i].memory;
  }
  return code;
}

static int merge_tasks(struct merge *m, struct reader *in) {
  const int count = (int)get_int(in);
  m->first = m->whole->ranks->first[m->from] = m->whole->ntasks;
  for (int i = 0; i < count; i++) {
    size_t length, bytes;
    const int type = m->types[get_int(in)];
    float cost;
    memcpy(&cost, get_bytes(in, &length), sizeof cost);
    const void *data = get_bytes(in, &bytes);
    if (!tasks_add_task(m->whole, tasks_number(m->whole, NUMBER_TYPE, type), data, bytes, (double)cost,
                        m->err))
      return m->err->code;
  }
  return OP_OK;
}

static int merge_relation(struct merge *m, struct reader *in, struct relation *to, bool of_tasks) {
  int code = OP_OK;
  for (int t = m->first; t < m->whole->ntasks; t++)
    for (int item; !code && (item = get_index(in)) >= 0;) {
      const int other = of_tasks ? m->first + item : m->resources[item];
      code = relation_add(to, t, other, m->err);
      if (of_tasks && !code)
        m->whole->tasks[other].before++;
    }
  return code;
}

static int merge_keyed(struct merge *m, struct reader *in, struct keyed_list *list) {
  size_t length;
  int code = OP_OK;
  const unsigned char *items = get_bytes(in, &length);
  for (size_t i = 0; !code && i < length / sizeof(struct keyed); i++) {
    struct keyed one;
    memcpy(&one, items + i * sizeof one, sizeof one);
    one.task += m->first;
    code = ranks_add_keyed(m->own, list, one, m->err);
  }
  return code;
}

static int merge_part(struct merge *m, struct reader in) {
  int code = merge_types(m, &in);
  if (!code)
    code = merge_resources(m, &in);
  if (!code)
    code = merge_tasks(m, &in);
  struct relation *to[] = {&m->whole->after, &m->whole->locks, &m->whole->uses, &m->whole->touched};
  for (int i = 0; !code && i < 4; i++)
    code = merge_relation(m, &in, to[i], i == 0);
  for (int i = 0; !code && i < KEYED; i++)
    code = merge_keyed(m, &in, &m->whole->ranks->said[i]);
  free(m->types);
  m->types = NULL;
  return code;
}

/* ---- keys ---- */

static int by_key(const void *a, const void *b) {
  const struct keyed *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->task > y->task) - (x->task < y->task);
}

static int refuse_key(const struct task_graph *g, long long one, long long other, long long key,
                      struct error *err) {
  struct text words = {0};
  tasks_task_words(g, &g->tasks[one], &words);
  text_addf(&words,
            other < 0 ? " waits for a task with the key %lld, which " : " has the key %lld, and so has ",
            key);
  if (other >= 0)
    tasks_task_words(g, &g->tasks[other], &words);
  text_add(&words, other < 0 ? "no rank has added; call op_graph_key for that task"
                             : "; give each task a key of its own");
  return tasks_refuse(g, OP_ERR_GRAPH, &words, err);
}

static int follow_keys(struct task_graph *g, struct error *err) {
  const struct keyed_list *keys = &g->ranks->said[KEYS], *waits = &g->ranks->said[WAITS];
  if (keys->count)
    qsort(keys->items, keys->count, sizeof *keys->items, by_key);
  for (size_t i = 1; i < keys->count; i++)
    if (keys->items[i].key == keys->items[i - 1].key)
      return refuse_key(g, keys->items[i - 1].task, keys->items[i].task, keys->items[i].key, err);
  for (size_t i = 0; i < waits->count; i++) {
    const struct keyed *wait = &waits->items[i];
    size_t low = 0, high = keys->count;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (keys->items[middle].key < wait->key)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == keys->count || keys->items[low].key != wait->key)
      return refuse_key(g, wait->task, -1, wait->key, err);
    if (relation_add(&g->after, (int)keys->items[low].task, (int)wait->task, err))
      return err->code;
    g->tasks[wait->task].before++;
  }
  return OP_OK;
}

/* ---- bringing them together ---- */

static struct task_graph *new_whole(const struct task_graph *g, const struct comm *comm, size_t resources) {
  const size_t ranks = (size_t)comm->size;
  struct task_graph *whole = tasks_new(g->name, g->serial);
  struct graph_ranks *k = whole ? whole->ranks = array_new(1, sizeof *k) : NULL;
  if (k) {
    *k = (struct graph_ranks){.form = OP_GRAPH_PARTS, .ranks = comm->size, .me = comm->rank};
    k->first = arrays_add(&k->arrays, ranks + 1, sizeof *k->first);
    k->from = arrays_add(&k->arrays, ranks + 1, sizeof *k->from);
    k->resources = arrays_add(&k->arrays, resources, sizeof *k->resources);
  }
  if (k && !k->arrays.failed)
    return whole;
  tasks_free(whole);
  return NULL;
}

/* Resources keep who has them, and the room that the library kept, wherever they are in the new whole. */
static int carry(struct graph_ranks *k, struct task_graph *whole, struct error *err) {
  const struct graph_ranks *now = whole->ranks, *was = k->whole ? k->whole->ranks : NULL;
  const size_t old = was ? (size_t)k->whole->nresources : 0, n = (size_t)whole->nresources;
  int *home = array_new(n, sizeof *home), *moved = array_new(old, sizeof *moved);
  if (!home || !moved) {
    free(home);
    free(moved);
    return error_memory_of(err, "the resources of graph", whole->name, n * sizeof *home);
  }
  for (int r = 0; was && r < now->ranks; r++)
    for (int i = was->from[r]; i < was->from[r + 1]; i++)
      moved[was->resources[i]] = now->resources[now->from[r] + i - was->from[r]];
  for (size_t r = 0; r < n; r++)
    home[r] = NO_RANK - 1;
  for (int r = 0; r < k->nhomes; r++)
    home[moved[r]] = k->home[r];
  for (int r = 0; r < whole->nresources; r++)
    if (home[r] < NO_RANK)
      home[r] = ranks_first_home(whole, home, r);
  for (size_t i = 0; i < k->nrooms; i++) {
    struct kept_room *room = &k->rooms[i];
    const int to = moved[room->resource];
    struct resource_more *more = &whole->more[to];
    const bool had = k->whole->more[room->resource].memory == room->memory && home[to] == now->me;
    if (more->bytes == room->bytes && !more->memory)
      more->memory = room->memory;
    else if (more->bytes == room->bytes && had) /* the program has memory for it now */
      memcpy((void *)(uintptr_t)more->memory, room->memory, room->bytes);
    room->resource = to;
  }
  free(k->home);
  free(moved);
  k->home = home;
  k->nhomes = whole->nresources;
  return OP_OK;
}

static int merge(struct task_graph *g, const struct comm *comm, const unsigned char *all, size_t most,
                 struct error *err) {
  long long resources = 0;
  for (int r = 0; r < comm->size; r++) {
    struct reader in = {all + (size_t)r * most};
    resources += get_int(&in);
  }
  struct merge m = {.own = g, .whole = new_whole(g, comm, (size_t)resources), .rank = comm->rank, .err = err};
  int code = m.whole ? OP_OK : error_memory_of(err, "graph", g->name, sizeof *m.whole);
  m.names.size = 2 * (size_t)resources + 1;
  m.names.slots = array_new(m.names.size, sizeof *m.names.slots);
  if (!code && !m.names.slots)
    code = error_memory_of(err, "graph", g->name, m.names.size * sizeof *m.names.slots);
  for (m.from = 0; !code && m.from < comm->size; m.from++)
    code = merge_part(&m, (struct reader){all + (size_t)m.from * most + sizeof(long long)});
  if (!code) {
    m.whole->ranks->first[comm->size] = m.whole->ntasks;
    code = follow_keys(m.whole, err);
  }
  if (!code)
    code = tasks_prepare(m.whole, err);
  if (!code)
    code = relation_sort(&m.whole->touched, m.whole->ntasks, err);
  if (!code)
    code = carry(g->ranks, m.whole, err);
  free(m.names.slots);
  if (code) {
    tasks_free(m.whole);
    return code;
  }
  tasks_free(g->ranks->whole);
  g->ranks->whole = m.whole;
  return OP_OK;
}

static int bring_together(struct task_graph *g, struct comm *comm, struct error *err) {
  struct text part = {0};
  long long most = 0;
  put_int(&part, g->nresources);
  int code = agree_on_success(comm, put_part(g, &part, err), err);
  if (!code) {
    most = (long long)part.length;
    code = comm->table->reduce_all(comm, &most, 1, COMM_LLONG, COMM_MAX, err);
  }
  unsigned char *mine = code ? NULL : array_new((size_t)most, 1),
                *all = code ? NULL : array_new((size_t)most * (size_t)comm->size, 1);
  if (!code && (!mine || !all))
    code = error_memory_of(err, "the parts of graph", g->name, (size_t)most * (size_t)comm->size);
  code = agree_on_success(comm, code, err);
  if (!code) {
    memcpy(mine, part.data, part.length);
    code = comm->table->gather_all(comm, mine, (size_t)most, all, err);
  }
  if (!code)
    code = merge(g, comm, all, (size_t)most, err);
  text_free(&part);
  free(mine);
  free(all);
  return agree_on_success(comm, code, err);
}

int ranks_share(struct task_graph *g, struct comm *comm, struct error *err) {
  int code = agree_on_success(comm, tasks_prepare(g, err), err);
  if (!code)
    code = agree_on_success(comm, relation_sort(&g->touched, g->ntasks, err), err);
  if (code)
    return code;
  return g->ranks->form == OP_GRAPH_PARTS ? bring_together(g, comm, err) : compare(g, comm, err);
}
