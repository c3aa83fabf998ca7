/* Ragged maps over ranks: loops through them do on all ranks together what nested loops over offsets and targets do,
 * whoever owns the elements; the entries go where their elements go. Values are whole numbers, so that sums are the same in
 * any order. */
#include <stdbool.h>

#include "api/api.h"
#include "check.h"
#include "context/context.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"

enum { ROWS = 240, COLS = 150, LONG = 400, SIDES = 77 };

static int rank, size;

/* clang-format off */
OP_KERNEL_DEF(product, void product(int n, const double **a, const double **x, double *y) {
  *y = 0;
  for (int k = 0; k < n; k++)
    *y += OP_ROW(a, k)[1] * *OP_ROW(x, k);
})
OP_KERNEL_DEF(scatter, void scatter(const double *w, int n, const double **a, double **x, double **seen) {
  for (int k = 0; k < n; k++) {
    *OP_ROW(x, k) += *w + OP_ROW(a, k)[0];
    *OP_ROW(seen, k) += k + 1;
  }
})
OP_KERNEL_DEF(extremes, void extremes(const double *w, int n, double **low) {
  for (int k = 0; k < n; k++)
    if (*w < *OP_ROW(low, k))
      *OP_ROW(low, k) = *w;
})
/* Writes what the copies of others' elements have too, then reads it where it adds up. */
OP_KERNEL_DEF(number, void number(int n, double **a, const int *row, long long *count) {
  for (int k = 0; k < n; k++) {
    OP_ROW(a, k)[0] = *row % 10;
    OP_ROW(a, k)[1] += k % 3;
  }
  *count += n;
})
OP_KERNEL_DEF(own, void own(const double *t, double *a) { a[0] += *t; })
OP_KERNEL_DEF(entry_to_column, void entry_to_column(const double *a, double *x) { *x += a[1]; })
OP_KERNEL_DEF(side_to_entry, void side_to_entry(const double *a, double *b, double *s) {
  *s += a[0];
  b[1] += 1;
})
OP_KERNEL_DEF(two, void two(int n, const double **x, const double *q[2], int m, const double **z, double *y) {
  *y = n + 100 * m + *q[0] - *q[1];
  for (int k = 0; k < n; k++)
    *y += *OP_ROW(x, k);
  for (int k = 0; k < m; k++)
    *y -= *OP_ROW(z, k);
})
OP_KERNEL_DEF(deeper, void deeper(int n, const double **x, double **b, double *a) {
  for (int k = 0; k < n; k++) {
    a[0] += *OP_ROW(x, k);
    *OP_ROW(b, k) += 2;
  }
})
OP_KERNEL_DEF(deep_scatter, void deep_scatter(int n, double **x, const double **b, const double *a) {
  for (int k = 0; k < n; k++)
    *OP_ROW(x, k) += *OP_ROW(b, k) + a[1];
})
OP_KERNEL_DEF(follow, void follow(int n, double **d, double **x) {
  for (int k = 0; k < n; k++) {
    *OP_ROW(d, k) += 1;
    *OP_ROW(x, k) += *OP_ROW(d, k);
  }
})
OP_KERNEL_DEF(stamp, void stamp(int n, double **d, double **x) {
  for (int k = 0; k < n; k++) {
    *OP_ROW(d, k) = 7 + k;
    *OP_ROW(x, k) += 1;
  }
})
/* Its numbers are looked at where copies of others' elements are executed, too. */
OP_KERNEL_DEF(tell, void tell(int n, const int **target, double **d, double **x) {
  for (int k = 0; k < n; k++) {
    *OP_ROW(d, k) = *OP_ROW(target, k);
    *OP_ROW(x, k) += *OP_ROW(target, k) % 5;
  }
})
/* clang-format on */

/* A ragged map as one process sees it, and this rank's part of it. */
struct ragged {
  int rows;
  long long *offsets;
  int *targets;
  op_set from, entries;
  op_map map;
};

