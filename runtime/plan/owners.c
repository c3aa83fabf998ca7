/* Owner ranges: each of `threads` threads owns a contiguous range of every target set, runs the elements whose
 * targets are all its own without any synchronisation, and the elements between the ranges follow, by
 * colour. One barrier and a few short phases instead of one phase for each colour of the set. Items are of WORK_RANGE, or of
 * WORK_LIST for parts of the schedule's list. Sums of floating point numbers depend on `threads`; everything else does
 * not. Linear time. */
#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "plan/listed.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

/* Shorter runs of neighbours of one owner go through a list: a call and a strip's tail each cost more. */
static const long least_run = 64;

/* Elements between ranges are coloured in small blocks: each colour has work for all threads, and on a mesh
 * without order, where they are many, few blocks meet. */
static const long blocks_per_thread = 16;
enum { least_block = 4, most_block = 32, between = 0xffff, most_threads = between };

/* The elements of one thread's own: all, those in short runs, and the long runs; then where its next ones go. */
struct own {
  long all, listed, place;
  int ranges, item;
};

struct survey {
  struct arrays arrays; /* all of these */
  const struct plan_request *request;
  int threads;
  unsigned short *owner; /* per element; `between` if several own its targets */
  long *begin;           /* per column, threads + 1: where the owners' ranges begin */
  struct own *own;       /* per owner */
  int *boundary;         /* the elements between */
  long nbetween;
};

/* ---- who owns what ---------------------------------------------------------------------------------*/

static const long *begins(const struct survey *s, int column) {
  return s->begin + (long)column * (s->threads + 1);
}

/* The owner of the range that a target is in: where ranges are of one size, that of the first look. */
static int range_of(const struct survey *s, int column, long target) {
  const long *begin = begins(s, column);
  int k = owner_of(s->request->columns[column].target_size, target, s->threads);
  while (target < begin[k])
    k--;
  while (target >= begin[k + 1])
    k++;
  return k;
}

static unsigned short find_owner(const struct survey *s, long e) {
  const struct plan_request *r = s->request;
  int owner = -1;
  for (int c = 0; c < r->ncolumns; c++)
    for (long p = column_place(&r->columns[c], e); p < column_place(&r->columns[c], e + 1); p++) {
      int of = range_of(s, c, column_target(&r->columns[c], p));
      if (owner >= 0 && of != owner)
        return between;
      owner = of;
    }
  return (unsigned short)(owner >= 0 ? owner : owner_of(r->size, e, s->threads));
}

static bool owns_all(const struct survey *s, int owner, long e) {
  const struct plan_request *r = s->request;
  for (int c = 0; c < r->ncolumns; c++) {
    const long *begin = begins(s, c) + owner;
    for (long p = column_place(&r->columns[c], e); p < column_place(&r->columns[c], e + 1); p++) {
      const long t = column_target(&r->columns[c], p);
      if (t < begin[0] || t >= begin[1])
        return false;
    }
  }
  return r->ncolumns > 0;
}

/* Most elements have the owner of the element before: that is tried first, without a division. */
static void find_owners(const struct survey *s) {
  int last = 0;
  for (long e = 0; e < s->request->size; e++) {
    s->owner[e] = owns_all(s, last, e) ? (unsigned short)last : find_owner(s, e);
    if (s->owner[e] != between)
      last = s->owner[e];
  }
}

/* Ranges to which as many entries lead. */
static void cut_by_entries(long *begin, const long *entries, long size, int threads) {
  long all = 0, before = 0, t = 0;
  for (long i = 0; i < size; i++)
    all += entries[i];
  for (int k = 0; k < threads; k++) {
    for (; t < size && before + entries[t] / 2 < all / threads * k + all % threads * k / threads; t++)
      before += entries[t];
    begin[k] = k ? t : 0;
  }
  begin[threads] = size;
}

static void count_entries(const struct plan_column *column, long size, long *entries) {
  for (long p = column_place(column, 0); p < column_place(column, size); p++)
    entries[column_target(column, p)]++;
}

/* Ranges of one size; where elements differ in their work, ranges of as many entries. All columns that lead to a set
 * have the same. */
static int find_ranges(const struct survey *s, struct error *err) {
  const struct plan_request *r = s->request;
  for (int c = 0, same; c < r->ncolumns; c++) {
    const struct plan_column *column = &r->columns[c];
    long *begin = s->begin + (long)c * (s->threads + 1);
    for (same = 0; r->columns[same].target != column->target;)
      same++;
    if (same < c) {
      memcpy(begin, begins(s, same), ((size_t)s->threads + 1) * sizeof *begin);
      continue;
    }
    for (int k = 0; k <= s->threads; k++)
      begin[k] = owner_begin(column->target_size, k, s->threads);
    if (!r->work)
      continue;
    long *entries = array_new((size_t)column->target_size, sizeof *entries);
    if (!entries)
      return error_memory(err, "owner ranges", (size_t)column->target_size * sizeof *entries);
    for (int other = c; other < r->ncolumns; other++)
      if (r->columns[other].target == column->target)
        count_entries(&r->columns[other], r->size, entries);
    cut_by_entries(begin, entries, column->target_size, s->threads);
    free(entries);
  }
  return OP_OK;
}

static long run_end(const struct survey *s, long e) {
  long end = e + 1;
  while (end < s->request->size && s->owner[end] == s->owner[e])
    end++;
  return end;
}

static void count_runs(struct survey *s) {
  for (long e = 0, end; e < s->request->size; e = end) {
    end = run_end(s, e);
    if (s->owner[e] == between) {
      s->nbetween += end - e;
      continue;
    }
    struct own *own = &s->own[s->owner[e]];
    own->all += end - e;
    if (end - e >= least_run)
      own->ranges++;
    else
      own->listed += end - e;
  }
}

