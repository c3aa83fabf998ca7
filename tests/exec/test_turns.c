/* Turns: bit for bit what one thread makes of the elements in their order, on any number of threads; and collecting in the
 * order of numbers. What is wrong with either is found. */
#include <string.h>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "expect.h"
#include "mesh.h"
#include "mesh/data.h"
#include "plan/gather.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

static const int counts[] = {1, 2, 3, 7, 64};
enum { ncounts = sizeof counts / sizeof *counts };

/* Edges that add to two cells each, and to one of another set. */
struct problem {
  long nedges, sizes[2];
  int *cells, *others;
  struct plan_column columns[3];
  struct plan_wish wish;
  double *serial[2], *targets[2], *rows; /* of each set; of each edge and column */
  const struct plan_entry *entry;
};

static double value(long e, int column) {
  return 1.0 / (double)(3 + e * 7 % 1001) - (double)(column + 1) / (double)(5 + e % 97);
}

static int set_of(int column) {
  return column == 1;
}

static void add_serially(const struct problem *p, double *const targets[2], long e) {
  for (int c = 0; c < 3; c++)
    targets[set_of(c)][column_target(&p->columns[c], e)] += value(e, c);
}

static void make(struct problem *p, long nedges, int shape) {
  *p = (struct problem){.nedges = nedges, .sizes = {nedges / 2 + 1, nedges / 3 + 1}};
  if (shape == MESH_SHAPES) {
    p->nedges = mesh_grid(150, 110, &p->cells);
    p->sizes[0] = 150L * 110;
    p->sizes[1] = p->nedges / 3 + 1;
  } else
    p->cells = mesh_table(nedges, 2, p->sizes[0], (enum mesh_shape)shape, 11);
  p->others = mesh_table(p->nedges, 1, p->sizes[1], MESH_NEAR, 5);
  const struct plan_column columns[3] = {
      {.table = p->cells, .arity = 2, .column = 0, .target = 1, .target_size = p->sizes[0]},
      {.table = p->others, .arity = 1, .column = 0, .target = 2, .target_size = p->sizes[1]},
      {.table = p->cells, .arity = 2, .column = 1, .target = 1, .target_size = p->sizes[0]}};
  memcpy(p->columns, columns, sizeof columns);
  p->wish = (struct plan_wish){.request = {.size = p->nedges, .columns = p->columns, .ncolumns = 3},
                               .strategy = &strategy_turns};
  for (int s = 0; s < 2; s++) {
    p->serial[s] = calloc((size_t)p->sizes[s], sizeof(double));
    p->targets[s] = calloc((size_t)p->sizes[s], sizeof(double));
  }
  p->rows = calloc((size_t)p->nedges * 3 + 1, sizeof *p->rows);
  for (long e = 0; e < p->nedges; e++)
    add_serially(p, p->serial, e);
}

static void clear(struct problem *p) {
  free(p->cells);
  free(p->others);
  free(p->rows);
  for (int s = 0; s < 2; s++) {
    free(p->serial[s]);
    free(p->targets[s]);
  }
}

static void add_range(void *const *frame, const int *list, long begin, long end) {
  const struct problem *p = frame[0];
  (void)list;
  for (long e = begin; e < end; e++)
    add_serially(p, p->targets, e);
}

static void write_apart(void *const *frame, const int *list, long begin, long end) {
  const struct problem *p = frame[0];
  for (long i = begin; i < end; i++)
    for (int c = 0; c < 3; c++)
      p->rows[3L * list[i] + c] = value(list[i], c);
}

static void add_rows(const struct problem *p, int set, long begin, long end) {
  const struct reverse_map *map = &p->entry->reverse[set];
  for (long i = begin; i < end; i++) {
    const int *pair = map->entries + 2 * i, column = pair[0] % map->columns;
    p->targets[set][pair[1]] += p->rows[3L * (pair[0] / map->columns) + (set ? 1 : 2 * column)];
  }
}
static void add_cells(void *const *frame, const int *list, long begin, long end) {
  (void)list;
  add_rows(frame[0], 0, begin, end);
}
static void add_others(void *const *frame, const int *list, long begin, long end) {
  (void)list;
  add_rows(frame[0], 1, begin, end);
}

static void run(struct problem *p, const struct plan_entry *entry, int threads) {
  struct error err = {0};
  struct team *team = NULL;
  void *const frame[] = {p};
  const struct work works[] = {
      {.function = add_range, .frame = frame, .nframe = 1},
      {.function = write_apart, .frame = frame, .nframe = 1, .list = entry->schedule.list},
      {.function = add_cells, .frame = frame, .nframe = 1},
      {.function = add_others, .frame = frame, .nframe = 1}};
  const struct execution e = {.schedule = &entry->schedule, .works = works, .nworks = 4, .threads = threads};
  p->entry = entry;
  expect_ok(team_open(&team, TEAM_DEFAULT, threads, &err), &err);
  for (int s = 0; s < 2; s++)
    memset(p->targets[s], 0, (size_t)p->sizes[s] * sizeof(double));
  executor_run(team, &e);
  team_close(team);
  for (int s = 0; s < 2; s++)
    assert_memory_equal(p->targets[s], p->serial[s], (size_t)p->sizes[s] * sizeof(double));
}

TEST(turns_are_serial) {
  static const long sizes[] = {0, 1, 70, 5000, 60000};
  for (int shape = 0; shape <= MESH_SHAPES; shape++)
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
      for (int i = 0; i < ncounts; i++) {
        struct error err = {0};
        struct problem p;
        struct plan_entry entry;
        make(&p, sizes[n], shape);
        p.wish.threads = counts[i];
        expect_ok(plan_entry_build(&entry, &p.wish, NULL, &err), &err);
        expect_ok(strategy_turns.verify(&entry, &p.wish, 2, &err), &err);
        run(&p, &entry, counts[i]);
        run(&p, &entry, 2);                         /* on fewer threads than it was built for */
        if (shape == MESH_SHAPES && counts[i] <= 3) /* a border is two rows of cells, and edges between */
          assert_in_range(entry.shares.between, 0, (counts[i] - 1) * 1000);
        plan_entry_clear(&entry);
        clear(&p);
      }
}

