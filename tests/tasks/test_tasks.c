/* Graphs of tasks: random ones against a sequential order, with conflicts watched by stamps; and what each call promises.
 * With `mutant` the scheduler is broken, see mutants.py, and a test has to find it; with `long` ten million tasks run. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../exec/expect.h"
#include "context/trace.h"
#include "random.h"
#include "run/team.h"
#include "tasks/inner.h"

static const int counts[] = {1, 2, 3, 8, 64};
enum { ncounts = sizeof counts / sizeof *counts };

static struct team *open_team(int threads) {
  struct error err = {0};
  struct team *team = NULL;
  expect_ok(team_open(&team, TEAM_PTHREAD, threads, &err), &err);
  error_free(&err);
  return team;
}

static void runs(struct task_graph *g, struct team *team, int threads) {
  struct error err = {0};
  const struct tasks_options options = {.team = team, .threads = threads};
  expect_ok(tasks_run(g, &options, &err), &err);
  error_free(&err);
}

static struct op2jit_graph_facts facts_of(struct task_graph *g) {
  op_graph_facts_t facts;
  tasks_tell(g, &facts);
  return facts;
}

/* ---- random graphs ---- */

static const struct shape shapes[] = {
    {.tasks = 1},
    {.tasks = 1000, .dependencies = 3},
    {.tasks = 1500, .dependencies = 2, .virtuals = 5},
    {.tasks = 800, .resources = 6, .depth = 1, .locks = 2, .spin = 50},
    {.tasks = 1200, .resources = 40, .depth = 3, .dependencies = 2, .locks = 3, .virtuals = 9, .spin = 50},
    {.tasks = 1200, .resources = 64, .depth = 8, .dependencies = 1, .locks = 4, .spawns = 10, .spin = 100},
    {.tasks = 600, .resources = 16, .depth = 8, .locks = 4, .spawns = 3, .spin = 300},
};
enum { nshapes = sizeof shapes / sizeof *shapes };

static void run_shape(const struct shape *shape, unsigned long seed, struct team *team, int threads) {
  struct world *w = world_new(shape, seed);
  assert_non_null(w);
  /* Anew, with costs that were measured; then with more tasks. */
  for (int round = 0; round < 4; round++) {
    runs(world_graph(w), team, threads);
    const char *wrong = world_check(w);
    if (wrong)
      fail_msg("%d threads, %d tasks, seed %lu, round %d: %s", threads, shape->tasks, seed, round, wrong);
    assert_int_equal(facts_of(world_graph(w)).builds, round < 3 ? 1 : 2);
    world_reset(w);
    if (round == 2)
      assert_true(world_grow(w, shape->tasks / 2 + 1));
  }
  world_free(w);
}

static unsigned long seeds = 3;

TEST(random_graphs_run_as_in_sequential_order) {
  for (int c = 0; c < ncounts; c++) {
    struct team *team = open_team(counts[c]);
    for (int s = 0; s < nshapes; s++)
      for (unsigned long seed = 0; seed < seeds; seed++)
        run_shape(&shapes[s], seed, team, counts[c]);
    team_close(team);
  }
}

/* ---- one thing at a time ---- */

enum { MOST_SEEN = 4096 };
static struct seen {
  _Atomic int count;
  int numbers[MOST_SEEN];
} seen;

static void note(op_running *running, void *data) {
  (void)running;
  seen.numbers[atomic_fetch_add(&seen.count, 1) % MOST_SEEN] = *(const int *)data;
}

struct small {
  struct task_graph *g;
  op_task_type note, rest;
  struct error err;
};

static struct small open_small(void) {
  struct small s = {.g = tasks_new("small", 1)};
  assert_non_null(s.g);
  s.note = tasks_add_type(s.g, "note", note, &s.err);
  s.rest = tasks_add_type(s.g, "rest", NULL, &s.err);
  seen.count = 0;
  return s;
}

