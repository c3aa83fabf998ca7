#include "plan/tiles_prefix.h"

#include <string.h>

#include "base/list.h"
#include "plan/plan_staging.h"
#include "plan/strategy.h"

/* Fewer elements are not worth waking the threads. */
static const long parallel_from = 100000;

struct pass {
  const struct prefix_request *request;
  struct prefix *prefix;
  struct team *team;
  int *last;                /* of each thread, a table as prefix->elements, without what earlier steps have */
  size_t nlast;             /* words of one */
  struct prefix_ends *ends; /* of each thread */
};

static int shift_of(int step) {
  return __builtin_ctz((unsigned)step);
}

static long steps_of(long size, int shift) {
  return (size + (1L << shift) - 1) >> shift;
}

static struct prefix_ends no_ends(const struct prefix_request *r) {
  return (struct prefix_ends){.high_element = r->from, .high_target = r->to};
}

static void add_end(struct prefix_ends *ends, const struct prefix_request *r, long element, long target) {
  if (2 * element < r->from)
    ends->low_element = element < ends->low_element ? ends->low_element : element + 1;
  else
    ends->high_element = element < ends->high_element ? element : ends->high_element;
  if (2 * target < r->to)
    ends->low_target = target < ends->low_target ? ends->low_target : target + 1;
  else
    ends->high_target = target < ends->high_target ? target : ends->high_target;
}

static void join_ends(struct prefix_ends *all, const struct prefix_ends *some) {
  all->low_element = some->low_element < all->low_element ? all->low_element : some->low_element;
  all->low_target = some->low_target < all->low_target ? all->low_target : some->low_target;
  all->high_element = some->high_element < all->high_element ? some->high_element : all->high_element;
  all->high_target = some->high_target < all->high_target ? some->high_target : all->high_target;
}

/* Looks at the targets at places begin .. end-1, column c from there on. */
struct scan {
  const struct pass *pass;
  int *most, *last;
  struct prefix_ends *ends;
  long lowest, highest; /* more than half of the mesh away */
};

static inline void scan_targets(const struct scan *s, long e, long begin, long end) {
  const struct prefix_request *r = s->pass->request;
  const struct prefix *p = s->pass->prefix;
  for (long i = begin; i < end; i++) {
    const int c = r->first ? 0 : (int)(i - begin);
    const long stored = r->table ? r->table[i] : i;
    const int target = r->new_position ? r->new_position[stored] : (int)stored;
    if (target < s->lowest || target > s->highest) {
      add_end(s->ends, r, e, target);
      continue;
    }
    if (target >= s->most[c])
      s->most[c] = target + 1;
    s->last[((target >> p->to_shift) + 1) * p->arity + c] = (int)e + 1;
  }
}

/* The usual case, a column at a time: nothing has another order, and nothing goes round. */
static void scan_column(const struct pass *pass, int c, long begin, long end, int *most, int *last) {
  const int arity = pass->prefix->arity, shift = pass->prefix->to_shift;
  const int *target = pass->request->table + begin * arity + c;
  int highest = *most;
  for (long e = begin; e < end; e++, target += arity) {
    highest = *target >= highest ? *target + 1 : highest;
    last[((*target >> shift) + 1) * arity + c] = (int)e + 1;
  }
  *most = highest;
}

/* Elements follow one another upwards, so the last one that reaches a target is the one that comes last. */
static void scan_step(const struct pass *pass, long step, int *last, struct prefix_ends *ends) {
  const struct prefix_request *r = pass->request;
  const struct prefix *p = pass->prefix;
  const int arity = p->arity;
  const long begin = step << p->from_shift, behind = (step + 1) << p->from_shift,
             end = behind < r->from ? behind : r->from;
  const long place = r->wraps ? (long)((double)begin / (double)r->from * (double)r->to) : 0;
  const struct scan s = {.pass = pass,
                         .most = p->targets + (step + 1) * arity,
                         .last = last,
                         .ends = ends,
                         .lowest = r->wraps ? place - r->to / 2 : 0,
                         .highest = r->wraps ? place + r->to / 2 : r->to};
  const bool plain = r->table && !r->first && !r->element && !r->new_position && !r->wraps && !r->seen;
  for (int c = 0; plain && c < arity; c++)
    scan_column(pass, c, begin, end, &s.most[c], last);
  for (long e = begin; !plain && e < end; e++) {
    const long row = r->element ? r->element[e] : e;
    if (r->seen && !r->seen[row])
      continue;
    if (r->first)
      scan_targets(&s, e, (long)r->first[row], (long)r->first[row + 1]);
    else
      scan_targets(&s, e, row * arity, (row + 1) * arity);
  }
}

static void merge(const struct pass *pass, size_t begin, size_t end, int threads) {
  int *out = pass->prefix->elements;
  for (int t = 0; t < threads; t++)
    for (size_t i = begin; i < end; i++) {
      const int last = pass->last[(size_t)t * pass->nlast + i];
      out[i] = out[i] < last ? last : out[i];
    }
}

