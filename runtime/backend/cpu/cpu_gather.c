#include "cpu_gather.h"

#include <limits.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/data.h"
#include "record/columns.h"
#include "record/launch.h"

/* ---- the description -----------------------------------------------------------------------------------*/

static int number(int *seen, int *count, int item) {
  for (int i = 0; i < *count; i++)
    if (seen[i] == item)
      return i;
  seen[*count] = item;
  return (*count)++;
}

/* New things: the rows of argument i, and the set and map of rows for vectors of some arity. */
static int rows_of(int arg) {
  return -1 - arg;
}
static int vectors_of(int arity) {
  return -1 - arity;
}
/* The set of rows behind a ragged map. */
static int entries_of(int map) {
  return INT_MIN + map;
}

static int keep_map(struct gather *g, const struct desc *old, int map) {
  struct desc *d = &g->desc;
  const int set = number(g->old_set, &d->nsets, old->maps[map].to), kept = number(g->old_map, &d->nmaps, map);
  d->maps[kept] = old->maps[map];
  d->maps[kept].to = set;
  return kept;
}

static void keep_arg(struct gather *g, const struct desc *old, int i) {
  struct desc *d = &g->desc;
  struct desc_arg *a = &d->args[i];
  if (a->map >= 0)
    a->map = keep_map(g, old, a->map);
  if (a->dat >= 0) {
    int dat = number(g->old_dat, &d->ndats, a->dat);
    d->dats[dat] = old->dats[a->dat];
    d->dats[dat].set = number(g->old_set, &d->nsets, old->dats[a->dat].set);
    a->dat = dat;
  }
}

/* Where each element's part begins with nothing, and is not added to in place, rows need no start. */
static bool is_fresh(const struct desc *old, const struct desc_arg *a) {
  return desc_reproduces(old) && a->access == OP_INC && !a->dropped && !desc_is_ragged(old, a);
}

/* One column becomes a direct argument; a vector goes through the identity; what goes through a ragged map has rows on the
 * map's entries. */
static void turn_arg(struct gather *g, const struct desc *old, int i, const struct loop *loop) {
  struct desc *d = &g->desc;
  struct desc_arg *a = &d->args[i];
  int set = 0, arity = 1, dat = number(g->old_dat, &d->ndats, rows_of(i));
  long rows = loop_end(loop);
  a->fresh = is_fresh(old, a);
  if (desc_is_ragged(old, a)) {
    set = number(g->old_set, &d->nsets, entries_of(a->map));
    a->map = keep_map(g, old, a->map);
    a->entry = true;
    a->scattered = false;
    rows = (long)loop->args[i].map->first[rows];
  } else if (a->idx < 0) {
    arity = old->maps[a->map].arity;
    set = number(g->old_set, &d->nsets, vectors_of(arity));
    a->map = number(g->old_map, &d->nmaps, vectors_of(arity));
    d->maps[a->map] = (struct desc_map){.arity = arity, .to = set};
  } else {
    a->map = -1;
    a->idx = -1;
  }
  d->dats[dat] = (struct desc_dat){
      .type = a->type, .dim = a->dim, .set = set, .wide = rows > INT_MAX / ((long)arity * a->dim)};
  a->dat = dat;
}

/* An exact result is a row of the element's own; what a kernel leaves of an extremum's start is compared behind it. */
static void turn_result(struct gather *g, int i, const struct loop *loop) {
  struct desc *d = &g->desc;
  struct desc_arg *a = &d->args[i];
  const int dat = number(g->old_dat, &d->ndats, rows_of(i));
  a->fresh = is_fresh(d, a);
  a->access = a->access == OP_INC ? OP_INC : OP_RW;
  a->form = DESC_DAT;
  a->map = a->idx = -1;
  a->dat = dat;
  a->summed = a->fresh && a->type == TYPE_DOUBLE && !desc_any_ragged(&loop->desc) &&
              g->nsummed + a->dim <= SUMMED_MOST;
  g->nsummed += a->summed ? a->dim : 0;
  d->dats[dat] = (struct desc_dat){.type = a->type, .dim = a->dim, .wide = loop_end(loop) > INT_MAX / a->dim};
}

static bool is_turned(const struct gather *g, const struct loop_arg *arg) {
  return g->columns && arg_is_turned(arg);
}

static bool is_result(const struct gather *g, const struct loop_arg *arg) {
  return g->results && arg->exact;
}

