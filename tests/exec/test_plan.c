/* Plans on random meshes, checked by brute force and by plan_verify; and faults that plan_verify must find. */
#include <string.h>

#include "expect.h"
#include "mesh.h"
#include "plan/gather.h"

enum { max_columns = 4 };

struct fixture {
  int *tables[2];
  struct plan_column columns[max_columns];
  struct plan_staged staged[2];
  struct plan_request request;
};

/* Two maps, of arity 2 and 3, to sets of their own; columns 0, 1 of the first and 0, 2 of the second are written. */
static void make(struct fixture *f, long size, enum mesh_shape shape, uint64_t seed) {
  long targets[2] = {size / 2 + 1, size / 3 + 1};
  memset(f, 0, sizeof *f);
  f->tables[0] = mesh_table(size, 2, targets[0], shape, seed);
  f->tables[1] = mesh_table(size, 3, targets[1], shape, seed + 1);
  const struct plan_column columns[max_columns] = {
      {.table = f->tables[0], .arity = 2, .column = 0, .target = 1, .target_size = targets[0]},
      {.table = f->tables[1], .arity = 3, .column = 0, .target = 2, .target_size = targets[1]},
      {.table = f->tables[0], .arity = 2, .column = 1, .target = 1, .target_size = targets[0]},
      {.table = f->tables[1], .arity = 3, .column = 2, .target = 2, .target_size = targets[1]}};
  memcpy(f->columns, columns, sizeof columns);
  static const int order[max_columns] = {0, 2, 1, 3};
  static struct plan_column staged[max_columns];
  for (int c = 0; c < max_columns; c++)
    staged[c] = columns[order[c]];
  f->staged[0] = (struct plan_staged){0, 2};
  f->staged[1] = (struct plan_staged){2, 2};
  f->request = (struct plan_request){.size = size,
                                     .block_size = 1,
                                     .columns = f->columns,
                                     .ncolumns = max_columns,
                                     .staged_columns = staged,
                                     .staged = f->staged,
                                     .nstaged = 2,
                                     .element_colours = true};
}

static void clear(struct fixture *f) {
  free(f->tables[0]);
  free(f->tables[1]);
}

static int target_of(const struct plan_column *c, long element) {
  return c->table ? c->table[element * c->arity + c->column] : (int)element;
}

static bool share_target(const struct plan_request *r, long a, long b) {
  for (int c = 0; c < r->ncolumns; c++)
    for (int d = 0; d < r->ncolumns; d++) {
      const struct plan_column *x = &r->columns[c], *y = &r->columns[d];
      if (x->target == y->target && target_of(x, a) == target_of(y, b))
        return true;
    }
  return false;
}

/* The definition, pair by pair. */
static void check_by_force(const struct plan *p, const struct plan_request *r) {
  int colour[512] = {0};
  for (int c = 0; c < p->ncolours; c++)
    for (int i = p->colour_first[c]; i < p->colour_first[c + 1]; i++)
      colour[p->block_map[i]] = c;
  for (long a = 0; a < r->size; a++)
    for (long b = 0; b < a; b++) {
      long block_a = a / p->block_size, block_b = b / p->block_size;
      if (!share_target(r, a, b))
        continue;
      assert_true(block_a == block_b || colour[block_a] != colour[block_b]);
      if (p->element_colour && block_a == block_b)
        assert_int_not_equal(p->element_colour[a], p->element_colour[b]);
    }
}

TEST(every_block_size) {
  struct error err = {0};
  for (int shape = 0; shape < MESH_SHAPES; shape++)
    for (long size = 1; size < 100; size = size * 2 + 1) {
      struct fixture f;
      make(&f, size, (enum mesh_shape)shape, (uint64_t)(size * 17 + shape));
      for (int block = 1; block <= size; block++) {
        struct plan plan;
        f.request.block_size = block;
        expect_ok(plan_build(&plan, &f.request, NULL, &err), &err);
        check_by_force(&plan, &f.request);
        expect_ok(plan_verify(&plan, &f.request, 2, &err), &err);
        plan_free(&plan);
      }
      clear(&f);
    }
  error_free(&err);
}

