/* usage: test_tasks random FIRST COUNT | many | mistakes | stalls | changed  Graphs of tasks on ranks. `random`: each
 * case is a graph of which every rank knows all answers: what tasks find and leave is compared. */
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "op2jit_tasks.h"

enum { MOST_UNITS = 24, MOST_TASKS = 160, MOST_TOUCHED = 4, NUMBERS = 3 };

static unsigned long long state;
static int random_below(int n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (unsigned)n);
}

/* A task: from what it reads a number is made that is added to, or mixed into, what it locks. */
struct work {
  int id, nlocks, nuses;
  bool adds; /* in any order the same; else its order counts */
};

static struct graph_case {
  int units, tasks, form;
  bool kept, trees, ordered; /* memory is the library's; units lie in others; order by the library alone */
  struct work work[MOST_TASKS];
  int touched[MOST_TASKS][MOST_TOUCHED]; /* locks, then uses */
  bool waits[MOST_TASKS][MOST_TASKS];
  int place[MOST_TASKS], owner[MOST_UNITS];
  long long expected[MOST_UNITS][NUMBERS], memory[MOST_UNITS][NUMBERS], found[MOST_UNITS][NUMBERS];
} it;

static void act(const struct work *w, long long *const memory[]) {
  unsigned long long sum = (unsigned long long)w->id * 2654435761u + 1;
  for (int i = w->nlocks; i < w->nlocks + w->nuses; i++)
    for (int k = 0; k < NUMBERS; k++)
      sum = (sum ^ (unsigned long long)memory[i][k]) * 1099511628211u;
  for (int i = 0; i < w->nlocks; i++)
    for (int k = 0; k < NUMBERS; k++) {
      const unsigned long long was = (unsigned long long)memory[i][k];
      memory[i][k] =
          (long long)(w->adds ? was + sum + (unsigned)k : (was ^ sum) * 1099511628211u + (unsigned)k);
    }
}

static void run_work(op_running *running, void *data) {
  const struct work *w = data;
  long long *memory[MOST_TOUCHED];
  for (int i = 0; i < w->nlocks + w->nuses; i++)
    memory[i] = op_running_memory(running, i);
  act(w, memory);
}

static op_resource units[MOST_UNITS], tops[MOST_UNITS];

static void run_collect(op_running *running, void *data) {
  (void)data;
  for (int u = 0; u < it.units; u++)
    memcpy(it.found[u], op_running_memory(running, u), sizeof it.found[u]);
}

static void make_task(int t) {
  struct work *w = &it.work[t];
  *w = (struct work){.id = t, .nlocks = 1 + random_below(2), .nuses = random_below(3)};
  for (int i = 0; i < w->nlocks + w->nuses; i++)
    for (bool found = true; found;) {
      found = false;
      it.touched[t][i] = random_below(it.units);
      for (int k = 0; k < i; k++)
        found = found || it.touched[t][k] == it.touched[t][i];
    }
  it.place[t] = random_below(6) == 0    ? random_below(2 * op_rank_count())
                : random_below(12) == 0 ? OP_EVERY_RANK
                                        : -2;
}

/* Adding tasks that lock the same need no order if one of them reads nothing that others change meanwhile. */
static void find_order(void) {
  for (int t = 0; t < it.tasks; t++) {
    struct work *w = &it.work[t];
    w->adds = !it.ordered && w->nuses == 0 && random_below(2);
    for (int b = 0; b < t; b++) {
      bool waits = false;
      for (int i = 0; i < w->nlocks + w->nuses; i++)
        for (int k = 0; k < it.work[b].nlocks + it.work[b].nuses; k++)
          if (it.touched[t][i] == it.touched[b][k] && (i < w->nlocks || k < it.work[b].nlocks))
            waits = waits || !(w->adds && it.work[b].adds && i < w->nlocks && k < it.work[b].nlocks);
      it.waits[t][b] = waits && !it.ordered;
    }
  }
}

static void make_case(unsigned long long seed) {
  memset(&it, 0, sizeof it);
  state = seed * 977 + 3;
  it.units = MOST_TOUCHED + random_below(MOST_UNITS - MOST_TOUCHED);
  it.tasks = 1 + random_below(MOST_TASKS);
  it.ordered = seed % 4 == 3;
  /* Parts are in the order of ranks first. */
  it.form = random_below(3) || it.ordered ? OP_GRAPH_WHOLE : OP_GRAPH_PARTS;
  it.kept = random_below(2);
  it.trees = random_below(2) && !it.kept;
  for (int u = 0; u < it.units; u++)
    it.owner[u] = random_below(3) ? random_below(2 * op_rank_count()) : -1;
  for (int t = 0; t < it.tasks; t++)
    make_task(t);
  find_order();
}