/* Things that were there keep their names under their new numbers. */
static int turn_names(struct gather *g, const struct desc *old, struct error *err) {
  struct desc *d = &g->desc;
  const struct {
    const char *kind;
    const int *old_number;
    int count;
  } kinds[] = {{"set", g->old_set, d->nsets}, {"map", g->old_map, d->nmaps}, {"dat", g->old_dat, d->ndats}};
  struct text names = {0};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (int i = 0; i < kinds[k].count; i++) {
      struct text name = {0};
      const int was = kinds[k].old_number[i];
      const bool rows = was < 0 && kinds[k].old_number == g->old_dat;
      if (rows)
        text_add(&name, "increments of ");
      if (desc_find_name(old, kinds[k].kind, rows ? old->args[rows_of(was)].dat : was, &name))
        desc_name(&names, kinds[k].kind, i, text_str(&name));
      text_free(&name);
    }
  for (int i = 0; i < d->nargs; i++) {
    struct text name = {0};
    if (desc_find_name(old, "arg", i, &name))
      desc_name(&names, "arg", i, text_str(&name));
    text_free(&name);
  }
  free(d->names);
  d->names = text_take(&names);
  return d->names ? OP_OK : error_memory(err, "the names in a loop", names.length);
}

static int turn_desc(struct gather *g, const struct loop *loop, struct error *err) {
  const struct desc *old = &loop->desc;
  int status = desc_copy(&g->desc, old, err);
  if (status)
    return status;
  struct desc *d = &g->desc;
  d->nsets = d->nmaps = d->ndats = 0;
  number(g->old_set, &d->nsets, 0);
  for (int i = 0; i < d->nargs; i++)
    if (is_turned(g, &loop->args[i]))
      turn_arg(g, old, i, loop);
    else if (is_result(g, &loop->args[i]))
      turn_result(g, i, loop);
    else
      keep_arg(g, old, i);
  for (int s = 0; s < d->nsets; s++)
    d->renumbered[s] = g->old_set[s] >= 0 && old->renumbered[g->old_set[s]];
  return turn_names(g, old, err);
}

/* ---- collecting ----------------------------------------------------------------------------------------*/

#define ADD_ROW(name, type)                                                                                  \
  static void name(void *to, const void *from, int dim, long step) {                                         \
    type *target = to;                                                                                       \
    const type *row = from;                                                                                  \
    for (int c = 0; c < dim; c++)                                                                            \
      target[c * step] = (type)(target[c * step] + row[c]);                                                  \
  }
ADD_ROW(add_double, double)
ADD_ROW(add_float, float)
ADD_ROW(add_int, int)
ADD_ROW(add_uint, unsigned)
ADD_ROW(add_longlong, long long)
ADD_ROW(add_ulonglong, unsigned long long)
ADD_ROW(add_bool, bool)
ADD_ROW(add_char, char)
ADD_ROW(add_short, short)

static add_row *const adders[TYPE_COUNT] = {
    [TYPE_DOUBLE] = add_double, [TYPE_FLOAT] = add_float,       [TYPE_INT] = add_int,
    [TYPE_UINT] = add_uint,     [TYPE_LONGLONG] = add_longlong, [TYPE_ULONGLONG] = add_ulonglong,
    [TYPE_BOOL] = add_bool,     [TYPE_CHAR] = add_char,         [TYPE_SHORT] = add_short,
};

/* Rows before those of an element: of a ragged map one for each target. */
static long first_row(const struct loop_arg *arg, long element) {
  return arg->map->first ? (long)arg->map->first[element] : element;
}

/* The columns of a target set stand in its reverse map in the order of arguments. */
static bool add_sources(struct gather *g, const struct loop *loop, const struct turned *t) {
  const struct loop_arg *arg = &loop->args[t->arg];
  int i = 0;
  while (i < g->ngroups && g->groups[i].set != arg->map->to)
    i++;
  struct group *group = &g->groups[i];
  if (i == g->ngroups)
    g->groups[g->ngroups++] =
        (struct group){.gather = g, .set = arg->map->to, .reverse = &g->entry->reverse[i], .frame = {group}};
  struct source *sources =
      array_resize(group->sources, (size_t)group->nsources + (size_t)t->ncolumns, sizeof *sources);
  if (!sources)
    return false;
  group->sources = sources;
  const bool sum = arg->access == OP_INC;
  const size_t step = (size_t)t->ncolumns * t->row_bytes;
  for (int c = 0; c < t->ncolumns; c++)
    sources[group->nsources++] =
        (struct source){.turned = t,
                        .rows = t->rows + (size_t)first_row(arg, g->begin) * step + (size_t)c * t->row_bytes,
                        .row_bytes = step,
                        .add = sum ? adders[arg->type] : NULL};
  group->nextrema += sum ? 0 : t->ncolumns;
  return true;
}

