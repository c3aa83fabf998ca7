/* Depths of loops and segments: random chains on random parts of random meshes have, after each loop, the values of the
 * whole mesh wherever a depth says so; and what is planted is seen. */
#include "../unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

enum { CASES = 1500, MORE_CASES = 20000, MUTANT_CASES = 3000 };

static long cases = CASES;

static struct depth_wish wish_of(long seed) {
  return (struct depth_wish){
      .layers = 1 + (int)(seed % LAYERS_MOST), .alone = seed % 9 == 0, .fringe = seed / LAYERS_MOST % 2 == 0};
}

static const char *try_case(struct world *w, long seed, enum mistake mistake, int *segments) {
  const struct depth_wish wish = wish_of(seed);
  struct error err = {0};
  struct depths d;
  world_make(w, (uint64_t)seed, &wish);
  if (depths_build(&d, &w->chain, &wish, &err))
    return "there is no memory";
  const char *wrong = world_run(w, &d, mistake);
  *segments += d.nsegments;
  depths_free(&d);
  return wrong;
}

/* ---- random chains ---- */

TEST(copies_are_what_depths_say) {
  struct world *w = malloc(sizeof *w);
  int segments = 0, loops = 0, exchanges = 0;
  assert_non_null(w);
  for (long seed = 0; seed < cases; seed++) {
    const char *wrong = try_case(w, seed, NO_MISTAKE, &segments);
    if (wrong)
      fail_msg("case %ld: %s", seed, wrong);
    loops += w->chain.nloops;
    exchanges += w->exchanges;
  }
  /* Loops do share messages, and have some. */
  assert_true(segments < loops * 9 / 10 && exchanges > loops / 10 && exchanges <= segments);
  free(w);
}

TEST(each_mistake_is_seen) {
  struct world *w = malloc(sizeof *w);
  int segments = 0;
  assert_non_null(w);
  for (enum mistake m = NO_MISTAKE + 1; m < MISTAKES; m++) {
    int seen = 0;
    for (long seed = 0; seed < cases; seed++)
      seen += try_case(w, seed, m, &segments) != NULL;
    if (seen < cases / 200)
      fail_msg("mistake %d is seen in %d of %ld cases", (int)m, seen, cases);
  }
  free(w);
}

static int segments_with_needs(const struct world *w, const struct depths *d) {
  int count = 0;
  for (int s = 0; s < d->nsegments; s++) {
    bool any = false;
    for (int dat = 0; dat < d->ndats; dat++)
      any |= w->changed[dat] && depths_need(d, s)[dat] > 0;
    count += any;
  }
  return count;
}

TEST(more_layers_need_no_more_exchanges) {
  struct world *w = malloc(sizeof *w);
  struct error err = {0};
  assert_non_null(w);
  for (long seed = 0; seed < cases; seed++) {
    int before = LOOPS_MOST + 1;
    for (int layers = 1; layers <= LAYERS_MOST; layers++) {
      const struct depth_wish wish = {.layers = layers, .fringe = seed % 2 == 0};
      struct depths d;
      world_make(w, (uint64_t)seed, &wish);
      assert_int_equal(depths_build(&d, &w->chain, &wish, &err), OP_OK);
      assert_true(d.first[0] == 0 && d.first[d.nsegments] == w->chain.nloops);
      const int sent = segments_with_needs(w, &d);
      assert_true(sent <= before);
      before = sent;
      depths_free(&d);
    }
  }
  free(w);
}

/* ---- airfoil ---- */

enum { CELLS, EDGES, BORDER, NODES, SETS };
enum { PCELL, PECELL, PEDGE, PBECELL, PBEDGE, MAPS };
enum { Q, QOLD, ADT, RES, X, BOUND, DATS };
enum { ADT_CALC, RES_CALC, BRES_CALC, UPDATE, HALF_STEP, STEP = 1 + 2 * HALF_STEP, STEPS = 4 };

#define NEAR(dat, use)                                                                                       \
  { (dat), (use), -1, 0, 1, false }
