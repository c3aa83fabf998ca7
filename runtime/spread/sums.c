#include "spread/sums.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "mesh/handles.h"
#include "mesh/subset.h"
#include "plan/plan_cache.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/coo.h"
#include "spread/parts/mail.h"

/* ---- entries ---- */

static int by_place(const void *a, const void *b) {
  const struct summand *x = a, *y = b;
  if (x->column != y->column)
    return x->column < y->column ? -1 : 1;
  return x->place < y->place ? -1 : x->place > y->place;
}

void sorted_free(struct sorted *o) {
  free(o->begin);
  free(o->items);
}

bool pattern_sort(const struct matrix *m, const struct pattern *p, column_order *order, const void *argument,
                  struct sorted *o) {
  o->rows = m->row_set->extents[EXTENT_OWNED] * (long long)m->row_dim;
  o->first_row = m->row_set->layout->first * m->row_dim;
  o->begin = array_new((size_t)o->rows + 2, sizeof *o->begin);
  for (size_t k = 0; o->begin && k < p->count; k++)
    if (p->rows[k] >= 0)
      o->begin[p->rows[k] - o->first_row + 2]++;
  for (long long r = 0; o->begin && r < o->rows; r++)
    o->begin[r + 2] += o->begin[r + 1];
  o->items = o->begin ? array_new(o->begin[o->rows + 1], sizeof *o->items) : NULL;
  if (!o->items)
    return false;
  for (size_t k = 0; k < p->count; k++)
    if (p->rows[k] >= 0)
      o->items[o->begin[p->rows[k] - o->first_row + 1]++] =
          (struct summand){order(m, argument, p->columns[k]), k};
  for (long long r = 0; r < o->rows; r++)
    if (o->begin[r + 1] > o->begin[r])
      qsort(o->items + o->begin[r], o->begin[r + 1] - o->begin[r], sizeof *o->items, by_place);
  return true;
}

static const long long beyond = 1ll << 62;

/* Other ranks' columns are behind all that are the rank's own. */
static long long own_first(const struct matrix *m, const void *none, long long column) {
  const long long first = m->column_set->layout->first * m->column_dim,
                  end = first + m->column_set->extents[EXTENT_OWNED] * (long long)m->column_dim;
  (void)none;
  return column >= first && column < end ? column : column | beyond;
}

static bool is_new(const struct sorted *o, long long row, size_t i) {
  return i == o->begin[row] || o->items[i].column != o->items[i - 1].column;
}

/* Find where each row's entries begin, in both parts. */
static bool count_entries(const struct sorted *o, struct sums *s) {
  for (int p = 0; p < SUMS_PARTS; p++)
    if (!(s->offsets[p] = array_new((size_t)o->rows + 1, sizeof *s->offsets[p])))
      return false;
  for (long long r = 0; r < o->rows; r++)
    for (size_t i = o->begin[r]; i < o->begin[r + 1]; i++)
      if (is_new(o, r, i))
        s->offsets[o->items[i].column >= beyond][r + 1]++;
  for (int p = 0; p < SUMS_PARTS; p++) {
    s->offsets[p][0] = p ? s->offsets[0][o->rows] : 0;
    for (long long r = 0; r < o->rows; r++)
      s->offsets[p][r + 1] += s->offsets[p][r];
  }
  s->rows = o->rows;
  s->count = s->offsets[SUMS_OTHERS][o->rows];
  return true;
}

static void number_entries(const struct sorted *o, struct sums *s) {
  struct pattern *p = s->pattern;
  for (long long r = 0; r < o->rows; r++) {
    long long next[SUMS_PARTS] = {s->offsets[SUMS_OWN][r], s->offsets[SUMS_OTHERS][r]}, at = 0;
    for (size_t i = o->begin[r]; i < o->begin[r + 1]; i++) {
      const long long column = o->items[i].column;
      if (is_new(o, r, i)) {
        at = next[column >= beyond]++;
        p->rows[at] = o->first_row + r;
        p->columns[at] = column & ~beyond;
      }
      s->places[o->items[i].place] = (int)at;
    }
  }
}

