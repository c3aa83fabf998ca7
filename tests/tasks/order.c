/* Which task comes next: by the longest way to the end, as it was said and as it was measured. */
#include "small.h"

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
