/* Plans are shared by loops that need the same, forgotten with their epoch, and small. */
#include "../unit.h"

#include <string.h>

#include "expect.h"
#include "mesh.h"
#include "plan/plan_cache.h"

enum { size = 2000, targets = 1000 };

struct fixture {
  struct plan_cache *cache;
  struct error err;
  int *a, *b;
  struct plan_column columns[3];
};

static int setup(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  f->a = mesh_table(size, 2, targets, MESH_NEAR, 1);
  f->b = mesh_table(size, 1, targets / 2, MESH_NEAR, 2);
  const struct plan_column columns[3] = {
      {.table = f->a, .arity = 2, .column = 0, .target = 1, .target_size = targets},
      {.table = f->a, .arity = 2, .column = 1, .target = 1, .target_size = targets},
      {.table = f->b, .arity = 1, .column = 0, .target = 2, .target_size = targets / 2}};
  memcpy(f->columns, columns, sizeof columns);
  *state = f;
  return plan_cache_new(&f->cache, &f->err);
}

static int teardown(void **state) {
  struct fixture *f = *state;
  plan_cache_free(f->cache);
  error_free(&f->err);
  free(f->a);
  free(f->b);
  free(f);
  return 0;
}

static struct plan_wish wish_for(const struct fixture *f, int ncolumns) {
  return (struct plan_wish){
      .request = {.size = size, .block_size = 100, .columns = f->columns, .ncolumns = ncolumns},
      .strategy = &strategy_colours,
      .threads = 3,
      .set_name = "edges"};
}

static const struct plan_entry *get(struct fixture *f, const struct plan_wish *wish, bool expect_built) {
  const struct plan_entry *entry = NULL;
  bool built = false;
  if (plan_cache_get(f->cache, wish, NULL, &entry, &built, &f->err))
    fail_msg("%s", error_message(&f->err));
  assert_int_equal(built, expect_built);
  return entry;
}

TEST_BETWEEN(same_need_same_plan, setup, teardown) {
  struct fixture *f = *state;
  struct plan_wish wish = wish_for(f, 2);
  const struct plan_entry *first = get(f, &wish, true);
  assert_ptr_equal(first, get(f, &wish, false));
  /* the order of columns does not matter, nor one named twice, nor the number of threads, nor the name */
  const struct plan_column other[] = {f->columns[1], f->columns[0], f->columns[1]};
  wish.request.columns = other;
  wish.request.ncolumns = 3;
  wish.threads = 9;
  wish.set_name = NULL;
  assert_ptr_equal(first, get(f, &wish, false));
  assert_int_equal(plan_cache_count(f->cache), 1);
}

/* Built elsewhere: who comes second throws away what was built. */
TEST_BETWEEN(what_was_built_elsewhere_is_taken, setup, teardown) {
  struct fixture *f = *state;
  const struct plan_wish wish = wish_for(f, 2);
  const struct plan_entry *entry = NULL, *again = NULL;
  struct plan_entry made;
  expect_ok(plan_cache_find(f->cache, &wish, &entry, &f->err), &f->err);
  assert_null(entry);
  assert_int_equal(plan_cache_count(f->cache), 0);
  for (int time = 0; time < 2; time++) {
    expect_ok(plan_entry_build(&made, &wish, NULL, &f->err), &f->err);
    expect_ok(plan_cache_put(f->cache, &wish, &made, &entry, &f->err), &f->err);
    assert_non_null(entry);
    assert_true(plan_entry_bytes(&made) == 0 && (!again || again == entry));
    again = entry;
  }
  assert_ptr_equal(entry, get(f, &wish, false));
  expect_ok(plan_cache_find(f->cache, &wish, &again, &f->err), &f->err);
  assert_ptr_equal(entry, again);
  assert_int_equal(plan_cache_count(f->cache), 1);
  for (int user = 0; user < 4; user++)
    plan_cache_release(f->cache, entry);
  plan_cache_trim(f->cache, 0);
  assert_int_equal(plan_cache_count(f->cache), 0);
}

TEST_BETWEEN(other_need_other_plan, setup, teardown) {
  struct fixture *f = *state;
  struct plan_wish wish = wish_for(f, 2);
  const struct plan_staged staged = {0, 2};
  get(f, &wish, true);
  wish.request.block_size = 200;
  get(f, &wish, true);
  wish.request.element_colours = true;
  get(f, &wish, true);
  wish.request.staged_columns = f->columns;
  wish.request.staged = &staged;
  wish.request.nstaged = 1;
  get(f, &wish, true);
  get(f, &wish, false);
  wish.request.ncolumns = 3;
  get(f, &wish, true);
  wish.strategy = &strategy_plan;
  get(f, &wish, true);
  wish.strategy = &strategy_owners;
  const struct plan_entry *owners = get(f, &wish, true);
  assert_int_equal(owners->schedule.threads, 3);
  wish.request.block_size = 7; /* owners have no blocks */
  get(f, &wish, false);
  wish.threads = 4;
  get(f, &wish, true);
  wish.strategy = &strategy_gather;
  const struct plan_entry *gather = get(f, &wish, true);
  assert_int_equal(gather->nreverse, 2);
  get(f, &wish, false);
  assert_int_equal(plan_cache_count(f->cache), 9);
  assert_int_equal(plan_cache_verify(f->cache, 2, &f->err), OP_OK);
}

