/* Shared by the tests of graphs: small graphs whose tasks note their numbers. */
#ifndef TESTS_TASKS_SMALL_H
#define TESTS_TASKS_SMALL_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../exec/expect.h"
#include "exec/team.h"
#include "tasks/inner.h"

/* Returns how many failed. */
int tests_of_ten_million(void);

extern unsigned mixed_seeds; /* of random programs for a device */

UNUSED static const int counts[] = {1, 2, 3, 8, 64};
enum { ncounts = sizeof counts / sizeof *counts };

UNUSED static struct team *open_team(int threads) {
  struct error err = {0};
  struct team *team = NULL;
  expect_ok(team_open(&team, TEAM_PTHREAD, threads, &err), &err);
  error_free(&err);
  return team;
}

UNUSED static void runs(struct task_graph *g, struct team *team, int threads) {
  struct error err = {0};
  const struct tasks_options options = {.team = team, .threads = threads};
  expect_ok(tasks_run(g, &options, &err), &err);
  error_free(&err);
}

UNUSED static struct op2jit_graph_facts facts_of(struct task_graph *g) {
  op_graph_facts_t facts;
  tasks_tell(g, &facts);
  return facts;
}

enum { MOST_SEEN = 4096 };
static struct seen {
  _Atomic int count;
  int numbers[MOST_SEEN];
} seen;

UNUSED static void note(op_running *running, void *data) {
  (void)running;
  seen.numbers[atomic_fetch_add(&seen.count, 1) % MOST_SEEN] = *(const int *)data;
}

struct small {
  struct task_graph *g;
  op_task_type note, rest;
  struct error err;
};

UNUSED static struct small open_small(void) {
  struct small s = {.g = tasks_new("small", 1)};
  assert_non_null(s.g);
  s.note = tasks_add_type(s.g, "note", note, &s.err);
  s.rest = tasks_add_type(s.g, "rest", NULL, &s.err);
  seen.count = 0;
  return s;
}

UNUSED static op_task add(struct small *s, op_task_type type, int number, double cost) {
  const op_task task = tasks_add_task(s->g, type, &number, sizeof number, cost, &s->err);
  if (!task)
    fail_msg("%s", error_message(&s->err));
  return task;
}

UNUSED static void wait_for(struct small *s, op_task task, op_task before) {
  expect_ok(tasks_depend(s->g, task, before, &s->err), &s->err);
}

UNUSED static void close_small(struct small *s) {
  tasks_free(s->g);
  error_free(&s->err);
}

UNUSED static void expect_seen(const int *numbers, int count) {
  assert_int_equal(seen.count, count);
  for (int i = 0; i < count; i++)
    assert_int_equal(seen.numbers[i], numbers[i]);
}

UNUSED static void fails(struct task_graph *g, const struct tasks_options *options, int code,
                         const char *words) {
  struct error err = {0};
  assert_int_equal(tasks_run(g, options, &err), code);
  if (!strstr(error_message(&err), words))
    fail_msg("\"%s\" is not in: %s", words, error_message(&err));
  error_free(&err);
}

#endif
