/* Tiles of random chains have the outcome of the loops one by one, in whichever order chunks run, and are verified.
 * With `mutant` the builder is broken, see mutants.py, and one of both has to find it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../exec/expect.h"
#include "plan/tasks.h"
#include "plan/tiles_prefix.h"
#include "world.h"

enum { CASES = 3000, MORE_CASES = 60000, MUTANT_CASES = 60000 };

static struct tiles_wish wish_of(struct world *w) {
  static const int steps[] = {1, 2, 8, 64};
  return (struct tiles_wish){.tiles = 1 + (int)world_random(w, 40),
                             .chunks = 1 + (int)world_random(w, 8),
                             .step = steps[world_random(w, 4)],
                             .small = w->periodic ? 64 : 4 << world_random(w, 5),
                             .blocks = 1 + (int)world_random(w, 50),
                             .wraps = w->periodic || world_random(w, 5) == 0,
                             .always = true};
}

/* Their mistake; NULL: there is none. `seen` counts what cases there were. */
struct seen {
  long chunks, gaps, wraps;
};

static const char *try_tiles(struct world *w, const struct tiles *t, struct seen *seen, struct error *err) {
  if (chain_verify(t, &w->chain, err))
    return error_message(err);
  seen->chunks += t->nchunks > 1;
  seen->gaps += t->gap > 0;
  seen->wraps += w->periodic && t->gap > 0 && t->gap < t->all / 2 && t->nchunks > 1;
  world_run_singly(w);
  const uint64_t expected = world_outcome(w, NULL);
  uint64_t first = 0;
  for (int order = 0; order < ORDERS; order++) {
    world_run_tiles(w, t, (enum world_order)order);
    if (world_outcome(w, NULL) != expected)
      return "the outcome is another one than that of the loops one by one";
    if (order > 0 && world_outcome(w, t) != first)
      return "results of blocks depend on the order of chunks";
    first = world_outcome(w, t);
  }
  return NULL;
}

static const char *try_case(uint64_t seed, struct seen *seen, struct error *err) {
  static const long largest[] = {3, 60, 200, 700};
  struct world w;
  struct tiles t;
  world_make(&w, seed, largest[seed % 4]);
  const struct tiles_wish wish = wish_of(&w);
  const char *wrong =
      tiles_build(&t, &w.chain, &wish, NULL, err) ? error_message(err) : try_tiles(&w, &t, seen, err);
  tiles_free(&t);
  world_free(&w);
  return wrong;
}

static long cases = CASES;

TEST(random_chains) {
  struct error err = {0};
  struct seen seen = {0};
  for (long seed = 0; seed < cases; seed++) {
    const char *wrong = try_case((uint64_t)seed, &seen, &err);
    if (wrong)
      fail_msg("case %ld: %s", seed, wrong);
  }
  assert_true(seen.chunks > cases / 10);
  assert_true(seen.gaps > cases / 20);
  assert_true(seen.wraps > cases / 100);
  error_free(&err);
}

TEST(same_on_threads) {
  struct error err = {0};
  struct team *team;
  expect_ok(team_open(&team, TEAM_PTHREAD, 8, &err), &err);
  for (long seed = 0; seed < cases / 30; seed++) {
    struct world w;
    struct tiles t;
    world_make(&w, (uint64_t)seed, 700);
    struct tiles_wish wish = wish_of(&w);
    wish.chunks = 8;
    expect_ok(tiles_build(&t, &w.chain, &wish, team, &err), &err);
    world_run_tiles(&w, &t, ORDER_UP);
    const uint64_t expected = world_outcome(&w, &t);
    const int threads = 1 + (int)(seed % 8);
    if (seed % 2)
      tiles_deal(&t, threads);
    world_run_threads(&w, &t, team, threads);
    if (world_outcome(&w, &t) != expected)
      fail_msg("case %ld: another outcome on %d threads", seed, threads);
    tiles_free(&t);
    world_free(&w);
  }
  team_close(team);
  error_free(&err);
}

/* ---- a mesh of cells, with edges between them and a border -----------------------------------------*/

enum { NX = 100, NY = 200, CELLS = NX * NY, EDGES = 2 * CELLS, BORDER = 2 * (NX + NY) };

struct grid {
  struct chain_set sets[3];
  struct chain_map maps[2];
  int dats[3];
  struct chain_access accesses[5][3];
  struct chain_loop loops[5];
  struct chain chain;
  int *edges, *border;
};

/* The border goes round: along the first row, up, along the last, down. */
static int border_cell(int b) {
  return b < NX            ? b
         : b < NX + NY     ? (b - NX) * NX + NX - 1
         : b < 2 * NX + NY ? CELLS - 1 - (b - NX - NY)
                           : (BORDER - 1 - b) * NX;
}

/* save: old = q; flux: res += of both q; border: res += of q; update: q += of res and old, and a sum; and flux
 * again. */
