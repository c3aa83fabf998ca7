/* A run afterwards: times, a simulation, the trace, facts. */
#include "context/trace.h"
#include "small.h"

static void does_nothing(op_running *running, void *data) {
  (void)running, (void)data;
}

/* Whole numbers in place of what was measured, so that their sums are exact and no busy machine changes them. Returns the sum. */
static double set_costs(struct task_graph *g, double between) {
  double sum = 0;
  for (int i = 0; i < g->ntasks; i++) {
    const int cost = 3 + i % 5;
    g->tasks[i].cost = (float)cost;
    sum += cost;
  }
  g->busy = g->idle = 0;
  g->spans = between * (double)g->executed;
  return sum;
}

TEST(simulated_time_keeps_to_conflicts_and_to_the_longest_way) {
  enum { N = 64, LONGEST = 7, BETWEEN = 2 };
  for (int locked = 0; locked < 2; locked++) {
    struct small s = open_small();
    struct error err = {0};
    const op_task_type type = tasks_add_type(s.g, "does nothing", does_nothing, &err);
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
    const double sum = set_costs(s.g, 0);
    const double two = tasks_simulate(s.g, 2, &err);
    assert_true(tasks_simulate(s.g, 1, &err) == sum);
    assert_true(tasks_simulate(s.g, N, &err) == (locked ? sum : LONGEST));
    assert_true(locked ? two == sum : two >= sum / 2 && two < sum / 2 + LONGEST);
    assert_true(facts_of(s.g).critical == LONGEST);
    set_costs(s.g, BETWEEN);
    assert_true(tasks_simulate(s.g, 1, &err) == sum + N * BETWEEN);
    assert_true(tasks_simulate(s.g, 0, &err) < 0);
    runs(s.g, NULL, 1); /* a simulation leaves all as it was */
    error_free(&err);
    close_small(&s);
  }
}

static int failures;

static void note_or_fail(op_running *running, void *data) {
  if (failures-- > 0)
    op2jit_running_fail(running, "not this time");
  else
    note(running, data);
}

TEST(a_simulation_behind_a_run_that_failed_leaves_the_next_run_its_order) {
  const struct tasks_options options = {.threads = 1};
  struct small s = open_small();
  const op_task_type type = tasks_add_type(s.g, "may fail", note_or_fail, &s.err);
  const op_task first = add(&s, s.note, 0, 1), last = add(&s, s.note, 2, 9), second = add(&s, type, 1, 1);
  wait_for(&s, second, first);
  wait_for(&s, last, first);
  wait_for(&s, last, second);
  runs(s.g, NULL, 1);
  failures = 1;
  fails(s.g, &options, OP_ERR_GRAPH, "not this time");
  assert_true(tasks_simulate(s.g, 2, &s.err) > 0);
  seen.count = 0;
  runs(s.g, NULL, 1);
  assert_int_equal(seen.count, 3);
  for (int i = 0; i < seen.count; i++)
    assert_int_equal(seen.numbers[i], i);
  close_small(&s);
}

TEST(a_trace_has_each_task_with_its_thread_and_type) {
  struct small s = open_small();
  struct trace trace = {.wanted = true, .most = 1000};
  struct team *team = open_team(3);
  const struct tasks_options options = {.team = team, .threads = 3, .trace = &trace};
  struct error err = {0};
  for (int i = 0; i < 100; i++)
    add(&s, i % 2 ? s.note : s.rest, i, 1);
  for (int run = 0; run < 2; run++)
    expect_ok(tasks_run(s.g, &options, &err), &err);
  assert_int_equal(trace.count, 100);
  for (int i = 0; i < trace.count; i++) {
    const struct trace_event *e = &trace.events[i];
    assert_int_equal(e->kind, TRACE_TASK);
    assert_string_equal(e->name, "note");
    assert_string_equal(e->detail, "small");
    assert_int_equal(e->run, 1 + i / 50);
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
  assert_true(tasks_sums(s.g).thread_seconds >= f.seconds);
  struct tasks_type_facts type;
  assert_true(tasks_tell_type(s.g, 0, &type));
  assert_int_equal(type.count, 2);
  assert_false(tasks_tell_type(s.g, 2, &type));
  close_small(&s);
}

/* As of a program that makes a graph for each step. */
TEST(graphs_that_are_gone_are_known_by_name_and_types) {
  struct list past = {0};
  for (int step = 0; step < 5; step++) {
    struct small s = open_small();
    for (int i = 0; i < 3; i++)
      add(&s, s.note, i, 1);
    if (step == 4)
      assert_true(tasks_add_type(s.g, "more", note, &s.err));
    if (step != 2)
      runs(s.g, NULL, 1);
    tasks_retire(&past, s.g);
    error_free(&s.err);
  }
  assert_int_equal(past.count, 2);
  const struct task_graph *g = past.items[0];
  struct tasks_type_facts type;
  assert_string_equal(tasks_name(g), "small");
  assert_int_equal(tasks_sums(g).runs, 3);
  assert_int_equal(tasks_sums(g).executed, 9);
  assert_true(tasks_tell_type(g, 0, &type) && type.count == 9);
  assert_int_equal(facts_of(past.items[0]).tasks, 3);
  assert_int_equal(tasks_sums(past.items[1]).runs, 1);
  for (int i = 0; i < past.count; i++)
    tasks_free(past.items[i]);
  list_free(&past);
}
