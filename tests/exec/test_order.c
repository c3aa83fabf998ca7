/* Orders of elements: permutations, the same for any number of threads, and what their names say. */
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "expect.h"
#include "mesh.h"
#include "mesh/order.h"

enum { MOST_THREADS = 3 };

static struct team *teams[MOST_THREADS + 1];

static void open_teams(void) {
  struct error err = {0};
  for (int t = 2; t <= MOST_THREADS; t++)
    expect_ok(team_open(&teams[t], TEAM_PTHREAD, t, &err), &err);
  error_free(&err);
}

static void close_teams(void) {
  for (int t = 2; t <= MOST_THREADS; t++)
    team_close(teams[t]);
}

static void expect_permutation(const int *order, long size) {
  bool *met = calloc((size_t)size + 1, sizeof *met);
  for (long i = 0; i < size; i++) {
    assert_true(order[i] >= 0 && order[i] < size);
    assert_false(met[order[i]]);
    met[order[i]] = true;
  }
  free(met);
}

/* A table of rows, and with `ragged` of 0 to 5 targets each. */
static struct order_table make_table(long rows, long size, enum mesh_shape shape, bool ragged,
                                     uint64_t seed) {
  const int arity = ragged ? 1 : 3;
  struct order_table t = {.rows = rows, .arity = arity};
  long long *first = ragged ? calloc((size_t)rows + 1, sizeof *first) : NULL;
  for (long r = 0; ragged && r < rows; r++)
    first[r + 1] = first[r] + random_next(&seed) % 6;
  t.first = first;
  const long entries = ragged ? (long)first[rows] : rows * arity;
  t.table = mesh_table(entries, 1, size, shape, seed);
  return t;
}

static void free_table(struct order_table *t) {
  free((void *)t->table);
  free((void *)t->first);
}

/* ---- Cuthill and McKee ----------------------------------------------------------------------------*/

/* Backwards it goes breadth first: who is met later has no neighbour that was met before all of those of another. */
static void expect_breadth_first(const int *order, long size, const struct order_table *t) {
  long *place = calloc((size_t)size + 1, sizeof *place), *parent = calloc((size_t)size + 1, sizeof *parent);
  for (long i = 0; i < size; i++)
    place[order[i]] = parent[order[i]] = size - 1 - i;
  for (long r = 0; r < t->rows; r++) {
    long lowest = LONG_MAX;
    for (long j = order_row(t, r); j < order_row(t, r + 1); j++)
      lowest = place[t->table[j]] < lowest ? place[t->table[j]] : lowest;
    for (long j = order_row(t, r); j < order_row(t, r + 1); j++)
      if (lowest < parent[t->table[j]])
        parent[t->table[j]] = lowest;
  }
  /* An element without an earlier neighbour begins a component. */
  for (long p = 1, before = 0; p < size; p++) {
    const int vertex = order[size - 1 - p];
    assert_true(parent[vertex] >= before);
    before = parent[vertex];
  }
  free(place);
  free(parent);
}

static void expect_rcm(const struct order_table *t, long size) {
  struct error err = {0};
  int *one = calloc((size_t)size + 1, sizeof *one), *many = calloc((size_t)size + 1, sizeof *many);
  expect_ok(order_rcm(one, size, t, NULL, &err), &err);
  expect_permutation(one, size);
  expect_breadth_first(one, size, t);
  for (int threads = 2; threads <= MOST_THREADS; threads++) {
    memset(many, 0xff, (size_t)size * sizeof *many);
    expect_ok(order_rcm(many, size, t, teams[threads], &err), &err);
    assert_memory_equal(one, many, (size_t)size * sizeof *one);
  }
  free(one);
  free(many);
}

TEST(rcm_goes_breadth_first_on_any_number_of_threads) {
  static const long sizes[] = {0, 1, 2, 50, 1000, 30000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int shape = 0; shape < MESH_SHAPES; shape++)
      for (int sparse = 0; sparse < 2; sparse++)
        for (int ragged = 0; ragged < 2; ragged++) {
          const long rows = sizes[s] == 0 ? 0 : sparse ? sizes[s] / 4 + 1 : sizes[s] * 2;
          struct order_table t = make_table(rows, sizes[s], (enum mesh_shape)shape, ragged, s + 1);
          expect_rcm(&t, sizes[s]);
          free_table(&t);
        }
}

/* Steps from what lies at or above `inner`. */
static void expect_steps(const struct order_table *t, long size, long inner) {
  struct error err = {0};
  int *steps = calloc((size_t)size + 1, sizeof *steps);
  long *far = calloc((size_t)size + 1, sizeof *far);
  expect_ok(order_steps(steps, size, inner, t, &err), &err);
  for (long v = 0; v < size; v++)
    far[v] = v < inner ? LONG_MAX : 0;
  for (bool nearer = true; nearer;) {
    nearer = false;
    for (long r = 0; r < t->rows; r++) {
      long least = LONG_MAX;
      for (long j = order_row(t, r); j < order_row(t, r + 1); j++)
        least = far[t->table[j]] < least ? far[t->table[j]] : least;
      for (long j = order_row(t, r); least < LONG_MAX && j < order_row(t, r + 1); j++)
        if (far[t->table[j]] > least + 1) {
          far[t->table[j]] = least + 1;
          nearer = true;
        }
    }
  }
  for (long v = 0; v < size; v++)
    assert_int_equal(steps[v], far[v] < LONG_MAX ? far[v] : INT_MAX);
  free(steps);
  free(far);
}