const struct source *gather_source(const struct group *group, int entry, const unsigned char **row) {
  long place;
  const struct source *s = &group->sources[reverse_column(group->reverse, entry, &place)];
  *row = s->rows + (size_t)place * s->row_bytes;
  return s;
}

/* All sources of one dat at a target, component by component: the value that was there before the first tells whether a
 * NaN may give way. */
static void collect_extremum(const struct group *group, const struct source *of, long target) {
  const struct reverse_map *reverse = group->reverse;
  const struct loop_arg *arg = of->turned->from;
  const size_t size = type_info(arg->type)->size;
  for (int c = 0; c < arg->dim; c++) {
    unsigned char *to = of->target + (size_t)target * of->target_bytes + (size_t)(c * of->step) * size;
    unsigned char start[sizeof(long double)];
    memcpy(start, to, size);
    for (int i = reverse->first[target]; i < reverse->first[target + 1]; i++) {
      const unsigned char *row;
      const struct source *s = gather_source(group, reverse->entries[i], &row);
      if (!s->add && s->target == of->target)
        type_improve(arg->type, arg->access, to, start, row + (size_t)c * size);
    }
  }
}

/* Collects each dat once, by its first source. */
static void collect_extrema(const struct group *group, long target) {
  for (int k = 0; k < group->nsources; k++) {
    const struct source *s = &group->sources[k];
    bool first = !s->add;
    for (int j = 0; j < k; j++)
      first &= group->sources[j].target != s->target;
    if (first)
      collect_extremum(group, s, target);
  }
}

/* The work of a group that has sums of doubles only, and no ragged map: most have, and a call for each row takes longer than
 * adding it. */
static void collect_doubles(void *const *frame, const int *list, long begin, long end) {
  const struct group *group = frame[0];
  const struct reverse_map *reverse = group->reverse;
  const struct gather *g = group->gather;
  const int columns = reverse->columns;
  (void)list;
  for (long target = begin; target < end; target++)
    for (int i = reverse->first[target]; i < reverse->first[target + 1]; i++) {
      const int entry = reverse->entries[i];
      const long place = columns == 2 ? entry >> 1 : columns == 4 ? entry >> 2 : entry / columns;
      const struct source *s = &group->sources[entry - place * columns];
      const double *row = (const void *)(s->rows + (size_t)place * s->row_bytes);
      double *to = (void *)(s->target + (size_t)target * s->target_bytes);
      const int dim = g->desc.args[s->turned->arg].dim;
      for (int c = 0; c < dim; c++)
        to[c * s->step] += row[c];
    }
}

static bool is_of_doubles(const struct group *group) {
  bool all = !group->reverse->begin;
  for (int k = 0; k < group->nsources; k++)
    all &= group->sources[k].add == add_double;
  return all;
}

/* The work of a group. */
static void collect(void *const *frame, const int *list, long begin, long end) {
  const struct group *group = frame[0];
  const struct reverse_map *reverse = group->reverse;
  const struct gather *g = group->gather;
  (void)list;
  for (long target = begin; target < end; target++) {
    for (int i = reverse->first[target]; i < reverse->first[target + 1]; i++) {
      const unsigned char *row;
      const struct source *s = gather_source(group, reverse->entries[i], &row);
      if (s->add)
        s->add(s->target + (size_t)target * s->target_bytes, row, g->desc.args[s->turned->arg].dim, s->step);
    }
    if (group->nextrema)
      collect_extrema(group, target);
  }
}

/* The rows of extrema begin with what is there; begin and end as first_row counts. */
static void fill_extrema(const struct turned *t, long begin, long end) {
  const struct map *map = t->from->map;
  const struct dat *dat = t->from->dat;
  const int first = t->from->idx < 0 ? 0 : t->from->idx;
  unsigned char *to = t->rows + (size_t)begin * (size_t)t->ncolumns * t->row_bytes;
  const size_t arity = map->first ? 1 : (size_t)map->arity;
  for (long e = begin; e < end; e++)
    for (int column = first; column < first + t->ncolumns; column++)
      for (int c = 0; c < dat->dim; c++, to += dat->value_size)
        memcpy(to, dat_value(dat, map->table[(size_t)e * arity + (size_t)column], c), dat->value_size);
}