static void expect(int runs) {
  memset(it.expected, 0, sizeof it.expected);
  for (int r = 0; r < runs; r++)
    for (int t = 0; t < it.tasks; t++) {
      long long *memory[MOST_TOUCHED];
      for (int i = 0; i < it.work[t].nlocks + it.work[t].nuses; i++)
        memory[i] = it.expected[it.touched[t][i]];
      act(&it.work[t], memory);
    }
}

/* Every third unit lies in a larger resource without memory, or is a part of one with it. */
static void add_units(op_graph graph) {
  const int ranks = op_rank_count();
  for (int u = 0; u < it.units; u++) {
    char name[32];
    snprintf(name, sizeof name, "unit %d", u);
    tops[u] = it.trees && u % 3 == 0
                  ? op_graph_resource(graph, 0, it.form == OP_GRAPH_WHOLE ? NULL : strcat(name, " around"))
                  : 0;
    snprintf(name, sizeof name, "unit %d", u);
    units[u] = op_graph_resource(graph, tops[u], name);
    if (tops[u] && u % 2 == 0)
      check(op_graph_memory(graph, tops[u], it.memory[u], sizeof it.memory[u]) == OP_OK);
    check(op_graph_memory(graph, units[u], it.kept ? NULL : it.memory[u], sizeof it.memory[u]) == OP_OK);
    if (it.owner[u] >= 0 && (it.form == OP_GRAPH_WHOLE || it.owner[u] % ranks == op_rank()))
      check(op_graph_owner(graph, units[u], it.owner[u]) == OP_OK);
  }
}

static void add_tasks(op_graph graph, op_task_type type, int from, op_task *tasks) {
  const bool whole = it.form == OP_GRAPH_WHOLE;
  for (int t = from; t < it.tasks; t++) {
    if (!whole && t % op_rank_count() != op_rank())
      continue;
    const struct work *w = &it.work[t];
    check(tasks[t] = op_graph_task(graph, type, w, sizeof *w, 1 + t % 5));
    for (int i = 0; i < w->nlocks + w->nuses; i++) {
      const op_resource top = tops[it.touched[t][i]], unit = units[it.touched[t][i]];
      /* To lock what lies around a unit is to lock it; its memory is the same. */
      const op_resource what = top && it.touched[t][i] % 2 == 0 && (t & 1) ? top : unit;
      check((i < w->nlocks ? op_graph_lock : op_graph_use)(graph, tasks[t], what) == OP_OK);
    }
    if (it.place[t] > -2)
      check(op_graph_place(graph, tasks[t], it.place[t]) == OP_OK);
    if (!whole)
      check(op_graph_key(graph, tasks[t], 7 * t) == OP_OK);
    for (int b = 0; b < t; b++)
      if (it.waits[t][b])
        check((whole ? op_graph_depend(graph, tasks[t], tasks[b])
                     : op_graph_depend_key(graph, tasks[t], 7 * b)) == OP_OK);
  }
}

static void add_collect(op_graph graph, const op_task *tasks) {
  if (it.form == OP_GRAPH_PARTS && op_rank() != 0)
    return;
  const op_task last = op_graph_task(graph, op_graph_type(graph, "collect", run_collect), NULL, 0, 1);
  op_graph_place(graph, last, OP_EVERY_RANK);
  for (int u = 0; u < it.units; u++)
    op_graph_use(graph, last, units[u]);
  for (int t = 0; t < it.tasks; t++)
    check((it.form == OP_GRAPH_WHOLE ? op_graph_depend(graph, last, tasks[t])
                                     : op_graph_depend_key(graph, last, 7 * t)) == OP_OK);
}

