/* Every allocation fails in turn: the call says OP_ERR_MEMORY, and nothing is left behind. */
#include "../unit.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fault/memory.h"
#include "mesh.h"
#include "plan/plan_cache.h"

enum { size = 5000, targets = 2500 };

struct world {
  struct plan_request request;
  struct plan_column columns[2];
  struct plan_staged staged;
  struct plan plan;
  struct schedule owners;
};

static int make_plan(struct world *w, struct error *err) {
  struct plan plan;
  int status = plan_build(&plan, &w->request, NULL, err);
  if (!status)
    plan_free(&plan);
  return status;
}
static int check_plan(struct world *w, struct error *err) {
  return plan_verify(&w->plan, &w->request, 2, err);
}
static int check_schedule(struct world *w, struct error *err) {
  return schedule_verify(&w->owners, &w->request, err);
}
static int make_owners(struct world *w, struct error *err) {
  struct schedule s;
  struct owner_shares shares;
  int status = schedule_owners(&s, &w->request, 3, &shares, err);
  if (!status)
    schedule_free(&s);
  return status;
}
static void shuffle(int *list, int count) {
  uint64_t seed = 9;
  for (int i = 0; i < count; i++)
    list[i] = i;
  for (int i = count - 1; i > 0; i--) {
    const int other = (int)(random_next(&seed) % (uint32_t)(i + 1)), kept = list[i];
    list[i] = list[other];
    list[other] = kept;
  }
}

/* A mesh near its own order, whose elements and targets have other numbers: all blocks meet. */
static int make_list(struct world *w, struct error *err) {
  static int table[2 * size], row[size], name[targets];
  shuffle(row, size);
  shuffle(name, targets);
  for (int e = 0; e < size; e++)
    for (int k = 0; k < 2; k++)
      table[row[e] * 2 + k] = name[(e * targets / size + k) % targets];
  struct plan_column columns[2] = {w->columns[0], w->columns[1]};
  columns[0].table = columns[1].table = table;
  const struct plan_wish wish = {
      .request = {.size = size, .block_size = 200, .columns = columns, .ncolumns = 2},
      .strategy = &strategy_colours};
  struct plan_entry entry;
  int status = plan_entry_build(&entry, &wish, NULL, err);
  if (!status && entry.crowded == 0)
    fail_msg("the blocks do not all meet");
  if (!status)
    plan_entry_clear(&entry);
  return status;
}
static int make_team(struct world *w, struct error *err) {
  struct team *team;
  (void)w;
  int status = team_open(&team, TEAM_PTHREAD, 3, err);
  team_close(team);
  return status;
}
static int use_cache(struct world *w, struct error *err) {
  static const struct strategy *const used[] = {&strategy_colours, &strategy_plan,   &strategy_owners,
                                                &strategy_tasks,   &strategy_gather, &strategy_straight,
                                                &strategy_warps,   &strategy_ordered};
  enum { STRATEGIES_USED = sizeof used / sizeof *used };
  struct plan_cache *cache = NULL;
  int status = plan_cache_new(&cache, err);
  for (int i = 0; i < 2 * STRATEGIES_USED && !status; i++) {
    struct plan_wish wish = {.request = w->request, .strategy = used[i % STRATEGIES_USED], .threads = 2};
    const struct plan_entry *entry;
    bool built;
    status = plan_cache_get(cache, &wish, NULL, &entry, &built, err);
    if (status && entry)
      fail_msg("an entry came with an error");
  }
  if (!status)
    status = plan_cache_verify(cache, 2, err);
  plan_cache_free(cache);
  return status;
}

static const struct {
  const char *name;
  int (*run)(struct world *w, struct error *err);
} operations[] = {
    {"plan_build", make_plan},
    {"plan_verify", check_plan},
    {"schedule_verify", check_schedule},
    {"schedule_owners", make_owners},
    {"team_open", make_team},
    {"plan_cache", use_cache},
    {"a list", make_list},
};

TEST(each_allocation_fails) {
  struct error err = {0};
  struct world w = {0};
  struct owner_shares shares;
  int *table = mesh_table(size, 2, targets, MESH_NEAR, 4);
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = targets},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = targets}};
  memcpy(w.columns, columns, sizeof columns);
  w.staged = (struct plan_staged){0, 2};
  w.request = (struct plan_request){.size = size,
                                    .block_size = 100,
                                    .columns = w.columns,
                                    .ncolumns = 2,
                                    .staged_columns = w.columns,
                                    .staged = &w.staged,
                                    .nstaged = 1,
                                    .element_colours = true};
  assert_int_equal(plan_build(&w.plan, &w.request, NULL, &err), OP_OK);
  assert_int_equal(schedule_owners(&w.owners, &w.request, 3, &shares, &err), OP_OK);
  error_set(&err, OP_ERR_INTERNAL, "%512s", ""); /* room for messages, so that they allocate nothing */
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    const long before = memory_live();
    long failures = 0;
    int status = OP_ERR_MEMORY;
    for (; status && failures < 1000; failures += status != OP_OK) {
      memory_fail(FAIL_ONCE, failures);
      status = operations[i].run(&w, &err);
      memory_fail(FAIL_NEVER, 0);
      if (status && status != OP_ERR_MEMORY)
        fail_msg("%s: allocation %ld: %s", operations[i].name, failures, error_message(&err));
      if (memory_live() != before)
        fail_msg("%s: allocation %ld: %ld pieces are left", operations[i].name, failures,
                 memory_live() - before);
    }
    assert_int_equal(status, OP_OK);
    assert_true(failures > 0);
  }
  plan_free(&w.plan);
  schedule_free(&w.owners);
  free(table);
  error_free(&err);
}

static void add(void *argument, int thread, int threads) {
  (void)thread;
  *(int *)argument += threads;
}

/* A forked child that gets no threads of its own runs alone, and may close the team. */
TEST(no_memory_for_a_childs_threads) {
  struct error err = {0};
  struct team *team;
  assert_int_equal(team_open(&team, TEAM_PTHREAD, 3, &err), OP_OK);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    int sum = 0;
    alarm(20);
    memory_fail(FAIL_FROM, 0);
    team_run(team, 3, add, &sum);
    team_run(team, 3, add, &sum);
    team_close(team);
    _exit(sum == 2 ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  team_close(team);
  error_free(&err);
}
