#include "world.h"

#include "mirror.h"
#include "ranks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void world_fail(struct world *w, const char *format, ...) {
  if (w->failure.length)
    return;
  va_list args;
  va_start(args, format);
  text_vaddf(&w->failure, format, args);
  va_end(args);
}

void world_say(struct world *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vaddf(&w->program, format, args);
  va_end(args);
}

void world_say_values(struct world *w, enum vtype type, const void *data, long count) {
  char number[40];
  world_say(w, "{");
  for (long i = 0; i < count; i++) {
    if (i == 64) {
      world_say(w, ", /* and %ld more */", count - i);
      break;
    }
    value_print(type, (const unsigned char *)data + (size_t)i * vtypes[type].size, number, sizeof number);
    world_say(w, i ? ", %s" : "%s", number);
  }
  world_say(w, "}");
}

/* The test itself has no memory problem to survive. */
void *world_take(size_t bytes) {
  void *p = calloc(bytes ? bytes : 1, 1);
  if (!p)
    abort();
  return p;
}

void world_open(struct world *w, uint64_t seed, int size_limit) {
  memset(w, 0, sizeof *w);
  w->seed = seed;
  w->random = random_stream(seed, 1);
  w->deal = random_stream(seed, 0);
  w->size_limit = size_limit;
  w->in_order = random_chance(&w->random, 40);
}

void world_close(struct world *w) {
  for (int m = 0; m < w->nmaps; m++) {
    free(w->maps[m].table);
    free(w->maps[m].offsets);
  }
  for (int d = 0; d < w->ndats; d++) {
    if ((w->dats[d].temporary || w->dats[d].array) && w->dats[d].handle)
      op_free_dat_temp(w->dats[d].handle);
    free(w->dats[d].array);
    free(w->dats[d].data);
  }
  for (int u = 0; u < w->nsubsets; u++) {
    op_free_set(w->subsets[u].handle);
    free(w->subsets[u].in);
  }
  text_free(&w->program);
  text_free(&w->failure);
}

static int random_size(struct world *w) {
  static const int sizes[] = {0,  1,   1,   2,   3,   5,    7,    13,   31,  64,
                              97, 127, 256, 257, 509, 1000, 1021, 2048, 4093};
  int n = sizes[random_below(&w->random, (int)(sizeof sizes / sizeof *sizes))];
  if (random_chance(&w->random, 2))
    n = 30011; /* enough for several threads */
  return n > w->size_limit ? w->size_limit : n;
}

static int new_set(struct world *w, int size) {
  if (w->nsets == MAX_SETS)
    return -1;
  struct wset *s = &w->sets[w->nsets];
  char name[16];
  snprintf(name, sizeof name, "s%d", w->nsets);
  s->size = size;
  world_say(w, "op_set %s = op_decl_set(%d, \"%s\");\n", name, size, name);
  ranks_share(w->odd ? &w->deal : &w->random, size, &s->begin, &s->end);
  s->handle = op_decl_set(s->end - s->begin, name);
  if (!s->handle || op_get_size(s->handle) != s->end - s->begin || op_get_global_size(s->handle) != size)
    world_fail(w, "op_decl_set(%d) failed: %s", size, op_last_error()->message);
  else if (w->mirrored)
    mirror_set(s->handle, &w->random);
  return w->nsets++;
}

int world_set(struct world *w, int size) {
  int start = w->nsets ? random_below(&w->random, w->nsets) : 0;
  if (random_chance(&w->random, 60))
    for (int i = 0; i < w->nsets; i++) {
      int s = (start + i) % w->nsets;
      if (size < 0 || w->sets[s].size == size)
        return s;
    }
  return new_set(w, size >= 0 ? size : random_size(w));
}

/* ---- subsets ---- */

/* This rank's elements of it, from the last one down where it is no range. */
static bool declare_subset(struct world *w, struct wsubset *u) {
  const struct wset *s = &w->sets[u->set];
  int *elements = world_take((size_t)s->size * sizeof *elements), n = 0;
  for (int e = s->end - 1; e >= s->begin; e--)
    if (u->in[e])
      elements[n++] = e - s->begin;
  u->handle = u->range ? op_decl_subset_range(s->handle, n ? elements[n - 1] : 0, n, "u")
                       : op_decl_subset(s->handle, n, n ? elements : NULL, "u");
  free(elements);
  if (!u->handle || op_get_size(u->handle) != n)
    world_fail(w, "op_decl_subset failed: %s", op_last_error()->message);
  return w->failure.length == 0;
}