/* Give each element a place for its numbers that count for nothing, if it has any. Returns how many places. */
static long long number_rest(const struct matrix *m, struct sums *s) {
  const struct pattern *p = m->coo->pattern;
  long long rest = 0;
  for (int i = 0; i < m->segments.count; i++) {
    const struct dat *dat = ((const struct segment *)m->segments.items[i])->dat;
    const size_t dim = (size_t)dat->dim;
    for (long e = 0; e < dat->set->extents[EXTENT_EXEC]; e++) {
      const size_t begin = m->coo->first[i] + (size_t)e * dim;
      bool any = false;
      for (size_t k = begin; k < begin + dim; k++)
        if (p->rows[k] < 0) {
          s->places[k] = (int)(s->count + rest);
          any = true;
        }
      rest += any;
    }
  }
  return rest;
}

/* ---- a set, a dat and maps that only loops with the matrix see ---- */

static struct set *make_set(const struct matrix *m, long size) {
  struct set *set = calloc(1, sizeof *set);
  if (!set)
    return NULL;
  set->name = name_copy(m->name);
  set->size = size;
  set->global_size = size;
  for (int i = 0; i < EXTENTS; i++)
    set->extents[i] = size;
  if (set->name)
    return set;
  set_free(set);
  return NULL;
}

static struct map *make_map(struct op_context *ctx, const struct matrix *m, struct sums *s, int i) {
  const struct dat *dat = ((const struct segment *)m->segments.items[i])->dat;
  struct map *map = calloc(1, sizeof *map);
  if (!map)
    return NULL;
  *map = (struct map){.id = ctx->mesh->next_map++,
                      .name = name_copy(m->name),
                      .from = dat->set,
                      .to = s->set,
                      .arity = dat->dim,
                      .table = s->places + m->coo->first[i]};
  if (map->name && (map->handle = handle_new(ctx->handles, HANDLE_MAP, map)))
    return map;
  map->table = NULL;
  map_free(map);
  return NULL;
}

static bool make_objects(struct op_context *ctx, struct matrix *m, struct sums *s, long long rest,
                         struct error *err) {
  const int n = m->segments.count;
  s->set = make_set(m, (long)(s->count + rest));
  s->maps = array_new((size_t)n, sizeof(struct map *));
  for (; s->set && s->maps && s->nmaps < n; s->nmaps++)
    if (!(s->maps[s->nmaps] = make_map(ctx, m, s, s->nmaps)))
      break;
  if (!s->set || !s->maps || s->nmaps < n) {
    error_memory_of(err, "matrix", m->name, (size_t)n * sizeof(struct map));
    return false;
  }
  s->set->id = -2 - s->maps[0]->id; /* no set's */
  s->dat = data_new(ctx, s->set, 1, "double", NULL, m->name, true, err);
  if (!s->dat)
    return false;
  list_remove(&ctx->mesh->dats, s->dat);
  s->dat->segment = &s->part;
  s->dat->read = true;
  s->part = (struct segment){.pair = m->pairs[0]};
  return true;
}

static int fill(struct op_context *ctx, struct matrix *m, struct sums *s, const struct sorted *o,
                struct error *err) {
  struct pattern *p = pattern_new(ctx, (size_t)s->count);
  s->nplaces = m->coo->pattern->count;
  s->places = data_memory(ctx->team, (s->nplaces + MAP_SLACK) * sizeof *s->places, 0);
  const bool good = p && s->places;
  s->pattern = p;
  if (!good)
    error_memory_of(err, "the rows of matrix", m->name, s->nplaces * sizeof *s->places);
  else {
    number_entries(o, s);
    make_objects(ctx, m, s, number_rest(m, s), err);
  }
  const int code = agree_on_success(ctx->agreement, err->code, err);
  s->pattern = NULL;
  if (code)
    pattern_free(p);
  return code ? code : pattern_share(ctx, p, &s->pattern, err);
}

