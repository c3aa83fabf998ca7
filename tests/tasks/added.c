/* Tasks that tasks add. */
#include <stdio.h>
#include <sys/resource.h>

#include "small.h"

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

/* As with what another thread kept of its last task. */
static void adds_to_none(op_running *running, void *data) {
  (void)data;
  running->task = NULL;
  if (op_running_add(running, grows_type, NULL, 0, 1, 0, NULL) != OP_ERR_STATE)
    abort();
}

TEST(what_is_added_for_a_task_that_is_over_ends_the_run) {
  struct small s = open_small();
  const struct tasks_options alone = {.threads = 1};
  grows_type = tasks_add_type(s.g, "grows", grows, &s.err);
  assert_true(tasks_add_task(s.g, tasks_add_type(s.g, "adds", adds_to_none, &s.err), NULL, 0, 1, &s.err));
  fails(s.g, &alone, OP_ERR_STATE, "op_running of a task that is over");
  close_small(&s);
}

/* ---- ten million ---- */

static long resident_mib(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}

TEST(ten_million_tasks_run_in_bounded_memory) {
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

int tests_of_ten_million(void) {
  return run_these(NULL, NULL);
}