int world_subset(struct world *w, int set) {
  if (w->nsubsets == MAX_SUBSETS)
    return -1;
  struct wsubset *u = &w->subsets[w->nsubsets];
  const int size = w->sets[set].size, share = random_below(&w->random, 101);
  *u = (struct wsubset){.set = set, .range = random_chance(&w->random, 30), .in = world_take((size_t)size)};
  const int low = size ? random_below(&w->random, size) : 0,
            high = low + random_below(&w->random, size - low + 1);
  world_say(w, "/* u%d: elements of s%d */ static int e%d[] = {", w->nsubsets, set, w->nsubsets);
  for (int e = 0; e < size; e++) {
    u->in[e] = u->range ? e >= low && e < high : random_chance(&w->random, share);
    if (u->in[e])
      world_say(w, "%d, ", e);
  }
  world_say(w, "};\nop_set u%d = op_decl_subset(s%d, (int)(sizeof e%d / sizeof(int)), e%d, \"u\");\n",
            w->nsubsets, set, w->nsubsets, w->nsubsets);
  declare_subset(w, u);
  return w->nsubsets++;
}

bool world_subset_again(struct world *w, int subset) {
  struct wsubset *u = &w->subsets[subset];
  world_say(w, "op_free_set(u%d);\nu%d = op_decl_subset(s%d, (int)(sizeof e%d / sizeof(int)), e%d, \"u\");\n",
            subset, subset, u->set, subset, subset);
  if (op_free_set(u->handle) != OP_OK)
    world_fail(w, "op_free_set failed: %s", op_last_error()->message);
  return declare_subset(w, u);
}

/* Sums of floats over more elements would not be exact. */
enum { MOST_ELEMENTS = 40000 };

int world_target_set(struct world *w, long least) {
  if (least > MOST_ELEMENTS)
    return -1;
  int start = w->nsets ? random_below(&w->random, w->nsets) : 0;
  if (random_chance(&w->random, 70))
    for (int i = 0; i < w->nsets; i++) {
      int s = (start + i) % w->nsets;
      if (w->sets[s].size >= least)
        return s;
    }
  int size = random_size(w);
  return new_set(w, size >= least ? size : (int)least + random_below(&w->random, 3));
}

size_t wdat_bytes(const struct world *w, const struct wdat *d) {
  return (size_t)w->sets[d->set].size * (size_t)d->dim * vtypes[d->type].size;
}

unsigned char *wdat_row(const struct wdat *d, int element) {
  return d->data + (size_t)element * (size_t)d->dim * vtypes[d->type].size;
}

void world_value(struct world *w, enum vtype type, void *at) {
  value_random(type, at, &w->random);
  if (w->odd && vtypes[type].floating)
    value_store(type, at, (struct value){.f = value_load(type, at).f / 3});
}

static void randomise(struct world *w, struct wdat *d) {
  long n = (long)w->sets[d->set].size * d->dim;
  for (long i = 0; i < n; i++)
    world_value(w, d->type, d->data + (size_t)i * vtypes[d->type].size);
}

/* Every third dat is a view. The array is a copy of what this rank declares. */
static void take_array(struct world *w, struct wdat *d) {
  const struct wset *s = &w->sets[d->set];
  const size_t row = (size_t)d->dim * vtypes[d->type].size, bytes = (size_t)(s->end - s->begin) * row;
  if (d->temporary || (w->seed + (uint64_t)w->ndats) % 3)
    return;
  d->array = world_take(bytes ? bytes : 1);
  memcpy(d->array, wdat_row(d, s->begin), bytes);
}

int world_dat(struct world *w, int set, int dim, enum vtype type, enum wlayout layout) {
  return world_dat_of(w, set, dim, type, layout, NULL);
}

