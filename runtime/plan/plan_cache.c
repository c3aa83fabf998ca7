#include "plan/plan_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "plan/strategy.h"

struct cached {
  struct plan_entry entry; /* first: users hold a pointer to it */
  struct cached *next;
  struct arrays arrays; /* of the wish */
  struct plan_wish wish;
  int uses;
  bool old; /* of an epoch that is over */
};

struct plan_cache {
  struct cached *first;
  unsigned epoch;
};

/* ---- keys --------------------------------------------------------------------------------------------*/

static int compare_columns(const void *a, const void *b) {
  const struct plan_column *x = a, *y = b;
  if (x->table != y->table)
    return (uintptr_t)x->table < (uintptr_t)y->table ? -1 : 1;
  if (x->first != y->first)
    return (uintptr_t)x->first < (uintptr_t)y->first ? -1 : 1;
  return (x->column > y->column) - (x->column < y->column);
}

static bool same_column(const struct plan_column *a, const struct plan_column *b) {
  return a->table == b->table && a->first == b->first && a->column == b->column && a->arity == b->arity &&
         a->target == b->target && a->target_size == b->target_size;
}

static void *copy_array(struct arrays *arrays, const void *from, size_t count, size_t size) {
  void *copy = arrays_add(arrays, count, size);
  if (copy && count)
    memcpy(copy, from, count * size);
  return copy;
}

static int staged_columns(const struct plan_request *r) {
  int n = 0;
  for (int i = 0; i < r->nstaged; i++)
    if (r->staged[i].first + r->staged[i].count > n)
      n = r->staged[i].first + r->staged[i].count;
  return n;
}

/* A copy in which columns are sorted and unique, and what the strategy does not look at is zero: so that wishes for the
 * same thing are equal. */
static int wish_copy(struct cached *own, const struct plan_wish *from, struct error *err) {
  struct plan_wish *to = &own->wish;
  struct plan_request *r = &to->request;
  *to = *from;
  const unsigned looks = from->strategy->looks;
  const bool keeps_order = looks & LOOKS_AT_ORDER;
  if (!(looks & LOOKS_AT_STAGING)) {
    r->nstaged = 0;
    r->element_colours = false;
  }
  if (!(looks & LOOKS_AT_BLOCKS))
    r->block_size = 0;
  if (!(looks & LOOKS_AT_THREADS))
    to->threads = 0;
  if (!(looks & LOOKS_AT_NUMBERS))
    r->numbers = r->through = NULL;
  const char *name = from->set_name ? from->set_name : "unnamed";
  const size_t ncolumns = (size_t)r->ncolumns, nstaged = (size_t)staged_columns(r);
  struct plan_column *columns = copy_array(&own->arrays, from->request.columns, ncolumns, sizeof *columns);
  r->columns = columns;
  r->staged_columns = copy_array(&own->arrays, from->request.staged_columns, nstaged, sizeof *columns);
  r->staged = copy_array(&own->arrays, from->request.staged, (size_t)r->nstaged, sizeof *r->staged);
  to->set_name = copy_array(&own->arrays, name, strlen(name) + 1, 1);
  if (own->arrays.failed)
    return error_memory(err, "the key of a plan", ncolumns * sizeof *columns);
  int n = 0;
  if (!keeps_order && r->ncolumns > 1)
    qsort(columns, (size_t)r->ncolumns, sizeof *columns, compare_columns);
  for (int c = 0; c < r->ncolumns; c++)
    if (n == 0 || !same_column(&columns[n - 1], &columns[c]) || keeps_order)
      columns[n++] = columns[c];
  r->ncolumns = n;
  return OP_OK;
}

static bool same_columns(const struct plan_column *a, const struct plan_column *b, int n) {
  for (int c = 0; c < n; c++)
    if (!same_column(&a[c], &b[c]))
      return false;
  return true;
}

static bool same_wish(const struct plan_wish *a, const struct plan_wish *b) {
  const struct plan_request *x = &a->request, *y = &b->request;
  if (a->strategy != b->strategy || a->threads != b->threads || x->begin != y->begin || x->size != y->size ||
      x->work != y->work || x->numbers != y->numbers || x->through != y->through ||
      x->block_size != y->block_size || x->element_colours != y->element_colours ||
      x->in_order != y->in_order || x->ncolumns != y->ncolumns || x->nstaged != y->nstaged)
    return false;
  for (int i = 0; i < x->nstaged; i++)
    if (x->staged[i].first != y->staged[i].first || x->staged[i].count != y->staged[i].count)
      return false;
  int staged = staged_columns(x);
  return staged == staged_columns(y) && same_columns(x->columns, y->columns, x->ncolumns) &&
         same_columns(x->staged_columns, y->staged_columns, staged);
}