static void run_case(unsigned long long seed) {
  static op_task tasks[MOST_TASKS];
  op_graph_facts_t facts;
  make_case(seed);
  op_graph graph = op_decl_graph("random");
  check(op_graph_ranks(graph, it.form) == OP_OK);
  const op_task_type type = op_graph_type(graph, "work", run_work);
  if (op_rank() && it.form == OP_GRAPH_PARTS)
    op_graph_type(graph, "collect", run_collect);
  add_units(graph);
  add_tasks(graph, type, 0, tasks);
  add_collect(graph, tasks);
  for (int run = 1; run <= 6; run++) {
    check(op_graph_run(graph) == OP_OK);
    expect(run);
    for (int u = 0; u < it.units; u++)
      for (int k = 0; k < NUMBERS; k++)
        if (it.found[u][k] != it.expected[u][k]) {
          fprintf(stderr, "rank %d of %d: case %llu, run %d: unit %d has %llx, expected %llx\n", op_rank(),
                  op_rank_count(), seed, run, u, (unsigned long long)it.found[u][k],
                  (unsigned long long)it.expected[u][k]);
          _Exit(1);
        }
  }
  check(op_graph_facts(graph, &facts) == OP_OK && facts.ranks == op_rank_count() && facts.runs == 6);
  check((facts.messages > 0) <= (facts.ranks > 1));
  const op_graph_network_t network = {.ranks = 5, .threads = 2, .latency = 1e-6, .bytes_per_second = 1e9};
  check(op_graph_simulate_ranks(graph, &network) > 0);
  check(op_free_graph(graph) == OP_OK);
}

/* ---- more messages between two ranks than there are tags ---- */

static void step(op_running *running, void *data) {
  long long *number = op_running_memory(running, 0);
  check(*number == *(const int *)data);
  ++*number;
}

static void many(void) {
  enum { STEPS = 70000 };
  static long long number;
  op_graph graph = op_decl_graph("many");
  op_graph_ranks(graph, OP_GRAPH_WHOLE);
  const op_task_type type = op_graph_type(graph, "step", step);
  const op_resource one = op_graph_resource(graph, 0, "number");
  op_graph_memory(graph, one, &number, sizeof number);
  op_graph_owner(graph, one, 0);
  op_task last = 0;
  for (int i = 0; i < STEPS; i++) {
    const op_task task = op_graph_task(graph, type, &i, sizeof i, 1);
    op_graph_lock(graph, task, one);
    op_graph_place(graph, task, i);
    if (last)
      op_graph_depend(graph, task, last);
    last = task;
  }
  check(op_graph_run(graph) == OP_OK);
  check(op_rank() || number == STEPS);
}

/* ---- graphs that change between runs ---- */

static op_task_type counts_type, shows_type;
static long long shown;

static void counts(op_running *running, void *data) {
  (void)data;
  for (int i = 0; i < 2 && op_running_memory(running, i); i++)
    ++*(long long *)op_running_memory(running, i);
}

static void shows(op_running *running, void *data) {
  (void)data;
  shown = *(long long *)op_running_memory(running, 0);
}

static void adds_here(op_running *running, void *data) {
  for (int i = 0; i < 10; i++)
    check(op_running_add(running, counts_type, NULL, 0, 1, 1, data) == OP_OK);
}

static op_graph begin_counting(int form) {
  op_graph graph = op_decl_graph("changed");
  check(op_graph_ranks(graph, form) == OP_OK);
  counts_type = op_graph_type(graph, "counts", counts);
  shows_type = op_graph_type(graph, "shows", shows);
  shown = -1;
  return graph;
}

static op_task count_on(op_graph graph, op_resource resource) {
  const op_task task = op_graph_task(graph, counts_type, NULL, 0, 1);
  check(op_graph_lock(graph, task, resource) == OP_OK);
  return task;
}

static void show_on_first(op_graph graph, op_resource resource, op_task before) {
  const op_task task = op_graph_task(graph, shows_type, NULL, 0, 1);
  check(op_graph_use(graph, task, resource) == OP_OK && op_graph_depend(graph, task, before) == OP_OK);
  check(op_graph_place(graph, task, 0) == OP_OK);
}

static op_resource with_memory(op_graph graph, op_resource around, const char *name, long long *memory,
                               int numbers) {
  const op_resource one = op_graph_resource(graph, around, name);
  check(op_graph_memory(graph, one, memory, (size_t)numbers * sizeof *memory) == OP_OK);
  return one;
}

/* A rank's numbers of resources are not those of the whole. */
static void adding_on_parts(void) {
  long long number = 0;
  op_graph graph = begin_counting(OP_GRAPH_PARTS);
  for (int i = 0; i < 2 * op_rank(); i++)
    op_graph_resource(graph, 0, NULL);
  const op_resource mine = with_memory(graph, 0, NULL, &number, 1);
  const op_task task = op_graph_task(graph, op_graph_type(graph, "adds", adds_here), &mine, sizeof mine, 1);
  op_graph_lock(graph, task, mine);
  check(op_graph_run(graph) == OP_OK && number == 10);
  check(op_free_graph(graph) == OP_OK);
}