#define FAR(dat, use, map, count)                                                                            \
  { (dat), (use), (map), 0, (count), false }

static const struct chain_set sets[SETS] = {{"cells", 10}, {"edges", 10}, {"border", 10}, {"nodes", 10}};
static const struct chain_map maps[MAPS] = {{.from = CELLS, .to = NODES, .arity = 4},
                                            {.from = EDGES, .to = CELLS, .arity = 2},
                                            {.from = EDGES, .to = NODES, .arity = 2},
                                            {.from = BORDER, .to = CELLS, .arity = 1},
                                            {.from = BORDER, .to = NODES, .arity = 2}};
static const int dats[DATS] = {CELLS, CELLS, CELLS, CELLS, NODES, BORDER};
static const struct chain_access save_soln[] = {NEAR(Q, CHAIN_READS), NEAR(QOLD, CHAIN_OVERWRITES)},
                                 adt_calc[] = {FAR(X, CHAIN_READS, PCELL, 4), NEAR(Q, CHAIN_READS),
                                               NEAR(ADT, CHAIN_OVERWRITES)},
                                 res_calc[] = {FAR(X, CHAIN_READS, PEDGE, 2), FAR(Q, CHAIN_READS, PECELL, 2),
                                               FAR(ADT, CHAIN_READS, PECELL, 2),
                                               FAR(RES, CHAIN_ADDS, PECELL, 2)},
                                 bres_calc[] = {FAR(X, CHAIN_READS, PBEDGE, 2),
                                                FAR(Q, CHAIN_READS, PBECELL, 1),
                                                FAR(ADT, CHAIN_READS, PBECELL, 1),
                                                FAR(RES, CHAIN_ADDS, PBECELL, 1), NEAR(BOUND, CHAIN_READS)},
                                 update[] = {NEAR(QOLD, CHAIN_READS), NEAR(Q, CHAIN_OVERWRITES),
                                             NEAR(RES, CHAIN_WRITES), NEAR(ADT, CHAIN_READS)};

/* Loops from `first` on of so many steps, each of which saves the state and makes half a step twice. */
static void build_limited(int first, int nloops, int layers, bool fringe, const struct depth_limit *limits,
                          struct depths *d) {
  static const struct chain_loop save = {.set = CELLS, .accesses = save_soln, .naccesses = 2, .whole = true};
  static const struct chain_loop half[HALF_STEP] = {
      {.set = CELLS, .accesses = adt_calc, .naccesses = 3, .whole = true},
      {.set = EDGES, .accesses = res_calc, .naccesses = 4, .whole = true},
      {.set = BORDER, .accesses = bres_calc, .naccesses = 5, .whole = true},
      {.set = CELLS, .accesses = update, .naccesses = 4, .whole = true, .combines = true}};
  struct chain_loop loops[STEPS * STEP];
  struct error err = {0};
  for (int i = 0; i < STEPS; i++) {
    loops[i * STEP] = save;
    for (int l = 0; l < 2 * HALF_STEP; l++)
      loops[i * STEP + 1 + l] = half[l % HALF_STEP];
  }
  const struct chain chain = {.sets = sets,
                              .nsets = SETS,
                              .maps = maps,
                              .nmaps = MAPS,
                              .dats = dats,
                              .ndats = DATS,
                              .loops = loops + first,
                              .nloops = nloops};
  const size_t bytes[DATS] = {[Q] = 32, [QOLD] = 32, [ADT] = 8, [RES] = 32, [X] = 16, [BOUND] = 4};
  const struct depth_wish wish = {.layers = layers, .fringe = fringe, .bytes = bytes, .limits = limits};
  assert_int_equal(depths_build(d, &chain, &wish, &err), OP_OK);
}

static void build_airfoil(int first, int nloops, int layers, bool fringe, struct depths *d) {
  build_limited(first, nloops, layers, fringe, NULL, d);
}

