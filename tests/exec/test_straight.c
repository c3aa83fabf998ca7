/* Straight ranges on meshes with and without order, checked by brute force; the faults that verifying must find;
 * and the tables as the plan cache keeps them. */
#include <limits.h>
#include <string.h>

#include "expect.h"
#include "mesh.h"
#include "plan/plan_cache.h"

enum { COLUMNS = 3, SIZE = 700, TARGETS = 4 * SIZE };

/* Two maps, of arity 3 and 1; of the first, columns 2 and 0 are used. */
struct fixture {
  int *tables[2];
  struct plan_column columns[COLUMNS];
  struct plan_request request;
};

/* Targets go on by one from element to element, but in `breaks` of 100 elements some column jumps. */
static void make(struct fixture *f, long size, int breaks, uint64_t seed) {
  static const int arity[2] = {3, 1};
  memset(f, 0, sizeof *f);
  for (int m = 0; m < 2; m++) {
    f->tables[m] = calloc((size_t)(size * arity[m]) + 1, sizeof(int));
    for (long e = 0; e < size; e++)
      for (int c = 0; c < arity[m]; c++) {
        const bool jumps = e == 0 || random_next(&seed) % 100 < (unsigned)breaks;
        int *entry = &f->tables[m][e * arity[m] + c];
        *entry = jumps ? (int)(random_next(&seed) % TARGETS) : entry[-arity[m]] + 1;
        *entry = *entry < TARGETS ? *entry : 0;
      }
  }
  const struct plan_column columns[COLUMNS] = {
      {.table = f->tables[0], .arity = 3, .column = 0, .target = 1, .target_size = TARGETS},
      {.table = f->tables[0], .arity = 3, .column = 2, .target = 1, .target_size = TARGETS},
      {.table = f->tables[1], .arity = 1, .column = 0, .target = 2, .target_size = TARGETS}};
  memcpy(f->columns, columns, sizeof columns);
  f->request = (struct plan_request){.size = size, .columns = f->columns, .ncolumns = COLUMNS};
}

static void clear(struct fixture *f) {
  free(f->tables[0]);
  free(f->tables[1]);
}

static int target_of(const struct plan_request *r, int column, long e) {
  const struct plan_column *c = &r->columns[column];
  return c->table[(e - r->begin) * c->arity + c->column];
}

/* Do all targets of element e+1 follow those of e? Both are the set's numbers. */
static bool follows(const struct plan_request *r, long e) {
  bool all = e >= r->begin && e + 1 < r->begin + r->size;
  for (int c = 0; all && c < r->ncolumns; c++)
    all = target_of(r, c, e + 1) == target_of(r, c, e) + 1;
  return all;
}

static int build(struct plan_entry *e, const struct plan_request *r, struct team *team, struct error *err) {
  return plan_entry_build(e, &(struct plan_wish){.request = *r, .strategy = &strategy_straight}, team, err);
}

static int verify(const struct plan_entry *e, const struct plan_request *r, int level, struct error *err) {
  return strategy_straight.verify(e, &(struct plan_wish){.request = *r}, level, err);
}

/* Each element is in a range if and only if it is one of 8 or more; ranges cannot be made longer. */
static void check_by_force(const struct straight *s, const struct plan_request *r) {
  const int *at = s->words + 1;
  long left = 0, covered = 0, last = r->begin + r->size;
  assert_int_equal(s->words[0], s->count);
  for (long e = r->begin; e < last; e = left) {
    for (left = e + 1; left < last && follows(r, left - 1); left++)
      continue;
    if (left - e < STRAIGHT_SHORTEST)
      continue;
    assert_int_equal(at[0], e);
    assert_int_equal(at[1], left);
    for (int c = 0; c < r->ncolumns; c++)
      for (long i = e; i < left; i++)
        assert_int_equal(target_of(r, c, i), i + at[2 + c]);
    covered += left - e - 7;
    at += 2 + r->ncolumns;
  }
  assert_int_equal(at[0], INT_MAX);
  assert_int_equal(at[1], INT_MAX);
  assert_int_equal(straight_covered(s, 8), covered);
}