static op_task add(struct small *s, op_task_type type, int number, double cost) {
  const op_task task = tasks_add_task(s->g, type, &number, sizeof number, cost, &s->err);
  if (!task)
    fail_msg("%s", error_message(&s->err));
  return task;
}

static void wait_for(struct small *s, op_task task, op_task before) {
  expect_ok(tasks_depend(s->g, task, before, &s->err), &s->err);
}

static void close_small(struct small *s) {
  tasks_free(s->g);
  error_free(&s->err);
}

static void expect_seen(const int *numbers, int count) {
  assert_int_equal(seen.count, count);
  for (int i = 0; i < count; i++)
    assert_int_equal(seen.numbers[i], numbers[i]);
}

/* 1 -> 2 (1), 3 -> 4 -> 5 (1 each), 6 (2): the weights are 2 1, 3 2 1, 2.5; and a chain without work weighs nothing. */
TEST(the_longest_way_to_the_end_comes_first) {
  struct small s = open_small();
  op_task t[7];
  for (int i = 1; i < 7; i++)
    t[i] = add(&s, s.note, i, i == 6 ? 2.5 : 1);
  wait_for(&s, t[2], t[1]);
  wait_for(&s, t[4], t[3]);
  wait_for(&s, t[5], t[4]);
  op_task last = t[2];
  for (int i = 0; i < 10; i++) {
    op_task next = add(&s, s.rest, 0, 100);
    wait_for(&s, next, last);
    last = next;
  }
  runs(s.g, NULL, 1);
  expect_seen((const int[]){3, 6, 4, 1, 5, 2}, 5 + 1);
  close_small(&s);
}

/* Two that wait for one weigh as the longer one alone. */
TEST(ways_side_by_side_are_not_added_up) {
  struct small s = open_small();
  const op_task one = add(&s, s.note, 1, 1);
  for (int i = 0; i < 3; i++)
    wait_for(&s, add(&s, s.note, 3, 1 + 0.1 * i), one);
  add(&s, s.note, 2, 2.5);
  runs(s.g, NULL, 1);
  expect_seen((const int[]){2, 1, 3, 3, 3}, 5);
  close_small(&s);
}

TEST(a_heavy_task_is_passed_over_while_its_lock_is_taken) {
  struct small s = open_small();
  struct error err = {0};
  const op_resource one = tasks_add_resource(s.g, 0, "one", &err);
  bool disturbed = false;
  for (int i = 0; i < 3; i++) {
    const op_task task = add(&s, s.note, i, 10 - i);
    if (i < 2)
      expect_ok(tasks_lock(s.g, task, one, &err), &err);
  }
  expect_ok(tasks_prepare(s.g, &err), &err);
  struct ready q = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  long long refused = 0;
  for (int i = 0; i < 3; i++)
    assert_true(ready_put(&q, &s.g->tasks[i], (double)s.g->tasks[i].weight));
  assert_ptr_equal(ready_take(&q, s.g, true, &refused, &disturbed), &s.g->tasks[0]);
  assert_ptr_equal(ready_take(&q, s.g, true, &refused, &disturbed), &s.g->tasks[2]);
  assert_int_equal(refused, 1);
  assert_null(ready_take(&q, s.g, true, &refused, &disturbed));
  locks_give(s.g, task_locks(s.g, &s.g->tasks[0]));
  assert_ptr_equal(ready_take(&q, s.g, true, &refused, &disturbed), &s.g->tasks[1]);
  assert_null(ready_take(&q, s.g, true, &refused, &disturbed));
  assert_false(disturbed);
  free(q.heap);
  close_small(&s);
}