static int share_of(int all, int r) {
  return (int)((long long)all * r / size);
}
/* The first rank declares twice as much, and the last one nothing. */
static int first_of(int all, int r) {
  return size == 1       ? share_of(all, r)
         : r == 0        ? 0
         : r >= size - 1 ? all
                         : (int)((long long)all * (r + 1) / size);
}
static int begin_of(int all) {
  return first_of(all, rank);
}
static int count_of(int all) {
  return first_of(all, rank + 1) - first_of(all, rank);
}

static void *room(long long count, size_t bytes) {
  void *made = calloc((size_t)count + 1, bytes);
  check(made);
  return made;
}

static struct ragged ragged_new(int rows, int columns, int longest, int seed) {
  struct ragged r = {.rows = rows, .offsets = room(rows + 1, sizeof *r.offsets)};
  for (int e = 0; e < rows; e++) {
    const int length = e == rows / 3 ? longest : (e + seed) % 5 == 3 ? 0 : (e * 7 + seed) % 6;
    r.offsets[e + 1] = r.offsets[e] + length;
  }
  r.targets = room(r.offsets[rows], sizeof *r.targets);
  for (int e = 0; e < rows; e++)
    for (long long i = r.offsets[e]; i < r.offsets[e + 1]; i++)
      r.targets[i] = (int)(((long long)e * columns / rows + (i - r.offsets[e]) * (seed + 3)) % columns);
  return r;
}

static void ragged_free(struct ragged *r) {
  free(r->offsets);
  free(r->targets);
}

/* `first` and `count` of the elements that this rank declared. */
static void declare(struct ragged *r, op_set from, op_set to, int first, int count, const char *name) {
  long long *offsets = room(count + 1, sizeof *offsets);
  for (int e = 0; e <= count; e++)
    offsets[e] = r->offsets[first + e] - r->offsets[first];
  r->from = from;
  r->map = op_decl_map_ragged(from, to, offsets, r->targets + r->offsets[first], name);
  check(r->map);
  r->entries = op_map_entries(r->map);
  check(op_get_size(r->entries) == offsets[count] && op_get_global_size(r->entries) == r->offsets[r->rows]);
  free(offsets);
}

/* ---- data, here and as they ought to be ---- */

struct data {
  op_dat dat;
  int dim;
  long long first, count, all; /* elements */
  double *values;
};

static struct data new_data(op_set set, int dim, long long first, long long all, const char *name, int seed) {
  struct data d = {.dim = dim, .first = first, .count = op_get_size(set), .all = all};
  d.values = room(all * dim, sizeof *d.values);
  for (long long i = 0; i < all * dim; i++)
    d.values[i] = (double)((i * 5 + seed) % 13);
  d.dat = op_decl_dat(set, dim, "double", d.values + first * dim, name);
  check(d.dat);
  return d;
}

static struct data data_of_entries(const struct ragged *r, int first_row, int dim, const char *name) {
  return new_data(r->entries, dim, r->offsets[first_row], r->offsets[r->rows], name, dim + r->rows);
}

static void compare(const struct data *d) {
  const size_t values = (size_t)(d->count * d->dim);
  double *got = room((long long)values, sizeof *got);
  check(!op_fetch_data(d->dat, got));
  check(!memcmp(got, d->values + d->first * d->dim, values * sizeof *got));
  /* All but the first one. */
  const int low = d->count > 1, high = (int)d->count - 1;
  check(!op_fetch_data_idx(d->dat, got, low, high));
  check(
      !memcmp(got, d->values + (d->first + low) * d->dim, (size_t)((high - low + 1) * d->dim) * sizeof *got));
  free(got);
}

/* Small numbers again, so that sums stay exact. */
static void tame(struct data *d) {
  for (long long i = 0; i < d->all * d->dim; i++)
    d->values[i] = (double)((long long)d->values[i] % 17);
  check(!op_put_data(d->dat, d->values + d->first * d->dim));
}