/* Not only right but good: a line of elements that share targets with their neighbours needs two colours. */
TEST(few_colours) {
  struct error err = {0};
  enum { n = 1000 };
  int table[2 * n];
  for (int e = 0; e < n; e++) {
    table[2 * e] = e;
    table[2 * e + 1] = e + 1;
  }
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = n + 1},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = n + 1}};
  struct plan_request r = {
      .size = n, .block_size = 10, .columns = columns, .ncolumns = 2, .element_colours = true};
  struct plan plan;
  expect_ok(plan_build(&plan, &r, NULL, &err), &err);
  assert_int_equal(plan.ncolours, 2);
  assert_int_equal(plan.max_element_colours, 2);
  assert_int_equal(plan.nblocks, 100);
  plan_free(&plan);
  error_free(&err);
}

/* A ragged map: rows of none to many targets, and blocks of the same work. Each pair that shares a target is apart. */
TEST(ragged_columns) {
  enum { n = 300, targets = 97, longest = 60 };
  struct error err = {0};
  static long long first[n + 1];
  static int table[n * longest];
  for (int e = 0; e < n; e++) {
    const int length = e == 77 ? longest : e % 4 * (e % 3);
    for (int k = 0; k < length; k++)
      table[first[e] + k] = (e * 13 + k * 7) % targets;
    first[e + 1] = first[e] + length;
  }
  const struct plan_column column = {
      .table = table, .first = first, .arity = 1, .target = 1, .target_size = targets};
  for (int way = 0; way < 4; way++)
    for (int block = 1; block < n; block = block * 3 + 1) {
      struct plan plan;
      struct schedule schedule;
      struct owner_shares shares;
      struct plan_request r = {.size = n,
                               .block_size = block,
                               .work = way & 1 ? first : NULL,
                               .columns = &column,
                               .ncolumns = 1,
                               .element_colours = way & 2 && !(way & 1)};
      expect_ok(plan_build(&plan, &r, NULL, &err), &err);
      expect_ok(plan_verify(&plan, &r, 2, &err), &err);
      expect_ok(schedule_colours(&schedule, &plan, NULL, &err), &err);
      expect_ok(schedule_verify(&schedule, &r, &err), &err);
      if (r.work) {
        assert_int_equal(plan.block_first[0], 0);
        assert_int_equal(plan.block_first[plan.nblocks], n);
        /* No block has more than its share and one element. */
        for (int b = 0; b < plan.nblocks; b++)
          assert_true(first[plan.block_first[b + 1]] - first[plan.block_first[b]] <=
                      (first[n] + n) / plan.nblocks + longest + 1);
      }
      /* A mistake is found: all blocks at once. */
      if (plan.ncolours > 1) {
        schedule.phases[0].count = schedule.nitems;
        schedule.nphases = 1;
        assert_int_equal(schedule_verify(&schedule, &r, &err), OP_ERR_PLAN);
        error_clear(&err);
      }
      schedule_free(&schedule);
      expect_ok(schedule_owners(&schedule, &r, 1 + block % 5, &shares, &err), &err);
      expect_ok(schedule_verify(&schedule, &r, &err), &err);
      schedule_free(&schedule);
      plan_free(&plan);
    }
  error_free(&err);
}

/* All elements of a star meet: one colour each, far beyond 32. */
TEST(many_colours) {
  struct error err = {0};
  enum { n = 333 };
  static const int table[n];
  const struct plan_column column = {.table = table, .arity = 1, .column = 0, .target = 1, .target_size = 1};
  struct plan_request r = {.size = n, .columns = &column, .ncolumns = 1, .element_colours = true};
  for (int block = 1; block <= n; block += 83) {
    struct plan plan;
    r.block_size = block;
    expect_ok(plan_build(&plan, &r, NULL, &err), &err);
    assert_int_equal(plan.ncolours, plan.nblocks);
    assert_int_equal(plan.max_element_colours, block);
    expect_ok(plan_verify(&plan, &r, 2, &err), &err);
    plan_free(&plan);
  }
  error_free(&err);
}

