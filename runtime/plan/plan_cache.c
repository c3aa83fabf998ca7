#include "plan/plan_cache.h"

#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "run/team_gate.h"

struct cached {
  struct plan_entry entry; /* first: users hold a pointer to it */
  struct cached *next;
  struct plan_wish wish; /* arrays and name are the entry's own */
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
  return (x->column > y->column) - (x->column < y->column);
}

static bool same_column(const struct plan_column *a, const struct plan_column *b) {
  return a->table == b->table && a->column == b->column && a->arity == b->arity && a->target == b->target &&
         a->target_size == b->target_size;
}

static void *copy_array(const void *from, int count, size_t size) {
  void *copy = array_new((size_t)count, size);
  if (copy && count)
    memcpy(copy, from, (size_t)count * size);
  return copy;
}

static int staged_columns(const struct plan_request *r) {
  int n = 0;
  for (int i = 0; i < r->nstaged; i++)
    if (r->staged[i].first + r->staged[i].count > n)
      n = r->staged[i].first + r->staged[i].count;
  return n;
}

static void wish_free(struct plan_wish *w) {
  free((void *)w->request.columns);
  free((void *)w->request.staged_columns);
  free((void *)w->request.staged);
  free((void *)w->set_name);
}

/* What is made has its columns in the order of the wish. */
static bool keeps_order(enum strategy strategy) {
  return strategy == STRATEGY_GATHER || strategy == STRATEGY_STRAIGHT;
}

/* A copy in which columns are sorted and unique, and what the strategy does not look at is zero: so that wishes for the
 * same thing are equal. */
static int wish_copy(struct plan_wish *to, const struct plan_wish *from, struct error *err) {
  struct plan_request *r = &to->request;
  *to = *from;
  bool staged = from->strategy == STRATEGY_PLAN || from->strategy == STRATEGY_COLOURS;
  if (!staged) {
    r->nstaged = 0;
    r->element_colours = false;
  }
  if (!staged && from->strategy != STRATEGY_GATHER)
    r->block_size = 0;
  if (from->strategy != STRATEGY_OWNERS)
    to->threads = 0;
  struct plan_column *columns = copy_array(from->request.columns, r->ncolumns, sizeof *columns);
  r->columns = columns;
  r->staged_columns = copy_array(from->request.staged_columns, staged_columns(r), sizeof *columns);
  r->staged = copy_array(from->request.staged, r->nstaged, sizeof *r->staged);
  to->set_name = strdup(from->set_name ? from->set_name : "unnamed");
  if (!columns || !r->staged_columns || !r->staged || !to->set_name) {
    wish_free(to);
    error_memory(err, "the key of a plan", (size_t)r->ncolumns * sizeof *columns);
    return OP_ERR_MEMORY;
  }
  int n = 0;
  if (!keeps_order(from->strategy) && r->ncolumns > 1)
    qsort(columns, (size_t)r->ncolumns, sizeof *columns, compare_columns);
  for (int c = 0; c < r->ncolumns; c++)
    if (n == 0 || !same_column(&columns[n - 1], &columns[c]) || keeps_order(from->strategy))
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
      x->block_size != y->block_size || x->element_colours != y->element_colours ||
      x->ncolumns != y->ncolumns || x->nstaged != y->nstaged)
    return false;
  for (int i = 0; i < x->nstaged; i++)
    if (x->staged[i].first != y->staged[i].first || x->staged[i].count != y->staged[i].count)
      return false;
  int staged = staged_columns(x);
  return staged == staged_columns(y) && same_columns(x->columns, y->columns, x->ncolumns) &&
         same_columns(x->staged_columns, y->staged_columns, staged);
}

/* ---- building ----------------------------------------------------------------------------------------*/

static int build_colours(struct cached *c, struct team *team, struct error *err) {
  int status = plan_build(&c->entry.plan, &c->wish.request, team, err);
  return status ? status : schedule_block_colours(&c->entry.schedule, &c->entry.plan, err);
}

static int build_plan(struct cached *c, struct team *team, struct error *err) {
  return plan_build(&c->entry.plan, &c->wish.request, team, err);
}

static int build_owners(struct cached *c, struct team *team, struct error *err) {
  (void)team;
  return schedule_owners(&c->entry.schedule, &c->wish.request, c->wish.threads, &c->entry.shares, err);
}

/* How many of the columns from `first` on have its target set, moved up to it in their order. */
static int same_target(struct plan_column *columns, int ncolumns, int first) {
  int n = 1;
  for (int c = first + 1; c < ncolumns; c++)
    if (columns[c].target == columns[first].target) {
      struct plan_column column = columns[c];
      memmove(&columns[first + n + 1], &columns[first + n], (size_t)(c - first - n) * sizeof column);
      columns[first + n++] = column;
    }
  return n;
}