static struct ragged map, second, deep;
static op_set rows, cols, sides;
static op_map to_column, to_entry, pairs;
static op_dat place;
static int columns_of_entries[ROWS * 8 + LONG], entries_of_sides[SIDES * 2], pair[ROWS * 2];
static struct data a, seen, b, x, low, y, w, s, t;

static op_arg all(const struct data *d, const struct ragged *r, op_access access) {
  return op_arg_dat(d->dat, OP_ALL, r->map, d->dim, "double", access);
}
static op_arg direct(const struct data *d, op_access access) {
  return op_arg_dat(d->dat, -1, OP_ID, d->dim, "double", access);
}

/* ---- the same loops twice ---- */

static void multiply(void) {
  check(!op_par_loop(OP_KERNEL_OF(product), "product", rows, all(&a, &map, OP_READ), all(&x, &map, OP_READ),
                     direct(&y, OP_WRITE)));
  for (int e = 0; e < ROWS; e++) {
    y.values[e] = 0;
    for (long long i = map.offsets[e]; i < map.offsets[e + 1]; i++)
      y.values[e] += a.values[2 * i + 1] * x.values[map.targets[i]];
  }
  compare(&y);
}

static void add(void) {
  check(!op_par_loop(OP_KERNEL_OF(scatter), "scatter", rows, direct(&w, OP_READ), all(&a, &map, OP_READ),
                     all(&x, &map, OP_INC), all(&seen, &map, OP_INC)));
  for (int e = 0; e < ROWS; e++)
    for (long long i = map.offsets[e]; i < map.offsets[e + 1]; i++) {
      x.values[map.targets[i]] += w.values[e] + a.values[2 * i];
      seen.values[i] += (double)(i - map.offsets[e] + 1);
    }
}

static void keep_lowest(void) {
  check(!op_par_loop(OP_KERNEL_OF(extremes), "extremes", rows, direct(&w, OP_READ), all(&low, &map, OP_MIN)));
  for (int e = 0; e < ROWS; e++)
    for (long long i = map.offsets[e]; i < map.offsets[e + 1]; i++)
      if (w.values[e] < low.values[map.targets[i]])
        low.values[map.targets[i]] = w.values[e];
  compare(&low);
}

static void number_entries(void) {
  long long count = 3;
  check(!op_par_loop(OP_KERNEL_OF(number), "number", rows, all(&a, &map, OP_RW), op_arg_idx(-1, OP_ID),
                     op_arg_gbl(&count, 1, "long long", OP_INC)));
  for (int e = 0; e < ROWS; e++)
    for (long long i = map.offsets[e]; i < map.offsets[e + 1]; i++) {
      a.values[2 * i] = e % 10;
      a.values[2 * i + 1] += (double)((i - map.offsets[e]) % 3);
    }
  check(count == 3 + map.offsets[ROWS]);
}

/* Over the entries, and with ordinary maps from and to them. */
static void over_entries(void) {
  check(!op_par_loop(OP_KERNEL_OF(own), "own", map.entries, direct(&seen, OP_READ), direct(&a, OP_RW)));
  check(!op_par_loop(OP_KERNEL_OF(entry_to_column), "entry_to_column", map.entries, direct(&a, OP_READ),
                     op_arg_dat(x.dat, 0, to_column, 1, "double", OP_INC)));
  check(!op_par_loop(OP_KERNEL_OF(side_to_entry), "side_to_entry", sides,
                     op_arg_dat(seen.dat, 0, to_entry, 1, "double", OP_READ),
                     op_arg_dat(a.dat, 1, to_entry, 2, "double", OP_INC), direct(&s, OP_INC)));
  for (long long i = 0; i < map.offsets[ROWS]; i++)
    a.values[2 * i] += seen.values[i];
  for (long long i = 0; i < map.offsets[ROWS]; i++)
    x.values[columns_of_entries[i]] += a.values[2 * i + 1];
  for (int e = 0; e < SIDES; e++) {
    s.values[e] += seen.values[entries_of_sides[2 * e]];
    a.values[2 * entries_of_sides[2 * e + 1] + 1] += 1;
  }
  compare(&s);
}