bool sums_fit(const struct op_context *ctx, const struct matrix *m) {
  return m->sums && m->sums->epoch == ctx->mesh->epoch && m->sums->shape == m->shape;
}

int sums_make(struct op_context *ctx, struct matrix *m, struct error *err) {
  struct sorted o = {0};
  int code = coo_list(ctx, m, err);
  if (code)
    return code;
  const int maps = ctx->mesh->next_map, dats = ctx->mesh->next_dat;
  struct sums *s = m->sums = calloc(1, sizeof *s);
  const bool good = s && pattern_sort(m, m->coo->pattern, own_first, NULL, &o) && count_entries(&o, s);
  /* Elements may have one place each behind them. */
  double most[1] = {good ? (double)s->count + (double)m->coo->pattern->count : 0};
  code = agree_on_largest(ctx->agreement,
                          good ? OP_OK
                               : error_memory_of(err, "the rows of matrix", m->name,
                                                 m->coo->pattern->count * sizeof(struct summand)),
                          most, 1, err);
  if (!code && most[0] < INT_MAX)
    code = fill(ctx, m, s, &o, err);
  sorted_free(&o);
  if (code || most[0] >= INT_MAX) {
    sums_free(ctx, m);
    ctx->mesh->next_map = maps; /* as on ranks that did not come so far */
    ctx->mesh->next_dat = dats;
  }
  if (code || !m->sums)
    return code;
  s->epoch = ctx->mesh->epoch;
  s->shape = m->shape;
  coo_forget_lists(ctx, m);
  return OP_OK;
}

static void free_map(struct op_context *ctx, struct map *map) {
  handle_release(ctx->handles, map->handle, NULL);
  map->table = NULL; /* a part of all */
  map_free(map);
}

void sums_free(struct op_context *ctx, struct matrix *m) {
  struct sums *s = m->sums;
  if (!s)
    return;
  m->sums = NULL;
  m->summed = false;
  if (ctx->plans && s->places)
    plan_cache_forget(ctx->plans, s->places, s->nplaces + 1);
  for (int i = 0; i < s->nmaps; i++)
    free_map(ctx, s->maps[i]);
  free(s->maps);
  data_free(ctx, s->dat);
  set_free(s->set);
  data_memory_free(s->places);
  pattern_leave(ctx, s->pattern);
  for (int p = 0; p < SUMS_PARTS; p++)
    free(s->offsets[p]);
  free(s);
}

size_t sums_bytes(const struct matrix *m) {
  const struct sums *s = m->sums;
  return s ? s->nplaces * sizeof *s->places + (size_t)s->set->size * sizeof(double) +
                 (size_t)s->count * 2 * sizeof(long long)
           : 0;
}

/* ---- values ---- */

static double *values_of(const struct sums *s) {
  return s->dat->replicas[SPACE_HOST].memory;
}

/* Its place on the diagonal; it has one. */
static long long diagonal_of(const struct sums *s, long long row, long long column) {
  long long at = s->offsets[SUMS_OWN][row];
  while (s->pattern->columns[at] != column)
    at++;
  return at;
}

/* All that was given was under one fixing (loop/matrix_form.c). */
static void set_diagonal(const struct matrix *m, const struct fixing *f) {
  const struct sums *s = m->sums;
  const long long first = m->row_set->layout->first * m->row_dim;
  for (long e = 0; f && f->rows && e < m->row_set->extents[EXTENT_OWNED]; e++)
    for (int r = 0; r < m->row_dim; r++)
      if (*(const int *)dat_value(f->rows, e, r) != 0) {
        const long long row = e * (long long)m->row_dim + r;
        values_of(s)[diagonal_of(s, row, first + row)] = f->diagonal;
      }
}