TEST(on_many_meshes) {
  struct error err = {0};
  static const int breaks[] = {0, 1, 3, 10, 100};
  for (int b = 0; b < 5; b++)
    for (long size = 1; size <= SIZE; size += size < 150 ? 1 : 61) {
      struct fixture f;
      struct plan_entry s;
      make(&f, size, breaks[b], (uint64_t)(size * 5 + b));
      f.request.begin = size % 3 * 1000;
      expect_ok(build(&s, &f.request, NULL, &err), &err);
      check_by_force(&s.straight, &f.request);
      expect_ok(verify(&s, &f.request, 2, &err), &err);
      plan_entry_clear(&s);
      clear(&f);
    }
  error_free(&err);
}

/* Rows of a structured mesh: one range each; a mesh without order has none, and needs next to no memory. */
TEST(rows_and_chaos) {
  struct error err = {0};
  enum { N = 40 };
  int *table = calloc(2 * N * N, sizeof *table), *any = mesh_table(N * N, 2, N * N, MESH_FAR, 3);
  for (int k = 0; k < N * N; k++) {
    table[2 * k] = k / N * N + (k % N + 1) % N;
    table[2 * k + 1] = (k + N) % (N * N);
  }
  struct plan_column columns[] = {
      {.table = table, .arity = 2, .column = 0, .target = 1, .target_size = N * N},
      {.table = table, .arity = 2, .column = 1, .target = 1, .target_size = N * N}};
  const struct plan_request r = {.size = N * N, .columns = columns, .ncolumns = 2};
  struct plan_entry s;
  expect_ok(build(&s, &r, NULL, &err), &err);
  check_by_force(&s.straight, &r);
  assert_int_equal(s.straight.count, N);
  assert_int_equal(straight_covered(&s.straight, 8), N * (N - 1 - 7));
  assert_int_equal(plan_entry_bytes(&s), (N + 2) * 4 * sizeof(int));
  plan_entry_clear(&s);
  columns[0].table = columns[1].table = any;
  expect_ok(build(&s, &r, NULL, &err), &err);
  assert_int_equal(s.straight.count, 0);
  assert_true(plan_entry_bytes(&s) <= 64);
  plan_entry_clear(&s);
  free(table);
  free(any);
  error_free(&err);
}

TEST(same_on_threads) {
  struct error err = {0};
  struct fixture f;
  struct team *team;
  struct plan_entry alone, together;
  make(&f, 200001, 2, 9);
  expect_ok(team_open(&team, TEAM_PTHREAD, 3, &err), &err);
  expect_ok(build(&alone, &f.request, NULL, &err), &err);
  expect_ok(build(&together, &f.request, team, &err), &err);
  assert_true(alone.straight.count > 1000);
  assert_int_equal(plan_entry_bytes(&alone), plan_entry_bytes(&together));
  assert_memory_equal(alone.straight.words, together.straight.words, plan_entry_bytes(&alone));
  plan_entry_clear(&alone);
  plan_entry_clear(&together);
  team_close(team);
  clear(&f);
  error_free(&err);
}

/* ---- planted faults: each one breaks one claim -----------------------------------------------------*/

enum { WORDS = 2 + COLUMNS };

static void fewer_columns(struct straight *s) {
  s->ncolumns--;
}
static void told_one_more(struct straight *s) {
  s->words[0]++;
}
static void begins_too_early(struct straight *s) {
  s->words[1 + WORDS]--;
}
static void overlaps(struct straight *s) {
  s->words[1 + WORDS] = s->words[2] - 1;
}
static void too_short(struct straight *s) {
  s->words[2] = s->words[1] + STRAIGHT_SHORTEST - 1;
}
static void ends_too_early(struct straight *s) {
  s->words[2]--;
}
static void ends_too_late(struct straight *s) {
  s->words[1 + (s->count - 1) * WORDS + 1] = 5000 + SIZE + 1;
}
static void wrong_offset(struct straight *s) {
  s->words[1 + 2 + 1]++;
}
static void offsets_swapped(struct straight *s) {
  const int first = s->words[3];
  s->words[3] = s->words[5];
  s->words[5] = first;
}
static void no_end(struct straight *s) {
  s->words[1 + s->count * WORDS + 1] = 0;
}
static void one_is_missing(struct straight *s) {
  memmove(s->words + 1, s->words + 1 + WORDS, (size_t)(s->count * WORDS) * sizeof(int));
  s->words[0] = (int)--s->count;
}