TEST(a_heap_gives_the_heaviest_first) {
  struct small s = open_small();
  struct ready q = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  bool disturbed = false;
  long long refused = 0;
  unsigned random = 1;
  enum { N = 500 };
  for (int i = 0; i < N; i++) {
    random = random * 1664525 + 1013904223;
    add(&s, s.note, i, 1 + (random >> 20));
  }
  struct error err = {0};
  expect_ok(tasks_prepare(s.g, &err), &err);
  for (int i = 0; i < N; i++)
    assert_true(ready_put(&q, &s.g->tasks[i], (double)s.g->tasks[i].weight));
  float last = 1e9f;
  for (int i = 0; i < N; i++) {
    const struct task *task = ready_take(&q, s.g, true, &refused, &disturbed);
    assert_non_null(task);
    assert_true(task->weight <= last);
    last = task->weight;
  }
  free(q.heap);
  close_small(&s);
}

/* A chain of resources: who locks one of them keeps out those above and below, and nobody beside. */
TEST(locks_are_hierarchical_to_depth_8) {
  enum { DEPTH = 8 };
  struct small s = open_small();
  struct error err = {0};
  op_resource chain[DEPTH], beside[DEPTH];
  for (int i = 0; i < DEPTH; i++) {
    chain[i] = tasks_add_resource(s.g, i ? chain[i - 1] : 0, "chain", &err);
    beside[i] = tasks_add_resource(s.g, i ? chain[i - 1] : 0, "beside", &err);
    assert_true(chain[i] && beside[i]);
  }
  bool disturbed = false;
  for (int i = 0; i < DEPTH; i++) {
    const int held = 2 * i;
    assert_true(locks_take(s.g, (struct row){&held, &held + 1}, &disturbed));
    for (int k = 0; k < 2 * DEPTH; k++) {
      /* Below `held`: chains behind it, and what lies beside them. Above: chains before it. */
      const bool kept_out = k % 2 == 0 || k > held + 1;
      const bool got = locks_take(s.g, (struct row){&k, &k + 1}, &disturbed);
      if (got == kept_out)
        fail_msg("with %d locked %d is %s", held, k, got ? "taken" : "refused");
      if (got)
        locks_give(s.g, (struct row){&k, &k + 1});
    }
    locks_give(s.g, (struct row){&held, &held + 1});
  }
  for (int r = 0; r < 2 * DEPTH; r++)
    assert_int_equal(s.g->resources[r].state, 0);
  close_small(&s);
}

TEST(all_locks_or_none) {
  struct small s = open_small();
  struct error err = {0};
  bool disturbed = false;
  for (int i = 0; i < 4; i++)
    assert_true(
        tasks_add_resource(s.g, i == 3 ? 3LL + ((1LL * 4 + NUMBER_RESOURCE) << 32) - 1 : 0, NULL, &err));
  const int last[] = {3}, all[] = {0, 1, 3}, first[] = {0}, second[] = {1}, above[] = {2};
  assert_true(locks_take(s.g, (struct row){last, last + 1}, &disturbed));
  assert_false(locks_take(s.g, (struct row){all, all + 3}, &disturbed));
  assert_false(locks_take(s.g, (struct row){above, above + 1}, &disturbed));
  assert_true(locks_take(s.g, (struct row){first, first + 1}, &disturbed));
  assert_true(locks_take(s.g, (struct row){second, second + 1}, &disturbed));
  assert_int_equal(s.g->resources[2].state, 1);
  close_small(&s);
}

TEST(locks_that_are_covered_are_left_out) {
  struct small s = open_small();
  struct error err = {0};
  const op_resource top = tasks_add_resource(s.g, 0, "top", &err),
                    low = tasks_add_resource(s.g, tasks_add_resource(s.g, top, "middle", &err), "low", &err);
  const op_task task = add(&s, s.note, 1, 1);
  for (int i = 0; i < 2; i++) {
    expect_ok(tasks_lock(s.g, task, low, &err), &err);
    expect_ok(tasks_lock(s.g, task, top, &err), &err);
  }
  runs(s.g, NULL, 1);
  runs(s.g, NULL, 1);
  assert_int_equal(seen.count, 2);
  /* Sorted once more, with the gap that is there now. */
  add(&s, s.note, 2, 1);
  runs(s.g, NULL, 1);
  assert_int_equal(seen.count, 4);
  close_small(&s);
}

