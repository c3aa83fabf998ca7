/* Resources in a forest: who keeps whom out, all locks or none. */
#include "small.h"

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
