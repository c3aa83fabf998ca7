/* Sums of warps on random meshes: what a kernel would add with the plan against what the elements add, the same on any
 * number of threads, and the faults that verifying must find. */
#include "added.h"
#include "expect.h"

static long value_of(long element, int column) {
  return 1 + element * 31 + column * 7;
}

/* As a kernel does it: each target of a warp once, with the sum of its summands. */
static void check_sums(const struct plan *p, const struct plan_request *r, int dataset) {
  const struct plan_staging *s = &p->staging[dataset];
  const struct plan_column *columns = r->staged_columns + r->staged[dataset].first;
  long *wanted = calloc((size_t)columns->target_size, sizeof *wanted),
       *got = calloc((size_t)columns->target_size, sizeof *got);
  for (long e = 0; e < r->size; e++)
    for (int c = 0; c < s->ncolumns; c++)
      wanted[target_of(&columns[c], e)] += value_of(e, c);
  for (int b = 0; b < p->nblocks; b++) {
    const long begin = (long)b * p->block_size, base = begin * s->ncolumns;
    for (long t = s->first[b]; t < s->first[b + 1]; t++) {
      const int from = t > s->first[b] ? number(s, s->last, t - 1) + 1 : 0, to = number(s, s->last, t);
      assert_true(t == s->first[b] || s->targets[t] > s->targets[t - 1]);
      for (int at = from; at <= to; at++) {
        const int slot = number(s, s->slots, base + at);
        got[s->targets[t]] += value_of(begin + slot % p->block_size, slot / p->block_size);
      }
    }
  }
  assert_memory_equal(wanted, got, (size_t)columns->target_size * sizeof *got);
  free(wanted);
  free(got);
}

TEST(sums_are_those_of_the_elements) {
  static const int widths[] = {1, 32, 64, 96, 256};
  struct error err = {0};
  for (int shape = 0; shape < MESH_SHAPES; shape++)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
      for (int ncolumns = 1; ncolumns <= MOST_COLUMNS; ncolumns += ncolumns < 9 ? 1 : 3)
        for (long size = 1; size < 700; size = size * 5 + 1) {
          struct fixture f;
          struct plan_entry entry;
          make(&f, size, ncolumns, widths[w], &strategy_warps, (enum mesh_shape)shape,
               (uint64_t)(size + ncolumns));
          expect_ok(plan_entry_build(&entry, &f.wish, NULL, &err), &err);
          assert_int_equal(entry.plan.staging[0].entry_bytes, widths[w] * ncolumns <= 256 ? 1 : 2);
          assert_null(entry.plan.staging[0].local);
          check_sums(&entry.plan, &f.wish.request, 0);
          check_sums(&entry.plan, &f.wish.request, 1);
          expect_ok(strategy_warps.verify(&entry, &f.wish, 2, &err), &err);
          plan_entry_clear(&entry);
          clear(&f);
        }
  error_free(&err);
}

/* One byte for each summand, five for each target; airfoil's edges have 33 targets a warp. */
TEST(bytes_of_a_grid) {
  struct error err = {0};
  struct plan_entry entry;
  int *table = NULL;
  const long edges = mesh_grid(100, 100, &table);
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = 10000},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = 10000}};
  const struct plan_staged staged = {0, 2};
  const struct plan_wish wish = {.request = {.size = edges,
                                             .block_size = 32,
                                             .staged_columns = columns,
                                             .staged = &staged,
                                             .nstaged = 1},
                                 .strategy = &strategy_warps};
  expect_ok(plan_entry_build(&entry, &wish, NULL, &err), &err);
  const struct plan_staging *s = &entry.plan.staging[0];
  const long targets = s->first[entry.plan.nblocks];
  assert_in_range(targets, 32L * entry.plan.nblocks, 34L * entry.plan.nblocks);
  assert_in_range((long)plan_entry_bytes(&entry), 2 * edges + 5 * targets,
                  2 * edges + 5 * targets + 20L * entry.plan.nblocks);
  plan_entry_clear(&entry);
  free(table);
  error_free(&err);
}

