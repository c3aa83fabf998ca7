/* Items that wait for one another: each once, behind those that it waits for, run after run, on few threads and on
 * many; and loops as such items have the bits of blocks by colour. */
#include <stdatomic.h>
#include <string.h>

#include "../mutant.h"
#include "expect.h"
#include "mesh.h"
#include "plan/strategy.h"
#include "plan/tasks.h"

static const int counts[] = {1, 2, 3, 8, 64};
enum { ncounts = sizeof counts / sizeof *counts };

static struct team *open_team(int threads) {
  struct error err = {0};
  struct team *team = NULL;
  expect_ok(team_open(&team, TEAM_PTHREAD, threads, &err), &err);
  error_free(&err);
  return team;
}

/* ---- random items ---- */

enum { MOST = 9000 };
static struct {
  _Atomic int over[MOST];
  int plain[MOST]; /* the thread sanitizer looks at it too */
  _Atomic int early, twice;
  const struct waits *waits;
  int *first, *before; /* what item i waits for: before[first[i]] .. */
} seen;

/* An item is one element. */
static void visit(void *const *frame, const int *list, long begin, long end) {
  (void)frame, (void)list;
  for (long i = begin; i < end; i++) {
    int sum = 1;
    for (int k = seen.first[i]; k < seen.first[i + 1]; k++) {
      seen.early += seen.over[seen.before[k]] == 0;
      sum += seen.plain[seen.before[k]];
    }
    seen.plain[i] = sum & 0xff;
    seen.twice += atomic_fetch_add(&seen.over[i], 1);
  }
}

/* Up to `most` earlier items, near or anywhere, under numbers that chance gives. */
static void random_items(struct schedule *s, int n, int most, int near, uint64_t *random) {
  struct error err = {0};
  int *number = calloc((size_t)n, sizeof *number), count = 0;
  struct wait *list = calloc((size_t)n * (size_t)most + 1, sizeof *list);
  for (int i = 0; i < n; i++)
    number[i] = i;
  for (int i = n - 1; i > 0 && near == 0; i--) {
    const int other = (int)(random_next(random) % (unsigned)(i + 1)), kept = number[i];
    number[i] = number[other];
    number[other] = kept;
  }
  for (int i = 1; i < n; i++)
    for (int k = (int)(random_next(random) % (unsigned)(most + 1)); k > 0; k--) {
      const int reach = near && near < i ? near : i;
      const struct wait w = {number[i], number[i - 1 - (int)(random_next(random) % (unsigned)reach)]};
      bool known = false;
      for (int j = count; j > 0 && list[j - 1].item == w.item; j--)
        known |= list[j - 1].before == w.before;
      if (!known)
        list[count++] = w;
    }
  expect_ok(schedule_new(s, n, 1, 0, &err), &err);
  schedule_add_phase(s, false);
  for (int i = 0; i < n; i++)
    schedule_add_item(s, WORK_RANGE, i, i + 1, -1);
  expect_ok(waits_new(&s->waits, n, list, (size_t)count, &err), &err);
  seen.first = calloc((size_t)n + 1, sizeof *seen.first);
  seen.before = calloc((size_t)count + 1, sizeof *seen.before);
  for (int k = 0; k < count; k++)
    seen.first[list[k].item + 1]++;
  for (int i = 0; i < n; i++)
    seen.first[i + 1] += seen.first[i];
  for (int i = 0, next = 0; i < n; i++)
    for (int k = 0; k < count; k++)
      if (list[k].item == i)
        seen.before[next++] = list[k].before;
  free(number);
  free(list);
}

static void run_items(const struct schedule *s, struct team *team, int threads) {
  static void *const frame[] = {NULL};
  const struct work work = {.function = visit, .frame = frame, .nframe = 1};
  memset(&seen.over, 0, sizeof seen.over);
  seen.early = seen.twice = 0;
  executor_run(team, &(struct execution){.schedule = s, .works = &work, .nworks = 1, .threads = threads});
  assert_int_equal(seen.early, 0);
  assert_int_equal(seen.twice, 0);
  for (int i = 0; i < s->nitems; i++)
    assert_int_equal(seen.over[i], 1);
}

TEST(each_once_behind_those_it_waits_for) {
  static const struct {
    int n, most, near;
  } shapes[] = {{1, 1, 0}, {63, 0, 0}, {64, 2, 1}, {65, 3, 5}, {700, 4, 0}, {1000, 1, 1}, {1500, 3, 40}};
  for (int c = 0; c < ncounts; c++) {
    struct team *team = open_team(counts[c]);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
      uint64_t random = k * 77 + 5;
      struct schedule s;
      random_items(&s, shapes[k].n, shapes[k].most, shapes[k].near, &random);
      for (int again = 0; again < 4; again++)
        run_items(&s, team, counts[c]);
      schedule_free(&s);
      free(seen.first);
      free(seen.before);
    }
    team_close(team);
  }
}

