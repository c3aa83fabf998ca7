#include "spread/coo.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "mesh/subset.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/exchange.h"
#include "spread/parts/mail.h"
#include "spread/sums.h"

/* ---- lists ---- */

/* Elements of the segment that may give something to what this rank owns. */
static long run_elements(const struct segment *s) {
  return s->set->extents[s->pair.rows ? EXTENT_EXEC : EXTENT_OWNED];
}

/* The element on which its dat has the matrix. */
static long element_of(const struct segment *s, long e) {
  return s->set->sub ? s->set->sub->own->table[e] : e;
}

static long count_targets(const struct map *map, long e) {
  return map ? map_end(map, e) - map_begin(map, e) : 1;
}

static long target(const struct map *map, long e, long i) {
  return map ? map->table[map_begin(map, e) + i] : e;
}

static bool is_fixed(const struct dat *flags, long element, int component) {
  return flags && *(const int *)dat_value(flags, element, component) != 0;
}

/* Places of an element's numbers in the segment's part of the array. */
static size_t place_of(const struct dat *dat, long element, long component) {
  return dat->soa ? (size_t)component * (size_t)dat->stride + (size_t)element
                  : (size_t)element * (size_t)dat->dim + (size_t)component;
}

/* A row of an element's matrix, of `n` columns each of which is a component of a target. */
struct line {
  const struct matrix *m;
  const struct segment *s;
  long element;
  long long row; /* -1: others', or fixed */
  long begin;    /* the first component of the dat */
};

static void list_line(const struct line *l, long long *rows, long long *columns) {
  const struct map *map = l->s->pair.columns;
  const struct fixing *f = l->s->fixing;
  const int dim = l->m->column_dim;
  const long n = count_targets(map, l->element);
  for (long j = 0; l->row >= 0 && j < n; j++) {
    const long to = target(map, l->element, j);
    for (int c = 0; c < dim; c++) {
      const size_t at = place_of(l->s->dat, l->element, l->begin + j * dim + c);
      if (f && is_fixed(f->columns, to, c))
        continue;
      rows[at] = l->row;
      columns[at] = layout_number(l->m->column_set, to) * dim + c;
    }
  }
}

static void list_segment(const struct matrix *m, const struct segment *s, long long *rows,
                         long long *columns) {
  const long owned = m->row_set->extents[EXTENT_OWNED];
  const int dim = m->row_dim;
  for (long e = 0; e < run_elements(s); e++) {
    struct line l = {.m = m, .s = s, .element = element_of(s, e)};
    const long length = count_targets(s->pair.columns, l.element) * m->column_dim;
    for (long i = 0; i < count_targets(s->pair.rows, l.element); i++) {
      const long to = target(s->pair.rows, l.element, i);
      for (int r = 0; r < dim; r++, l.begin += length) {
        const bool mine = to < owned && !(s->fixing && is_fixed(s->fixing->rows, to, r));
        l.row = mine ? layout_number(m->row_set, to) * dim + r : -1;
        list_line(&l, rows, columns);
      }
    }
  }
}

static void list_all(const struct matrix *m, struct pattern *p, const size_t *first) {
  for (size_t i = 0; i < p->count; i++)
    p->rows[i] = p->columns[i] = -1;
  int i = 0;
  for (; i < m->segments.count; i++)
    list_segment(m, m->segments.items[i], p->rows + first[i], p->columns + first[i]);
  for (size_t at = first[i]; at < first[i + 1]; at++)
    p->rows[at] = p->columns[at] = m->row_set->layout->first * m->row_dim + (long long)(at - first[i]);
}

/* ---- patterns ---- */

static uint64_t hash_of(const struct pattern *p) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < p->count; i++)
    hash = (hash ^ (uint64_t)p->rows[i] ^ (uint64_t)p->columns[i] << 32) * 1099511628211u;
  return hash;
}

void pattern_free(struct pattern *p) {
  if (!p)
    return;
  free(p->rows);
  free(p->columns);
  free(p);
}

static bool is_like(const struct pattern *a, const struct pattern *b) {
  return a->hash == b->hash && a->count == b->count && a->epoch == b->epoch &&
         memcmp(a->rows, b->rows, a->count * sizeof *a->rows) == 0 &&
         memcmp(a->columns, b->columns, a->count * sizeof *a->columns) == 0;
}