static void make_grid(struct grid *g) {
  enum { Q, OLD, RES };
  memset(g, 0, sizeof *g);
  g->edges = calloc((size_t)EDGES * 2, sizeof(int));
  g->border = calloc((size_t)BORDER, sizeof(int));
  for (int c = 0; c < CELLS; c++)
    for (int side = 0; side < 2; side++) {
      const int other = side ? c + NX : c + 1;
      g->edges[2 * (2 * c + side)] = c;
      g->edges[2 * (2 * c + side) + 1] = other < CELLS ? other : c;
    }
  for (int b = 0; b < BORDER; b++)
    g->border[b] = border_cell(b);
  const struct grid made = {
      .sets = {{"cells", CELLS}, {"edges", EDGES}, {"bedges", BORDER}},
      .maps = {{1, 0, 2, g->edges, NULL, NULL, NULL}, {2, 0, 1, g->border, NULL, NULL, NULL}},
      .accesses = {{{Q, CHAIN_READS, -1, 0, 0, false}, {OLD, CHAIN_WRITES, -1, 0, 0, false}},
                   {{Q, CHAIN_READS, 0, 0, 2, false}, {RES, CHAIN_ADDS, 0, 0, 2, false}},
                   {{Q, CHAIN_READS, 1, 0, 1, false}, {RES, CHAIN_ADDS, 1, 0, 1, false}},
                   {{OLD, CHAIN_READS, -1, 0, 0, false},
                    {RES, CHAIN_WRITES, -1, 0, 0, false},
                    {Q, CHAIN_WRITES, -1, 0, 0, false}},
                   {{Q, CHAIN_READS, 0, 0, 2, false}, {RES, CHAIN_ADDS, 0, 0, 2, false}}},
      .loops = {{0, NULL, 2, false, true},
                {1, NULL, 2, false, true},
                {2, NULL, 2, false, true},
                {0, NULL, 3, true, true},
                {1, NULL, 2, false, true}},
      .edges = g->edges,
      .border = g->border};
  *g = made;
  for (int l = 0; l < 5; l++)
    g->loops[l].accesses = g->accesses[l];
  g->chain = (struct chain){g->sets, 3, g->maps, 2, g->dats, 3, g->loops, 5};
}

static void free_grid(struct grid *g) {
  free(g->edges);
  free(g->border);
}

static const struct tiles_wish grid_wish = {
    .tiles = 40, .chunks = 4, .step = PREFIX_STEP, .small = 64, .blocks = 64};

TEST(tiles_stay_together) {
  struct error err = {0};
  struct grid g;
  struct tiles t;
  make_grid(&g);
  expect_ok(tiles_build(&t, &g.chain, &grid_wish, NULL, &err), &err);
  assert_string_equal(text_str(&t.refused), "");
  expect_ok(chain_verify(&t, &g.chain, &err), &err);
  assert_int_equal(t.nchunks, 4);
  assert_int_equal(t.ntiles, 40);
  assert_true(t.gap > 0 && t.gap < t.all / 20);
  assert_int_equal(t.schedule.nphases, 2);
  int border_items = 0;
  for (int i = 0; i < t.schedule.nitems; i++) {
    const struct item *item = &t.schedule.items[i];
    const long size = g.sets[g.loops[item->work].set].size;
    /* A tile, and what the loops behind reach beyond it: a few rows. The border's first row is one item, with the
     * side above it. */
    assert_true(item->end - item->begin < (item->work == 2 ? NX + NY / 10 : size / 40 + 6L * NX * 2));
    border_items += item->work == 2;
  }
  /* Its two other sides take turns in the order of cells, but not within a tile. */
  assert_true(border_items < 3 * (t.ntiles + t.nchunks));
  tiles_free(&t);
  free_grid(&g);
  error_free(&err);
}

TEST(edges_in_chaos_are_refused) {
  struct error err = {0};
  struct grid g;
  struct tiles t;
  make_grid(&g);
  for (int e = 0; e < EDGES; e++) {
    const int other = (int)((long)e * 7919 % EDGES);
    for (int c = 0; c < 2; c++) {
      const int kept = g.edges[2 * e + c];
      g.edges[2 * e + c] = g.edges[2 * other + c];
      g.edges[2 * other + c] = kept;
    }
  }
  expect_ok(tiles_build(&t, &g.chain, &grid_wish, NULL, &err), &err);
  assert_string_equal(text_str(&t.refused),
                      "set edges is numbered against cells; op_renumber can bring them together");
  assert_int_equal(t.schedule.nitems, 0);
  tiles_free(&t);
  struct tiles_wish wish = grid_wish;
  wish.always = true;
  expect_ok(tiles_build(&t, &g.chain, &wish, NULL, &err), &err);
  expect_ok(chain_verify(&t, &g.chain, &err), &err);
  tiles_free(&t);
  free_grid(&g);
  error_free(&err);
}