int world_dat_of(struct world *w, int set, int dim, enum vtype type, enum wlayout layout,
                 const void *values) {
  if (w->ndats == MAX_DATS)
    return -1;
  struct wdat *d = &w->dats[w->ndats];
  const bool soa = layout == W_SOA, boxed = layout == W_BOXED;
  *d = (struct wdat){.set = set,
                     .dim = dim,
                     .type = type,
                     .soa = soa,
                     .boxed = boxed,
                     .given = values != NULL,
                     .temporary = random_chance(&w->random, 15)};
  d->data = world_take(wdat_bytes(w, d));
  bool zeros = random_chance(&w->random, 10) && !values;
  if (values)
    memcpy(d->data, values, wdat_bytes(w, d));
  else if (!zeros)
    randomise(w, d);
  const struct vtype_info *t = &vtypes[type];
  char name[16], spelled[40];
  snprintf(name, sizeof name, "d%d", w->ndats);
  snprintf(spelled, sizeof spelled, "%s%s", t->alias && random_chance(&w->random, 40) ? t->alias : t->c,
           soa ? ":soa" : "");
  if (boxed)
    box_name(type, dim, spelled, sizeof spelled);
  const int said = boxed ? 1 : dim;
  world_say(w, "static %s v%d[] = ", t->c, w->ndats);
  world_say_values(w, type, d->data, (long)w->sets[set].size * dim);
  take_array(w, d);
  zeros &= !d->array;
  world_say(w, "; /* %s */\nop_dat %s = op_decl_dat%s(s%d, %d, \"%s\", v%d, \"%s\");\n",
            zeros ? "passed as NULL" : "passed", name,
            d->array       ? "_view"
            : d->temporary ? "_temp"
                           : "",
            set, said, spelled, w->ndats, name);
  const void *data = zeros ? NULL : wdat_row(d, w->sets[set].begin);
  d->handle = d->array       ? op_decl_dat_view(w->sets[set].handle, said, spelled, (void *)d->array, name)
              : d->temporary ? op_decl_dat_temp(w->sets[set].handle, said, spelled, data, name)
                             : op_decl_dat(w->sets[set].handle, said, spelled, data, name);
  if (!d->handle)
    world_fail(w, "op_decl_dat failed: %s", op_last_error()->message);
  return w->ndats++;
}

/* All NaN are one. Sums, so that it does not depend on who has which element. */
void world_hash(struct world *w, enum vtype type, int dim, const unsigned char *values, int low, int high) {
  const size_t size = vtypes[type].size;
  for (long i = (long)low * dim; i < ((long)high + 1) * dim; i++) {
    uint64_t bits = 0;
    const unsigned char *at = values + (size_t)(i - (long)low * dim) * size;
    if (!vtypes[type].floating || !isnan(value_load(type, at).f))
      memcpy(&bits, at, size);
    struct random r = random_stream(bits, (uint64_t)w->looks << 32 | (uint64_t)i);
    w->hash += random_next(&r);
  }
}

static bool compare(struct world *w, int dat, const unsigned char *got, int low, int high) {
  const struct wdat *d = &w->dats[dat];
  size_t size = vtypes[d->type].size;
  if (w->odd) {
    world_hash(w, d->type, d->dim, got, low, high);
    return true;
  }
  for (int e = low; e <= high; e++)
    for (int c = 0; c < d->dim; c++) {
      const unsigned char *want = wdat_row(d, e) + (size_t)c * size;
      const unsigned char *have = got + ((size_t)(e - low) * (size_t)d->dim + (size_t)c) * size;
      if (value_same(d->type, want, have, d->tolerance))
        continue;
      char x[40], y[40];
      value_print(d->type, want, x, sizeof x);
      value_print(d->type, have, y, sizeof y);
      world_fail(w, "dat d%d (%s%s, dim %d): element %d, component %d is %s, should be %s", dat,
                 vtypes[d->type].c, d->soa ? ":soa" : "", d->dim, e, c, y, x);
      return false;
    }
  return true;
}

/* Each rank its own part of the range; all of what it has if some have none. */
bool world_check_range(struct world *w, int dat, int low, int high) {
  const struct wdat *d = &w->dats[dat];
  const struct wset *s = &w->sets[d->set];
  if (w->odd || !ranks_agree(s->begin < s->end))
    return world_check(w, dat);
  const int most = s->end - s->begin - 1, first = s->begin;
  low = low < most ? low : most;
  high = high < most ? high : most;
  unsigned char *got = world_take((size_t)(high - low + 1) * (size_t)d->dim * vtypes[d->type].size);
  bool good = op_fetch_data_idx(d->handle, got, low, high) == OP_OK;
  if (!good)
    world_fail(w, "op_fetch_data_idx(d%d, %d, %d) failed: %s", dat, low, high, op_last_error()->message);
  good = good && compare(w, dat, got, first + low, first + high);
  free(got);
  return ranks_agree(good);
}

static bool check_view(struct world *w, int dat) {
  const struct wdat *d = &w->dats[dat];
  const struct wset *s = &w->sets[d->set];
  bool good = op_acquire(d->handle, OP_READ) == d->array;
  if (!good)
    world_fail(w, "op_acquire(d%d, OP_READ) failed: %s", dat, op_last_error()->message);
  good = good && compare(w, dat, d->array, s->begin, s->end - 1);
  if (op_release(d->handle) != OP_OK && good) {
    world_fail(w, "op_release(d%d) failed: %s", dat, op_last_error()->message);
    good = false;
  }
  return ranks_agree(good);
}