TEST(what_costs_more_than_was_said_comes_first_in_the_next_run) {
  struct small s = open_small();
  for (int i = 0; i < 2; i++)
    add(&s, s.note, i, 2 - i);
  runs(s.g, NULL, 1);
  expect_seen((const int[]){0, 1}, 2);
  assert_true(s.g->tasks[0].cost < 0.5f && s.g->tasks[1].cost < 0.5f); /* seconds */
  s.g->tasks[0].cost = 1e-6f;
  s.g->tasks[1].cost = 1e-3f;
  seen.count = 0;
  runs(s.g, NULL, 1);
  expect_seen((const int[]){1, 0}, 2);
  /* And what was measured is in seconds: nothing that was said is left. */
  assert_true(s.g->tasks[0].cost < 0.5f && s.g->tasks[1].cost < 0.5f);
  assert_true(s.g->unit > 0);
  close_small(&s);
}

/* ---- mistakes ---- */

static void fails(struct task_graph *g, const struct tasks_options *options, int code, const char *words) {
  struct error err = {0};
  assert_int_equal(tasks_run(g, options, &err), code);
  if (!strstr(error_message(&err), words))
    fail_msg("\"%s\" is not in: %s", words, error_message(&err));
  error_free(&err);
}

TEST(a_circle_is_an_error_with_the_names_of_its_tasks) {
  struct small s = open_small();
  const struct tasks_options alone = {.threads = 1};
  op_task t[5];
  for (int i = 0; i < 5; i++)
    t[i] = add(&s, i == 3 ? s.rest : s.note, i, 1);
  for (int i = 1; i < 5; i++)
    wait_for(&s, t[i], t[i - 1]);
  wait_for(&s, t[1], t[3]);
  fails(s.g, &alone, OP_ERR_GRAPH, "graph \"small\"");
  fails(s.g, &alone, OP_ERR_GRAPH, "task 3 (rest) waits for task 2 (note)");
  fails(s.g, &alone, OP_ERR_GRAPH, "task 1 (note) waits for task 3 (rest)");
  assert_int_equal(seen.count, 0);
  close_small(&s);
  s = open_small();
  t[0] = add(&s, s.note, 0, 1);
  wait_for(&s, t[0], t[0]);
  fails(s.g, &alone, OP_ERR_GRAPH, "task 0 (note) waits for task 0 (note)");
  close_small(&s);
}

TEST(numbers_of_others_are_refused) {
  struct small s = open_small();
  struct error err = {0};
  struct task_graph *other = tasks_new("other", 2);
  const op_task_type type = tasks_add_type(other, "t", note, &err);
  const op_task task = tasks_add_task(other, type, NULL, 0, 0, &err), own = add(&s, s.note, 1, 1);
  const op_resource resource = tasks_add_resource(other, 0, "r", &err);
  assert_true(type && task && resource);
  assert_int_equal(tasks_depend(s.g, own, task, &err), OP_ERR_HANDLE);
  assert_non_null(strstr(error_message(&err), "the task is of another graph"));
  assert_int_equal(tasks_lock(s.g, own, resource, &err), OP_ERR_HANDLE);
  assert_int_equal(tasks_lock(s.g, own, own, &err), OP_ERR_HANDLE);
  assert_non_null(strstr(error_message(&err), "the resource is of another kind"));
  assert_int_equal(tasks_depend(s.g, own, own + 1, &err), OP_ERR_HANDLE);
  assert_int_equal(tasks_depend(s.g, 0, own, &err), OP_ERR_HANDLE);
  assert_int_equal(tasks_add_task(s.g, type, NULL, 0, 0, &err), 0);
  assert_int_equal(tasks_add_resource(s.g, resource, "below", &err), 0);
  assert_int_equal(tasks_add_task(s.g, s.note, NULL, 4, 0, &err), 0);
  assert_int_equal(err.code, OP_ERR_ARGUMENT);
  assert_int_equal(tasks_add_task(s.g, s.note, NULL, 0, -1, &err), 0);
  assert_int_equal(tasks_own(s.g, tasks_add_resource(s.g, 0, NULL, &err), -2, &err), OP_ERR_ARGUMENT);
  error_free(&err);
  tasks_free(other);
  close_small(&s);
}