/* The mistake of loops that keep apart, or add to what a rank owns alone; NULL: there is none. */
static const char *try_limits(void) {
  struct depth_limit apart[STEP] = {{false, false}}, own[STEP];
  struct depths d;
  bool alone = false, deep = false;
  apart[HALF_STEP].apart = true;
  build_limited(0, STEP, 2, true, apart, &d);
  for (int s = 0; s < d.nsegments; s++)
    alone |= d.first[s] == HALF_STEP && d.first[s + 1] == HALF_STEP + 1;
  depths_free(&d);
  for (int l = 0; l < STEP; l++)
    own[l] = (struct depth_limit){.own = true};
  build_limited(0, STEP, 2, true, own, &d);
  for (int l = 0; l < STEP; l++)
    deep |= d.run[l] > 1 && (l % HALF_STEP == 2 || l % HALF_STEP == 3);
  depths_free(&d);
  return deep    ? "sums run deeper than they may"
         : alone ? NULL
                 : "what keeps apart is in a segment with others";
}

TEST(limits_of_loops_are_kept) {
  const char *wrong = try_limits();
  if (wrong)
    fail_msg("%s", wrong);
}

TEST(the_state_alone_travels_in_half_a_step_of_airfoil) {
  struct depths d;
  build_airfoil(1, HALF_STEP, 1, true, &d);
  const int *need = depths_need(&d, 0);
  assert_int_equal(d.nsegments, 1);
  assert_true(need[Q] == 2 && need[ADT] == DEPTH_NONE && need[RES] == 0 && need[QOLD] == 0);
  assert_true(d.run[ADT_CALC] == 2 && d.run[RES_CALC] == 1 && d.run[BRES_CALC] == 1 && d.run[UPDATE] == 0);
  depths_free(&d);
}

/* Not as far as it could be: then the time step would be computed at its end, and travel. */
TEST(segments_begin_where_little_travels) {
  struct depths d;
  build_airfoil(0, STEPS * STEP, 1, true, &d);
  assert_int_equal(d.nsegments, 2 * STEPS);
  for (int s = 0; s < d.nsegments; s++) {
    const int *need = depths_need(&d, s);
    assert_true(need[Q] == 2 && need[ADT] <= 0 && need[RES] <= 0 && need[QOLD] <= 0);
  }
  depths_free(&d);
}

TEST(layers_for_whole_steps_of_airfoil) {
  for (int steps = 1; steps <= 2; steps++) {
    const int layers = 2 * steps;
    struct depths d;
    build_airfoil(0, STEPS * STEP, layers, true, &d);
    assert_int_equal(d.nsegments, STEPS / steps);
    for (int s = 0; s < d.nsegments; s++) {
      assert_int_equal(d.first[s], s * steps * STEP);
      assert_int_equal(depths_need(&d, s)[Q], 2 * layers);
      assert_int_equal(depths_need(&d, s)[RES], 2 * layers - 2);
    }
    depths_free(&d);
  }
}

/* The time step then travels with the state. */
TEST(without_a_fringe_cells_are_not_run_twice) {
  struct depths d;
  build_airfoil(1, HALF_STEP, 1, false, &d);
  assert_int_equal(d.run[ADT_CALC], 0);
  assert_int_equal(d.nsegments, 2);
  assert_int_equal(d.first[1], RES_CALC);
  assert_true(depths_need(&d, 1)[Q] == 2 && depths_need(&d, 1)[ADT] == 2);
  depths_free(&d);
}

