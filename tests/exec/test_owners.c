/* Owner ranges and the gather form: each element once, nothing meets, the same answers as a serial loop. */

#include <string.h>

#include "expect.h"
#include "mesh.h"
#include "plan/gather.h"

static const int counts[] = {1, 2, 3, 7, 64};
enum { ncounts = sizeof counts / sizeof *counts };

/* Edges that add to two cells each; whole numbers, so that the order of additions does not matter. */
struct problem {
  long nedges, ncells;
  int *table;
  double *targets, *expected;
  struct plan_column columns[2];
  struct plan_request request;
};

static void finish(struct problem *p) {
  const struct plan_column columns[2] = {
      {.table = p->table, .arity = 2, .column = 0, .target = 1, .target_size = p->ncells},
      {.table = p->table, .arity = 2, .column = 1, .target = 1, .target_size = p->ncells}};
  memcpy(p->columns, columns, sizeof columns);
  p->request = (struct plan_request){.size = p->nedges, .columns = p->columns, .ncolumns = 2};
  p->targets = calloc((size_t)p->ncells, sizeof *p->targets);
  p->expected = calloc((size_t)p->ncells, sizeof *p->expected);
  for (long e = 0; e < p->nedges; e++) {
    p->expected[p->table[2 * e]] += (double)(e % 101);
    p->expected[p->table[2 * e + 1]] -= (double)(e % 57);
  }
}

static void make_grid(struct problem *p, long nx, long ny) {
  memset(p, 0, sizeof *p);
  p->ncells = nx * ny;
  p->nedges = mesh_grid(nx, ny, &p->table);
  finish(p);
}

static void make_random(struct problem *p, long nedges, enum mesh_shape shape) {
  memset(p, 0, sizeof *p);
  p->nedges = nedges;
  p->ncells = nedges / 2 + 1;
  p->table = mesh_table(nedges, 2, p->ncells, shape, 11);
  finish(p);
}

static void clear(struct problem *p) {
  free(p->table);
  free(p->targets);
  free(p->expected);
}

static void add_edge(const int *table, double *targets, long e) {
  targets[table[2 * e]] += (double)(e % 101);
  targets[table[2 * e + 1]] -= (double)(e % 57);
}
static void add_range(void *const *frame, const int *list, long begin, long end) {
  (void)list;
  for (long e = begin; e < end; e++)
    add_edge(frame[0], frame[1], e);
}
static void add_listed(void *const *frame, const int *list, long begin, long end) {
  for (long i = begin; i < end; i++)
    add_edge(frame[0], frame[1], list[i]);
}

static void run(struct problem *p, const struct schedule *s, int threads) {
  struct error err = {0};
  struct team *team = NULL;
  void *const frame[] = {p->table, p->targets};
  const struct work works[] = {{.function = add_range, .frame = frame, .nframe = 2},
                               {.function = add_listed, .frame = frame, .nframe = 2, .list = s->list}};
  struct execution e = {.schedule = s, .works = works, .nworks = 2, .threads = threads};
  expect_ok(team_open(&team, TEAM_DEFAULT, threads, &err), &err);
  memset(p->targets, 0, (size_t)p->ncells * sizeof *p->targets);
  executor_run(team, &e);
  team_close(team);
  error_free(&err);
  assert_memory_equal(p->targets, p->expected, (size_t)p->ncells * sizeof *p->targets);
}

static void check(struct problem *p, int threads, struct owner_shares *shares) {
  struct error err = {0};
  struct schedule s;
  expect_ok(schedule_owners(&s, &p->request, threads, shares, &err), &err);
  expect_ok(schedule_verify(&s, &p->request, &err), &err);
  assert_int_equal(shares->elements, p->nedges);
  run(p, &s, threads);
  run(p, &s, 2); /* on fewer threads than it was built for */
  schedule_free(&s);
  error_free(&err);
}

TEST(grids) {
  struct problem p;
  make_grid(&p, 300, 300);
  for (int i = 0; i < ncounts; i++) {
    struct owner_shares shares;
    check(&p, counts[i], &shares);
    /* a border is a row of cells; rows that are cut in two make it a little longer */
    assert_true(shares.between <= (counts[i] - 1) * 301);
    assert_true(shares.alone * 100 <= shares.elements);
    assert_true(shares.most * 100 <= shares.mean * 105);
    assert_int_equal(shares.between > 0, counts[i] > 1);
  }
  clear(&p);
}