static const struct {
  void (*plant)(struct straight *s);
  int level;        /* that finds it */
  const char *said; /* in the message */
} faults[] = {
    {fewer_columns, 1, "columns"},       {told_one_more, 1, "is told"},
    {overlaps, 1, "from element"},       {too_short, 1, "at least 8"},
    {ends_too_late, 1, "end at"},        {no_end, 1, "no end"},
    {begins_too_early, 2, "straight"},   {wrong_offset, 2, "has target"},
    {offsets_swapped, 2, "has target"},  {ends_too_early, 2, "in the table"},
    {one_is_missing, 2, "in the table"},
};

TEST(faults_are_found) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    struct error err = {0};
    struct fixture f;
    struct plan_entry s;
    make(&f, SIZE, 1, 4);
    f.request.begin = 5000;
    expect_ok(build(&s, &f.request, NULL, &err), &err);
    assert_true(s.straight.count > 3);
    faults[i].plant(&s.straight);
    assert_int_equal(verify(&s, &f.request, 0, &err), OP_OK);
    assert_int_equal(verify(&s, &f.request, 1, &err), faults[i].level == 1 ? OP_ERR_PLAN : OP_OK);
    assert_int_equal(verify(&s, &f.request, 2, &err), OP_ERR_PLAN);
    if (!strstr(error_message(&err), faults[i].said))
      fail_msg("fault %zu: \"%s\" does not say \"%s\"", i, error_message(&err), faults[i].said);
    plan_entry_clear(&s);
    clear(&f);
    error_free(&err);
  }
}

/* ---- in the plan cache -----------------------------------------------------------------------------*/

static const struct plan_entry *get(struct plan_cache *cache, const struct plan_wish *wish, bool new) {
  struct error err = {0};
  const struct plan_entry *entry;
  bool built;
  expect_ok(plan_cache_get(cache, wish, NULL, &entry, &built, &err), &err);
  assert_int_equal(built, new);
  error_free(&err);
  return entry;
}

TEST(is_shared) {
  struct error err = {0};
  struct fixture f;
  struct plan_cache *cache;
  struct text said = {0};
  make(&f, SIZE, 1, 6);
  expect_ok(plan_cache_new(&cache, &err), &err);
  struct plan_wish wish = {.request = f.request, .strategy = &strategy_straight, .set_name = "cells"};
  const struct plan_entry *entry = get(cache, &wish, true);
  wish.request.block_size = 17;
  wish.threads = 3;
  assert_ptr_equal(get(cache, &wish, false), entry);
  assert_true(plan_cache_bytes(cache) >= plan_entry_bytes(entry));
  /* Generated code knows columns by their place. */
  const struct plan_column other[] = {f.columns[1], f.columns[0], f.columns[2]};
  wish.request.columns = other;
  assert_ptr_not_equal(get(cache, &wish, true), entry);
  plan_cache_describe(cache, &said);
  assert_non_null(strstr(text_str(&said), "straight"));
  assert_int_equal(plan_cache_verify(cache, 2, &err), OP_OK);
  entry->straight.words[1 + 2]++;
  assert_int_equal(plan_cache_verify(cache, 1, &err), OP_OK);
  assert_int_equal(plan_cache_verify(cache, 2, &err), OP_ERR_PLAN);
  assert_non_null(strstr(error_message(&err), "cells"));
  text_free(&said);
  plan_cache_free(cache);
  clear(&f);
  error_free(&err);
}
