/* Loops that are ordered: the same bits on any number of threads and ranks, and in any order of elements. What elements add
 * to targets is added in the order of the user's numbers: by threads that take turns, where elements lie in that order; else
 * each element's part is kept apart, and each target collects behind the last part. Results are exact (base/exact.h): each
 * element has a row of its own, which lasts for a few elements only. */
#include "base/exact.h"
#include "context/context.h"
#include "cpu_gather.h"
#include "cpu_loop.h"
#include "mesh/mesh.h"
#include "plan/gather.h"
#include "plan/plan_cache.h"
#include "record/columns.h"
#include "record/launch.h"
#include "services/services.h"

#include <string.h>

/* ---- which way -----------------------------------------------------------------------------------------*/

static bool is_mapped(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= arg_is_turned(&loop->args[i]);
  return any;
}

static bool has_results(const struct loop *loop) {
  bool any = false;
  for (int i = 0; i < loop->nargs; i++)
    any |= loop->args[i].exact;
  return any;
}

/* Only rows that are kept apart are the same in each form where another argument reaches the dat while it is added
 * to, for extrema, and for rows that a kernel adds to in place. */
static bool keeps_apart(const struct loop *loop) {
  bool apart = false;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!arg_is_turned(arg))
      continue;
    apart |= access_is_extremum(arg->access) || arg->map->first;
    for (int k = 0; k < loop->nargs; k++)
      apart |= loop->args[k].present && loop->args[k].dat == arg->dat && !arg_is_turned(&loop->args[k]);
  }
  return apart;
}

/* All elements that run, by the user's numbers. */
static struct plan_request numbered(const struct loop *loop) {
  return (struct plan_request){.size = loop_end(loop),
                               .numbers = set_numbered(loop->set)->to_user,
                               .through = loop->set->sub ? loop->set->sub->own->table : NULL};
}

void ordered_look(const struct loop *loop, struct cpu_loop *cpu) {
  const struct plan_request r = numbered(loop);
  cpu->in_numbers = loop->ordered && !loop->set->spread && plan_in_numbers(&r);
}

const struct strategy *ordered_strategy(const struct loop *loop, const struct cpu_loop *cpu,
                                        const struct strategy *wanted) {
  if (!loop->ordered)
    return wanted == &strategy_turns ? &strategy_gather : wanted;
  if (loop->meets)
    return &strategy_whole;
  if (!is_mapped(loop))
    return wanted->serial ? wanted : &strategy_chunks;
  if (!cpu->in_numbers || keeps_apart(loop) || wanted == &strategy_gather)
    return &strategy_gather;
  return wanted->serial ? wanted : has_results(loop) ? &strategy_gather : &strategy_turns;
}

const struct strategy *ordered_dealing(const struct loop *loop, const struct strategy *strategy) {
  if (!loop->ordered || strategy != &strategy_gather)
    return strategy;
  return &strategy_chunks;
}

/* ---- elements whose rows are apart ---------------------------------------------------------------------*/

enum {
  ROOM = 32768,
  STRIPS = 64
}; /* bytes of rows that a piece has at once, on the stack; elements of whole strips */

static size_t result_bytes(const struct gather *g) {
  size_t bytes = 0;
  for (int i = 0; i < g->nturned; i++)
    bytes += g->turned[i].rows ? 0 : g->turned[i].row_bytes;
  return bytes;
}

/* Rows like the first one, twice as many each time. */
static void repeat(unsigned char *rows, const void *first, size_t bytes, size_t n) {
  const size_t all = n * bytes;
  memcpy(rows, first, bytes);
  for (size_t done = bytes, more; done < all; done += more) {
    more = all - done < done ? all - done : done;
    memcpy(rows + done, rows, more);
  }
}

static void start_result(const struct turned *t, const void *start, unsigned char *rows, long n) {
  if (t->from->access == OP_INC)
    type_start_sum(t->type, rows, (size_t)n * (size_t)t->from->dim);
  else
    repeat(rows, start, t->row_bytes, (size_t)n);
}

static double number_at(const struct turned *t, const unsigned char *at, int c) {
  return t->type == TYPE_DOUBLE ? ((const double *)(const void *)at)[c]
                                : (double)((const float *)(const void *)at)[c];
}

/* Component c of each row: in the room, if it does not lie so already. */
static const double *read_column(const struct turned *t, const unsigned char *rows, int c, long n,
                                 double room[EXACT_PIECE]) {
  const double *wide = (const void *)rows;
  const float *narrow = (const void *)rows;
  const int dim = t->from->dim;
  if (t->type == TYPE_DOUBLE && dim == 1)
    return wide;
  for (long e = 0; e < n; e++)
    room[e] = t->type == TYPE_DOUBLE ? wide[e * dim + c] : (double)narrow[e * dim + c];
  return room;
}