/* Without order most elements are between; they are shared out all the same. */
TEST(random_meshes) {
  static const long sizes[] = {0, 1, 40, 5000, 100000};
  for (int shape = MESH_NEAR; shape <= MESH_FAR; shape++)
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
      struct problem p;
      make_random(&p, sizes[n], (enum mesh_shape)shape);
      for (int i = 0; i < ncounts; i++) {
        struct owner_shares shares;
        check(&p, counts[i], &shares);
        if (sizes[n] == 100000)
          assert_true(shares.alone * 100 <= shares.elements);
      }
      clear(&p);
    }
}

/* Where few targets have most of the entries, each thread's range has as many entries, not as many targets. */
TEST(entries_are_shared_out) {
  enum { n = 6000, targets = 3000 };
  static long long first[n + 1], other[n + 1];
  static long long work[n + 1];
  static int table[n * 9], one[n];
  struct error err = {0};
  for (int e = 0; e < n; e++) {
    const int length = e < n / 3 ? 8 : 1; /* the first thousand targets have sixteen entries each */
    for (int k = 0; k < length; k++)
      table[first[e] + k] = e / 2 / 8 * 8 + k;
    one[e] = e / 2;
    first[e + 1] = first[e] + length;
    other[e + 1] = e + 1;
    work[e + 1] = first[e + 1] + e + 1;
  }
  const struct plan_column columns[] = {
      {.table = table, .first = first, .arity = 1, .target = 1, .target_size = targets},
      {.table = one, .first = other, .arity = 1, .target = 1, .target_size = targets}};
  for (int threads = 2; threads <= 7; threads++)
    for (int weighed = 0; weighed < 2; weighed++) {
      struct schedule s;
      struct owner_shares shares;
      long long share[7] = {0}, most = 0;
      struct plan_request r = {.size = n, .work = weighed ? work : NULL, .columns = columns, .ncolumns = 2};
      expect_ok(schedule_owners(&s, &r, threads, &shares, &err), &err);
      expect_ok(schedule_verify(&s, &r, &err), &err);
      for (int i = 0; i < s.nitems; i++)
        for (long at = s.items[i].begin; s.items[i].owner >= 0 && at < s.items[i].end; at++) {
          const long e = s.items[i].work == WORK_LIST ? s.list[at] : at;
          share[s.items[i].owner] += work[e + 1] - work[e];
        }
      for (int k = 0; k < threads; k++)
        most = share[k] > most ? share[k] : most;
      assert_int_equal(most * threads * 10 <= work[n] * 11, weighed);
      schedule_free(&s);
    }
}

TEST(a_star) {
  struct problem p;
  struct owner_shares shares;
  make_random(&p, 3000, MESH_STAR);
  for (int i = 0; i < ncounts; i++)
    check(&p, counts[i], &shares);
  clear(&p);
}

/* Nothing is written: the elements themselves are shared out. */
TEST(nothing_written) {
  struct error err = {0};
  struct schedule s;
  struct owner_shares shares;
  struct plan_request r = {.size = 7000};
  expect_ok(schedule_owners(&s, &r, 7, &shares, &err), &err);
  expect_ok(schedule_verify(&s, &r, &err), &err);
  assert_int_equal(s.nitems, 7);
  for (int k = 0; k < 7; k++)
    assert_int_equal(s.items[k].end - s.items[k].begin, 1000);
  schedule_free(&s);
  error_free(&err);
}

TEST(owners_and_ranges_agree) {
  for (long n = 1; n < 200; n += 7)
    for (int threads = 1; threads < 80; threads += 3)
      for (long t = 0; t < n; t++) {
        int k = owner_of(n, t, threads);
        assert_true(k >= 0 && k < threads);
        assert_true(owner_begin(n, k, threads) <= t && t < owner_begin(n, k + 1, threads));
      }
}

/* ---- faults that schedule_verify must find ---------------------------------------------------------*/

static void fault_item_twice(struct schedule *s) {
  s->items[0].end = s->items[0].begin;
}
static void fault_overlap(struct schedule *s) {
  s->items[0].end++;
}
static void fault_slot(struct schedule *s) {
  s->items[0].slot = 1;
}
static void fault_slots(struct schedule *s) {
  s->nslots++;
}
static void fault_work(struct schedule *s) {
  s->items[0].work = 2;
}
static void fault_owner(struct schedule *s) {
  s->items[0].owner = -1;
}
static void fault_outside(struct schedule *s) {
  s->items[0].begin = -1;
}
static void fault_list(struct schedule *s) {
  s->list[s->list_length - 1] = -1;
}
static void fault_list_twice(struct schedule *s) {
  s->list[s->list_length - 1] = s->list[s->list_length - 2];
}
static void fault_phases(struct schedule *s) {
  s->phases[1].first++;
}
static void fault_last_phase(struct schedule *s) {
  s->phases[s->nphases - 1].count--;
}
/* The elements between run together with the first owner's. */
static void fault_joined(struct schedule *s) {
  for (int i = s->phases[0].count; i < s->nitems; i++)
    s->items[i].owner = 5;
  s->phases[0].count = s->nitems;
  s->nphases = 1;
}
static void (*const faults[])(struct schedule *s) = {
    fault_item_twice, fault_overlap, fault_slot,       fault_slots,  fault_work,       fault_owner,
    fault_outside,    fault_list,    fault_list_twice, fault_phases, fault_last_phase, fault_joined,
};