static void list_between(struct survey *s) {
  long n = 0;
  for (long e = 0; e < s->request->size; e++)
    if (s->owner[e] == between)
      s->boundary[n++] = (int)e;
}

static int survey(struct survey *s, struct error *err) {
  const size_t size = (size_t)s->request->size, threads = (size_t)s->threads;
  s->owner = arrays_add(&s->arrays, size, sizeof *s->owner);
  s->begin = arrays_add(&s->arrays, (threads + 1) * (size_t)s->request->ncolumns, sizeof *s->begin);
  s->own = arrays_add(&s->arrays, threads, sizeof *s->own);
  if (s->arrays.failed)
    return error_memory(err, "owner ranges", size * sizeof *s->owner);
  const int status = find_ranges(s, err);
  if (status)
    return status;
  find_owners(s);
  count_runs(s);
  s->boundary = arrays_add(&s->arrays, (size_t)s->nbetween, sizeof *s->boundary);
  if (!s->boundary)
    return error_memory(err, "owner ranges", (size_t)s->nbetween * sizeof *s->boundary);
  list_between(s);
  return OP_OK;
}

/* ---- the elements between --------------------------------------------------------------------------*/

static int block_of(long n, int threads) {
  const long block = n / (threads * blocks_per_thread);
  return (int)(block < least_block ? least_block : block > most_block ? most_block : block);
}

/* The elements between go to the end of the list, the boundary's plan says in which order they run. */
static void add_between(struct schedule *s, const struct plan *plan, struct owner_shares *shares) {
  const long first = shares->listed;
  for (int colour = 0; colour < plan->ncolours; colour++) {
    schedule_add_phase(s, false);
    for (int i = plan->colour_first[colour]; i < plan->colour_first[colour + 1]; i++) {
      int b = plan->block_map[i];
      schedule_add_item(s, WORK_LIST, first + block_begin(plan, b), first + block_end(plan, b), -1);
      if (plan->colour_first[colour + 1] - plan->colour_first[colour] == 1)
        shares->alone += block_end(plan, b) - block_begin(plan, b);
    }
  }
}

/* ---- the owners' own -------------------------------------------------------------------------------*/

/* Long runs become items and short ones go to the list, both in one pass over the elements. */
static void fill_own(struct schedule *s, const struct survey *v) {
  for (long e = 0, end; e < v->request->size; e = end) {
    end = run_end(v, e);
    if (v->owner[e] == between)
      continue;
    struct own *own = &v->own[v->owner[e]];
    if (end - e < least_run)
      for (long i = e; i < end; i++)
        s->list[own->place++] = (int)i;
    else
      s->items[own->item++] = (struct item){.begin = e, .end = end, .owner = v->owner[e]};
  }
}

/* Each owner's items stand together: its ranges, then its part of the list. */
static void add_own(struct schedule *s, const struct survey *v) {
  long listed = 0;
  schedule_add_phase(s, true);
  for (int k = 0; k < v->threads; k++) {
    struct own *own = &v->own[k];
    own->item = s->nitems;
    own->place = listed;
    s->nitems += own->ranges;
    listed += own->listed;
    if (own->listed)
      s->items[s->nitems++] =
          (struct item){.begin = own->place, .end = listed, .work = WORK_LIST, .owner = k};
  }
  fill_own(s, v);
  for (; s->nslots < s->nitems; s->nslots++)
    s->items[s->nslots].slot = s->nslots;
  s->phases[0].count = s->nitems;
}

static struct owner_shares shares_of(const struct survey *v, int colours) {
  struct owner_shares shares = {.elements = v->request->size, .between = v->nbetween, .colours = colours};
  for (int k = 0; k < v->threads; k++) {
    shares.listed += v->own[k].listed;
    shares.most = v->own[k].all > shares.most ? v->own[k].all : shares.most;
  }
  shares.mean = (v->request->size - v->nbetween) / v->threads;
  return shares;
}

static long count_ranges(const struct survey *v) {
  long ranges = 0;
  for (int k = 0; k < v->threads; k++)
    ranges += v->own[k].ranges;
  return ranges;
}

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  struct survey v = {.request = &w->request, .threads = w->threads};
  struct schedule *s = &e->schedule;
  struct plan plan = {0};
  (void)team;
  if (v.threads < 1 || v.threads > most_threads)
    return error_set(err, OP_ERR_ARGUMENT, "owner ranges for %d threads were asked for; give 1 to %d",
                     v.threads, most_threads);
  int status = survey(&v, err);
  if (!status)
    status = plan_of_list(&plan, v.request, v.boundary, v.nbetween, block_of(v.nbetween, v.threads), err);
  if (!status) {
    e->shares = shares_of(&v, plan.ncolours);
    status = schedule_new(s, count_ranges(&v) + v.threads + plan.nblocks, 1 + plan.ncolours,
                          e->shares.listed + v.nbetween, err);
  }
  if (!status) {
    add_own(s, &v);
    if (v.nbetween)
      memcpy(s->list + e->shares.listed, v.boundary, (size_t)v.nbetween * sizeof *v.boundary);
    add_between(s, &plan, &e->shares);
    s->threads = v.threads;
  }
  plan_free(&plan);
  arrays_free(&v.arrays);
  return status;
}

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", %ld elements between the ranges of %d threads", e->shares.between, e->schedule.threads);
}

const struct strategy strategy_owners = {.name = "owners",
                                         .columns = COLUMNS_WRITTEN,
                                         .looks = LOOKS_AT_THREADS,
                                         .deals = true,
                                         .lists = true,
                                         .instead_of = &strategy_colours,
                                         .build = build,
                                         .verify = verify_dealt,
                                         .describe = describe};