static void take_extremum(const struct turned *t, const double *values, long n, double start, int c,
                          void *slot) {
  double best = number_at(t, slot, c);
  exact_extrema(t->from->access == OP_MAX, start, &best, values, (int)n);
  if (t->type == TYPE_DOUBLE)
    ((double *)slot)[c] = best;
  else
    ((float *)slot)[c] = (float)best;
}

/* Into the slot of the item, where extrema began with `start`. `along`: of each component what generated code has added up
 * itself; NULL: nothing. */
static void take_result(const struct turned *t, const unsigned char *rows, long n, const unsigned char *start,
                        const struct exact_along *along, void *slot) {
  double room[EXACT_PIECE];
  for (int c = 0; c < t->from->dim; c++) {
    long first = along ? exact_end_along((struct exact *)slot + c, along + c) : 0;
    for (long some; first < n; first += some) {
      some = n - first < EXACT_PIECE ? n - first : EXACT_PIECE;
      const double *values = read_column(t, rows + (size_t)first * t->row_bytes, c, some, room);
      if (t->from->access == OP_INC)
        exact_add_values((struct exact *)slot + c, values, (int)some);
      else
        take_extremum(t, values, some, number_at(t, start, c), c, slot);
    }
  }
}

/* So many elements at once; 1: their rows are longer than the room, and lie behind the sums in the slot. Pieces are short, so
 * that what the next one reads comes while this one's results are taken; but code that writes past the caches waits for that
 * at the end of each. Whole strips begin where the next piece does. */
static long piece_of(size_t bytes, bool streams) {
  const long room_for = (long)(ROOM / bytes),
             most = room_for < EXACT_PIECE || streams ? room_for : EXACT_PIECE;
  return most >= STRIPS ? most / STRIPS * STRIPS : most > 1 ? most : 1;
}

struct pieces {
  const struct gather *g;
  void **frame; /* own */
  unsigned char *room;
  unsigned char *rows[OP_MAX_ARGS], *slots[OP_MAX_ARGS]; /* of exact results */
  const unsigned char *starts[OP_MAX_ARGS]; /* of extrema: the program's own value, for each element */
  struct exact_along along[SUMMED_MOST], *sums[OP_MAX_ARGS];
};

static void run_piece(struct pieces *p, const int *list, long begin, long end) {
  const struct gather *g = p->g;
  for (int i = 0; i < g->nturned; i++) {
    const struct turned *t = &g->turned[i];
    if (t->rows)
      continue;
    if (!g->desc.args[t->arg].fresh)
      start_result(t, p->starts[i], p->rows[i], end - begin);
    for (int c = 0; p->sums[i] && c < t->from->dim; c++)
      exact_begin_along((struct exact *)p->slots[i] + c, p->sums[i] + c);
    /* Generated code counts rows from element 0. */
    const uintptr_t first = (uintptr_t)p->rows[i] - (uintptr_t)(list ? list[begin] : begin) * t->row_bytes;
    p->frame[desc_slot_dat(&g->desc, g->desc.args[t->arg].dat)] = (void *)first;
  }
  g->function(p->frame, list, begin, end);
  for (int i = 0; i < g->nturned; i++)
    if (!g->turned[i].rows)
      take_result(&g->turned[i], p->rows[i], end - begin, p->starts[i], p->sums[i], p->slots[i]);
}

/* With results: a piece at a time. */
static void run_pieces(void *const *frame, const int *list, long begin, long end, size_t bytes) {
  const struct gather *g = frame[0];
  const size_t nframe = (size_t)desc_slots(&g->desc);
  _Alignas(64) unsigned char room[ROOM];
  void *own[nframe];
  const long room_for = piece_of(bytes, g->streams), piece = list ? 1 : room_for;
  struct pieces p = {.g = g, .frame = own};
  size_t at = 0;
  int summed = 0;
  memcpy(own, frame + 1, nframe * sizeof *own);
  for (int i = 0; i < g->nturned; i++) {
    const struct turned *t = &g->turned[i];
    if (t->rows)
      continue;
    p.slots[i] = frame[1 + desc_slot_arg(&g->desc, t->arg)];
    const bool sum = t->from->access == OP_INC;
    unsigned char *behind =
        p.slots[i] + (sum ? (size_t)t->from->dim * sizeof(struct exact) : 2 * t->row_bytes);
    p.rows[i] = room_for > 1 ? room + at : behind;
    at += (size_t)piece * t->row_bytes;
    p.starts[i] = sum ? NULL : p.slots[i] + t->row_bytes;
    if (g->desc.args[t->arg].summed)
      own[desc_slot_arg(&g->desc, t->arg)] = p.sums[i] = p.along + summed;
    summed += p.sums[i] ? t->from->dim : 0;
  }
  /* The first piece is looked at for the sizes of what is added: that takes longer. */
  for (long b = begin, some = piece < STRIPS ? piece : STRIPS; b < end; b += some, some = piece) {
    some = end - b < some ? end - b : some;
    run_piece(&p, list, b, b + some);
  }
}