TEST(same_on_threads) {
  struct error err = {0};
  struct fixture f;
  struct plan_entry alone, together;
  struct team *team;
  make(&f, 150000, 3, 32, &strategy_warps, MESH_NEAR, 5);
  expect_ok(team_open(&team, TEAM_PTHREAD, 3, &err), &err);
  expect_ok(plan_entry_build(&alone, &f.wish, NULL, &err), &err);
  expect_ok(plan_entry_build(&together, &f.wish, team, &err), &err);
  for (int d = 0; d < 2; d++) {
    const struct plan_staging *a = &alone.plan.staging[d], *b = &together.plan.staging[d];
    assert_memory_equal(a->last, b->last, (size_t)a->first[alone.plan.nblocks]);
    assert_memory_equal(a->slots, b->slots, (size_t)(150000 * a->ncolumns));
  }
  expect_ok(strategy_warps.verify(&together, &f.wish, 2, &err), &err);
  plan_entry_clear(&alone);
  plan_entry_clear(&together);
  team_close(team);
  clear(&f);
  error_free(&err);
}

TEST(blocks_with_too_many_summands) {
  struct error err = {0};
  struct fixture f;
  struct plan_entry entry;
  make(&f, 10, MOST_COLUMNS, 16384, &strategy_warps, MESH_NEAR, 1);
  assert_int_equal(plan_entry_build(&entry, &f.wish, NULL, &err), OP_ERR_SIZE);
  clear(&f);
  error_free(&err);
}

/* ---- planted faults ------------------------------------------------------------------------------------*/

static void slot_twice(struct plan_staging *s) {
  ((unsigned char *)s->slots)[5] = ((unsigned char *)s->slots)[4];
}
static void slot_of_nobody(struct plan_staging *s) {
  ((unsigned char *)s->slots)[3] = 0xff;
}
static void slots_swapped(struct plan_staging *s) {
  unsigned char *slots = s->slots, *last = s->last;
  const unsigned char first = slots[0];
  slots[0] = slots[last[0] + 1];
  slots[last[0] + 1] = first;
}
static void summand_of_next(struct plan_staging *s) {
  ((unsigned char *)s->last)[0]++;
}
static void summands_missing(struct plan_staging *s) {
  ((unsigned char *)s->last)[s->first[1] - 1]--;
}
static void target_of_others(struct plan_staging *s) {
  s->targets[s->first[1] - 1]++;
}
static void first_of_block(struct plan_staging *s) {
  s->first[0] = 1;
}
static void wrong_bytes(struct plan_staging *s) {
  s->entry_bytes = 3;
}

TEST(planted_faults) {
  static const struct {
    void (*plant)(struct plan_staging *);
    int level;
  } faults[] = {{slot_twice, 2},       {slot_of_nobody, 2},   {slots_swapped, 2},  {summand_of_next, 2},
                {summands_missing, 2}, {target_of_others, 2}, {first_of_block, 1}, {wrong_bytes, 1}};
  struct error err = {0};
  struct fixture f;
  make(&f, 300, 3, 32, &strategy_warps, MESH_NEAR, 3);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct plan_entry entry;
    expect_ok(plan_entry_build(&entry, &f.wish, NULL, &err), &err);
    expect_ok(strategy_warps.verify(&entry, &f.wish, 2, &err), &err);
    faults[i].plant(&entry.plan.staging[0]);
    if (faults[i].level == 2 && strategy_warps.verify(&entry, &f.wish, 1, &err))
      fail_msg("fault %zu is found at level 1: %s", i, error_message(&err));
    if (strategy_warps.verify(&entry, &f.wish, faults[i].level, &err) != OP_ERR_PLAN)
      fail_msg("fault %zu was not found", i);
    entry.plan.staging[0].first[0] = 0;
    plan_entry_clear(&entry);
  }
  clear(&f);
  error_free(&err);
}