/* Find an equal pattern that all ranks have: one is shared by all of them or by none. */
static int find_like(struct op_context *ctx, const struct pattern *p, struct pattern **out,
                     struct error *err) {
  *out = NULL;
  for (struct pattern *other = ctx->mesh->patterns; other && !*out; other = other->next) {
    long long same = is_like(other, p);
    if (!comm_alone(ctx->comm) &&
        ctx->comm->table->reduce_all(ctx->comm, &same, 1, COMM_LLONG, COMM_MIN, err))
      return err->code;
    if (same)
      *out = other;
  }
  return OP_OK;
}

void pattern_leave(struct op_context *ctx, struct pattern *p) {
  if (!p || --p->users > 0)
    return;
  struct pattern **link = &ctx->mesh->patterns;
  while (*link != p)
    link = &(*link)->next;
  *link = p->next;
  pattern_free(p);
}

struct pattern *pattern_new(const struct op_context *ctx, size_t count) {
  struct pattern *p = calloc(1, sizeof *p);
  if (!p)
    return NULL;
  *p = (struct pattern){.users = 1,
                        .epoch = ctx->mesh->epoch,
                        .count = count,
                        .rows = array_new(count, sizeof *p->rows),
                        .columns = array_new(count, sizeof *p->columns)};
  if (p->rows && p->columns)
    return p;
  pattern_free(p);
  return NULL;
}

int pattern_share(struct op_context *ctx, struct pattern *p, struct pattern **out, struct error *err) {
  struct pattern *like = NULL;
  p->hash = hash_of(p);
  const int code = find_like(ctx, p, &like, err);
  if (code || like)
    pattern_free(p);
  if (code)
    return code;
  if (like)
    like->users++;
  else {
    p->number = ++ctx->mesh->next_pattern;
    p->next = ctx->mesh->patterns;
    ctx->mesh->patterns = p;
  }
  *out = like ? like : p;
  return OP_OK;
}

/* The lists of the segments as they are. */
static int find_pattern(struct op_context *ctx, struct matrix *m, struct coo *coo, struct error *err) {
  const size_t count = coo->first[m->segments.count + 1];
  struct pattern *p = pattern_new(ctx, count);
  int code = p ? OP_OK : error_memory_of(err, "the pattern of matrix", m->name, 2 * count * sizeof *p->rows);
  code = agree_on_success(ctx->agreement, code, err);
  if (code) {
    pattern_free(p);
    return code;
  }
  list_all(m, p, coo->first);
  return pattern_share(ctx, p, &coo->pattern, err);
}

/* ---- the array ---- */

static size_t values_of(const struct dat *dat) {
  size_t bytes = 0;
  data_bytes(dat, dat->set->extents[EXTENT_NONEXEC], &bytes);
  return bytes / sizeof(double);
}

/* From now on the segment's loops work there, if they do not yet. */
static void place(struct op_context *ctx, struct dat *dat, double *at) {
  struct replica *host = &dat->replicas[SPACE_HOST];
  if (host->memory == at)
    return;
  memcpy(at, host->memory, values_of(dat) * sizeof *at);
  dat_leave_rows(dat);
  host->memory = at;
  dat->borrowed = true;
  ctx->mesh->moved++;
}

static int make_array(struct op_context *ctx, struct matrix *m, struct coo *coo, struct error *err) {
  const int n = m->segments.count;
  size_t *first = array_new((size_t)n + 2, sizeof *first);
  if (!first)
    return error_memory_of(err, "matrix", m->name, ((size_t)n + 2) * sizeof *first);
  for (int i = 0; i < n; i++)
    first[i + 1] = first[i] + values_of(((const struct segment *)m->segments.items[i])->dat);
  first[n + 1] =
      first[n] +
      (matrix_has_diagonal(m) ? (size_t)m->row_set->extents[EXTENT_OWNED] * (size_t)m->row_dim : 0);
  double *array = data_memory(ctx->team, (first[n + 1] + 1) * sizeof *array, 0);
  if (!array) {
    error_memory_of(err, "matrix", m->name, first[n + 1] * sizeof *array);
    free(first);
    return err->code;
  }
  for (int i = 0; i < n; i++)
    place(ctx, ((struct segment *)m->segments.items[i])->dat, array + first[i]);
  data_memory_free(coo->array);
  free(coo->first);
  coo->array = array;
  coo->first = first;
  return OP_OK;
}

/* ---- values ---- */