static void tell_targets(void) {
  check(!op_par_loop(OP_KERNEL_OF(tell), "tell", rows, op_arg_idx(OP_ALL, map.map),
                     all(&seen, &map, OP_WRITE), all(&x, &map, OP_INC)));
  for (long long i = 0; i < map.offsets[ROWS]; i++) {
    seen.values[i] = map.targets[i];
    x.values[map.targets[i]] += map.targets[i] % 5;
  }
  compare(&seen);
  compare(&x);
}

static void two_maps(void) {
  check(!op_par_loop(OP_KERNEL_OF(two), "two", rows, all(&x, &map, OP_READ),
                     op_arg_dat(x.dat, OP_ALL, pairs, 1, "double", OP_READ), all(&t, &second, OP_READ),
                     direct(&y, OP_WRITE)));
  for (int e = 0; e < ROWS; e++) {
    const long long n = map.offsets[e + 1] - map.offsets[e], m = second.offsets[e + 1] - second.offsets[e];
    y.values[e] = (double)(n + 100 * m) + x.values[pair[2 * e]] - x.values[pair[2 * e + 1]];
    for (long long i = map.offsets[e]; i < map.offsets[e + 1]; i++)
      y.values[e] += x.values[map.targets[i]];
    for (long long i = second.offsets[e]; i < second.offsets[e + 1]; i++)
      y.values[e] -= t.values[i];
  }
  compare(&y);
}

/* The entries of a ragged map have a ragged map too. */
static void entries_of_entries(void) {
  check(!op_par_loop(OP_KERNEL_OF(deeper), "deeper", map.entries, all(&x, &deep, OP_READ),
                     all(&b, &deep, OP_INC), direct(&a, OP_INC)));
  check(!op_par_loop(OP_KERNEL_OF(deep_scatter), "deep_scatter", map.entries, all(&x, &deep, OP_INC),
                     all(&b, &deep, OP_READ), direct(&a, OP_READ)));
  for (int e = 0; e < deep.rows; e++)
    for (long long i = deep.offsets[e]; i < deep.offsets[e + 1]; i++) {
      a.values[2 * e] += x.values[deep.targets[i]];
      b.values[i] += 2;
    }
  for (int e = 0; e < deep.rows; e++)
    for (long long i = deep.offsets[e]; i < deep.offsets[e + 1]; i++)
      x.values[deep.targets[i]] += b.values[i] + a.values[2 * e + 1];
}

/* Every third row, and of those that each rank declared the first ones. */
static bool in_some(int e) {
  return e % 3 == 0 || e % 60 < 7;
}

/* Copies of entries that nobody computes here are old before and after it. */
static void write_some(op_set some) {
  tame(&seen);
  check(!op_par_loop(OP_KERNEL_OF(stamp), "stamp", some, all(&seen, &map, OP_WRITE), all(&x, &map, OP_INC)));
  check(!op_par_loop(OP_KERNEL_OF(follow), "follow", rows, all(&seen, &map, OP_RW), all(&x, &map, OP_INC)));
  for (int e = 0; e < ROWS; e++)
    for (long long i = map.offsets[e]; i < map.offsets[e + 1]; i++) {
      if (in_some(e))
        seen.values[i] = (double)(7 + i - map.offsets[e]);
      x.values[map.targets[i]] += ++seen.values[i] + in_some(e);
    }
  compare(&seen);
  compare(&x);
}