/* More than a word of words. */
TEST(many_items) {
  struct team *team = open_team(3);
  uint64_t random = 3;
  struct schedule s;
  random_items(&s, MOST, 1, 3, &random);
  run_items(&s, team, 3);
  run_items(&s, NULL, 1);
  schedule_free(&s);
  free(seen.first);
  free(seen.before);
  team_close(team);
}

/* The first item of a share ends when the second one is over, so that another thread has to take that. */
static void await_second(void *const *frame, const int *list, long begin, long end) {
  (void)frame, (void)list, (void)end;
  while (begin == 0 && seen.over[1] == 0)
    continue;
  seen.over[begin] = 1;
}

TEST(a_thread_without_items_takes_those_of_others) {
  struct error err = {0};
  struct team *team = open_team(2);
  struct schedule s;
  static void *const frame[] = {NULL};
  const struct work work = {.function = await_second, .frame = frame, .nframe = 1};
  expect_ok(schedule_new(&s, 4, 1, 0, &err), &err);
  schedule_add_phase(&s, false);
  for (int i = 0; i < 4; i++)
    schedule_add_item(&s, WORK_RANGE, i, i + 1, -1);
  expect_ok(waits_new(&s.waits, 4, NULL, 0, &err), &err);
  memset(&seen.over, 0, sizeof seen.over);
  executor_run(team, &(struct execution){.schedule = &s, .works = &work, .nworks = 1, .threads = 2});
  for (int i = 0; i < 4; i++)
    assert_int_equal(seen.over[i], 1);
  schedule_free(&s);
  team_close(team);
}

/* On one thread the first item that is ready. */
static int in_order[8], nin_order;
static void note(void *const *frame, const int *list, long begin, long end) {
  (void)frame, (void)list, (void)end;
  in_order[nin_order++] = (int)begin;
}

TEST(the_first_ready_item_comes_first) {
  struct error err = {0};
  struct schedule s;
  static void *const frame[] = {NULL};
  const struct work work = {.function = note, .frame = frame, .nframe = 1};
  static const struct wait list[] = {{0, 3}, {1, 0}, {1, 4}};
  int order[5], left[5];
  expect_ok(schedule_new(&s, 5, 1, 0, &err), &err);
  schedule_add_phase(&s, false);
  for (int i = 0; i < 5; i++)
    schedule_add_item(&s, WORK_RANGE, i, i + 1, -1);
  expect_ok(waits_new(&s.waits, 5, list, 3, &err), &err);
  executor_run(NULL, &(struct execution){.schedule = &s, .works = &work, .nworks = 1, .threads = 1});
  assert_memory_equal(in_order, ((int[]){2, 3, 0, 4, 1}), 5 * sizeof(int));
  assert_int_equal(waits_order(s.waits, order, left), 5);
  assert_memory_equal(order, ((int[]){2, 3, 4, 0, 1}), 5 * sizeof(int));
  assert_true(schedule_bytes(&s) > 5 * sizeof(struct item));
  schedule_free(&s);
  static const struct wait circle[] = {{0, 1}, {1, 2}, {2, 0}};
  expect_ok(waits_new(&s.waits, 4, circle, 3, &err), &err);
  assert_int_equal(waits_order(s.waits, order, left), 1);
  waits_free(s.waits);
}

/* ---- loops ---- */

/* frame: values, targets, table, sum. Sums that depend on the order. */
static void increment(void *const *frame, const int *list, long begin, long end) {
  const double *values = frame[0];
  double *targets = frame[1], *sum = frame[3];
  const int *table = frame[2];
  (void)list;
  for (long e = begin; e < end; e++) {
    targets[table[2 * e]] += values[e];
    targets[table[2 * e + 1]] -= values[e];
    *sum += values[e] * values[e];
  }
}

struct problem {
  long size, ntargets;
  int *table;
  double *values, *targets;
  struct plan_column columns[2];
};

static void make(struct problem *p, long size, enum mesh_shape shape) {
  uint64_t random = 99;
  *p = (struct problem){.size = size, .ntargets = size / 2 + 1};
  p->table = mesh_table(size, 2, p->ntargets, shape, 7);
  p->values = calloc((size_t)size, sizeof *p->values);
  p->targets = calloc((size_t)p->ntargets, sizeof *p->targets);
  for (long e = 0; e < size; e++)
    p->values[e] = (double)random_next(&random) / 1e7 + 1e-3;
  for (int c = 0; c < 2; c++)
    p->columns[c] = (struct plan_column){
        .table = p->table, .arity = 2, .column = c, .target = 1, .target_size = p->ntargets};
}

static void clear(struct problem *p) {
  free(p->table);
  free(p->values);
  free(p->targets);
}