/* The new owner of a resource finds there what the one before left. */
static void other_owner(int form) {
  long long number = 0;
  op_graph graph = begin_counting(form);
  const op_resource one = with_memory(graph, 0, "one", &number, 1);
  if (op_rank() == 0 || form == OP_GRAPH_WHOLE)
    count_on(graph, one);
  for (int run = 1; run <= 4; run++) {
    op_graph_owner(graph, one, run);
    check(op_graph_run(graph) == OP_OK);
    check(op_rank() != run % op_rank_count() || number == run);
  }
  check(op_free_graph(graph) == OP_OK);
}

/* A lower rank names it later, and so owns it. */
static void named_later(void) {
  long long number = 0, expected = 0;
  op_graph graph = begin_counting(OP_GRAPH_PARTS);
  for (int rank = op_rank_count() - 1, n = 1; rank >= 0; rank--, n++) {
    if (op_rank() == rank)
      count_on(graph, with_memory(graph, 0, "one", &number, 1));
    check(op_graph_run(graph) == OP_OK);
    expected += n;
  }
  check(op_rank() || number == expected);
  check(op_free_graph(graph) == OP_OK);
}

/* Its owner, who had it in memory of the library, has memory for it later. */
static void named_by_owner(void) {
  const int last = op_rank_count() - 1;
  long long number = 0;
  op_graph graph = begin_counting(OP_GRAPH_PARTS);
  if (op_rank() == 0) {
    const op_resource one = with_memory(graph, 0, "one", &number, 1);
    op_graph_owner(graph, one, last);
    count_on(graph, one);
  }
  check(op_graph_run(graph) == OP_OK);
  if (op_rank() == last && last > 0)
    with_memory(graph, 0, "one", &number, 1);
  check(op_graph_run(graph) == OP_OK && (op_rank() != last || number == 2));
  check(op_free_graph(graph) == OP_OK);
}

/* Memory of the library keeps what it has, with a name and without. */
static void kept_on_parts(const char *name) {
  op_graph graph = begin_counting(OP_GRAPH_PARTS);
  const bool mine = op_rank() == op_rank_count() - 1;
  const op_resource one = mine ? with_memory(graph, 0, name, NULL, 1) : 0;
  const op_task task = mine ? count_on(graph, one) : 0;
  check(op_graph_run(graph) == OP_OK && op_graph_run(graph) == OP_OK);
  /* From now on it has another number in the whole. */
  op_graph_resource(graph, 0, NULL);
  if (mine)
    show_on_first(graph, one, task);
  check(op_graph_run(graph) == OP_OK && shown == (op_rank() ? -1 : 3));
  check(op_free_graph(graph) == OP_OK);
}

/* Other bytes: other memory. */
static void larger_later(void) {
  op_graph graph = begin_counting(OP_GRAPH_PARTS);
  const op_resource one = with_memory(graph, 0, "one", NULL, 1);
  count_on(graph, one);
  check(op_graph_run(graph) == OP_OK);
  check(op_graph_memory(graph, one, NULL, 1 << 20) == OP_OK);
  check(op_graph_run(graph) == OP_OK);
  check(op_free_graph(graph) == OP_OK);
}

/* The values of a resource are where they were. */
static void parted_later(void) {
  enum { OTHERS = 8 };
  long long numbers[2] = {0}, others[OTHERS] = {0};
  op_graph graph = begin_counting(OP_GRAPH_WHOLE);
  for (int i = 0; i < OTHERS; i++)
    count_on(graph, with_memory(graph, 0, NULL, &others[i], 1));
  const op_resource one = with_memory(graph, 0, NULL, numbers, 2);
  const op_task task = count_on(graph, one);
  check(op_graph_run(graph) == OP_OK);
  const op_resource left = with_memory(graph, one, NULL, &numbers[0], 1);
  with_memory(graph, one, NULL, &numbers[1], 1);
  show_on_first(graph, left, task);
  check(op_graph_run(graph) == OP_OK && shown == (op_rank() ? -1 : 2));
  check(op_free_graph(graph) == OP_OK);
}

