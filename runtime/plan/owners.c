#include "plan/owners.h"

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

struct survey {
  const struct plan_request *request;
  int threads;
  unsigned short *owner; /* per element; `between` if several own its targets */
  long *begin;           /* per column, threads + 1: where the owners' ranges begin */
  long *listed;          /* per owner, in short runs */
  long *own;             /* per owner, all */
  long ranges, nbetween; /* long runs of all owners; elements between */
};

/* ---- who owns what ---------------------------------------------------------------------------------*/

static const long *begins(const struct survey *s, int column) {
  return s->begin + (long)column * (s->threads + 1);
}

/* Whose range a target is in: where ranges are of one size, that of the first look. */
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
    int owner = s->owner[e];
    if (owner == between) {
      s->nbetween += end - e;
      continue;
    }
    s->own[owner] += end - e;
    if (end - e >= least_run)
      s->ranges++;
    else
      s->listed[owner] += end - e;
  }
}

static void survey_free(struct survey *s) {
  free(s->owner);
  free(s->begin);
  free(s->listed);
  free(s->own);
}

static int survey_new(struct survey *s, const struct plan_request *r, int threads, struct error *err) {
  *s = (struct survey){.request = r, .threads = threads};
  s->owner = array_new((size_t)r->size, sizeof *s->owner);
  s->begin = array_new(((size_t)threads + 1) * (size_t)r->ncolumns, sizeof *s->begin);
  s->listed = array_new((size_t)threads, sizeof *s->listed);
  s->own = array_new((size_t)threads, sizeof *s->own);
  if (!s->owner || !s->begin || !s->listed || !s->own) {
    survey_free(s);
    error_memory(err, "owner ranges", (size_t)r->size * sizeof *s->owner);
    return OP_ERR_MEMORY;
  }
  if (find_ranges(s, err)) {
    survey_free(s);
    return err->code;
  }
  find_owners(s);
  count_runs(s);
  return OP_OK;
}

/* ---- the elements between --------------------------------------------------------------------------*/

static int block_of(long n, int threads) {
  const long block = n / (threads * blocks_per_thread);
  return (int)(block < least_block ? least_block : block > most_block ? most_block : block);
}

/* The elements between go to the end of the list, the boundary's plan says in which order they run. */
static void add_between(struct schedule *s, const struct plan *plan, long first,
                        struct owner_shares *shares) {
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

static void list_between(const struct survey *v, int *list) {
  long n = 0;
  for (long e = 0; e < v->request->size; e++)
    if (v->owner[e] == between)
      list[n++] = (int)e;
}

/* ---- the owners' own -------------------------------------------------------------------------------*/

/* Long runs become items and short ones go to the list, both in one pass over the elements: `item` and `place` say
 * where each owner's next one goes. */
static void fill_own(struct schedule *s, const struct survey *v, int *item, long *place) {
  for (long e = 0, end; e < v->request->size; e = end) {
    end = run_end(v, e);
    int owner = v->owner[e];
    if (owner == between)
      continue;
    if (end - e < least_run)
      for (long i = e; i < end; i++)
        s->list[place[owner]++] = (int)i;
    else
      s->items[item[owner]++] = (struct item){.begin = e, .end = end, .owner = owner};
  }
}

static void count_ranges(const struct survey *v, int *item) {
  for (long e = 0, end; e < v->request->size; e = end) {
    end = run_end(v, e);
    if (v->owner[e] != between && end - e >= least_run)
      item[v->owner[e]]++;
  }
}

/* Each owner's items stand together: its ranges, then its part of the list. */
static int add_own(struct schedule *s, const struct survey *v, struct error *err) {
  int *item = array_new((size_t)v->threads, sizeof *item);
  long *place = array_new((size_t)v->threads, sizeof *place), listed = 0;
  if (!item || !place) {
    free(item);
    free(place);
    error_memory(err, "owner ranges", (size_t)v->threads * sizeof *place);
    return OP_ERR_MEMORY;
  }
  schedule_add_phase(s, true);
  count_ranges(v, item);
  for (int k = 0, first = 0; k < v->threads; k++) {
    int ranges = item[k];
    item[k] = first;
    place[k] = listed;
    first += ranges;
    listed += v->listed[k];
    if (v->listed[k])
      s->items[first++] = (struct item){.begin = place[k], .end = listed, .work = WORK_LIST, .owner = k};
    s->nitems = first;
  }
  fill_own(s, v, item, place);
  for (; s->nslots < s->nitems; s->nslots++)
    s->items[s->nslots].slot = s->nslots;
  s->phases[0].count = s->nitems;
  free(item);
  free(place);
  return OP_OK;
}

static void share_out(const struct survey *v, struct owner_shares *shares) {
  shares->elements = v->request->size;
  shares->between = v->nbetween;
  for (int k = 0; k < v->threads; k++) {
    shares->listed += v->listed[k];
    if (v->own[k] > shares->most)
      shares->most = v->own[k];
  }
  shares->mean = (v->request->size - v->nbetween) / v->threads;
}

static int build(struct schedule *s, const struct survey *v, const struct plan *plan, const int *boundary,
                 struct owner_shares *shares, struct error *err) {
  share_out(v, shares);
  shares->colours = plan->ncolours;
  int status = schedule_new(s, v->ranges + v->threads + plan->nblocks, 1 + plan->ncolours,
                            shares->listed + shares->between, err);
  if (!status)
    status = add_own(s, v, err);
  if (status) {
    schedule_free(s);
    return status;
  }
  if (v->nbetween)
    memcpy(s->list + shares->listed, boundary, (size_t)v->nbetween * sizeof *boundary);
  add_between(s, plan, shares->listed, shares);
  s->threads = v->threads;
  return OP_OK;
}

int schedule_owners(struct schedule *s, const struct plan_request *r, int threads,
                    struct owner_shares *shares, struct error *err) {
  struct survey survey;
  struct plan plan = {0};
  memset(s, 0, sizeof *s);
  memset(shares, 0, sizeof *shares);
  if (threads < 1 || threads > most_threads)
    return error_set(err, OP_ERR_ARGUMENT, "owner ranges for %d threads were asked for; give 1 to %d",
                     threads, most_threads);
  int status = survey_new(&survey, r, threads, err);
  if (status)
    return status;
  int *boundary = array_new((size_t)survey.nbetween, sizeof *boundary);
  if (!boundary)
    status = error_memory(err, "owner ranges", (size_t)survey.nbetween * sizeof *boundary);
  if (!status) {
    list_between(&survey, boundary);
    status = plan_of_list(&plan, r, boundary, survey.nbetween, block_of(survey.nbetween, threads), err);
  }
  if (!status)
    status = build(s, &survey, &plan, boundary, shares, err);
  plan_free(&plan);
  free(boundary);
  survey_free(&survey);
  return status;
}

/* ---- the row ---------------------------------------------------------------------------------------*/

static int build_entry(struct plan_entry *e, const struct plan_wish *w, struct team *team,
                       struct error *err) {
  (void)team;
  return schedule_owners(&e->schedule, &w->request, w->threads, &e->shares, err);
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
                                         .build = build_entry,
                                         .verify = verify_dealt,
                                         .describe = describe};