void gather_start_rows(const struct gather *g, long begin, long end) {
  for (int i = 0; i < g->nturned; i++) {
    const struct turned *t = &g->turned[i];
    if (!t->rows || g->desc.args[t->arg].fresh)
      continue;
    const long first = first_row(t->from, begin), last = first_row(t->from, end);
    size_t bytes = (size_t)t->ncolumns * t->row_bytes;
    if (access_is_extremum(t->from->access)) {
      fill_extrema(t, first, last);
      continue;
    }
    type_start_sum(t->type, t->rows + (size_t)first * bytes,
                   (size_t)(last - first) * bytes / type_info(t->type)->size);
  }
}

/* The work of the elements. */
static void fill_rows(void *const *frame, const int *list, long begin, long end) {
  const struct gather *g = frame[0];
  gather_start_rows(g, begin, end);
  g->function(frame + 1, list, begin, end);
}

/* ---- making one ------------------------------------------------------------------------------------------*/

static int make_identity(struct gather *g, long size, struct error *err) {
  int arity = 0;
  for (int m = 0; m < g->desc.nmaps; m++)
    if (g->old_map[m] < 0 && g->desc.maps[m].arity > arity)
      arity = g->desc.maps[m].arity;
  if (!arity)
    return OP_OK;
  size_t count;
  if (!size_mul((size_t)size, (size_t)arity, &count) || count > INT_MAX)
    return error_set(err, OP_ERR_SIZE, "%ld elements with %d targets each are too many to be turned round",
                     size, arity);
  g->identity = array_new(count + MAP_SLACK, sizeof *g->identity);
  if (!g->identity)
    return error_memory(err, "the gather form", count * sizeof *g->identity);
  for (size_t i = 0; i < count; i++)
    g->identity[i] = (int)i;
  return OP_OK;
}

static int make_rows(struct gather *g, struct op_context *ctx, const struct loop *loop,
                     const struct gather_wish *wish, struct error *err) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!is_turned(g, arg) && !is_result(g, arg))
      continue;
    struct turned *t = &g->turned[g->nturned++];
    size_t bytes = 0;
    if (is_result(g, arg)) {
      *t = (struct turned){.arg = i, .from = arg, .type = arg->type, .ncolumns = 1, .row_bytes = arg->bytes};
      continue;
    }
    *t = (struct turned){.arg = i,
                         .from = arg,
                         .type = arg->type,
                         .ncolumns = arg_columns(arg),
                         .row_bytes = arg->dat->row_bytes};
    if (size_mul((size_t)first_row(arg, wish->part.end) * (size_t)t->ncolumns, t->row_bytes, &bytes))
      t->rows = wish->listed ? data_memory_untouched(bytes, (unsigned)t->arg)
                             : data_memory(ctx->team, bytes, (unsigned)t->arg);
    if (!t->rows || !add_sources(g, loop, t))
      return error_memory(err, "the gather form", bytes);
  }
  return OP_OK;
}

int gather_new(struct gather **out, struct op_context *ctx, const struct loop *loop,
               const struct gather_wish *wish, struct error *err) {
  const struct loop_part *part = &wish->part;
  struct gather *g = array_new(1, sizeof *g);
  *out = NULL;
  if (!g)
    return error_memory(err, "the gather form", sizeof *g);
  g->entry = wish->entry;
  g->columns = wish->columns;
  g->results = wish->results;
  g->begin = part->begin;
  int status = turn_desc(g, loop, err);
  if (!status)
    status = make_identity(g, part->end, err);
  if (!status)
    status = make_rows(g, ctx, loop, wish, err);
  if (!status && !(g->frame = array_new((size_t)desc_slots(&g->desc) + 1, sizeof *g->frame)))
    status = error_memory(err, "the gather form", (size_t)desc_slots(&g->desc) * sizeof *g->frame);
  if (status)
    gather_free(g);
  else
    *out = g;
  return status;
}

void gather_free(struct gather *g) {
  if (!g)
    return;
  for (int i = 0; i < g->nturned; i++)
    data_memory_free(g->turned[i].rows);
  for (int i = 0; i < g->ngroups; i++)
    free(g->groups[i].sources);
  desc_free(&g->desc);
  free(g->identity);
  free(g->frame);
  free(g);
}