TEST(planted_faults) {
  struct error err = {0};
  struct problem p;
  make_grid(&p, 60, 60);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct schedule s;
    struct owner_shares shares;
    expect_ok(schedule_owners(&s, &p.request, 3, &shares, &err), &err);
    faults[i](&s);
    if (schedule_verify(&s, &p.request, &err) != OP_ERR_PLAN)
      fail_msg("fault %zu was not found", i);
    schedule_free(&s);
  }
  clear(&p);
  error_free(&err);
}

TEST(refusals) {
  struct error err = {0};
  struct schedule s;
  struct owner_shares shares;
  struct plan_request r = {.size = 10};
  assert_int_equal(schedule_owners(&s, &r, 0, &shares, &err), OP_ERR_ARGUMENT);
  assert_int_equal(schedule_owners(&s, &r, 70000, &shares, &err), OP_ERR_ARGUMENT);
  error_free(&err);
}

/* ---- the gather form ---------------------------------------------------------------------------------*/

/* A work for the rows and one that collects, each with a frame of its own. Additions that do not commute in
 * floating point. */
static double row_value(long e, int column) {
  return (column ? -1.0 : 1.0) / (double)(e + 3);
}
static void write_rows(void *const *frame, const int *list, long begin, long end) {
  double *rows = frame[0];
  (void)list;
  for (long e = begin; e < end; e++)
    for (int c = 0; c < 2; c++)
      rows[2 * e + c] = row_value(e, c);
}
static void collect(void *const *frame, const int *list, long begin, long end) {
  double *targets = frame[0];
  const double *rows = frame[1];
  const int *first = frame[2], *entries = frame[3];
  (void)list;
  for (long t = begin; t < end; t++)
    for (int i = first[t]; i < first[t + 1]; i++)
      targets[t] += rows[entries[i]];
}

TEST(gather_is_serial) {
  struct error err = {0};
  for (int shape = 0; shape < MESH_SHAPES; shape++) {
    struct problem p;
    struct arrays arrays = {0};
    struct reverse_map reverse;
    struct schedule s;
    make_random(&p, 30000, (enum mesh_shape)shape);
    double *rows = calloc((size_t)p.nedges * 2, sizeof *rows);
    expect_ok(reverse_build(&reverse, &arrays, p.nedges, p.columns, 2, NULL, &err), &err);
    expect_ok(reverse_verify(&reverse, p.nedges, p.columns, NULL, &err), &err);
    expect_ok(schedule_gather(&s, &(struct plan_request){.size = p.nedges}, &reverse, 1, &err), &err);
    memset(p.expected, 0, (size_t)p.ncells * sizeof *p.expected);
    for (long i = 0; i < 2 * p.nedges; i++)
      p.expected[p.table[i]] += row_value(i / 2, (int)(i % 2));
    for (int i = 0; i < ncounts; i++) {
      struct team *team = NULL;
      void *const row_frame[] = {rows};
      void *const target_frame[] = {p.targets, rows, reverse.first, reverse.entries};
      const struct work works[] = {{.function = write_rows, .frame = row_frame, .nframe = 1},
                                   {.function = collect, .frame = target_frame, .nframe = 4}};
      struct execution e = {.schedule = &s, .works = works, .nworks = 2, .threads = counts[i]};
      expect_ok(team_open(&team, TEAM_DEFAULT, counts[i], &err), &err);
      memset(p.targets, 0, (size_t)p.ncells * sizeof *p.targets);
      executor_run(team, &e);
      team_close(team);
      assert_memory_equal(p.targets, p.expected, (size_t)p.ncells * sizeof *p.targets);
    }
    reverse.entries[7]++;
    assert_int_equal(reverse_verify(&reverse, p.nedges, p.columns, NULL, &err), OP_ERR_PLAN);
    arrays_free(&arrays);
    schedule_free(&s);
    free(rows);
    clear(&p);
  }
  error_free(&err);
}