/* Copies of others' element matrices: loops leave them, and lose them where the mesh is dealt out anew. */
static int bring_copies(struct op_context *ctx, const struct segment *s, enum space space,
                        struct error *err) {
  const struct distribution *d = s->dat->set->spread;
  if (!d || !s->pair.rows || halo_depth(ctx, s->dat) > 0)
    return d ? halo_bring(ctx, s->dat, space, err) : OP_OK;
  const struct row_store rows = dat_rows(s->dat);
  ctx->comm->where = s->dat->name;
  int code = dat_need(ctx, s->dat, SPACE_HOST, REGION_OWNED, err);
  code = code ? code : carry(ctx->comm, &d->exec.send, &d->exec.receive, &rows, &rows, 1, err);
  if (code)
    return code;
  ctx->counters->messages += d->exec.send.count;
  ctx->counters->bytes_sent += d->exec.send.first[d->exec.send.count] * (long long)s->dat->row_bytes;
  halo_computed(ctx, s->dat, SPACE_HOST, 1);
  return halo_bring(ctx, s->dat, space, err);
}

static int bring_flags(struct op_context *ctx, const struct dat *flags, struct error *err) {
  const struct distribution *d = flags ? flags->set->spread : NULL;
  if (!d)
    return OP_OK;
  const struct row_store rows = dat_rows(flags);
  ctx->comm->where = flags->name;
  const int code = carry(ctx->comm, &d->exec.send, &d->exec.receive, &rows, &rows, 1, err);
  return code ? code : carry(ctx->comm, &d->nonexec.send, &d->nonexec.receive, &rows, &rows, 1, err);
}

static int bring_fixings(struct op_context *ctx, const struct matrix *m, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < m->fixings.count; i++) {
    const struct fixing *f = m->fixings.items[i];
    code = bring_flags(ctx, f->rows, err);
    if (!code)
      code = bring_flags(ctx, f->columns, err);
  }
  return code;
}

static bool is_run_under(const struct matrix *m, const struct fixing *f) {
  bool run = false;
  for (int i = 0; i < m->segments.count; i++) {
    const struct segment *s = m->segments.items[i];
    run |= s->filled && s->fixing == f;
  }
  return run;
}

/* A row that was fixed twice has the later number, in whatever order the segments are. */
static void set_diagonal(const struct matrix *m, double *diagonal) {
  const long owned = m->row_set->extents[EXTENT_OWNED];
  const int dim = m->row_dim;
  memset(diagonal, 0, (size_t)owned * (size_t)dim * sizeof *diagonal);
  for (int i = 0; i < m->fixings.count; i++) {
    const struct fixing *f = m->fixings.items[i];
    const bool counts = f->rows && is_run_under(m, f);
    for (long e = 0; counts && e < owned; e++)
      for (int r = 0; r < dim; r++)
        if (is_fixed(f->rows, e, r))
          diagonal[e * dim + r] = f->diagonal;
  }
}

static int bring_segment(struct op_context *ctx, const struct segment *s, enum space space,
                         struct error *err) {
  const int code = dat_need(ctx, s->dat, space, REGION_OWNED, err);
  return code ? code : bring_copies(ctx, s, space, err);
}

static int bring_values(struct op_context *ctx, struct matrix *m, struct coo *coo, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < m->segments.count; i++) {
    struct segment *s = m->segments.items[i];
    if (!s->filled && !s->cleared)
      memset(coo->array + coo->first[i], 0, (coo->first[i + 1] - coo->first[i]) * sizeof *coo->array);
    s->cleared = !s->filled;
    if (s->filled)
      code = bring_segment(ctx, s, SPACE_HOST, err);
  }
  if (!code && matrix_has_diagonal(m))
    set_diagonal(m, coo->array + coo->first[m->segments.count]);
  return code;
}

/* ---- all ---- */

void coo_forget_lists(struct op_context *ctx, struct matrix *m) {
  pattern_leave(ctx, m->coo->pattern);
  m->coo->pattern = NULL;
}

void csr_free(struct csr *csr) {
  free(csr->offsets);
  free(csr->columns);
  free(csr->values);
  *csr = (struct csr){0};
}