/* The work of elements. */
static void run_apart(void *const *frame, const int *list, long begin, long end) {
  const struct gather *g = frame[0];
  const size_t bytes = result_bytes(g);
  if (!list)
    gather_start_rows(g, begin, end);
  for (long p = begin; list && p < end; p++)
    gather_start_rows(g, list[p], list[p] + 1);
  if (bytes)
    run_pieces(frame, list, begin, end, bytes);
  else
    g->function(frame + 1, list, begin, end);
}

/* The work of a thread that takes its turn: what elements that were apart add to its targets. */
static void add_turned(void *const *frame, const int *list, long begin, long end) {
  const struct group *group = frame[0];
  const struct gather *g = group->gather;
  (void)list;
  for (long p = begin; p < end; p++) {
    const int *pair = group->reverse->entries + 2 * p;
    const unsigned char *row;
    const struct source *s = gather_source(group, pair[0], &row);
    s->add(s->target + (size_t)pair[1] * s->target_bytes, row, g->desc.args[s->turned->arg].dim, s->step);
  }
}

/* ---- making it, and one run ----------------------------------------------------------------------------*/

static int plan_collect(struct op_context *ctx, const struct loop *loop, struct cpu_variant *v,
                        struct error *err) {
  const struct loop_part all = {.end = loop_end(loop)};
  struct plan_wish wish = {.request = numbered(loop),
                           .strategy = &strategy_collect,
                           .set_name = loop->set->name,
                           .epoch = ctx->mesh->epoch};
  struct plan_column *columns = NULL;
  bool built = false;
  int code = loop_columns(loop, &all, COLUMNS_TURNED, &columns, &wish.request.ncolumns, err);
  wish.request.columns = columns;
  if (!code)
    code = context_plan(ctx, loop->name, &wish, &v->collects, &built, err);
  free(columns);
  return code;
}

/* Elements that meet in what they write, in the order of their numbers: each rank runs all that reach its rows. */
static int plan_numbered(const struct loop *loop, struct cpu_variant *v, struct error *err) {
  const struct plan_request r = numbered(loop);
  int copies = 0;
  for (int p = 0; p < loop->ready.nresults; p++)
    copies += v->parts[p].schedule ? v->parts[p].schedule->nslots : 0;
  return v->numbered.nphases
             ? OP_OK
             : schedule_numbered(&v->numbered, &r, loop->set->extents[EXTENT_OWNED], copies, err);
}

int ordered_plan(struct op_context *ctx, struct loop *loop, const struct cpu_loop *cpu, struct cpu_variant *v,
                 struct error *err) {
  if (loop->meets && !cpu->in_numbers && plan_numbered(loop, v, err))
    return err->code;
  const bool turns = v->variant.strategy == &strategy_turns,
             gathers = v->variant.strategy == &strategy_gather;
  const struct plan_entry *entry = v->parts[0].entry;
  if (v->ordered || !(turns ? entry && entry->schedule.list : gathers || has_results(loop)))
    return OP_OK;
  int code = gathers && !v->collects ? plan_collect(ctx, loop, v, err) : OP_OK;
  const struct gather_wish wish = {.part = {.end = loop_end(loop)},
                                   .entry = turns ? entry : v->collects,
                                   .columns = turns || gathers,
                                   .results = has_results(loop),
                                   .listed = turns};
  return code ? code : gather_new(&v->ordered, ctx, loop, &wish, err);
}

void ordered_works(const struct cpu_variant *v, const struct launch *launch, const struct work *own,
                   struct execution *e) {
  struct gather *g = v->ordered;
  struct work plain = *own;
  const bool turns = v->variant.strategy == &strategy_turns;
  if (turns)
    plain.function = v->functions[WORK_LIST];
  gather_works(g, launch, &plain, e);
  g->works[WORK_RANGE].function = run_apart;
  g->streams = v->variant.shape.stream;
  if (v->numbered.nphases) {
    g->works[WORK_LIST] = g->works[WORK_RANGE];
    g->works[WORK_LIST].list = v->numbered.list;
    e->nworks = 2;
  }
  if (!turns)
    return;
  for (int i = g->ngroups; i > 0; i--) {
    g->works[WORK_TURNED - 1 + i] = g->works[i];
    g->works[WORK_TURNED - 1 + i].function = add_turned;
  }
  g->works[WORK_APART] = g->works[WORK_RANGE];
  g->works[WORK_APART].list = e->schedule->list;
  g->works[WORK_RANGE] = *own;
  e->nworks = WORK_TURNED + g->ngroups;
}

void ordered_free(struct op_context *ctx, struct cpu_variant *v) {
  gather_free(v->ordered);
  v->ordered = NULL;
  schedule_free(&v->numbered);
  if (v->collects)
    plan_cache_release(ctx->plans, v->collects);
  v->collects = NULL;
}