/* Dats that are read only may lie anywhere: here flux also reads places through a map without any order. */
TEST(what_nobody_writes_may_be_anywhere) {
  struct error err = {0};
  struct grid g;
  struct tiles t;
  make_grid(&g);
  int *chaos = calloc((size_t)EDGES, sizeof *chaos);
  for (int e = 0; e < EDGES; e++)
    chaos[e] = (int)((long)e * 7919 % CELLS);
  const struct chain_map maps[] = {g.maps[0], g.maps[1], {.from = 1, .arity = 1, .table = chaos}};
  const int dats[] = {g.dats[0], g.dats[1], g.dats[2], 0};
  enum { PLACES = 3 };
  g.accesses[1][2] = (struct chain_access){PLACES, CHAIN_READS, 2, 0, 1, false};
  g.loops[1].naccesses = 3;
  g.chain.maps = maps;
  g.chain.nmaps = 3;
  g.chain.dats = dats;
  g.chain.ndats = 4;
  for (int wraps = 0; wraps < 2; wraps++) {
    struct tiles_wish wish = grid_wish;
    wish.wraps = wraps;
    expect_ok(tiles_build(&t, &g.chain, &wish, NULL, &err), &err);
    assert_string_equal(text_str(&t.refused), "");
    expect_ok(chain_verify(&t, &g.chain, &err), &err);
    assert_true(t.gap < t.all / 20);
    tiles_free(&t);
  }
  /* One loop that writes them is enough. */
  g.accesses[0][1] = (struct chain_access){PLACES, CHAIN_WRITES, -1, 0, 0, false};
  expect_ok(tiles_build(&t, &g.chain, &grid_wish, NULL, &err), &err);
  assert_string_equal(text_str(&t.refused),
                      "set edges is numbered against cells; op_renumber can bring them together");
  tiles_free(&t);
  free(chaos);
  free_grid(&g);
  error_free(&err);
}

/* ---- prefixes --------------------------------------------------------------------------------------*/

static void check_prefix(const struct prefix *p, const struct prefix_request *r) {
  for (int c = 0; c < r->arity; c++)
    for (long e = 0; e < r->from; e++) {
      const int target = r->table[e * r->arity + c];
      assert_true(prefix_targets(p, c, e + 1) > target);
      assert_true(prefix_elements(p, c, target + 1) > e);
    }
}

TEST(prefixes_hold_for_all_elements) {
  struct error err = {0};
  struct grid g;
  struct team *team;
  make_grid(&g);
  expect_ok(team_open(&team, TEAM_PTHREAD, 3, &err), &err);
  enum { LARGE = 150000 };
  int *large = calloc((size_t)LARGE * 2, sizeof *large);
  for (int i = 0; i < 2 * LARGE; i++)
    large[i] = (int)((long)i / 2 * CELLS / LARGE + i * 7919L % 100) % CELLS;
  const struct prefix_request requests[] = {
      {.table = g.edges, .arity = 2, .from = EDGES, .to = CELLS, .from_step = 64, .to_step = 64},
      {.table = g.edges, .arity = 2, .from = EDGES, .to = CELLS, .from_step = 1, .to_step = 8},
      {.table = large, .arity = 2, .from = LARGE, .to = CELLS, .from_step = 64, .to_step = 64}};
  for (int i = 0; i < 3; i++) {
    struct arrays arrays = {0};
    struct prefix alone, together;
    expect_ok(prefix_build(&alone, &arrays, &requests[i], NULL, &err), &err);
    const size_t bytes = arrays.bytes;
    expect_ok(prefix_build(&together, &arrays, &requests[i], team, &err), &err);
    check_prefix(&alone, &requests[i]);
    assert_int_equal(prefix_targets(&alone, 0, 0), 0);
    assert_int_equal(prefix_elements(&alone, 0, 0), 0);
    assert_true(i == 1 || bytes < (size_t)(requests[i].from + requests[i].to) * 8 / 50);
    for (long e = 0; e <= requests[i].from; e++)
      assert_int_equal(prefix_targets(&alone, 1, e), prefix_targets(&together, 1, e));
    for (long c = 0; c <= CELLS; c++)
      assert_int_equal(prefix_elements(&alone, 1, c), prefix_elements(&together, 1, c));
    arrays_free(&arrays);
  }
  free(large);
  team_close(team);
  free_grid(&g);
  error_free(&err);
}

/* ---- programs --------------------------------------------------------------------------------------*/

static int run_mutant(void) {
  struct error err = {0};
  struct seen seen = {0};
  for (long seed = 0; seed < MUTANT_CASES; seed++) {
    const char *wrong = try_case((uint64_t)seed, &seen, &err);
    if (wrong) {
      printf("case %ld: %s\n", seed, wrong);
      error_free(&err);
      return 0;
    }
  }
  printf("nobody noticed in %d cases\n", MUTANT_CASES);
  return 1;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "mutant") == 0)
    return run_mutant();
  if (argc > 1 && strcmp(argv[1], "long") == 0)
    cases = MORE_CASES;
  return run_these(NULL, NULL);
}