static double tiles[4];
struct touch {
  int own, changes;
};

static void touches(op_running *running, void *data) {
  const struct touch *t = data;
  (void)running;
  tiles[t->changes] += 1;
}

static struct task_graph *tiled(int changes, bool ordered, struct error *err) {
  struct task_graph *g = tasks_new("tiles", 1);
  const op_task_type type = tasks_add_type(g, "touch", touches, err);
  const op_resource all = tasks_add_resource(g, 0, "all", err);
  op_resource tile[4];
  op_task task[4];
  for (int i = 0; i < 4; i++) {
    const struct touch t = {i, i == 2 ? changes : i};
    char name[32];
    snprintf(name, sizeof name, "tile %d", i);
    tile[i] = tasks_add_resource(g, all, name, err);
    tasks_memory(g, tile[i], &tiles[i], sizeof tiles[i], err);
    task[i] = tasks_add_task(g, type, &t, sizeof t, 0, err);
    tasks_lock(g, task[i], tile[i], err);
    if (i > 0)
      tasks_use(g, task[i], tile[i - 1], err);
    if (i > 0 && (ordered || i != 3))
      tasks_depend(g, task[i], task[i - 1], err);
  }
  tasks_memory(g, all, tiles, sizeof tiles, err);
  return g;
}

TEST(the_checked_run_finds_what_is_changed_without_a_lock) {
  const struct tasks_options checked = {.threads = 1, .checked = true};
  struct error err = {0};
  struct task_graph *g = tiled(2, true, &err);
  expect_ok(tasks_run(g, &checked, &err), &err);
  tasks_free(g);
  g = tiled(3, true, &err);
  fails(g, &checked, OP_ERR_VIOLATION,
        "task 2 (touch) changed the memory of resource \"tile 3\", which it does not lock");
  fails(g, &checked, OP_ERR_VIOLATION, "graph \"tiles\"");
  runs(g, NULL, 1); /* nothing is left over */
  tasks_free(g);
}

TEST(the_checked_run_finds_who_uses_and_locks_in_no_order) {
  const struct tasks_options checked = {.threads = 1, .checked = true};
  struct error err = {0};
  struct task_graph *g = tiled(2, false, &err);
  fails(g, &checked, OP_ERR_VIOLATION, "task 2 (touch) locks resource \"tile 2\", which task 3 (touch) uses");
  tasks_free(g);
}

/* ---- tasks that are added ---- */

static op_task_type grows_type, foreign_type;
static _Atomic long grown;
struct growth {
  int left, wide;
};

static void grows(op_running *running, void *data) {
  const struct growth *g = data, next = {g->left - 1, 1};
  atomic_fetch_add(&grown, 1);
  for (int i = 0; g->left > 0 && i < g->wide; i++)
    op_running_add(running, grows_type, &next, sizeof next, 1, 0, NULL);
}

static void expects_grown(op_running *running, void *data) {
  (void)running;
  atomic_store(&seen.count, atomic_load(&grown) == *(const long *)data);
}

TEST(what_waits_for_a_task_waits_for_what_it_adds) {
  const long want = 1 + 5 * 40;
  for (int c = 0; c < ncounts; c++) {
    struct small s = open_small();
    struct team *team = open_team(counts[c]);
    const struct growth first = {40, 5};
    grows_type = tasks_add_type(s.g, "grows", grows, &s.err);
    const op_task_type type = tasks_add_type(s.g, "expects", expects_grown, &s.err);
    const op_task one = tasks_add_task(s.g, grows_type, &first, sizeof first, 1, &s.err);
    wait_for(&s, tasks_add_task(s.g, type, &want, sizeof want, 1, &s.err), one);
    for (int round = 0; round < 3; round++) {
      grown = 0;
      runs(s.g, team, counts[c]);
      assert_int_equal(grown, want);
      assert_int_equal(seen.count, 1);
      assert_int_equal(facts_of(s.g).executed, want + 1);
    }
    team_close(team);
    close_small(&s);
  }
}