/* The mistakes that turns may have. */
static void swap_items(struct plan_entry *e) {
  struct item *items = e->schedule.items + e->schedule.phases[1].first, kept = items[0];
  items[0] = items[1];
  items[1] = kept;
}
static void lose_an_entry(struct plan_entry *e) {
  e->schedule.items[e->schedule.nitems - 1].end--;
}
static void give_to_another(struct plan_entry *e) {
  e->schedule.items[e->schedule.nitems - 1].owner = 0;
}
static void list_twice(struct plan_entry *e) {
  e->schedule.list[1] = e->schedule.list[0];
}
static void swap_entries(struct plan_entry *e) {
  int *pairs = e->reverse[0].entries, kept[4];
  memcpy(kept, pairs, sizeof kept);
  memcpy(pairs, kept + 2, sizeof kept / 2);
  memcpy(pairs + 2, kept, sizeof kept / 2);
}
static void mistake_a_target(struct plan_entry *e) {
  e->reverse[0].entries[1]++;
}

TEST(mistakes_are_found) {
  void (*const mistakes[])(struct plan_entry * e) = {swap_items, lose_an_entry,    give_to_another,
                                                     list_twice, mistake_a_target, swap_entries};
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    struct error err = {0};
    struct problem p;
    struct plan_entry entry;
    /* With all of its elements at one target their order shows everywhere. */
    make(&p, 5000, mistakes[i] == swap_items ? MESH_SHAPES : MESH_STAR);
    p.wish.threads = 3;
    expect_ok(plan_entry_build(&entry, &p.wish, NULL, &err), &err);
    mistakes[i](&entry);
    assert_int_equal(strategy_turns.verify(&entry, &p.wish, 2, &err), OP_ERR_PLAN);
    error_free(&err);
    plan_entry_clear(&entry);
    clear(&p);
  }
}

TEST(numbers_say_the_order) {
  struct error err = {0};
  struct problem p;
  struct plan_entry entry;
  make(&p, 5000, MESH_NEAR);
  int *numbers = calloc((size_t)p.nedges, sizeof *numbers);
  for (long e = 0; e < p.nedges; e++)
    numbers[e] = (int)(e * 1237 % p.nedges) * 3;
  p.wish.strategy = &strategy_collect;
  p.wish.request.numbers = numbers;
  expect_ok(plan_entry_build(&entry, &p.wish, NULL, &err), &err);
  expect_ok(strategy_collect.verify(&entry, &p.wish, 2, &err), &err);
  const struct reverse_map *map = &entry.reverse[0];
  for (long t = 0; t < map->size; t++)
    for (int i = map->first[t] + 1; i < map->first[t + 1]; i++)
      assert_true(numbers[map->entries[i - 1] / 2] <= numbers[map->entries[i] / 2]);
  p.wish.request.numbers = NULL;
  assert_int_equal(strategy_collect.verify(&entry, &p.wish, 2, &err), OP_ERR_PLAN);
  error_free(&err);
  plan_entry_clear(&entry);
  clear(&p);
  free(numbers);
}

/* Elements run in the order of their numbers; only what is owned goes to the first slot. */
TEST(copies_have_a_slot_of_their_own) {
  enum { SIZE = 1000, OWNED = 700, COPIES = 2 };
  struct error err = {0};
  struct schedule s;
  int numbers[SIZE], runs = 0, seen = 0;
  for (int e = 0; e < SIZE; e++)
    numbers[e] = e * 377 % SIZE;
  const struct plan_request r = {.size = SIZE, .numbers = numbers};
  expect_ok(schedule_numbered(&s, &r, OWNED, COPIES, &err), &err);
  for (int i = 0; i < s.nitems; i++)
    for (long p = s.items[i].begin; p < s.items[i].end; p++) {
      assert_int_equal(numbers[s.list[p]], seen++);
      assert_int_equal(s.items[i].slot, s.list[p] < OWNED ? 0 : COPIES);
      runs += p == 0 || (s.list[p] < OWNED) != (s.list[p - 1] < OWNED);
    }
  assert_int_equal(seen, SIZE);
  assert_int_equal(runs, s.nitems);
  schedule_free(&s);
  expect_ok(schedule_numbered(&s, &(struct plan_request){.size = 0}, 0, 0, &err), &err);
  assert_true(s.nphases == 1 && s.nitems == 0);
  schedule_free(&s);
}

/* Rows of elements that are not apart, which most are. */
TEST(rows_that_nobody_writes_take_no_memory) {
  enum { PAGES = 4096, WRITTEN = 2048 };
  const long page = sysconf(_SC_PAGESIZE);
  static unsigned char there[PAGES + 1];
  mallopt(M_PERTURB, 0); /* tests fill what they get */
  unsigned char *rows = data_memory_untouched((size_t)(PAGES * page), 1);
  int resident = 0;
  assert_non_null(rows);
  rows[WRITTEN * page] = 1;
  void *first = rows + (page - (long)((uintptr_t)rows % (uintptr_t)page)) % page;
  if (mincore(first, (size_t)((PAGES - 1) * page), there) == 0) {
    for (int i = 0; i < PAGES - 1; i++)
      resident += there[i] & 1;
    assert_in_range(resident, 1, 8);
  }
  data_memory_free(rows);
}