/* A dat that each element increments directly, and its neighbours' too: elements are targets themselves. */
TEST(direct_and_mapped) {
  struct error err = {0};
  enum { n = 300 };
  int *table = mesh_table(n, 1, n, MESH_NEAR, 8);
  const struct plan_column columns[] = {
      {.table = table, .arity = 1, .column = 0, .target = 1, .target_size = n},
      {.table = NULL, .arity = 1, .column = 0, .target = 1, .target_size = n}};
  struct plan_request r = {.size = n, .columns = columns, .ncolumns = 2, .element_colours = true};
  for (int block = 1; block <= n; block += 13) {
    struct plan plan;
    struct schedule s;
    r.block_size = block;
    expect_ok(plan_build(&plan, &r, NULL, &err), &err);
    check_by_force(&plan, &r);
    expect_ok(plan_verify(&plan, &r, 2, &err), &err);
    expect_ok(schedule_colours(&s, &plan, NULL, &err), &err);
    expect_ok(schedule_verify(&s, &r, &err), &err);
    assert_true(plan.ncolours > 1 || plan.nblocks < 10);
    schedule_free(&s);
    plan_free(&plan);
  }
  free(table);
  error_free(&err);
}

TEST(nothing_written) {
  struct error err = {0};
  struct plan plan;
  struct plan_request r = {.size = 1000, .block_size = 300};
  expect_ok(plan_build(&plan, &r, NULL, &err), &err);
  assert_int_equal(plan.ncolours, 1);
  assert_int_equal(plan.nblocks, 4);
  plan_free(&plan);
  r.size = 0;
  r.element_colours = true;
  expect_ok(plan_build(&plan, &r, NULL, &err), &err);
  assert_int_equal(plan.nblocks, 0);
  expect_ok(plan_verify(&plan, &r, 2, &err), &err);
  plan_free(&plan);
  error_free(&err);
}

TEST(refusals) {
  struct error err = {0};
  struct plan plan;
  static int table[70000];
  const struct plan_column column = {
      .table = table, .arity = 1, .column = 0, .target = 1, .target_size = 70000};
  const struct plan_staged staged = {0, 1};
  struct plan_request r = {.size = 70000, .block_size = 0, .columns = &column, .ncolumns = 1};
  assert_int_equal(plan_build(&plan, &r, NULL, &err), OP_ERR_ARGUMENT);
  r.block_size = 70000;
  r.element_colours = true; /* all elements meet at target 0 */
  assert_int_equal(plan_build(&plan, &r, NULL, &err), OP_ERR_SIZE);
  for (int i = 0; i < 70000; i++)
    table[i] = i;
  r.staged_columns = &column;
  r.staged = &staged;
  r.nstaged = 1;
  assert_int_equal(plan_build(&plan, &r, NULL, &err), OP_ERR_SIZE);
  r.block_size = 65536;
  expect_ok(plan_build(&plan, &r, NULL, &err), &err);
  expect_ok(plan_verify(&plan, &r, 2, &err), &err);
  plan_free(&plan);
  error_free(&err);
}

/* The same plan on any number of threads, byte for byte. */
TEST(same_on_threads) {
  struct error err = {0};
  struct fixture f;
  struct team *team;
  struct plan alone, together;
  make(&f, 150000, MESH_NEAR, 5);
  f.request.block_size = 1000;
  expect_ok(team_open(&team, TEAM_PTHREAD, 3, &err), &err);
  expect_ok(plan_build(&alone, &f.request, NULL, &err), &err);
  expect_ok(plan_build(&together, &f.request, team, &err), &err);
  assert_int_equal(alone.ncolours, together.ncolours);
  assert_memory_equal(alone.block_map, together.block_map, (size_t)alone.nblocks * sizeof(int));
  assert_memory_equal(alone.element_colour, together.element_colour, (size_t)alone.size * sizeof(short));
  for (int s = 0; s < 2; s++) {
    const struct plan_staging *a = &alone.staging[s], *b = &together.staging[s];
    assert_memory_equal(a->first, b->first, (size_t)(alone.nblocks + 1) * sizeof(long));
    assert_memory_equal(a->targets, b->targets, (size_t)a->first[alone.nblocks] * sizeof(int));
    for (int c = 0; c < a->ncolumns; c++)
      assert_memory_equal(a->local[c], b->local[c], (size_t)alone.size * sizeof(short));
  }
  assert_int_equal(alone.arrays.bytes, together.arrays.bytes);
  expect_ok(plan_verify(&together, &f.request, 2, &err), &err);
  plan_free(&alone);
  plan_free(&together);
  team_close(team);
  clear(&f);
  error_free(&err);
}

/* ---- planted faults: each one breaks one claim -----------------------------------------------------*/