/* Each row of the table makes what it verifies, of a part in the middle of a set, and leaves nothing behind. */
TEST_BETWEEN(every_strategy_is_built_and_verified, setup, teardown) {
  struct fixture *f = *state;
  for (int i = 0; strategies[i]; i++) {
    struct plan_wish wish = wish_for(f, 2);
    struct plan_entry entry;
    wish.strategy = strategies[i];
    wish.request.begin = 300;
    if (!wish.strategy->columns)
      wish.request.ncolumns = 0;
    assert_int_equal(plan_entry_build(&entry, &wish, NULL, &f->err), OP_OK);
    /* That of collect has no elements. */
    assert_int_equal(entry.schedule.nitems > 0, wish.strategy->deals || wish.strategy == &strategy_collect);
    assert_int_equal(entry.nreverse > 0, wish.strategy->apart);
    assert_int_equal(entry.schedule.list != NULL, wish.strategy->lists);
    assert_int_equal(wish.strategy->verify(&entry, &wish, 2, &f->err), OP_OK);
    if (wish.strategy->deals) {
      entry.schedule.items[0].end++;
      assert_int_equal(wish.strategy->verify(&entry, &wish, 2, &f->err), OP_ERR_PLAN);
    }
    plan_entry_clear(&entry);
  }
}

TEST_BETWEEN(an_epoch_ends, setup, teardown) {
  struct fixture *f = *state;
  struct plan_wish wish = wish_for(f, 2);
  const struct plan_entry *used = get(f, &wish, true), *unused;
  wish.request.block_size = 50;
  unused = get(f, &wish, true);
  plan_cache_release(f->cache, unused);
  assert_ptr_equal(unused, get(f, &wish, false)); /* unused ones are kept */
  plan_cache_release(f->cache, unused);
  wish.epoch++;
  get(f, &wish, true);
  assert_int_equal(plan_cache_count(f->cache), 2); /* the new one and the one in use */
  assert_int_equal(used->plan.nblocks, 20);
  plan_cache_release(f->cache, used);
  assert_int_equal(plan_cache_count(f->cache), 1);
}

TEST_BETWEEN(a_wrong_plan_is_named, setup, teardown) {
  struct fixture *f = *state;
  struct plan_wish wish = wish_for(f, 2);
  const struct plan_entry *entry = get(f, &wish, true);
  entry->plan.block_map[0] = entry->plan.block_map[1];
  assert_int_equal(plan_cache_verify(f->cache, 1, &f->err), OP_OK);
  assert_int_equal(plan_cache_verify(f->cache, 2, &f->err), OP_ERR_PLAN);
  assert_non_null(strstr(error_message(&f->err), "set edges"));
  assert_non_null(strstr(error_message(&f->err), "block"));
}

TEST_BETWEEN(plans_are_listed, setup, teardown) {
  struct fixture *f = *state;
  struct text out = {0};
  struct plan_wish wish = wish_for(f, 3);
  get(f, &wish, true);
  wish.strategy = &strategy_owners;
  get(f, &wish, true);
  plan_cache_describe(f->cache, &out);
  assert_true(text_ok(&out));
  assert_non_null(strstr(text_str(&out), "edges"));
  assert_non_null(strstr(text_str(&out), "colours"));
  assert_non_null(strstr(text_str(&out), "owners"));
  assert_non_null(strstr(text_str(&out), "2 plans, "));
  text_free(&out);
}

/* 200 loops over one mesh of airfoil's shape: what they increment is one of six choices, in one of four block sizes, by
 * colours, owners or on a device. All plans together stay under half of airfoil's data. */
TEST_BETWEEN(plans_are_small, setup, teardown) {
  struct fixture *f = *state;
  enum { nx = 300, ny = 200 };
  int *edges;
  long nedges = mesh_grid(nx, ny, &edges);
  int *corners = mesh_table(nedges, 2, nx * ny, MESH_NEAR, 3);
  const struct plan_column all[] = {
      {.table = edges, .arity = 2, .column = 0, .target = 1, .target_size = nx * ny},
      {.table = edges, .arity = 2, .column = 1, .target = 1, .target_size = nx * ny},
      {.table = corners, .arity = 2, .column = 0, .target = 2, .target_size = nx * ny},
      {.table = corners, .arity = 2, .column = 1, .target = 2, .target_size = nx * ny}};
  static const struct { int first, count; } choices[] = {{0, 2}, {2, 2}, {0, 4}, {0, 1}, {1, 1}, {1, 2}};
  static const int blocks[] = {256, 1024, 4096, 16384};
  size_t data = (size_t)nx * ny * (2 + 4 + 4 + 1 + 4) * sizeof(double);
  for (int loop = 0; loop < 200; loop++) {
    struct plan_wish wish = {.request = {.size = nedges,
                                         .block_size = blocks[loop / 6 % 4],
                                         .columns = all + choices[loop % 6].first,
                                         .ncolumns = choices[loop % 6].count},
                             .strategy = loop % 24 == 7  ? &strategy_plan
                                         : loop % 5 == 2 ? &strategy_owners
                                                         : &strategy_colours,
                             .threads = 8};
    wish.request.element_colours = wish.strategy == &strategy_plan;
    const struct plan_entry *entry;
    bool built;
    assert_int_equal(plan_cache_get(f->cache, &wish, NULL, &entry, &built, &f->err), OP_OK);
  }
  assert_true(plan_cache_bytes(f->cache) < data / 2);
  assert_true(plan_cache_count(f->cache) < 60);
  free(edges);
  free(corners);
}