static void scan(void *argument, int thread, int threads) {
  const struct pass *pass = argument;
  const size_t n = pass->nlast, t = (size_t)thread, all = (size_t)threads;
  const long steps = steps_of(pass->request->from, pass->prefix->from_shift);
  int *last = pass->last + t * n;
  for (long s = steps * thread / threads, end = steps * (thread + 1) / threads; s < end; s++)
    scan_step(pass, s, last, &pass->ends[t]);
  if (threads > 1)
    team_barrier(pass->team);
  merge(pass, n * t / all, n * (t + 1) / all, threads);
}

/* From what one step has to what all up to it have. */
static void accumulate(int *table, long steps, int arity) {
  for (long i = arity; i < (steps + 1) * arity; i++)
    if (table[i] < table[i - arity])
      table[i] = table[i - arity];
}

int prefix_build(struct prefix *p, struct arrays *arrays, const struct prefix_request *r, struct team *team,
                 struct error *err) {
  struct arrays room = {0};
  const int threads = r->from >= parallel_from ? team_threads(team) : 1;
  *p = (struct prefix){.arity = r->arity,
                       .from = r->from,
                       .to = r->to,
                       .from_shift = shift_of(r->from_step),
                       .to_shift = shift_of(r->to_step)};
  const long from = steps_of(r->from, p->from_shift), to = steps_of(r->to, p->to_shift);
  struct pass pass = {.request = r, .prefix = p, .team = team, .nlast = (size_t)((to + 1) * r->arity)};
  p->targets = arrays_add(arrays, (size_t)((from + 1) * r->arity), sizeof *p->targets);
  p->elements = arrays_add(arrays, pass.nlast, sizeof *p->elements);
  pass.last = arrays_add(&room, (size_t)threads * pass.nlast, sizeof *pass.last);
  pass.ends = arrays_add(&room, (size_t)threads, sizeof *pass.ends);
  if (arrays->failed || room.failed) {
    arrays_free(&room);
    return error_memory(err, "the prefixes of a map", (size_t)threads * pass.nlast * sizeof *pass.last);
  }
  for (int t = 0; t < threads; t++)
    pass.ends[t] = no_ends(r);
  team_run(team, threads, scan, &pass);
  p->ends = no_ends(r);
  for (int t = 0; t < threads; t++)
    join_ends(&p->ends, &pass.ends[t]);
  arrays_free(&room);
  accumulate(p->targets, from, r->arity);
  accumulate(p->elements, to, r->arity);
  return OP_OK;
}

/* ---- the row: all columns of a map ------------------------------------------------------------------*/

static int build(struct plan_entry *e, const struct plan_wish *w, struct team *team, struct error *err) {
  const struct plan_column *column = w->request.columns;
  return prefix_build(&e->prefix, &e->arrays,
                      &(struct prefix_request){.table = column->table,
                                               .arity = column->arity,
                                               .first = column->first,
                                               .from = w->request.size,
                                               .to = column->target_size,
                                               .from_step = PREFIX_STEP,
                                               .to_step = PREFIX_STEP,
                                               .wraps = w->strategy == &strategy_periodic},
                      team, err);
}

#define WRONG(...) return error_mistake(err, OP_ERR_PLAN, __VA_ARGS__)

static bool goes_round(const struct prefix_ends *ends, long element, long target) {
  return (element < ends->low_element || element >= ends->high_element) &&
         (target < ends->low_target || target >= ends->high_target);
}

static int verify_target(const struct prefix *p, const struct plan_column *column, long i, int target,
                         struct error *err) {
  if (goes_round(&p->ends, i, target))
    return OP_OK;
  if (prefix_targets(p, column->column, i + 1) <= target)
    WRONG("element %ld reaches target %d in column %d, its prefix says at most %ld", i, target,
          column->column, prefix_targets(p, column->column, i + 1) - 1);
  if (prefix_elements(p, column->column, target + 1L) <= i)
    WRONG("target %d is reached by element %ld in column %d, its prefix says at most %ld", target, i,
          column->column, prefix_elements(p, column->column, target + 1L) - 1);
  return OP_OK;
}

static int verify(const struct plan_entry *e, const struct plan_wish *w, int level, struct error *err) {
  const struct prefix *p = &e->prefix;
  for (int c = 0; c < w->request.ncolumns; c++) {
    const struct plan_column *column = &w->request.columns[c];
    for (long i = 0; level >= 2 && i < w->request.size; i++)
      for (long at = column_place(column, i); at < column_place(column, i + 1); at++)
        if (verify_target(p, column, i, column_target(column, at), err))
          return err->code;
  }
  return OP_OK;
}

static void describe(const struct plan_entry *e, struct text *out) {
  text_addf(out, ", prefixes of %d columns", e->prefix.arity);
}

const struct strategy strategy_prefix = {.name = "prefix",
                                         .columns = COLUMNS_USED,
                                         .looks = LOOKS_AT_ORDER,
                                         .build = build,
                                         .verify = verify,
                                         .describe = describe};

const struct strategy strategy_periodic = {.name = "periodic",
                                           .columns = COLUMNS_USED,
                                           .looks = LOOKS_AT_ORDER,
                                           .build = build,
                                           .verify = verify,
                                           .describe = describe};
