/* Mistakes of programs, and what the checked run finds. */
#include <stdio.h>

#include "small.h"

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
}

TEST(a_task_that_is_to_wait_for_itself_is_refused_at_once) {
  struct small s = open_small();
  struct error err = {0};
  const op_task task = add(&s, s.note, 0, 1);
  assert_int_equal(tasks_depend(s.g, task, task, &err), OP_ERR_GRAPH);
  assert_non_null(strstr(error_message(&err), "task 0 (note) cannot wait for itself"));
  error_free(&err);
  runs(s.g, NULL, 1); /* as if it had not been said */
  assert_int_equal(seen.count, 1);
  close_small(&s);
}

/* On ranks, and with kernels, a graph knows the order of locks and uses too. */
TEST(what_is_taken_back_has_no_locks) {
  struct error err = {0};
  struct task_graph *g = tasks_new("small", 1);
  expect_ok(tasks_ranks(g, OP_GRAPH_WHOLE, &err), &err);
  const op_task_type type = tasks_add_type(g, "kept", note, &err);
  const op_resource kept = tasks_add_resource(g, 0, "kept", &err);
  expect_ok(tasks_lock(g, tasks_add_task(g, type, NULL, 0, 1, &err), kept, &err), &err);
  const struct tasks_mark before = tasks_mark(g);
  const op_resource resource = tasks_add_resource(g, 0, "back", &err);
  for (int i = 0; i < 2; i++)
    expect_ok(tasks_lock(g, tasks_add_task(g, type, NULL, 0, 1, &err), i ? resource : kept, &err), &err);
  tasks_back_to(g, before);
  assert_int_equal(g->locks.nadded, 1);
  assert_int_equal(g->touched.nadded, 1);
  error_free(&err);
  tasks_free(g);
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