static void swap(int *a, int *b) {
  int c = *a;
  *a = *b;
  *b = c;
}
static void wrong_size(struct plan *p) {
  p->size--;
}
static void wrong_block_size(struct plan *p) {
  p->block_size++;
}
static void wrong_nblocks(struct plan *p) {
  p->nblocks--;
}
static void wrong_ncolours(struct plan *p) {
  p->ncolours = p->nblocks + 1;
}
static void wrong_first_end(struct plan *p) {
  p->colour_first[p->ncolours]--;
}
static void empty_colour(struct plan *p) {
  p->colour_first[1] = p->colour_first[0];
}
static void block_twice(struct plan *p) {
  p->block_map[0] = p->block_map[1];
}
static void block_outside(struct plan *p) {
  p->block_map[0] = p->nblocks;
}
static void blocks_of_two_colours_swapped(struct plan *p) {
  swap(&p->block_map[0], &p->block_map[p->colour_first[1]]);
}
static void colours_joined(struct plan *p) {
  for (int c = 1; c < p->ncolours; c++)
    p->colour_first[c] = p->colour_first[c + 1];
  p->ncolours--;
}
static void no_element_colours(struct plan *p) {
  p->element_colour = NULL;
}
static void element_colour_too_large(struct plan *p) {
  p->element_colour[3] = (unsigned short)p->block_ncolours[0];
}
static void element_colour_of_neighbour(struct plan *p) {
  p->element_colour[1] = p->element_colour[0]; /* they share target 0 */
}
static void block_count_of_colours(struct plan *p) {
  p->block_ncolours[1] = 0;
}
static void most_colours(struct plan *p) {
  p->max_element_colours++;
}
static void colour_of_nobody(struct plan *p) {
  p->block_ncolours[0]++;
  if (p->max_element_colours < p->block_ncolours[0])
    p->max_element_colours = p->block_ncolours[0];
}
static void staged_columns(struct plan *p) {
  p->staging[0].ncolumns--;
}
static void staged_first(struct plan *p) {
  p->staging[0].first[0] = 1;
}
static void staged_order(struct plan *p) {
  swap(&p->staging[0].targets[0], &p->staging[0].targets[1]);
}
static void staged_twice(struct plan *p) {
  p->staging[0].targets[1] = p->staging[0].targets[0];
}
static void staged_outside(struct plan *p) {
  p->staging[0].targets[0] = -1;
}
static void staged_most(struct plan *p) {
  p->staging[0].max_targets++;
}
static void staged_unused(struct plan *p) {
  p->staging[0].first[1]++; /* the next block's first target */
  long n = p->staging[0].first[1] - p->staging[0].first[0];
  if (n > p->staging[0].max_targets)
    p->staging[0].max_targets = (int)n;
}
static void local_other(struct plan *p) {
  p->staging[1].local[1][7] ^= 1;
}
static void local_beyond(struct plan *p) {
  p->staging[1].local[0][2] = 0xffff;
}

static const struct {
  void (*plant)(struct plan *);
  int level;
} faults[] = {
    {wrong_size, 1},
    {wrong_block_size, 1},
    {wrong_nblocks, 1},
    {wrong_ncolours, 1},
    {wrong_first_end, 1},
    {empty_colour, 1},
    {block_twice, 2},
    {block_outside, 2},
    {blocks_of_two_colours_swapped, 2},
    {colours_joined, 2},
    {no_element_colours, 1},
    {element_colour_too_large, 2},
    {element_colour_of_neighbour, 2},
    {block_count_of_colours, 1},
    {most_colours, 1},
    {colour_of_nobody, 2},
    {staged_columns, 1},
    {staged_first, 1},
    {staged_order, 2},
    {staged_twice, 2},
    {staged_outside, 2},
    {staged_most, 1},
    {staged_unused, 2},
    {local_other, 2},
    {local_beyond, 2},
};

TEST(planted_faults) {
  struct error err = {0};
  struct fixture f;
  make(&f, 300, MESH_NEAR, 3);
  f.tables[0][0] = f.tables[0][2] = 0;
  f.request.block_size = 20;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct plan plan;
    expect_ok(plan_build(&plan, &f.request, NULL, &err), &err);
    expect_ok(plan_verify(&plan, &f.request, 2, &err), &err);
    faults[i].plant(&plan);
    if (faults[i].level == 2 && plan_verify(&plan, &f.request, 1, &err))
      fail_msg("fault %zu is found at level 1: %s", i, error_message(&err));
    if (plan_verify(&plan, &f.request, 2, &err) != OP_ERR_PLAN)
      fail_msg("fault %zu was not found", i);
    if (plan_verify(&plan, &f.request, faults[i].level, &err) != OP_ERR_PLAN)
      fail_msg("fault %zu was not found at level %d", i, faults[i].level);
    plan_free(&plan);
  }
  clear(&f);
  error_free(&err);
}