/* Costs that a program measured are not the same on all ranks. */
static void other_costs(void) {
  enum { NUMBERS_LOCKED = 6, TASKS = 60 };
  long long numbers[NUMBERS_LOCKED] = {0};
  op_resource all[NUMBERS_LOCKED];
  op_graph graph = begin_counting(OP_GRAPH_WHOLE);
  for (int i = 0; i < NUMBERS_LOCKED; i++) {
    all[i] = with_memory(graph, 0, NULL, &numbers[i], 1);
    op_graph_owner(graph, all[i], i);
  }
  for (int t = 0; t < TASKS; t++) {
    const op_task task =
        op_graph_task(graph, counts_type, NULL, 0, 1 + (t * 7 + op_rank() * 5) % 11 * op_rank());
    op_graph_lock(graph, task, all[t % NUMBERS_LOCKED]);
    op_graph_lock(graph, task, all[(t + 1) % NUMBERS_LOCKED]);
  }
  check(op_graph_run(graph) == OP_OK);
  for (int i = 0; i < NUMBERS_LOCKED; i++)
    check(i % op_rank_count() != op_rank() || numbers[i] == 2 * TASKS / NUMBERS_LOCKED);
  check(op_free_graph(graph) == OP_OK);
}

static void changed(void) {
  adding_on_parts();
  other_owner(OP_GRAPH_WHOLE);
  other_owner(OP_GRAPH_PARTS);
  named_later();
  named_by_owner();
  kept_on_parts("one");
  kept_on_parts(NULL);
  larger_later();
  parted_later();
  other_costs();
}

/* ---- mistakes ---- */

static op_graph begin(const char *name, int form, op_task_type *type) {
  op_graph graph = op_decl_graph(name);
  check(op_graph_ranks(graph, form) == OP_OK);
  *type = op_graph_type(graph, "work", NULL);
  return graph;
}

static void refused(op_graph graph, int code, const char *words) {
  check(op_graph_run(graph) == code);
  if (!strstr(op_last_error()->message, words)) {
    fprintf(stderr, "rank %d: \"%s\" is not in: %s\n", op_rank(), words, op_last_error()->message);
    _Exit(1);
  }
  check(op_free_graph(graph) == OP_OK);
}

static void writes_other(op_running *running, void *data) {
  (void)running;
  ++**(long long **)data;
}

static void adds_elsewhere(op_running *running, void *data) {
  op_running_add(running, *(op_task_type *)data, NULL, 0, 1, 1, units);
}

static void circle(void) {
  op_task_type type;
  op_graph graph = begin("circle", OP_GRAPH_PARTS, &type);
  const op_task task = op_graph_task(graph, type, NULL, 0, 1);
  op_graph_key(graph, task, op_rank());
  op_graph_depend_key(graph, task, (op_rank() + 1) % op_rank_count());
  refused(graph, OP_ERR_GRAPH, "task 0 (work) of rank 0 waits for task 0 (work) of rank 1");
}

static void owners(int form) {
  op_task_type type;
  op_graph graph = begin("owners", form, &type);
  op_graph_owner(graph, op_graph_resource(graph, 0, "tile"), op_rank());
  refused(graph, OP_ERR_GRAPH, "resource \"tile\" has two owners");
}

static void types(void) {
  op_graph graph = op_decl_graph("types");
  op_graph_ranks(graph, OP_GRAPH_PARTS);
  if (op_rank() == 0)
    op_graph_place(graph, op_graph_task(graph, op_graph_type(graph, "sort", run_work), NULL, 0, 1), 1);
  refused(graph, OP_ERR_GRAPH, "task 0 (sort) of rank 0 is to run on rank 1, which has no type \"sort\"");
}

static void differ(void) {
  op_task_type type;
  op_graph graph = begin("differ", OP_GRAPH_WHOLE, &type);
  for (int i = 0; i <= op_rank() % 2; i++)
    op_graph_task(graph, type, NULL, 0, 1);
  refused(graph, OP_ERR_MPI, "tasks");
}

static void keys(void) {
  op_task_type type;
  op_graph graph = begin("keys", OP_GRAPH_PARTS, &type);
  op_graph_key(graph, op_graph_task(graph, type, NULL, 0, 1), 5);
  refused(graph, OP_ERR_GRAPH, "task 0 (work) of rank 0 has the key 5, and so has task 0 (work) of rank 1");
  graph = begin("keys", OP_GRAPH_PARTS, &type);
  op_graph_depend_key(graph, op_graph_task(graph, type, NULL, 0, 1), 5);
  refused(graph, OP_ERR_GRAPH, "waits for a task with the key 5, which no rank has added");
}

