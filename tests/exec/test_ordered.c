/* Sums in the order of the elements, or of their numbers, on random meshes: what a kernel adds with the plan, whatever the order of its blocks, has
 * the bits of a serial loop. How little of a grid's sums is added later, and the faults that verifying must find. */
#include "added.h"
#include "expect.h"
#include "plan/listed.h"

/* No sum of some of these is exact. */
static double value_of(long element, int column) {
  return 1.0 / (double)(3 + element * 31 + column * 7) * (element % 3 == 1 ? -1e3 : 1);
}

/* As a kernel does it, with the block's targets from the last to the first. */
static void add_block(const struct plan *p, const struct plan_staging *s, int b, double *sums, double *kept) {
  const long begin = (long)b * p->block_size;
  for (long t = s->first[b + 1] - 1; t >= s->first[b]; t--) {
    double *to = s->targets[t] < 0 ? &kept[~s->targets[t]] : &sums[s->targets[t]], sum = *to;
    for (int at = t > s->first[b] ? number(s, s->last, t - 1) + 1 : 0; at <= number(s, s->last, t); at++) {
      const int slot = number(s, s->slots, begin * s->ncolumns + at);
      sum += value_of(p->list[begin + slot % p->block_size], slot / p->block_size);
    }
    *to = sum;
  }
}

/* `numbers`: of `size` elements, in no order. The element of each number. */
static void draw_numbers(long size, int *numbers, int *elements) {
  for (long e = 0; e < size; e++)
    numbers[e] = (int)e;
  for (long e = size - 1; e > 0; e--) {
    const long other = (e * 7919 + 13) % (e + 1);
    const int was = numbers[e];
    numbers[e] = numbers[other];
    numbers[other] = was;
  }
  for (long e = 0; e < size; e++)
    elements[numbers[e]] = (int)e;
}

static void check_sums(const struct plan *p, const struct plan_request *r, int dataset, const int *elements) {
  const struct plan_staging *s = &p->staging[dataset];
  const struct plan_column *columns = r->staged_columns + r->staged[dataset].first;
  const size_t n = (size_t)columns->target_size;
  double *wanted = calloc(n, sizeof *wanted), *got = calloc(n, sizeof *got),
         *kept = calloc((size_t)s->late_first[s->nlate] + 1, sizeof *kept);
  for (size_t t = 0; t < n; t++)
    wanted[t] = got[t] = 0.1 * (double)t;
  for (long i = 0; i < s->late_first[s->nlate]; i++)
    kept[i] = -0.0;
  for (long i = 0; i < r->size; i++)
    for (int c = 0; c < s->ncolumns; c++) {
      const long e = elements ? elements[i] : i;
      wanted[target_of(&columns[c], e)] += value_of(e, c);
    }
  for (int b = p->nblocks; b-- > 0;)
    add_block(p, s, b, got, kept);
  for (int row = 0; row < s->nlate; row++)
    for (int place = s->late_first[row]; place < s->late_first[row + 1]; place++)
      got[s->late[row]] += kept[place];
  assert_memory_equal(wanted, got, n * sizeof *got);
  free(wanted);
  free(got);
  free(kept);
}

TEST(sums_have_the_bits_of_a_serial_loop) {
  static const int blocks[] = {1, 32, 96, 256};
  struct error err = {0};
  for (int shape = 0; shape < MESH_SHAPES; shape++)
    for (size_t w = 0; w < sizeof blocks / sizeof *blocks; w++)
      for (int ncolumns = 1; ncolumns <= 7; ncolumns++)
        for (long size = 1; size < 700; size = size * 5 + 1) {
          struct fixture f;
          struct plan_entry entry;
          make(&f, size, ncolumns, blocks[w], &strategy_ordered, (enum mesh_shape)shape,
               (uint64_t)(size + ncolumns));
          expect_ok(plan_entry_build(&entry, &f.wish, NULL, &err), &err);
          expect_ok(strategy_ordered.verify(&entry, &f.wish, 2, &err), &err);
          check_sums(&entry.plan, &f.wish.request, 0, NULL);
          check_sums(&entry.plan, &f.wish.request, 1, NULL);
          plan_entry_clear(&entry);
          clear(&f);
        }
  error_free(&err);
}