bool world_check(struct world *w, int dat) {
  const struct wdat *d = &w->dats[dat];
  if (!d->handle)
    return true;
  const struct wset *s = &w->sets[d->set];
  w->looks++;
  if (d->array)
    return check_view(w, dat);
  unsigned char *got = world_take(wdat_bytes(w, d));
  bool good = op_fetch_data(d->handle, got) == OP_OK;
  if (!good)
    world_fail(w, "op_fetch_data(d%d) failed: %s", dat, op_last_error()->message);
  good = good && compare(w, dat, got, s->begin, s->end - 1);
  free(got);
  return ranks_agree(good);
}

int world_kept(struct world *w, int dim, enum vtype type, const unsigned char *value) {
  if (w->nkept == MAX_KEPT)
    return -1;
  struct wkept *k = &w->kept[w->nkept];
  *k = (struct wkept){.dim = dim, .type = type};
  memcpy(k->value, value, sizeof k->value);
  k->handle = op_decl_gbl(dim, vtypes[type].c, value, "kept");
  world_say(w, "op_gbl k%d = op_decl_gbl(%d, \"%s\", ", w->nkept, dim, vtypes[type].c);
  world_say_values(w, type, value, dim);
  world_say(w, ", \"kept\");\n");
  return w->nkept++;
}

static bool check_kept(struct world *w, int kept) {
  const struct wkept *k = &w->kept[kept];
  const size_t size = vtypes[k->type].size;
  unsigned char got[MAX_DIM * 8];
  if (op_get_gbl(k->handle, got) != OP_OK)
    world_fail(w, "op_get_gbl(k%d) failed: %s", kept, op_last_error()->message);
  w->looks++;
  if (w->odd && op_is_root())
    world_hash(w, k->type, k->dim, got, 0, 0);
  for (int c = 0; c < k->dim && !w->odd && !w->failure.length; c++)
    if (!value_same(k->type, k->value + (size_t)c * size, got + (size_t)c * size, 0)) {
      char x[40], y[40];
      value_print(k->type, k->value + (size_t)c * size, x, sizeof x);
      value_print(k->type, got + (size_t)c * size, y, sizeof y);
      world_fail(w, "component %d of k%d (%s) is %s, should be %s", c, kept, vtypes[k->type].c, y, x);
    }
  return ranks_agree(w->failure.length == 0);
}

bool world_check_all(struct world *w) {
  for (int d = 0; d < w->ndats; d++)
    if (!world_check(w, d))
      return false;
  for (int k = 0; k < w->nkept; k++)
    if (!check_kept(w, k))
      return false;
  return true;
}

bool world_put(struct world *w, int dat) {
  struct wdat *d = &w->dats[dat];
  if (!d->given)
    randomise(w, d);
  d->tolerance = 0;
  world_say(w, "static %s new%d[] = ", vtypes[d->type].c, dat);
  world_say_values(w, d->type, d->data, (long)w->sets[d->set].size * d->dim);
  world_say(w, ";\nop_put_data(d%d, new%d);\n", dat, dat);
  const struct wset *s = &w->sets[d->set];
  if (d->array && op_acquire(d->handle, OP_WRITE)) {
    memcpy(d->array, wdat_row(d, s->begin),
           (size_t)(s->end - s->begin) * (size_t)d->dim * vtypes[d->type].size);
    if (op_release(d->handle) == OP_OK)
      return true;
  }
  if (op_put_data(d->handle, wdat_row(d, w->sets[d->set].begin)) == OP_OK)
    return true;
  world_fail(w, "op_put_data(d%d) failed: %s", dat, op_last_error()->message);
  return false;
}

bool world_free_temporary(struct world *w, int dat) {
  struct wdat *d = &w->dats[dat];
  world_say(w, "op_free_dat_temp(d%d);\n", dat);
  int code = op_free_dat_temp(d->handle);
  d->handle = NULL;
  if (code != OP_OK)
    world_fail(w, "op_free_dat_temp(d%d) failed: %s", dat, op_last_error()->message);
  return code == OP_OK;
}

bool world_refresh(struct world *w) {
  for (int i = 0; i < w->ndats; i++) {
    struct wdat *d = &w->dats[i];
    bool tame = w->odd || d->tolerance == 0;
    for (long n = (long)w->sets[d->set].size * d->dim; tame && n > 0; n--)
      tame = w->odd ? value_in_range(d->type, d->data + (size_t)(n - 1) * vtypes[d->type].size)
                    : value_tame(d->type, d->data + (size_t)(n - 1) * vtypes[d->type].size);
    if (!tame && d->handle && !(world_check(w, i) && world_put(w, i)))
      return false;
  }
  return true;
}