static void cached_free(struct cached *c) {
  plan_entry_clear(&c->entry);
  arrays_free(&c->arrays);
  free(c);
}

/* ---- the cache ---------------------------------------------------------------------------------------*/

int plan_cache_new(struct plan_cache **out, struct error *err) {
  *out = array_new(1, sizeof **out);
  return *out ? OP_OK : error_memory(err, "the plans", sizeof **out);
}

static void drop(struct cached **link) {
  struct cached *c = *link;
  *link = c->next;
  cached_free(c);
}

void plan_cache_free(struct plan_cache *cache) {
  if (!cache)
    return;
  while (cache->first)
    drop(&cache->first);
  free(cache);
}

/* Old ones that nobody uses. */
static void drop_old(struct plan_cache *cache) {
  for (struct cached **link = &cache->first; *link;)
    if ((*link)->old && !(*link)->uses)
      drop(link);
    else
      link = &(*link)->next;
}

void plan_cache_begin(struct plan_cache *cache, unsigned epoch) {
  if (epoch == cache->epoch)
    return;
  for (struct cached *c = cache->first; c; c = c->next)
    c->old = true;
  drop_old(cache);
  cache->epoch = epoch;
}

static bool is_within(const void *at, const int *table, size_t entries) {
  return at && (uintptr_t)at >= (uintptr_t)table && (uintptr_t)at < (uintptr_t)(table + entries);
}

static bool has_column(const struct plan_column *columns, int n, const int *table, size_t entries) {
  for (int c = 0; c < n; c++)
    if (is_within(columns[c].table, table, entries) || is_within(columns[c].first, table, entries))
      return true;
  return false;
}

void plan_cache_forget(struct plan_cache *cache, const int *table, size_t entries) {
  for (struct cached *c = cache->first; c; c = c->next) {
    const struct plan_request *r = &c->wish.request;
    c->old |= has_column(r->columns, r->ncolumns, table, entries) ||
              has_column(r->staged_columns, staged_columns(r), table, entries) ||
              is_within(r->work, table, entries);
  }
  drop_old(cache);
}

/* *found: it is there, and used once more; else *made is to become it. */
static int look_for(struct plan_cache *cache, const struct plan_wish *wish, struct cached **found,
                    struct cached **made, struct error *err) {
  *found = *made = NULL;
  plan_cache_begin(cache, wish->epoch);
  struct cached *fresh = array_new(1, sizeof *fresh);
  if (!fresh)
    return error_memory(err, "a plan", sizeof *fresh);
  int status = wish_copy(fresh, wish, err);
  if (status) {
    cached_free(fresh);
    return status;
  }
  for (struct cached *c = cache->first; c; c = c->next)
    if (!c->old && same_wish(&c->wish, &fresh->wish)) {
      cached_free(fresh);
      c->uses++;
      *found = c;
      return OP_OK;
    }
  *made = fresh;
  return OP_OK;
}

static void enter(struct plan_cache *cache, struct cached *made) {
  made->uses = 1;
  made->next = cache->first;
  cache->first = made;
}

int plan_cache_find(struct plan_cache *cache, const struct plan_wish *wish, const struct plan_entry **out,
                    struct error *err) {
  struct cached *found, *made;
  const int status = look_for(cache, wish, &found, &made, err);
  *out = found ? &found->entry : NULL;
  if (made)
    cached_free(made);
  return status;
}

int plan_cache_put(struct plan_cache *cache, const struct plan_wish *wish, struct plan_entry *entry,
                   const struct plan_entry **out, struct error *err) {
  struct cached *found, *made;
  const int status = look_for(cache, wish, &found, &made, err);
  if (made) {
    made->entry = *entry;
    enter(cache, made);
  } else
    plan_entry_clear(entry);
  *entry = (struct plan_entry){0};
  *out = found ? &found->entry : made ? &made->entry : NULL;
  return status;
}

int plan_cache_get(struct plan_cache *cache, const struct plan_wish *wish, struct team *team,
                   const struct plan_entry **out, bool *built, struct error *err) {
  struct cached *found, *made;
  int status = look_for(cache, wish, &found, &made, err);
  *out = found ? &found->entry : NULL;
  *built = false;
  if (status || found)
    return status;
  status = plan_entry_build(&made->entry, &made->wish, team, err);
  if (status) {
    cached_free(made);
    return status;
  }
  enter(cache, made);
  *out = &made->entry;
  *built = true;
  return OP_OK;
}