static int renew(struct op_context *ctx, struct matrix *m, struct error *err) {
  struct coo *coo = m->coo;
  coo_forget_lists(ctx, m);
  coo->values = 0;
  csr_free(&coo->csr);
  int code = agree_on_success(ctx->agreement, make_array(ctx, m, coo, err), err);
  if (!code)
    code = bring_fixings(ctx, m, err);
  if (!code)
    code = find_pattern(ctx, m, coo, err);
  if (!code) {
    coo->epoch = ctx->mesh->epoch;
    coo->shape = m->shape;
  }
  return code;
}

/* Something moved the segments' rows: a tape's swap. */
static bool is_in_place(const struct matrix *m) {
  bool in_place = true;
  for (int i = 0; i < m->segments.count; i++)
    in_place &= ((const struct segment *)m->segments.items[i])->dat->replicas[SPACE_HOST].memory ==
                (void *)(m->coo->array + m->coo->first[i]);
  return in_place;
}

int coo_check(const struct matrix *m, const char *call, struct error *err) {
  return matrix_is_filled(m) ? OP_OK
                             : error_set(err, OP_ERR_STATE,
                                         "%s: matrix \"%s\" is used before a loop filled it; run one that "
                                         "takes it as an argument, behind "
                                         "the last op_zero_mat",
                                         call, m->name);
}

/* True if the lists are those of the mesh and of the segments as they are. The same on all ranks. */
static bool is_listed(const struct op_context *ctx, const struct matrix *m) {
  return m->coo && m->coo->pattern && m->coo->epoch == ctx->mesh->epoch && m->coo->shape == m->shape &&
         is_in_place(m);
}

static int make_lists(struct op_context *ctx, struct matrix *m, struct error *err) {
  if (!m->coo && !(m->coo = calloc(1, sizeof *m->coo)))
    error_memory_of(err, "matrix", m->name, sizeof *m->coo);
  int code = m->coo ? matrix_complete(ctx, m, err) : err->code;
  code = agree_on_success(ctx->agreement, code, err);
  if (!code)
    code = layout_make(ctx, m->row_set, err);
  if (!code)
    code = layout_make(ctx, m->column_set, err);
  return code || is_listed(ctx, m) ? code : renew(ctx, m, err);
}

bool coo_is_listed(const struct op_context *ctx, const struct matrix *m) {
  return m->summed ? sums_fit(ctx, m) : is_listed(ctx, m);
}

int coo_list(struct op_context *ctx, struct matrix *m, struct error *err) {
  return is_listed(ctx, m) ? OP_OK : make_lists(ctx, m, err);
}

int coo_make(struct op_context *ctx, struct matrix *m, struct error *err) {
  int code = OP_OK;
  if (m->summed && !sums_fit(ctx, m))
    code = sums_leave(ctx, m, err);
  if (!code && !m->summed)
    code = coo_list(ctx, m, err);
  if (!code && m->coo->values != m->values)
    code = m->summed ? sums_bring(ctx, m, err) : bring_values(ctx, m, m->coo, err);
  if (!code)
    m->coo->values = m->values;
  return code;
}

int coo_make_on_device(struct op_context *ctx, struct matrix *m, enum space space, struct error *err) {
  int code = coo_list(ctx, m, err);
  for (int i = 0; !code && i < m->segments.count; i++) {
    const struct segment *s = m->segments.items[i];
    if (s->filled)
      code = bring_segment(ctx, s, space, err);
  }
  if (!code && matrix_has_diagonal(m))
    set_diagonal(m, m->coo->array + m->coo->first[m->segments.count]);
  return code;
}

struct listed coo_listed(const struct matrix *m) {
  return m->summed ? (struct listed){.pattern = m->sums->pattern,
                                     .array = m->sums->dat->replicas[SPACE_HOST].memory,
                                     .sums = m->sums}
                   : (struct listed){.pattern = m->coo->pattern, .array = m->coo->array};
}

void coo_free(struct op_context *ctx, struct matrix *m) {
  sums_free(ctx, m);
  if (!m->coo)
    return;
  pattern_leave(ctx, m->coo->pattern);
  data_memory_free(m->coo->array);
  free(m->coo->first);
  csr_free(&m->coo->csr);
  free(m->coo);
  m->coo = NULL;
}

void matrices_free(struct op_context *ctx) {
  while (ctx->mesh->matrices.count) {
    struct matrix *m = ctx->mesh->matrices.items[0];
    coo_free(ctx, m);
    matrix_free(ctx, m);
  }
  list_free(&ctx->mesh->matrices);
}