/* With OP2_CHECK=on: a task on rank 1 changes what it does not lock, while rank 0 waits for what comes behind it. */
static void violation(void) {
  static long long one, other;
  long long *data = &other;
  op_graph graph = op_decl_graph("violation");
  op_graph_ranks(graph, OP_GRAPH_WHOLE);
  const op_task_type type = op_graph_type(graph, "writes", writes_other);
  const op_resource a = op_graph_resource(graph, 0, "a"), b = op_graph_resource(graph, 0, "b");
  op_graph_memory(graph, a, &one, sizeof one);
  op_graph_memory(graph, b, &other, sizeof other);
  const op_task first = op_graph_task(graph, type, &data, sizeof data, 1),
                second = op_graph_task(graph, op_graph_type(graph, "rest", NULL), NULL, 0, 1);
  op_graph_lock(graph, first, a);
  op_graph_place(graph, first, 1);
  op_graph_lock(graph, second, a);
  op_graph_place(graph, second, 0);
  op_graph_depend(graph, second, first);
  refused(graph, OP_ERR_VIOLATION,
          "rank 1: graph \"violation\": task 0 (writes) changed the memory of resource \"b\"");
}

/* The memory of the resources in it travels. */
static void around(long long *outer, long long *inner, const char *words) {
  op_task_type type;
  op_graph graph = begin("around", OP_GRAPH_WHOLE, &type);
  const op_resource whole = op_graph_resource(graph, 0, "whole"),
                    part = op_graph_resource(graph, whole, "part");
  op_graph_memory(graph, whole, outer, sizeof *outer);
  op_graph_memory(graph, part, inner, sizeof *inner);
  op_graph_use(graph, op_graph_task(graph, type, NULL, 0, 1), whole);
  refused(graph, OP_ERR_GRAPH, words);
}

static void adding(void) {
  op_task_type type;
  op_graph graph = begin("adding", OP_GRAPH_WHOLE, &type);
  const op_task task =
      op_graph_task(graph, op_graph_type(graph, "adds", adds_elsewhere), &type, sizeof type, 1);
  units[0] = op_graph_resource(graph, 0, "far");
  op_graph_owner(graph, units[0], 0);
  op_graph_place(graph, task, 1);
  refused(graph, OP_ERR_GRAPH,
          "task 0 (adds) adds a task that locks resource \"far\", which it does not lock itself");
}

/* ---- a task that takes long, and who waits for it ---- */

static void sleeps(op_running *running, void *data) {
  (void)running, (void)data;
  sleep(3);
}

static void stalls(void) {
  op_task_type type;
  op_graph graph = begin("stalls", OP_GRAPH_WHOLE, &type);
  const op_resource tile = op_graph_resource(graph, 0, "tile");
  const op_task first = op_graph_task(graph, op_graph_type(graph, "sleeps", sleeps), NULL, 0, 1),
                second = op_graph_task(graph, type, NULL, 0, 1);
  op_graph_lock(graph, first, tile);
  op_graph_place(graph, first, 1);
  op_graph_use(graph, second, tile);
  op_graph_place(graph, second, 0);
  op_graph_depend(graph, second, first);
  check(op_graph_run(graph) == OP_OK);
}

int main(int argc, char **argv) {
  check(argc > 1);
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  check(op_init(argc, argv, 0) == OP_OK);
  if (!strcmp(argv[1], "random"))
    for (int i = atoi(argv[2]); i < atoi(argv[2]) + atoi(argv[3]); i++) {
      /* The one order that the library finds is asked for by a variable. */
      if ((i % 4 == 3) == (argc > 4 && !strcmp(argv[4], "ordered")))
        run_case((unsigned long long)i);
    }
  else if (!strcmp(argv[1], "many"))
    many();
  else if (!strcmp(argv[1], "stalls"))
    stalls();
  else if (!strcmp(argv[1], "changed"))
    changed();
  else if (op_rank_count() > 1) {
    circle();
    owners(OP_GRAPH_WHOLE);
    owners(OP_GRAPH_PARTS);
    types();
    differ();
    keys();
    violation();
    adding();
    around(&it.memory[0][0], &it.memory[1][0],
           "the memory of resource \"part\" is not in that of resource \"whole\"");
    around(&it.memory[0][0], NULL, "the memory of resource \"part\" is not in that of resource \"whole\"");
    around(NULL, NULL,
           "the library keeps memory for resource \"part\", and so it has none for resource \"whole\"");
  }
  check(op_exit() == OP_OK);
  return 0;
}