static int build_gather(struct cached *c, struct team *team, struct error *err) {
  (void)team;
  struct plan_entry *e = &c->entry;
  const struct plan_request *r = &c->wish.request;
  struct plan_column *columns = copy_array(r->columns, r->ncolumns, sizeof *columns);
  long *sizes = array_new((size_t)r->ncolumns, sizeof *sizes);
  e->reverse = array_new((size_t)r->ncolumns, sizeof *e->reverse);
  int status = OP_OK;
  if (!columns || !sizes || !e->reverse)
    status = error_memory(err, "reverse maps", (size_t)r->ncolumns * sizeof *e->reverse);
  for (int first = 0, n; first < r->ncolumns && !status; first += n) {
    n = same_target(columns, r->ncolumns, first);
    sizes[e->nreverse] = columns[first].target_size;
    status = reverse_build(&e->reverse[e->nreverse], r->size, columns + first, n, err);
    e->nreverse += !status;
  }
  if (!status)
    status = schedule_gather(&e->schedule, r->size, r->block_size, sizes, e->nreverse, err);
  free(columns);
  free(sizes);
  return status;
}

static int build_straight(struct cached *c, struct team *team, struct error *err) {
  return straight_build(&c->entry.straight, &c->wish.request, team, err);
}

static const struct {
  const char *name;
  int (*build)(struct cached *c, struct team *team, struct error *err);
} strategies[] = {
    [STRATEGY_COLOURS] = {"colours", build_colours},    [STRATEGY_PLAN] = {"plan", build_plan},
    [STRATEGY_OWNERS] = {"owners", build_owners},       [STRATEGY_GATHER] = {"gather", build_gather},
    [STRATEGY_STRAIGHT] = {"straight", build_straight},
};

static void cached_free(struct cached *c) {
  plan_free(&c->entry.plan);
  schedule_free(&c->entry.schedule);
  for (int i = 0; i < c->entry.nreverse; i++)
    reverse_free(&c->entry.reverse[i]);
  free(c->entry.reverse);
  straight_free(&c->entry.straight);
  wish_free(&c->wish);
  free(c);
}

/* ---- the cache ---------------------------------------------------------------------------------------*/

int plan_cache_new(struct plan_cache **out, struct error *err) {
  *out = array_new(1, sizeof **out);
  return *out ? OP_OK : error_memory(err, "the plans", sizeof **out);
}

void plan_cache_free(struct plan_cache *cache) {
  if (!cache)
    return;
  for (struct cached *c = cache->first, *next; c; c = next) {
    next = c->next;
    cached_free(c);
  }
  free(cache);
}

void plan_cache_begin(struct plan_cache *cache, unsigned epoch) {
  struct cached **link = &cache->first;
  if (epoch == cache->epoch)
    return;
  for (struct cached *c; (c = *link);) {
    c->old = true;
    if (c->uses) {
      link = &c->next;
      continue;
    }
    *link = c->next;
    cached_free(c);
  }
  cache->epoch = epoch;
}

int plan_cache_get(struct plan_cache *cache, const struct plan_wish *wish, struct team *team,
                   const struct plan_entry **out, bool *built, struct error *err) {
  *out = NULL;
  *built = false;
  plan_cache_begin(cache, wish->epoch);
  struct cached *made = array_new(1, sizeof *made);
  if (!made)
    return error_memory(err, "a plan", sizeof *made);
  int status = wish_copy(&made->wish, wish, err);
  if (status) {
    free(made);
    return status;
  }
  for (struct cached *c = cache->first; c; c = c->next)
    if (!c->old && same_wish(&c->wish, &made->wish)) {
      cached_free(made);
      c->uses++;
      *out = &c->entry;
      return OP_OK;
    }
  long start = clock_ns();
  status = strategies[wish->strategy].build(made, team, err);
  schedule_shift(&made->entry.schedule, wish->request.begin);
  if (status) {
    cached_free(made);
    return status;
  }
  made->entry.seconds = (double)(clock_ns() - start) * 1e-9;
  made->uses = 1;
  made->next = cache->first;
  cache->first = made;
  *out = &made->entry;
  *built = true;
  return OP_OK;
}

void plan_cache_release(struct plan_cache *cache, const struct plan_entry *entry) {
  for (struct cached **link = &cache->first, *c; (c = *link); link = &c->next) {
    if (&c->entry != entry)
      continue;
    if (--c->uses == 0 && c->old) {
      *link = c->next;
      cached_free(c);
    }
    return;
  }
}