static const struct fixing *fixing_of(const struct matrix *m) {
  for (int i = 0; i < m->segments.count; i++)
    if (((const struct segment *)m->segments.items[i])->filled)
      return ((const struct segment *)m->segments.items[i])->fixing;
  return NULL;
}

int sums_bring(struct op_context *ctx, const struct matrix *m, struct error *err) {
  const int code = dat_need(ctx, m->sums->dat, SPACE_HOST, REGION_OWNED, err);
  if (!code && matrix_has_diagonal(m))
    set_diagonal(m, fixing_of(m));
  return code;
}

/* ---- back to element matrices ---- */

/* Each entry goes where it is met first. */
static void take_entries(const struct matrix *m, int i) {
  const struct sums *s = m->sums;
  const struct segment *segment = m->segments.items[i];
  const struct dat *dat = segment->dat;
  const struct set *set = segment->set;
  const int *places = s->maps[i]->table, *own = set->sub ? set->sub->own->table : NULL;
  double *to = dat->replicas[SPACE_HOST].memory, *values = values_of(s);
  const long rows = set->extents[EXTENT_EXEC];
  for (long j = 0; j < rows; j++) {
    const size_t begin = (size_t)(own ? own[j] : j) * (size_t)dat->dim;
    for (size_t k = begin; k < begin + (size_t)dat->dim; k++)
      if (places[k] < s->count) {
        to[k] = values[places[k]];
        values[places[k]] = 0;
      }
  }
}

static void clear_rows(const struct dat *dat) {
  memset(dat->replicas[SPACE_HOST].memory, 0, (size_t)dat->set->extents[EXTENT_NONEXEC] * dat->row_bytes);
}

/* Copies of elements lose what they have: their owners add it. */
static int send_back(struct op_context *ctx, struct dat *dat, struct error *err) {
  const struct halo_exchange *exec = &dat->set->spread->exec;
  const size_t dim = (size_t)dat->dim;
  /* One row behind the other, since an element may come from several ranks. */
  struct halo_side come = exec->send;
  const long count = come.first[come.count];
  double *rows = dat->replicas[SPACE_HOST].memory, *items = array_new((size_t)count, dim * sizeof *items);
  come.elements = array_new((size_t)count, sizeof *come.elements);
  const bool good = items && come.elements;
  int code =
      agree_on_success(ctx->agreement, good ? OP_OK : error_memory_of(err, "matrix", dat->name, 0), err);
  for (long k = 0; !code && k < count; k++)
    come.elements[k] = (int)k;
  ctx->comm->where = dat->name;
  if (!code)
    code = carry_rows(ctx->comm, &exec->receive, &come, dim * sizeof *rows, rows, items, err);
  for (long k = 0; !code && k < count; k++)
    for (size_t c = 0; c < dim; c++)
      rows[(size_t)exec->send.elements[k] * dim + c] += items[(size_t)k * dim + c];
  free(items);
  free(come.elements);
  return code;
}

int sums_leave(struct op_context *ctx, struct matrix *m, struct error *err) {
  int code = m->summed ? dat_need(ctx, m->sums->dat, SPACE_HOST, REGION_OWNED, err) : OP_OK;
  for (int i = 0; !code && m->summed && i < m->sums->nmaps; i++) {
    struct segment *segment = m->segments.items[i];
    if (!segment->filled)
      continue;
    clear_rows(segment->dat);
    take_entries(m, i);
    if (segment->dat->set->spread)
      code = send_back(ctx, segment->dat, err);
    segment->cleared = false;
    dat_wrote(segment->dat, SPACE_HOST);
  }
  m->values += m->summed;
  m->summed = false;
  return code;
}

int sums_leave_all(struct op_context *ctx, struct error *err) {
  bool any = false;
  int code = OP_OK;
  for (int i = 0; !code && i < ctx->mesh->matrices.count; i++) {
    struct matrix *m = ctx->mesh->matrices.items[i];
    any |= m->summed;
    code = sums_leave(ctx, m, err);
  }
  return any ? agree_on_success(ctx->agreement, code, err) : code;
}