static double run(struct problem *p, const struct schedule *s, struct team *team, int threads) {
  const struct reduction sum = {.index = 3, .offset = 0, .bytes = sizeof(double)};
  void *const frame[] = {p->values, p->targets, p->table, NULL};
  double *slots = calloc((size_t)s->nslots + 1, sizeof *slots), total = 0;
  const struct work work = {.function = increment,
                            .frame = frame,
                            .nframe = 4,
                            .reductions = &sum,
                            .nreductions = 1,
                            .slots = (unsigned char *)slots,
                            .slot_bytes = sizeof *slots};
  memset(p->targets, 0, (size_t)p->ntargets * sizeof *p->targets);
  executor_run(team, &(struct execution){.schedule = s, .works = &work, .nworks = 1, .threads = threads});
  for (int i = 0; i < s->nslots; i++)
    total += slots[i];
  free(slots);
  return total;
}

static void build(struct plan_entry *e, const struct strategy *strategy, const struct problem *p, int block) {
  struct error err = {0};
  const struct plan_wish wish = {
      .request = {.size = p->size, .block_size = block, .columns = p->columns, .ncolumns = 2},
      .strategy = strategy};
  expect_ok(plan_entry_build(e, &wish, NULL, &err), &err);
  expect_ok(strategy->verify(e, &wish, 2, &err), &err);
  error_free(&err);
}

/* As those of blocks by colour, on any number of threads. */
TEST(targets_have_the_bits_of_colours) {
  static const int blocks[] = {1, 13, 64, 1000, 6000};
  struct team *team = open_team(8);
  for (int shape = 0; shape < MESH_SHAPES; shape++)
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
      struct problem p;
      struct plan_entry colours, tasks;
      make(&p, shape == MESH_NEAR ? 6000 : 1500, (enum mesh_shape)shape);
      const size_t bytes = (size_t)p.ntargets * sizeof *p.targets;
      build(&colours, &strategy_colours, &p, blocks[b]);
      build(&tasks, &strategy_tasks, &p, blocks[b]);
      run(&p, &colours.schedule, NULL, 1);
      double *expected = memcpy(malloc(bytes), p.targets, bytes);
      const double sum = run(&p, &tasks.schedule, NULL, 1);
      for (int threads = 1; threads <= 8; threads += 1 + threads / 3) {
        const double got = run(&p, &tasks.schedule, team, threads);
        assert_memory_equal(&got, &sum, sizeof sum);
        assert_memory_equal(expected, p.targets, bytes);
      }
      free(expected);
      plan_entry_clear(&colours);
      plan_entry_clear(&tasks);
      clear(&p);
    }
  team_close(team);
}

/* Without any one of its waits, unless another way leads there, a schedule is wrong. */
TEST(what_does_not_wait_is_found) {
  struct error err = {0};
  struct problem p;
  struct plan_entry e;
  make(&p, 400, MESH_NEAR);
  build(&e, &strategy_tasks, &p, 16);
  const struct tasks_access accesses[] = {{.at = p.columns[0], .use = CHAIN_ADDS},
                                          {.at = p.columns[1], .use = CHAIN_ADDS}};
  const struct tasks_loop loop = {.accesses = accesses, .naccesses = 2};
  struct schedule s = e.schedule;
  struct wait *list = calloc(1, schedule_bytes(&s));
  size_t count = 0;
  int found = 0, after;
  for (int i = 0; i < s.nitems; i++)
    for (int k = 0; waits_after(s.waits, i, &after), k < after; k++)
      list[count++] = (struct wait){waits_after(s.waits, i, &after)[k], i};
  assert_true(count > 20);
  for (size_t without = 0; without < count; without++) {
    const struct wait kept = list[without];
    list[without] = list[count - 1];
    expect_ok(waits_new(&s.waits, s.nitems, list, count - 1, &err), &err);
    const int code = tasks_verify(&s, &loop, &p.size, 1, 0, &err);
    assert_true(code == OP_OK || code == OP_ERR_PLAN);
    found += code == OP_ERR_PLAN;
    waits_free(s.waits);
    list[without] = kept;
    error_clear(&err);
  }
  assert_true(found > (int)count / 2);
  /* One more makes a circle. */
  list[count] = (struct wait){list[0].before, list[0].item};
  expect_ok(waits_new(&s.waits, s.nitems, list, count + 1, &err), &err);
  assert_int_equal(tasks_verify(&s, &loop, &p.size, 1, 0, &err), OP_ERR_PLAN);
  assert_non_null(strstr(error_message(&err), "circle"));
  waits_free(s.waits);
  free(list);
  plan_entry_clear(&e);
  clear(&p);
  error_free(&err);
}

static int run_all(void) {
  return run_these(NULL, NULL);
}

int main(int argc, char **argv) {
  return argc > 1 && strcmp(argv[1], "mutant") == 0 ? run_mutant(run_all) : run_all();
}