static void over_some(void) {
  int chosen[ROWS], n = 0;
  for (int e = begin_of(ROWS); e < begin_of(ROWS) + count_of(ROWS); e++)
    if (in_some(e))
      chosen[n++] = e - begin_of(ROWS);
  op_set some = op_decl_subset(rows, n, chosen, "some");
  check(!op_par_loop(OP_KERNEL_OF(product), "product", some, all(&a, &map, OP_READ), all(&x, &map, OP_READ),
                     direct(&y, OP_WRITE)));
  /* The entries that it changes are read where copies are computed too. */
  long long count = 0;
  check(!op_par_loop(OP_KERNEL_OF(number), "number", some, all(&a, &map, OP_RW), op_arg_idx(-1, OP_ID),
                     op_arg_gbl(&count, 1, "long long", OP_INC)));
  check(!op_par_loop(OP_KERNEL_OF(scatter), "scatter", rows, direct(&w, OP_READ), all(&a, &map, OP_READ),
                     all(&x, &map, OP_INC), all(&seen, &map, OP_INC)));
  check(!op_par_loop(OP_KERNEL_OF(scatter), "scatter", some, direct(&w, OP_READ), all(&a, &map, OP_READ),
                     all(&x, &map, OP_INC), all(&seen, &map, OP_INC)));
  for (int e = 0; e < ROWS; e++) {
    double sum = in_some(e) ? 0 : y.values[e];
    for (long long i = map.offsets[e]; in_some(e) && i < map.offsets[e + 1]; i++) {
      sum += a.values[2 * i + 1] * x.values[map.targets[i]];
      a.values[2 * i] = e % 10;
      a.values[2 * i + 1] += (double)((i - map.offsets[e]) % 3);
      count--;
    }
    y.values[e] = sum;
  }
  for (int e = 0; e < ROWS; e++)
    for (long long i = map.offsets[e]; i < map.offsets[e + 1]; i++) {
      x.values[map.targets[i]] += (1 + in_some(e)) * (w.values[e] + a.values[2 * i]);
      seen.values[i] += (double)((1 + in_some(e)) * (i - map.offsets[e] + 1));
    }
  check(count == 0);
  compare(&y);
  compare(&a);
  compare(&seen);
  compare(&x);
  write_some(some);
  check(!op_free_set(some));
}

static void run(void) {
  multiply();
  number_entries();
  add(); /* reads, where copies are computed too, what number_entries wrote there */
  compare(&a);
  compare(&seen);
  multiply();
  over_some();
  tell_targets();
  two_maps();
  keep_lowest();
  over_entries();
  entries_of_entries();
  compare(&a);
  compare(&b);
  compare(&x);
  tame(&x);
  tame(&a);
  tame(&b);
  tame(&seen);
  multiply();
}

/* A map that comes when its elements have gone to their owners, with data on its entries, and a map of these. */
static void late(void) {
  struct ragged r = ragged_new(ROWS, COLS, 60, 5);
  declare(&r, rows, cols, begin_of(ROWS), count_of(ROWS), "late");
  struct data d = data_of_entries(&r, begin_of(ROWS), 1, "on late");
  struct ragged on = ragged_new((int)r.offsets[ROWS], COLS, 3, 1);
  declare(&on, r.entries, cols, (int)r.offsets[begin_of(ROWS)], op_get_size(r.entries), "deeper");
  struct data e = data_of_entries(&on, (int)r.offsets[begin_of(ROWS)], 1, "in late");
  for (int round = 0; round < 2; round++) {
    check(!op_par_loop(OP_KERNEL_OF(follow), "follow", rows, all(&d, &r, OP_RW), all(&x, &r, OP_INC)));
    check(!op_par_loop(OP_KERNEL_OF(follow), "follow", r.entries, all(&e, &on, OP_RW), all(&x, &on, OP_INC)));
    for (long long i = 0; i < r.offsets[ROWS]; i++)
      x.values[r.targets[i]] += ++d.values[i];
    for (long long i = 0; i < on.offsets[on.rows]; i++)
      x.values[on.targets[i]] += ++e.values[i];
    compare(&d);
    compare(&e);
    compare(&x);
    /* Once more before anything ran since the map was declared. */
    if (round == 0)
      check(!op_partition("random", "", rows, NULL, NULL));
  }
  tame(&x);
  check(!op_free_dat(e.dat) && !op_free_map(on.map) && !op_free_dat(d.dat) && !op_free_map(r.map));
  free(d.values);
  free(e.values);
  ragged_free(&r);
  ragged_free(&on);
}