/* Nothing else is left while it adds: what it added first may be over before it goes on. */
TEST(the_last_task_adds_many) {
  struct small s = open_small();
  struct team *team = open_team(3);
  const struct growth first = {1, 500};
  grows_type = tasks_add_type(s.g, "grows", grows, &s.err);
  assert_true(tasks_add_task(s.g, grows_type, &first, sizeof first, 1, &s.err));
  for (int round = 0; round < 1000; round++) {
    grown = 0;
    runs(s.g, team, 3);
    assert_int_equal(grown, 1 + 500);
  }
  team_close(team);
  close_small(&s);
}

static void adds_wrongly(op_running *running, void *data) {
  (void)data;
  if (op_running_add(running, foreign_type, NULL, 0, 0, 0, NULL) == OP_OK)
    abort();
}

TEST(what_is_added_wrongly_ends_the_run) {
  struct small s = open_small();
  const struct tasks_options alone = {.threads = 1};
  const op_task_type type = tasks_add_type(s.g, "adds", adds_wrongly, &s.err);
  foreign_type = 99;
  const op_task task = tasks_add_task(s.g, type, NULL, 0, 5, &s.err);
  wait_for(&s, add(&s, s.note, 1, 1), task);
  fails(s.g, &alone, OP_ERR_HANDLE, "the type is no number of a graph");
  assert_int_equal(seen.count, 0);
  foreign_type = s.note; /* without data, which that task would read: so no run of it here */
  close_small(&s);
}

/* ---- what is known ---- */

static void spins(op_running *running, void *data) {
  (void)running, (void)data;
  for (volatile int i = 0; i < 20000; i++)
    continue;
}

TEST(simulated_time_keeps_to_conflicts_and_to_the_longest_way) {
  enum { N = 64 };
  for (int locked = 0; locked < 2; locked++) {
    struct small s = open_small();
    struct error err = {0};
    const op_task_type type = tasks_add_type(s.g, "spins", spins, &err);
    const op_resource one = tasks_add_resource(s.g, 0, "one", &err);
    assert_true(tasks_simulate(s.g, 4, &err) < 0);
    assert_int_equal(err.code, OP_ERR_STATE);
    error_clear(&err);
    for (int i = 0; i < N; i++) {
      const op_task task = tasks_add_task(s.g, type, NULL, 0, 1, &err);
      if (locked)
        expect_ok(tasks_lock(s.g, task, one, &err), &err);
    }
    runs(s.g, NULL, 1);
    double sum = 0, longest = 0;
    for (int i = 0; i < N; i++) {
      const double cost = (double)s.g->tasks[i].cost;
      sum += cost;
      longest = cost > longest ? cost : longest;
    }
    const double alone = tasks_simulate(s.g, 1, &err), many = tasks_simulate(s.g, N, &err),
                 two = tasks_simulate(s.g, 2, &err);
    assert_true(alone >= 0.999 * sum && alone < 2 * sum);
    assert_true(locked ? many >= 0.999 * sum : many < 2 * (longest + alone - sum));
    assert_true(locked ? two >= 0.999 * sum : two >= 0.499 * alone && two <= 0.5 * alone + 2 * longest);
    assert_true(tasks_simulate(s.g, 0, &err) < 0);
    assert_true((double)(float)longest <= 1.001 * facts_of(s.g).critical);
    runs(s.g, NULL, 1); /* a simulation leaves all as it was */
    error_free(&err);
    close_small(&s);
  }
}

