/* Blocks by colour on a mesh without order: tetrahedra of shuffled cubes, four nodes each. */
#include <string.h>

#include "expect.h"
#include "mesh.h"
#include "plan/strategy.h"

enum {
  SIDE = 24,
  NODES = SIDE * SIDE * SIDE,
  CUBES = (SIDE - 1) * (SIDE - 1) * (SIDE - 1),
  TETS = 6 * CUBES,
  BLOCK = 512
};
enum { BLOCKS = (TETS + BLOCK - 1) / BLOCK };

struct tets {
  int table[4 * TETS];
  struct plan_column columns[4];
  struct plan_wish wish;
};

static void shuffle(int *list, int count, uint64_t seed) {
  for (int i = 0; i < count; i++)
    list[i] = i;
  for (int i = count - 1; i > 0; i--) {
    const int other = (int)(random_next(&seed) % (uint32_t)(i + 1)), kept = list[i];
    list[i] = list[other];
    list[other] = kept;
  }
}

/* Corner `bits` of a cube: a step along each direction that has a bit. */
static int corner(int cube, int bits) {
  enum { N = SIDE - 1 };
  const int x = cube % N + (bits & 1), y = cube / N % N + (bits >> 1 & 1), z = cube / (N * N) + (bits >> 2);
  return (z * SIDE + y) * SIDE + x;
}

/* From the first corner of a cube to the last, one direction after the other, in each of six ways. */
static void make(struct tets *t, bool shuffled) {
  static const int ways[6][2] = {{1, 3}, {1, 5}, {2, 3}, {2, 6}, {4, 5}, {4, 6}};
  int *node = calloc(NODES, sizeof *node), *place = calloc(TETS, sizeof *place);
  shuffle(node, shuffled ? NODES : 0, 1);
  shuffle(place, shuffled ? TETS : 0, 2);
  for (int i = 0; i < TETS; i++) {
    const int corners[4] = {0, ways[i % 6][0], ways[i % 6][1], 7};
    for (int k = 0; k < 4; k++) {
      const int own = corner(i / 6, corners[k]);
      t->table[4 * (shuffled ? place[i] : i) + k] = shuffled ? node[own] : own;
    }
  }
  for (int k = 0; k < 4; k++)
    t->columns[k] =
        (struct plan_column){.table = t->table, .arity = 4, .column = k, .target = 1, .target_size = NODES};
  t->wish =
      (struct plan_wish){.request = {.size = TETS, .block_size = BLOCK, .columns = t->columns, .ncolumns = 4},
                         .strategy = &strategy_colours,
                         .set_name = "tets"};
  free(node);
  free(place);
}

static struct plan_entry build(const struct plan_wish *wish, struct team *team) {
  struct error err = {0};
  struct plan_entry e;
  expect_ok(plan_entry_build(&e, wish, team, &err), &err);
  expect_ok(wish->strategy->verify(&e, wish, 2, &err), &err);
  error_free(&err);
  return e;
}

/* Adds each element to its nodes in the order of the schedule. */
static void add_tets(void *const *frame, const int *list, long begin, long end) {
  const int *table = frame[0];
  long *sums = frame[1];
  for (long p = begin; p < end; p++) {
    const long e = list ? list[p] : p;
    for (int k = 0; k < 4; k++)
      sums[table[4 * e + k]] += e % 101 + k;
  }
}

static void expect_sums(const struct tets *t, const struct schedule *s, struct team *team) {
  long *expected = calloc(NODES, sizeof *expected), *sums = calloc(NODES, sizeof *sums);
  void *frames[2][2] = {{(void *)t->table, expected}, {(void *)t->table, sums}};
  add_tets(frames[0], NULL, 0, TETS);
  const struct work works[] = {{.function = add_tets, .frame = frames[1], .nframe = 2},
                               {.function = add_tets, .frame = frames[1], .nframe = 2, .list = s->list}};
  executor_run(team,
               &(struct execution){
                   .schedule = s, .works = works, .nworks = 2, .threads = team ? team_threads(team) : 1});
  assert_memory_equal(sums, expected, NODES * sizeof *sums);
  free(sums);
  free(expected);
}