/* The same, and before any loop the elements change their owners again. */
static void late_and_parted(void) {
  struct ragged r = ragged_new(ROWS, COLS, 9, 2);
  declare(&r, rows, cols, begin_of(ROWS), count_of(ROWS), "later");
  struct data d = data_of_entries(&r, begin_of(ROWS), 2, "on later");
  check(!op_partition("block", "", rows, NULL, NULL));
  compare(&d);
  check(!op_par_loop(OP_KERNEL_OF(follow), "follow", rows, all(&d, &r, OP_RW), all(&x, &r, OP_INC)));
  for (long long i = 0; i < r.offsets[ROWS]; i++)
    x.values[r.targets[i]] += ++d.values[2 * i];
  compare(&d);
  compare(&x);
  tame(&x);
  check(!op_free_dat(d.dat) && !op_free_map(r.map));
  free(d.values);
  ragged_free(&r);
}

static void declare_mesh(void) {
  double xy[2 * ROWS];
  rows = op_decl_set(count_of(ROWS), "rows");
  cols = op_decl_set(count_of(COLS), "cols");
  sides = op_decl_set(count_of(SIDES), "sides");
  map = ragged_new(ROWS, COLS, LONG, 1);
  second = ragged_new(ROWS, COLS, 2, 4);
  declare(&map, rows, cols, begin_of(ROWS), count_of(ROWS), "map");
  declare(&second, rows, cols, begin_of(ROWS), count_of(ROWS), "second");
  const int entries = (int)map.offsets[ROWS], first = (int)map.offsets[begin_of(ROWS)];
  deep = ragged_new(entries, COLS, 30, 2);
  declare(&deep, map.entries, cols, first, op_get_size(map.entries), "deep");
  for (int i = 0; i < entries; i++)
    columns_of_entries[i] = (i * 11 + i / 7) % COLS;
  for (int i = 0; i < 2 * SIDES; i++)
    entries_of_sides[i] = (int)((long long)i * 71 % entries);
  for (int e = 0; e < ROWS; e++) {
    pair[2 * e] = e % COLS;
    pair[2 * e + 1] = e * 3 % COLS;
    xy[2 * e] = e % 16;
    xy[2 * e + 1] = e / 16;
  }
  to_column = op_decl_map(map.entries, cols, 1, columns_of_entries + first, "to column");
  to_entry = op_decl_map(sides, map.entries, 2, entries_of_sides + (size_t)begin_of(SIDES) * 2, "to entry");
  pairs = op_decl_map(rows, cols, 2, pair + (size_t)begin_of(ROWS) * 2, "pairs");
  a = data_of_entries(&map, begin_of(ROWS), 2, "a");
  seen = data_of_entries(&map, begin_of(ROWS), 1, "seen");
  t = data_of_entries(&second, begin_of(ROWS), 1, "t");
  b = data_of_entries(&deep, first, 1, "b");
  x = new_data(cols, 1, begin_of(COLS), COLS, "x", 1);
  low = new_data(cols, 1, begin_of(COLS), COLS, "low", 2);
  y = new_data(rows, 1, begin_of(ROWS), ROWS, "y", 3);
  w = new_data(rows, 1, begin_of(ROWS), ROWS, "w", 4);
  s = new_data(sides, 1, begin_of(SIDES), SIDES, "s", 5);
  place = op_decl_dat(rows, 2, "double", xy + (size_t)begin_of(ROWS) * 2, "place");
  check(to_column && to_entry && pairs && place);
}