TEST(a_trace_has_each_task_with_its_thread_and_type) {
  struct small s = open_small();
  struct trace trace = {.wanted = true, .most = 1000};
  struct team *team = open_team(3);
  const struct tasks_options options = {.team = team, .threads = 3, .trace = &trace};
  struct error err = {0};
  for (int i = 0; i < 100; i++)
    add(&s, i % 2 ? s.note : s.rest, i, 1);
  expect_ok(tasks_run(s.g, &options, &err), &err);
  assert_int_equal(trace.count, 50);
  for (int i = 0; i < trace.count; i++) {
    const struct trace_event *e = &trace.events[i];
    assert_int_equal(e->kind, TRACE_TASK);
    assert_string_equal(e->name, "note");
    assert_string_equal(e->detail, "small");
    assert_in_range(e->thread, 0, 2);
    assert_true(e->seconds >= 0);
  }
  trace_free(&trace);
  team_close(team);
  close_small(&s);
}

TEST(facts_say_what_there_is) {
  struct small s = open_small();
  struct error err = {0};
  const op_resource one = tasks_add_resource(s.g, 0, "one", &err);
  const op_task first = add(&s, s.note, 0, 1), second = add(&s, s.note, 1, 1);
  wait_for(&s, second, first);
  expect_ok(tasks_lock(s.g, first, one, &err), &err);
  runs(s.g, NULL, 1);
  const op_graph_facts_t f = facts_of(s.g);
  assert_int_equal(f.tasks, 2);
  assert_int_equal(f.dependencies, 1);
  assert_int_equal(f.resources, 1);
  assert_int_equal(f.locks, 1);
  assert_int_equal(f.executed, 2);
  assert_true(f.busy > 0 && f.seconds >= f.busy && f.critical > 0);
  struct tasks_type_facts type;
  assert_true(tasks_tell_type(s.g, 0, &type));
  assert_int_equal(type.count, 2);
  assert_false(tasks_tell_type(s.g, 2, &type));
  close_small(&s);
}

/* ---- ten million ---- */

static long resident_mib(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}

CASE(ten_million_tasks_run_in_bounded_memory) {
  const long million = 1000000;
  struct small s = open_small();
  struct team *team = open_team(2);
  const struct growth first = {(int)(5 * million), 2};
  grows_type = tasks_add_type(s.g, "grows", grows, &s.err);
  assert_true(tasks_add_task(s.g, grows_type, &first, sizeof first, 1, &s.err));
  const long before = resident_mib();
  grown = 0;
  runs(s.g, team, 2);
  assert_int_equal(grown, 1 + 10 * million);
  printf("added one by another: %ld MiB\n", resident_mib() - before);
  assert_in_range(resident_mib() - before, 0, 64);
  close_small(&s);
  s = open_small();
  op_task last = 0;
  for (int i = 0; i < 10 * million; i++) {
    const op_task task = add(&s, s.rest, i, 1);
    if (i % 3)
      wait_for(&s, task, last);
    last = task;
  }
  runs(s.g, team, 2);
  const op_graph_facts_t f = facts_of(s.g);
  assert_int_equal(f.executed, 10 * million);
  printf("a graph: %.1f bytes a task, %ld MiB at most\n", (double)f.bytes / 1e7, resident_mib());
  assert_true((double)f.bytes < 160e7);
  team_close(team);
  close_small(&s);
}

/* ---- programs ---- */

static int run_long(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ten_million_tasks_run_in_bounded_memory)};
  seeds = 20;
  return cmocka_run_group_tests(tests, NULL, NULL) + run_these(NULL, NULL);
}

/* In a child: a mutant may crash or hang. */
static int run_mutant(void) {
  int status;
  const pid_t child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
      _exit(0);
    alarm(20);
    seeds = 6;
    _exit(run_these(NULL, NULL) != 0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child)
    return 1;
  const bool found = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  printf("%s\n", found ? "found" : "no test found it");
  return !found;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "mutant") == 0)
    return run_mutant();
  if (argc > 1 && strcmp(argv[1], "long") == 0)
    return run_long();
  return run_these(NULL, NULL);
}