TEST(shuffled_tetrahedra_do_not_run_one_block_after_the_other) {
  struct error err = {0};
  struct team *team;
  struct tets *t = calloc(1, sizeof *t);
  struct plan own;
  expect_ok(team_open(&team, TEAM_PTHREAD, 3, &err), &err);
  make(t, true);
  expect_ok(plan_build(&own, &t->wish.request, NULL, &err), &err);
  assert_int_equal(own.nblocks, BLOCKS);
  assert_int_equal(own.ncolours, BLOCKS);
  struct plan_entry one = build(&t->wish, NULL), many = build(&t->wish, team);
  assert_int_equal(one.crowded, BLOCKS);
  assert_int_equal(one.plan.nblocks, BLOCKS);
  assert_true(one.plan.ncolours <= BLOCKS / 4);
  assert_int_equal(one.schedule.list_length, TETS);
  assert_memory_equal(one.schedule.list, many.schedule.list, TETS * sizeof(int));
  assert_memory_equal(one.schedule.items, many.schedule.items,
                      (size_t)one.schedule.nitems * sizeof(struct item));
  expect_sums(t, &one.schedule, NULL);
  expect_sums(t, &many.schedule, team);
  plan_entry_clear(&one);
  plan_entry_clear(&many);
  /* Without code for a list, and at any other element of the set. */
  t->wish.request.in_order = true;
  one = build(&t->wish, NULL);
  assert_null(one.schedule.list);
  assert_int_equal(one.crowded, 0);
  plan_entry_clear(&one);
  t->wish.request.in_order = false;
  t->wish.request.begin = 1000;
  one = build(&t->wish, NULL);
  assert_int_equal(one.crowded, BLOCKS);
  plan_entry_clear(&one);
  plan_free(&own);
  team_close(team);
  free(t);
  error_free(&err);
}

TEST(what_is_in_order_stays_so) {
  struct tets *t = calloc(1, sizeof *t);
  make(t, false);
  struct plan_entry e = build(&t->wish, NULL);
  assert_null(e.schedule.list);
  assert_int_equal(e.crowded, 0);
  plan_entry_clear(&e);
  free(t);
}

/* No order helps where all increment one target. */
TEST(one_target_for_all) {
  struct tets *t = calloc(1, sizeof *t);
  make(t, true);
  for (int i = 0; i < TETS; i++)
    t->table[4 * i] = 7;
  struct plan_entry e = build(&t->wish, NULL);
  assert_null(e.schedule.list);
  assert_int_equal(e.plan.ncolours, BLOCKS);
  plan_entry_clear(&e);
  free(t);
}

/* Also through a ragged map, and several columns of which some lead elsewhere. */
TEST(ragged_and_several_sets) {
  struct tets *t = calloc(1, sizeof *t);
  long long *first = calloc(TETS + 1, sizeof *first);
  make(t, true);
  for (int i = 0; i < TETS; i++)
    first[i + 1] = first[i] + 1 + i % 4;
  /* Row i has the first targets of tetrahedron i. */
  int *table = calloc((size_t)first[TETS], sizeof *table);
  for (int i = 0; i < TETS; i++)
    memcpy(table + first[i], t->table + 4 * i, (size_t)(first[i + 1] - first[i]) * sizeof *table);
  const struct plan_column columns[] = {
      {.table = table, .first = first, .arity = 1, .target = 1, .target_size = NODES},
      {.target = 2, .target_size = TETS},
      t->columns[3]};
  t->wish.request.columns = columns;
  t->wish.request.ncolumns = 3;
  struct plan_entry e = build(&t->wish, NULL);
  assert_int_equal(e.crowded, BLOCKS);
  assert_true(e.plan.ncolours <= BLOCKS / 4);
  plan_entry_clear(&e);
  free(table);
  free(first);
  free(t);
}