const struct desc *gather_desc(const struct gather *g) {
  return &g->desc;
}

/* ---- one run ---------------------------------------------------------------------------------------------*/

static unsigned char *rows_of_dat(const struct gather *g, int item) {
  for (int i = 0; i < g->nturned; i++)
    if (rows_of(g->turned[i].arg) == item)
      return g->turned[i].rows;
  return NULL;
}

static void fill_ragged(struct gather *g, const struct launch *launch, int map) {
  const struct desc *d = &g->desc, *old = &launch->loop->desc;
  void **frame = g->frame + 1;
  const bool ragged = d->maps[map].ragged;
  frame[desc_slot_first(d, map)] = ragged ? launch->frame[desc_slot_first(old, g->old_map[map])] : NULL;
  frame[desc_slot_entries(d, map)] = ragged ? launch->frame[desc_slot_entries(old, g->old_map[map])] : NULL;
}

static void fill_frame(struct gather *g, const struct launch *launch) {
  const struct desc *d = &g->desc, *old = &launch->loop->desc;
  void **frame = g->frame + 1;
  g->frame[0] = g;
  for (int i = 0; i < d->ndats; i++) {
    bool kept = g->old_dat[i] >= 0;
    frame[desc_slot_dat(d, i)] =
        kept ? launch->frame[desc_slot_dat(old, g->old_dat[i])] : rows_of_dat(g, g->old_dat[i]);
    frame[desc_slot_stride(d, i)] = kept ? launch->frame[desc_slot_stride(old, g->old_dat[i])] : NULL;
  }
  for (int i = 0; i < d->nmaps; i++) {
    frame[desc_slot_map(d, i)] =
        g->old_map[i] >= 0 ? launch->frame[desc_slot_map(old, g->old_map[i])] : g->identity;
    if (desc_any_ragged(d))
      fill_ragged(g, launch, i);
  }
  for (int i = 0; i < d->nargs; i++) {
    frame[desc_slot_arg(d, i)] = launch->frame[desc_slot_arg(old, i)];
    frame[desc_slot_start(d, i)] = launch->frame[desc_slot_start(old, i)];
  }
  if (!g->columns)
    frame[desc_slot_straight(d)] = launch->frame[desc_slot_straight(old)];
  for (int i = 0; i < d->nsets; i++)
    frame[desc_slot_numbers(d, i)] =
        g->old_set[i] >= 0 ? launch->frame[desc_slot_numbers(old, g->old_set[i])] : NULL;
  for (int i = 0; i < d->nconsts; i++)
    frame[desc_slot_const(d, i)] = launch->frame[desc_slot_const(old, i)];
}

static void fill_targets(struct gather *g, const struct launch *launch) {
  const struct loop *loop = launch->loop;
  for (int i = 0; i < g->ngroups; i++)
    for (int k = 0; k < g->groups[i].nsources; k++) {
      struct source *s = &g->groups[i].sources[k];
      const struct dat *dat = loop->args[s->turned->arg].dat;
      s->target = launch->frame[desc_slot_dat(&loop->desc, loop->desc.args[s->turned->arg].dat)];
      s->target_bytes = dat->soa ? dat->value_size : dat->row_bytes;
      s->step = dat->soa ? dat->stride : 1;
    }
}

void gather_works(struct gather *g, const struct launch *launch, const struct work *own,
                  struct execution *e) {
  const struct loop *loop = launch->loop;
  fill_frame(g, launch);
  fill_targets(g, launch);
  int moved = 1 + desc_slot_arg(&g->desc, 0) - desc_slot_arg(&loop->desc, 0);
  for (int r = 0; r < loop->ready.nreductions; r++) {
    g->reductions[r] = loop->ready.reductions[r];
    g->reductions[r].index += moved;
  }
  g->function = own->function;
  g->works[WORK_RANGE] = *own;
  g->works[WORK_RANGE].function = fill_rows;
  g->works[WORK_RANGE].frame = g->frame;
  g->works[WORK_RANGE].nframe = 1 + desc_slots(&g->desc);
  g->works[WORK_RANGE].reductions = g->reductions;
  for (int i = 0; i < g->ngroups; i++)
    g->works[1 + i] = (struct work){.function = is_of_doubles(&g->groups[i]) ? collect_doubles : collect,
                                    .frame = g->groups[i].frame,
                                    .nframe = 1};
  e->works = g->works;
  e->nworks = 1 + g->ngroups;
}