/* Chunks, of the gather form too, have the same work, where elements of much work stand together. */
TEST(chunks_of_work) {
  enum { n = 100000, longest = 40 };
  struct error err = {0};
  static long long first[n + 1];
  static int table[n / 8 * longest + n];
  for (int e = 0; e < n; e++)
    first[e + 1] = first[e] + (e < n / 8 ? longest : e % 2);
  const struct plan_column column = {
      .table = table, .first = first, .arity = 1, .target = 1, .target_size = 9};
  const struct plan_request r = {
      .size = n, .block_size = 1024, .work = first, .columns = &column, .ncolumns = 1};
  const struct reverse_map map = {.size = 9};
  const long chunks = (n + 1023) / 1024;
  for (int gather = 0; gather < 2; gather++) {
    struct schedule s;
    long end = 0;
    if (gather)
      expect_ok(schedule_gather(&s, &r, &map, 1, &err), &err);
    else
      expect_ok(schedule_request_chunks(&s, &r, &err), &err);
    assert_int_equal(s.phases[0].count, chunks);
    for (int i = 0; i < s.phases[0].count; i++) {
      const struct item *item = &s.items[i];
      assert_int_equal(item->begin, end);
      end = item->end;
      /* Ends are where whole strips begin: at most half a multiple of 64 elements from the right place. */
      assert_true(first[item->end] - first[item->begin] + item->end - item->begin <=
                  (first[n] + n) / chunks + 65 * (longest + 1));
    }
    assert_int_equal(end, n);
    schedule_free(&s);
  }
  error_free(&err);
}

/* Each item has its elements, those near each other by their number of targets, and what it had. */
TEST(sorted_elements) {
  enum { n = 5000, targets = 7 };
  struct error err = {0};
  static long long first[n + 1];
  static int table[n * 4];
  for (int e = 0; e < n; e++) {
    first[e + 1] = first[e] + (e * 7919 % 5);
    for (long long i = first[e]; i < first[e + 1] && i < n * 4; i++)
      table[i] = (int)(i % targets);
  }
  const struct plan_column column = {
      .table = table, .first = first, .arity = 1, .target = 1, .target_size = targets};
  const struct plan_request none = {.size = n, .block_size = 700, .work = first}, some = {.size = n,
                                                                                          .block_size = 700,
                                                                                          .work = first,
                                                                                          .columns = &column,
                                                                                          .ncolumns = 1};
  for (int owned = 0; owned < 2; owned++) {
    struct schedule plain, sorted;
    struct owner_shares shares;
    if (owned)
      expect_ok(schedule_owners(&plain, &some, 3, &shares, &err), &err);
    else
      expect_ok(schedule_chunks(&plain, n, 700, &err), &err);
    expect_ok(schedule_sorted(&sorted, &plain, first, &err), &err);
    expect_ok(schedule_verify(&sorted, owned ? &some : &none, &err), &err);
    assert_int_equal(sorted.nitems, plain.nitems);
    assert_int_equal(sorted.nphases, plain.nphases);
    assert_int_equal(sorted.threads, plain.threads);
    for (int i = 0; i < sorted.nitems; i++) {
      const struct item *item = &sorted.items[i];
      long changes = 0;
      assert_int_equal(item->work, WORK_LIST);
      assert_int_equal(item->owner, plain.items[i].owner);
      assert_int_equal(item->end - item->begin, plain.items[i].end - plain.items[i].begin);
      for (long p = item->begin + 1; p < item->end; p++) {
        const int a = sorted.list[p - 1], b = sorted.list[p];
        changes += first[a + 1] - first[a] != first[b + 1] - first[b];
      }
      /* Lengths are 0 to 4, and no item is longer than three windows. */
      assert_true(changes <= 3 * 5);
    }
    schedule_free(&plain);
    schedule_free(&sorted);
  }
  error_free(&err);
}
