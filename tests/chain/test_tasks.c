/* Random chains as blocks that wait for one another have the outcome of the loops one by one, on any number of threads,
 * and are verified. With `mutant` the builder is broken, see mutants.py, and one of both has to find it. */
#include <string.h>

#include "../exec/expect.h"
#include "../mutant.h"
#include "plan/tasks.h"
#include "world.h"

enum { CASES = 1200, MORE_CASES = 30000 };

static long cases = CASES;
static struct team *team;

static struct tasks_wish wish_of(struct world *w) {
  static const int least[] = {1, 2, 8, 64};
  return (struct tasks_wish){.blocks = 1 + (int)world_random(w, 40), .least = least[world_random(w, 4)]};
}

/* The mistake; NULL: there is none. */
static const char *try_threads(struct world *w, const struct tiles *t, struct error *err) {
  static const int threads[] = {1, 2, 3, 8};
  uint64_t first = 0;
  if (chain_verify(t, &w->chain, err))
    return error_message(err);
  world_run_singly(w);
  const uint64_t expected = world_outcome(w, NULL);
  for (int i = 0; i < 4; i++) {
    world_run_threads(w, t, team, threads[i]);
    if (world_outcome(w, NULL) != expected)
      return "the outcome is another one than that of the loops one by one";
    if (i > 0 && world_outcome(w, t) != first)
      return "results of blocks depend on the number of threads";
    first = world_outcome(w, t);
  }
  return NULL;
}

struct seen {
  long waiting, several;
};

/* How many items each waits for. */
static int *count_before(const struct schedule *s) {
  int *before = calloc((size_t)s->nitems + 1, sizeof *before);
  for (int i = 0, count; s->waits && i < s->nitems; i++) {
    const int *after = waits_after(s->waits, i, &count);
    for (int k = 0; k < count; k++)
      before[after[k]]++;
  }
  return before;
}

static const char *try_case(uint64_t seed, struct seen *seen, struct error *err) {
  static const long largest[] = {3, 60, 200, 700};
  struct world w;
  struct tiles t;
  world_make(&w, seed, largest[seed % 4]);
  const struct tasks_wish wish = wish_of(&w);
  const char *wrong =
      tasks_of_chain(&t, &w.chain, &wish, NULL, err) ? error_message(err) : try_threads(&w, &t, err);
  int waiting = 0, *before = count_before(&t.schedule);
  for (int i = 0; i < t.schedule.nitems; i++)
    waiting += before[i] > 0;
  free(before);
  seen->waiting += waiting > 0;
  seen->several += t.ntiles > 4 * w.chain.nloops && waiting < t.ntiles;
  tiles_free(&t);
  world_free(&w);
  return wrong;
}

TEST(random_chains) {
  struct error err = {0};
  struct seen seen = {0};
  expect_ok(team_open(&team, TEAM_PTHREAD, 8, &err), &err);
  for (long seed = 0; seed < cases; seed++) {
    const char *wrong = try_case((uint64_t)seed, &seen, &err);
    if (wrong)
      fail_msg("case %ld: %s", seed, wrong);
  }
  team_close(team);
  assert_true(seen.waiting > cases / 2);
  assert_true(seen.several > cases / 4);
  error_free(&err);
}

/* A line of cells with edges between, twice: no block waits for all, and the second loop begins before the first is over. */
TEST(loops_overlap) {
  enum { CELLS = 4096, EDGES = CELLS - 1, BLOCKS = 32 };
  static int ends[2 * EDGES];
  const struct chain_set sets[] = {{"cells", CELLS}, {"edges", EDGES}};
  const struct chain_map map = {.from = 1, .to = 0, .arity = 2, .table = ends};
  const int dats[] = {0, 0};
  const struct chain_access flux[] = {{.dat = 0, .use = CHAIN_READS, .map = 0, .count = 2},
                                      {.dat = 1, .use = CHAIN_ADDS, .map = 0, .count = 2}},
                            update[] = {{.dat = 1, .use = CHAIN_WRITES, .map = -1, .count = 1},
                                        {.dat = 0, .use = CHAIN_WRITES, .map = -1, .count = 1}};
  const struct chain_loop loops[] = {{.set = 1, .accesses = flux, .naccesses = 2},
                                     {.set = 0, .accesses = update, .naccesses = 2},
                                     {.set = 1, .accesses = flux, .naccesses = 2},
                                     {.set = 0, .accesses = update, .naccesses = 2}};
  const struct chain chain = {.sets = sets,
                              .nsets = 2,
                              .maps = &map,
                              .nmaps = 1,
                              .dats = dats,
                              .ndats = 2,
                              .loops = loops,
                              .nloops = 4};
  const struct tasks_wish wish = {.blocks = BLOCKS, .least = 64};
  struct error err = {0};
  struct tiles t;
  for (int e = 0; e < EDGES; e++) {
    ends[2 * e] = e;
    ends[2 * e + 1] = e + 1;
  }
  expect_ok(tasks_of_chain(&t, &chain, &wish, NULL, &err), &err);
  expect_ok(chain_verify(&t, &chain, &err), &err);
  assert_int_equal(t.ntiles, 4 * BLOCKS);
  assert_int_equal(t.nchunks, 0);
  int most = 0, last = 0, *before = count_before(&t.schedule);
  for (int i = 0; i < t.ntiles; i++) {
    most = before[i] > most ? before[i] : most;
    last = t.schedule.items[i].work == 0 ? i : last;
  }
  free(before);
  assert_in_range(most, 2, 8);
  /* Blocks of one place stand together: the last one of the first loop has all others before it. */
  assert_true(last >= 4 * (BLOCKS - 1));
  tiles_free(&t);
  error_free(&err);
}

static int run_all(void) {
  return run_these(NULL, NULL);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "long") == 0)
    cases = MORE_CASES;
  if (argc > 1 && strcmp(argv[1], "mutant") == 0)
    return run_mutant(run_all);
  return run_all();
}