TEST(sums_are_in_the_order_of_numbers) {
  static int numbers[700], elements[700];
  struct error err = {0};
  for (int shape = 0; shape < MESH_SHAPES; shape++)
    for (long size = 1; size < 700; size = size * 5 + 1) {
      struct fixture f;
      struct plan_entry entry;
      draw_numbers(size, numbers, elements);
      make(&f, size, 3, 32, &strategy_ordered, (enum mesh_shape)shape, (uint64_t)size);
      f.wish.request.numbers = numbers;
      expect_ok(plan_entry_build(&entry, &f.wish, NULL, &err), &err);
      expect_ok(strategy_ordered.verify(&entry, &f.wish, 2, &err), &err);
      check_sums(&entry.plan, &f.wish.request, 0, elements);
      check_sums(&entry.plan, &f.wish.request, 1, elements);
      f.wish.request.numbers = NULL;
      if (size > 100)
        assert_int_equal(strategy_ordered.verify(&entry, &f.wish, 2, &err), OP_ERR_PLAN);
      plan_entry_clear(&entry);
      clear(&f);
    }
  error_free(&err);
}

/* A result that depends on the order: levels one after the other, the elements of each from the last to the first. */
TEST(levels_keep_the_order_of_numbers) {
  static int numbers[700], elements[700], table[2 * 700];
  static double wanted[90], got[90];
  enum { SIZE = 700, SOME = 90 };
  struct error err = {0};
  struct plan p;
  draw_numbers(SIZE, numbers, elements);
  for (int e = 0; e < SIZE; e++) {
    table[2 * e] = e * 31 % SOME;
    table[2 * e + 1] = (e * 17 + 5) % SOME;
  }
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = SOME},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = SOME}};
  const struct plan_request r = {.size = SIZE, .columns = columns, .ncolumns = 2, .numbers = numbers};
  expect_ok(plan_levels(&p, &r, &err), &err);
  for (int i = 0; i < SIZE; i++)
    for (int c = 0; c < 2; c++)
      wanted[table[2 * elements[i] + c]] = wanted[table[2 * elements[i] + c]] * 0.75 + elements[i] + 1;
  for (int k = 0; k < p.ncolours; k++) {
    bool met[SOME] = {false};
    for (int i = p.colour_first[k + 1]; i-- > p.colour_first[k];) {
      const int e = p.block_map[i];
      assert_false(met[table[2 * e]] || met[table[2 * e + 1]]);
      for (int c = 0; c < 2; c++)
        met[table[2 * e + c]] = true;
      for (int c = 0; c < 2; c++)
        got[table[2 * e + c]] = got[table[2 * e + c]] * 0.75 + e + 1;
    }
  }
  assert_int_equal(p.colour_first[p.ncolours], SIZE);
  assert_memory_equal(wanted, got, sizeof got);
  plan_free(&p);
  error_free(&err);
}

/* Patches of 256 edges: of a cell's four summands the first block has all but a third of one, on average. In the order of
 * the cells it would be three. */
TEST(little_of_a_grid_is_added_later) {
  struct error err = {0};
  struct plan_entry entry;
  int *table = NULL;
  enum { SIDE = 200, CELLS = SIDE * SIDE };
  const long edges = mesh_grid(SIDE, SIDE, &table);
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = CELLS},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = CELLS}};
  const struct plan_staged staged = {0, 2};
  const struct plan_wish wish = {.request = {.size = edges,
                                             .block_size = 256,
                                             .staged_columns = columns,
                                             .staged = &staged,
                                             .nstaged = 1},
                                 .strategy = &strategy_ordered};
  expect_ok(plan_entry_build(&entry, &wish, NULL, &err), &err);
  expect_ok(strategy_ordered.verify(&entry, &wish, 2, &err), &err);
  const struct plan_staging *s = &entry.plan.staging[0];
  const long late = s->late_first[s->nlate], listed = s->first[entry.plan.nblocks];
  print_message("of 100 cells %ld are changed again, by %ld summands\n", 100L * s->nlate / CELLS,
                100 * late / CELLS);
  assert_true(s->nlate < CELLS / 6 && late < 2 * CELLS / 5);
  assert_int_equal(listed, CELLS + late);
  assert_in_range((long)plan_entry_bytes(&entry), 4 * edges + 2 * 2 * edges + 6 * listed,
                  4 * edges + 2 * 2 * edges + 6 * listed + 8L * s->nlate + 40L * entry.plan.nblocks);
  plan_entry_clear(&entry);
  free(table);
  error_free(&err);
}

/* All elements meet in one target, whose elements are looked at once each. */
TEST(a_star_is_linear) {
  struct error err = {0};
  struct plan_entry entry;
  enum { SIZE = 400000 };
  int *table = calloc(2 * SIZE, sizeof *table);
  for (int e = 0; e < SIZE; e++)
    table[2 * e + 1] = 1 + e;
  const struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = SIZE + 1},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = SIZE + 1}};
  const struct plan_staged staged = {0, 2};
  const struct plan_wish wish = {
      .request = {.size = SIZE, .block_size = 64, .staged_columns = columns, .staged = &staged, .nstaged = 1},
      .strategy = &strategy_ordered};
  expect_ok(plan_entry_build(&entry, &wish, NULL, &err), &err);
  expect_ok(strategy_ordered.verify(&entry, &wish, 2, &err), &err);
  assert_int_equal(entry.plan.staging[0].nlate, 1);
  assert_int_equal(entry.plan.staging[0].late_first[1], SIZE - 64);
  plan_entry_clear(&entry);
  free(table);
  error_free(&err);
}