/* A freed map is forgotten, and may come again. */
static void free_and_declare(void) {
  for (int i = 0; i < 3; i++) {
    check(!op_free_dat(t.dat) && !op_free_map(second.map));
    declare(&second, rows, cols, begin_of(ROWS), count_of(ROWS), "second");
    free(t.values);
    t = data_of_entries(&second, begin_of(ROWS), 1, "t");
    two_maps();
  }
}

/* Rows that become longer, shared out along a line: by how many targets they have. Equal numbers of rows would give the last
 * of two ranks half as much again as is its share. */
static void shares_are_even(void) {
  enum { LINES = 960 };
  struct ragged r = {.rows = LINES, .offsets = room(LINES + 1, sizeof *r.offsets)};
  double *along = room(LINES, sizeof *along);
  for (int e = 0; e < LINES; e++) {
    r.offsets[e + 1] = r.offsets[e] + e / 32;
    along[e] = e;
  }
  r.targets = room(r.offsets[LINES], sizeof *r.targets);
  op_set lines = op_decl_set(count_of(LINES), "lines");
  declare(&r, lines, cols, begin_of(LINES), count_of(LINES), "slope");
  check(!op_partition("rcb", "", lines, NULL,
                      op_decl_dat(lines, 1, "double", along + begin_of(LINES), "along")));
  const struct set *entries = handle_object(api_context()->handles, r.entries, HANDLE_SET);
  const struct set *own = handle_object(api_context()->handles, lines, HANDLE_SET);
  const double mine = (double)(own->extents[EXTENT_OWNED] + entries->extents[EXTENT_OWNED]);
  check(mine * size < 1.1 * (double)(LINES + r.offsets[LINES]));
  ragged_free(&r);
  free(along);
}

/* A mistake of one rank is the same error on all. */
static void mistakes(void) {
  static const long long none[] = {0}, back[] = {0, 2, 1}, good[] = {0, 1, 2};
  static const int high[] = {0, COLS};
  const bool last = rank == size - 1;
  op_set two = op_decl_set(last ? 2 : 0, "two");
  check(!op_decl_map_ragged(two, cols, last ? back : none, high, "back") &&
        op_last_error()->code == OP_ERR_ARGUMENT);
  check(strstr(op_last_error()->message, "offsets must not go back"));
  check(!op_decl_map_ragged(two, cols, last ? good : none, high, "high") &&
        op_last_error()->code == OP_ERR_MAP_RANGE);
  check(strstr(op_last_error()->message, "target 0 of element 1 of set \"two\" is 150"));
  check(op_partition("block", "", map.entries, NULL, NULL) == OP_ERR_ARGUMENT);
  check(strstr(op_last_error()->message, "name set \"rows\""));
  run();
}

int main(int argc, char **argv) {
  const bool scotch = argc > 1 && !strcmp(argv[1], "scotch");
  check(!op_init(argc, argv, 0));
  op_set_error_handler(OP_ERRORS_RETURN, NULL);
  rank = op_rank();
  size = op_rank_count();
  declare_mesh();
  run();
  late();
  run();
  check(!op_partition("rcb", "", rows, NULL, place));
  run();
  check(!op_renumber(map.map));
  run();
  late_and_parted();
  run();
  check(!op_partition("random", "", cols, NULL, NULL));
  run();
  free_and_declare();
  if (scotch) {
    check(!op_partition("ptscotch", "", rows, map.map, NULL));
    run();
    check(!op_partition("ptscotch", "", cols, map.map, NULL));
    run();
  }
  check(!op_renumber(second.map));
  check(!op_partition("block", "", cols, NULL, NULL));
  run();
  late();
  free_and_declare();
  mistakes();
  shares_are_even();
  return op_exit();
}