/* Two loops that change what later ones read through maps: one message for both, and nobody runs on copies for it. */
TEST(loops_that_run_as_alone_share_messages) {
  const struct chain_access fill[] = {NEAR(Q, CHAIN_OVERWRITES), NEAR(ADT, CHAIN_OVERWRITES)};
  const struct chain_access first[] = {FAR(Q, CHAIN_READS, PECELL, 2), FAR(RES, CHAIN_ADDS, PECELL, 2)};
  const struct chain_access second[] = {FAR(ADT, CHAIN_READS, PECELL, 2), FAR(RES, CHAIN_ADDS, PECELL, 2)};
  const struct chain_loop loops[] = {{.set = CELLS, .accesses = fill, .naccesses = 2, .whole = true},
                                     {.set = EDGES, .accesses = first, .naccesses = 2, .whole = true},
                                     {.set = EDGES, .accesses = second, .naccesses = 2, .whole = true}};
  const struct chain chain = {.ndats = DATS, .loops = loops, .nloops = 3};
  struct error err = {0};
  struct depths d;
  assert_int_equal(depths_build(&d, &chain, &(struct depth_wish){.layers = 1, .alone = true}, &err), OP_OK);
  assert_true(d.nsegments == 2 && d.first[1] == 1);
  assert_true(d.run[0] == 0 && d.run[1] == 1 && d.run[2] == 1);
  assert_true(depths_need(&d, 1)[Q] == 2 && depths_need(&d, 1)[ADT] == 2);
  depths_free(&d);
  /* Where cells run on copies, too, only what they start from travels. */
  assert_int_equal(depths_build(&d, &chain, &(struct depth_wish){.layers = 1}, &err), OP_OK);
  assert_true(d.nsegments == 1 && d.run[0] == 2 && depths_need(&d, 0)[Q] == DEPTH_NONE);
  depths_free(&d);
}

/* ---- one loop ---- */

TEST(no_loops_are_no_segments) {
  struct error err = {0};
  struct depths d;
  const struct chain chain = {0};
  assert_int_equal(depths_build(&d, &chain, &(struct depth_wish){.layers = 1}, &err), OP_OK);
  assert_int_equal(d.nsegments, 0);
  depths_free(&d);
}

TEST(depths_of_one_loop) {
  const struct chain_loop loop = {.accesses = res_calc, .naccesses = 4, .whole = true};
  int need[DATS] = {0}, valid[DATS] = {[Q] = 2, [ADT] = 2, [RES] = 2};
  assert_int_equal(depth_before(&loop, need), 1);
  assert_true(need[Q] == 2 && need[ADT] == 2 && need[X] == 2 && need[RES] == 0);
  depth_behind(&loop, 1, valid);
  assert_true(valid[Q] == 2 && valid[ADT] == 2 && valid[RES] == 0);
}

/* Two exchanges in each step, of the state and the time step; what is constant has travelled before. */
TEST(airfoil_one_by_one) {
  static const struct chain_loop half[HALF_STEP] = {
      {.set = CELLS, .accesses = adt_calc, .naccesses = 3, .whole = true},
      {.set = EDGES, .accesses = res_calc, .naccesses = 4, .whole = true},
      {.set = BORDER, .accesses = bres_calc, .naccesses = 5, .whole = true},
      {.set = CELLS, .accesses = update, .naccesses = 4, .whole = true}};
  static const size_t bytes[DATS] = {[Q] = 32, [QOLD] = 32, [ADT] = 8, [RES] = 32, [X] = 16, [BOUND] = 4};
  const struct chain chain = {.ndats = DATS, .maps = maps, .nmaps = MAPS, .loops = half, .nloops = HALF_STEP};
  struct error err = {0};
  struct depth_cost cost;
  assert_int_equal(depths_of_single_loops(&chain, bytes, &cost, &err), OP_OK);
  assert_int_equal(cost.exchanges, 1);
  assert_true(cost.weight > 79.9 && cost.weight < 80.1);
}

/* ---- programs ---- */

static int run_mutant(void) {
  struct world *w = malloc(sizeof *w);
  int segments = 0;
  const char *limits = try_limits();
  if (limits) {
    printf("%s\n", limits);
    free(w);
    return 0;
  }
  for (long seed = 0; w && seed < MUTANT_CASES; seed++) {
    const char *wrong = try_case(w, seed, NO_MISTAKE, &segments);
    if (wrong) {
      printf("case %ld: %s\n", seed, wrong);
      free(w);
      return 0;
    }
  }
  free(w);
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