void plan_cache_release(struct plan_cache *cache, const struct plan_entry *entry) {
  ((struct cached *)(uintptr_t)entry)->uses--;
  drop_old(cache);
}

size_t plan_cache_bytes(const struct plan_cache *cache) {
  size_t bytes = 0;
  for (const struct cached *c = cache->first; c; c = c->next)
    bytes += plan_entry_bytes(&c->entry);
  return bytes;
}

/* New ones stand in front. */
static struct cached **oldest_unused(struct plan_cache *cache) {
  struct cached **oldest = NULL;
  for (struct cached **link = &cache->first; *link; link = &(*link)->next)
    if (!(*link)->uses)
      oldest = link;
  return oldest;
}

void plan_cache_trim(struct plan_cache *cache, size_t most) {
  struct cached **link;
  size_t bytes = plan_cache_bytes(cache);
  while (bytes > most && (link = oldest_unused(cache))) {
    bytes -= plan_entry_bytes(&(*link)->entry);
    drop(link);
  }
}

int plan_cache_count(const struct plan_cache *cache) {
  int count = 0;
  for (const struct cached *c = cache->first; c; c = c->next)
    count++;
  return count;
}

int plan_entry_verify(const struct plan_entry *entry, int level, struct error *err) {
  const struct cached *c = (const struct cached *)entry;
  int status = c->wish.strategy->verify(entry, &c->wish, level, err);
  return status ? error_prefix(err, "plan of set %s: ", c->wish.set_name) : OP_OK;
}

int plan_cache_verify(const struct plan_cache *cache, int level, struct error *err) {
  int status = OP_OK;
  for (const struct cached *c = cache->first; c && !status; c = c->next)
    status = c->old ? OP_OK : plan_entry_verify(&c->entry, level, err);
  return status;
}

void plan_entry_describe(const struct plan_entry *entry, struct text *out) {
  const struct cached *c = (const struct cached *)entry;
  const struct strategy *s = c->wish.strategy;
  text_addf(out, "plan of set %s: %s, %ld elements, %d columns %s", c->wish.set_name, s->name,
            c->wish.request.size, c->wish.request.ncolumns, s->columns == COLUMNS_USED ? "used" : "written");
  if (s->describe)
    s->describe(entry, out);
  text_addf(out, ", %zu bytes", plan_entry_bytes(entry));
}

void plan_cache_describe(const struct plan_cache *cache, struct text *out) {
  text_addf(out, "%-20s %-8s %10s %8s %7s %7s %8s %8s %9s %10s %6s\n", "plan of set", "strategy", "elements",
            "written", "block", "colours", "in block", "between", "ms", "bytes", "loops");
  for (const struct cached *c = cache->first; c; c = c->next) {
    const struct plan_entry *e = &c->entry;
    double between = e->shares.elements ? 100.0 * (double)e->shares.between / (double)e->shares.elements : 0;
    text_addf(out, "%-20s %-8s %10ld %8d %7d %7d %8d %7.2f%% %9.3f %10zu %6d\n", c->wish.set_name,
              c->wish.strategy->name, c->wish.request.size, c->wish.request.ncolumns, e->plan.block_size,
              e->plan.ncolours + e->shares.colours, e->plan.max_element_colours, between, e->seconds * 1e3,
              plan_entry_bytes(&c->entry), c->uses);
  }
  text_addf(out, "%d plans, %zu bytes\n", plan_cache_count(cache), plan_cache_bytes(cache));
}

/* Results of strategies: built, freed, measured and checked alike for all of them. */

int plan_entry_build(struct plan_entry *e, const struct plan_wish *wish, struct team *team,
                     struct error *err) {
  const double start = clock_seconds();
  *e = (struct plan_entry){0};
  const int status = wish->strategy->build(e, wish, team, err);
  if (status) {
    plan_entry_clear(e);
    return status;
  }
  schedule_shift(&e->schedule, wish->request.begin);
  e->seconds = clock_seconds() - start;
  return OP_OK;
}

void plan_entry_clear(struct plan_entry *e) {
  plan_free(&e->plan);
  schedule_free(&e->schedule);
  arrays_free(&e->arrays);
  *e = (struct plan_entry){0};
}

size_t plan_entry_bytes(const struct plan_entry *e) {
  return e->plan.arrays.bytes + e->plan.locals.bytes + schedule_bytes(&e->schedule) + e->arrays.bytes;
}
