/* Graphs of tasks: random ones against a sequential order, with conflicts watched by stamps; and what each call promises, in
 * the other files. With `mutant` the scheduler is broken, see mutants.py, and a test has to find it; with `long` ten million
 * tasks run. */
#include "../mutant.h"
#include "random.h"
#include "small.h"

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

/* ---- programs ---- */

static int run_all(void) {
  return run_these(NULL, NULL);
}

static int run_more(void) {
  seeds = 6;
  mixed_seeds += 20;
  return run_all();
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "mutant") == 0)
    return run_mutant(run_more);
  if (argc > 1 && strcmp(argv[1], "long") == 0) {
    seeds = 20;
    mixed_seeds += 500;
    return tests_of_ten_million() + run_all();
  }
  return run_all();
}