TEST(steps_are_counted) {
  static const long sizes[] = {0, 1, 2, 50, 1000};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int shape = 0; shape < MESH_SHAPES; shape++)
      for (int part = 0; part <= 4; part++) {
        const long rows = sizes[s] == 0 ? 0 : part % 2 ? sizes[s] / 4 + 1 : sizes[s] * 2;
        struct order_table t = make_table(rows, sizes[s], (enum mesh_shape)shape, part == 2, s + 1);
        expect_steps(&t, sizes[s], sizes[s] * part / 4);
        free_table(&t);
      }
}

/* More components than a mark has rounds. */
TEST(rcm_of_many_components) {
  enum { PAIRS = 100000 };
  int *table = calloc((size_t)2 * PAIRS, sizeof *table);
  for (int i = 0; i < 2 * PAIRS; i++)
    table[i] = (int)((long)i * 7919 % (2 * PAIRS));
  expect_rcm(&(struct order_table){.table = table, .rows = PAIRS, .arity = 2}, 2 * PAIRS);
  free(table);
}

/* The band of a grid whose cells and edges were shuffled: as wide as the grid, or two rows. */
TEST(rcm_finds_the_grid_again) {
  enum { NX = 60, NY = 400, CELLS = NX * NY };
  struct error err = {0};
  uint64_t seed = 5;
  int *table, *name = calloc(CELLS, sizeof *name), *order = calloc(CELLS, sizeof *order),
              *place = calloc(CELLS, sizeof *place);
  const long edges = mesh_grid(NX, NY, &table);
  for (int c = 0; c < CELLS; c++)
    name[c] = c;
  for (int c = CELLS - 1; c > 0; c--) {
    const int other = (int)(random_next(&seed) % (uint32_t)(c + 1)), kept = name[c];
    name[c] = name[other];
    name[other] = kept;
  }
  for (long i = 0; i < 2 * edges; i++)
    table[i] = name[table[i]];
  expect_ok(order_rcm(order, CELLS, &(struct order_table){.table = table, .rows = edges, .arity = 2},
                      teams[2], &err),
            &err);
  for (int i = 0; i < CELLS; i++)
    place[order[i]] = i;
  for (long e = 0; e < edges; e++)
    assert_true(abs(place[table[2 * e]] - place[table[2 * e + 1]]) <= 2 * NX);
  free(table);
  free(name);
  free(order);
  free(place);
  error_free(&err);
}

/* ---- along a map ----------------------------------------------------------------------------------*/

static void find_keys(const struct order_table *t, const int *number, long row, int *low, int *high) {
  const long begin = order_row(t, row), end = order_row(t, row + 1);
  *low = begin < end ? INT_MAX : 0;
  *high = 0;
  for (long j = begin; j < end; j++) {
    *low = number[t->table[j]] < *low ? number[t->table[j]] : *low;
    *high = number[t->table[j]] > *high ? number[t->table[j]] : *high;
  }
}

TEST(rows_follow_their_targets) {
  struct error err = {0};
  enum { ROWS = 50000, SIZE = 40000 };
  int *number = calloc(SIZE, sizeof *number), *one = calloc(ROWS, sizeof *one),
      *many = calloc(ROWS, sizeof *many);
  for (int i = 0; i < SIZE; i++)
    number[i] = (int)((long)i * 7919 % SIZE);
  for (int shape = 0; shape < MESH_SHAPES; shape++)
    for (int ragged = 0; ragged < 2; ragged++) {
      struct order_table t = make_table(ROWS, SIZE, (enum mesh_shape)shape, ragged, 3);
      expect_ok(order_by_targets(one, &t, number, SIZE, NULL, &err), &err);
      expect_permutation(one, ROWS);
      for (long r = 1; r < ROWS; r++) {
        int low[2], high[2];
        find_keys(&t, number, one[r - 1], &low[0], &high[0]);
        find_keys(&t, number, one[r], &low[1], &high[1]);
        assert_true(low[0] < low[1] ||
                    (low[0] == low[1] && (high[0] < high[1] || (high[0] == high[1] && one[r - 1] < one[r]))));
      }
      for (int threads = 2; threads <= MOST_THREADS; threads++) {
        expect_ok(order_by_targets(many, &t, number, SIZE, teams[threads], &err), &err);
        assert_memory_equal(one, many, ROWS * sizeof *one);
      }
      free_table(&t);
    }
  free(number);
  free(one);
  free(many);
  error_free(&err);
}

int main(void) {
  open_teams();
  const int failed = run_these(NULL, NULL);
  close_teams();
  return failed;
}