static size_t cached_bytes(const struct cached *c) {
  size_t bytes =
      plan_bytes(&c->entry.plan) + schedule_bytes(&c->entry.schedule) + straight_bytes(&c->entry.straight);
  for (int i = 0; i < c->entry.nreverse; i++)
    bytes += reverse_bytes(&c->entry.reverse[i]);
  return bytes;
}

size_t plan_cache_bytes(const struct plan_cache *cache) {
  size_t bytes = 0;
  for (const struct cached *c = cache->first; c; c = c->next)
    bytes += cached_bytes(c);
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
    struct cached *c = *link;
    bytes -= cached_bytes(c);
    *link = c->next;
    cached_free(c);
  }
}

int plan_cache_count(const struct plan_cache *cache) {
  int count = 0;
  for (const struct cached *c = cache->first; c; c = c->next)
    count++;
  return count;
}

static int verify_gather(const struct cached *c, struct error *err) {
  const struct plan_request *r = &c->wish.request;
  struct plan_column *columns = copy_array(r->columns, r->ncolumns, sizeof *columns);
  if (!columns)
    return error_memory(err, "the check of a plan", (size_t)r->ncolumns * sizeof *columns);
  int status = OP_OK;
  for (int i = 0, first = 0; i < c->entry.nreverse && !status; i++) {
    int n = same_target(columns, r->ncolumns, first);
    status = reverse_verify(&c->entry.reverse[i], r->size, columns + first, err);
    first += n;
  }
  free(columns);
  return status ? status
                : schedule_verify_gather(&c->entry.schedule, r->begin, r->size, c->entry.reverse,
                                         c->entry.nreverse, err);
}

static int cached_verify(const struct cached *c, int level, struct error *err) {
  const struct plan_entry *e = &c->entry;
  const struct plan_request *r = &c->wish.request;
  if (c->wish.strategy == STRATEGY_GATHER)
    return level >= 2 ? verify_gather(c, err) : OP_OK;
  if (c->wish.strategy == STRATEGY_STRAIGHT)
    return straight_verify(&e->straight, r, level, err);
  int status = c->wish.strategy == STRATEGY_OWNERS ? OP_OK : plan_verify(&e->plan, r, level, err);
  if (!status && level >= 2 && c->wish.strategy != STRATEGY_PLAN)
    status = schedule_verify(&e->schedule, r, err);
  return status;
}

int plan_entry_verify(const struct plan_entry *entry, int level, struct error *err) {
  const struct cached *c = (const struct cached *)entry;
  int status = cached_verify(c, level, err);
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
  const bool straight = c->wish.strategy == STRATEGY_STRAIGHT;
  text_addf(out, "plan of set %s: %s, %ld elements, %d columns %s", c->wish.set_name,
            strategies[c->wish.strategy].name, c->wish.request.size, c->wish.request.ncolumns,
            straight ? "used" : "written");
  if (straight)
    text_addf(out, ", %ld ranges", entry->straight.count);
  if (entry->plan.block_size)
    text_addf(out, ", %d blocks of %d in %d colours", entry->plan.nblocks, entry->plan.block_size,
              entry->plan.ncolours);
  if (entry->shares.elements)
    text_addf(out, ", %ld elements between the ranges of %d threads", entry->shares.between, c->wish.threads);
  text_addf(out, ", %zu bytes", cached_bytes(c));
}

void plan_cache_describe(const struct plan_cache *cache, struct text *out) {
  text_addf(out, "%-20s %-8s %10s %8s %7s %7s %8s %8s %9s %10s %6s\n", "plan of set", "strategy", "elements",
            "written", "block", "colours", "in block", "between", "ms", "bytes", "loops");
  for (const struct cached *c = cache->first; c; c = c->next) {
    const struct plan_entry *e = &c->entry;
    bool owners = c->wish.strategy == STRATEGY_OWNERS;
    double between = e->shares.elements ? 100.0 * (double)e->shares.between / (double)e->shares.elements : 0;
    text_addf(out, "%-20s %-8s %10ld %8d %7d %7d %8d %7.2f%% %9.3f %10zu %6d\n", c->wish.set_name,
              strategies[c->wish.strategy].name, c->wish.request.size, c->wish.request.ncolumns,
              e->plan.block_size, owners ? e->shares.colours : e->plan.ncolours, e->plan.max_element_colours,
              between, e->seconds * 1e3, cached_bytes(c), c->uses);
  }
  text_addf(out, "%d plans, %zu bytes\n", plan_cache_count(cache), plan_cache_bytes(cache));
}