TEST(blocks_with_too_many_summands) {
  struct error err = {0};
  struct fixture f;
  struct plan_entry entry;
  make(&f, 10, MOST_COLUMNS, 16384, &strategy_ordered, MESH_NEAR, 1);
  assert_int_equal(plan_entry_build(&entry, &f.wish, NULL, &err), OP_ERR_SIZE);
  clear(&f);
  error_free(&err);
}

/* ---- planted faults ------------------------------------------------------------------------------------*/

/* The first place of the first block's list that holds a later summand, or with `own` the last of its targets. */
static long listed(const struct plan *p, bool own) {
  const struct plan_staging *s = &p->staging[0];
  long t = s->first[1];
  while (s->targets[t] >= 0)
    t++;
  return own ? t - 1 : t;
}

static void slot_twice(struct plan *p) {
  ((unsigned char *)p->staging[0].slots)[5] = ((unsigned char *)p->staging[0].slots)[4];
}
static void slots_swapped(struct plan *p) {
  unsigned char *slots = p->staging[0].slots, first = slots[0];
  slots[0] = slots[1];
  slots[1] = first;
}
static void summands_missing(struct plan *p) {
  ((unsigned char *)p->staging[0].last)[p->staging[0].first[1] - 1]--;
}
static void target_of_nobody(struct plan *p) {
  p->staging[0].targets[listed(p, true)] = TARGETS;
}
static void target_of_others(struct plan *p) {
  p->staging[0].targets[listed(p, true)]++;
}
static void added_at_once(struct plan *p) {
  p->staging[0].targets[listed(p, false)] = p->staging[0].late[0];
}
static void kept_nowhere(struct plan *p) {
  p->staging[0].targets[listed(p, false)] = ~p->staging[0].late_first[p->staging[0].nlate];
}
static void kept_in_another_row(struct plan *p) {
  const long t = listed(p, false);
  p->staging[0].targets[t] = ~(~p->staging[0].targets[t] ? 0 : 1);
}
static void added_to_another(struct plan *p) {
  p->staging[0].late[p->staging[0].nlate - 1]++;
}
static void added_to_nobody(struct plan *p) {
  p->staging[0].late[0] = -1;
}
static void element_twice(struct plan *p) {
  p->list[3] = p->list[2];
}
static void elements_swapped(struct plan *p) {
  const int first = p->list[0];
  p->list[0] = p->list[1];
  p->list[1] = first;
}
static void first_of_block(struct plan *p) {
  p->staging[0].first[0] = 1;
}
static void wrong_bytes(struct plan *p) {
  p->staging[0].entry_bytes = 3;
}
static void nothing_added_later(struct plan *p) {
  p->staging[0].late_first[1] = 0;
}

TEST(planted_faults) {
  static const struct {
    void (*plant)(struct plan *);
    int level;
  } faults[] = {{slot_twice, 2},       {slots_swapped, 2},       {summands_missing, 2},
                {target_of_nobody, 2}, {target_of_others, 2},    {added_at_once, 2},
                {kept_nowhere, 2},     {kept_in_another_row, 2}, {added_to_another, 2},
                {added_to_nobody, 2},  {element_twice, 2},       {elements_swapped, 2},
                {first_of_block, 1},   {wrong_bytes, 1},         {nothing_added_later, 1}};
  struct error err = {0};
  struct fixture f;
  make(&f, 300, 3, 32, &strategy_ordered, MESH_NEAR, 3);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct plan_entry entry;
    expect_ok(plan_entry_build(&entry, &f.wish, NULL, &err), &err);
    expect_ok(strategy_ordered.verify(&entry, &f.wish, 2, &err), &err);
    faults[i].plant(&entry.plan);
    if (faults[i].level == 2 && strategy_ordered.verify(&entry, &f.wish, 1, &err))
      fail_msg("fault %zu is found at level 1: %s", i, error_message(&err));
    if (strategy_ordered.verify(&entry, &f.wish, faults[i].level, &err) != OP_ERR_PLAN)
      fail_msg("fault %zu was not found", i);
    entry.plan.staging[0].first[0] = 0;
    plan_entry_clear(&entry);
  }
  clear(&f);
  error_free(&err);
}
