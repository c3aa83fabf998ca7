/* A matrix by rows, in the user's numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "context/context.h"
#include "mesh/halo.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "spread/coo.h"
#include "spread/parts/mail.h"
#include "spread/parts/numbers.h"
#include "spread/sums.h"

struct item {
  long long column;
  double value;
};

/* Rows one behind the other: offsets[i] .. offsets[i + 1] - 1 are of row i. */
struct lines {
  long count;
  long long *offsets;
  struct item *items;
};

static void lines_free(struct lines *r) {
  free(r->offsets);
  free(r->items);
  *r = (struct lines){0};
}

static int no_memory(const struct matrix *m, size_t count, struct error *err) {
  return error_memory_of(err, "the rows of matrix", m->name, count * sizeof(struct item));
}

/* ---- the user's numbers of columns ---- */

/* `copies`: the numbers that copies have for bridges. */
static long long user_of(const struct set *set, const struct numbers *copies, long long number) {
  const long owned = set->extents[EXTENT_OWNED];
  return number >= set->layout->first && number < set->layout->first + owned
             ? set->layout->users[number - set->layout->first]
             : set->spread->numbers[owned + numbers_find(copies, number)];
}

/* ---- the rows that the rank owns ---- */

/* `argument`: the copies. */
static long long user_column(const struct matrix *m, const void *argument, long long column) {
  return user_of(m->column_set, argument, column / m->column_dim) * m->column_dim + column % m->column_dim;
}

/* Each column of a row once. */
static void add_up(const struct sorted *o, const double *values, struct lines *r) {
  long long at = 0;
  for (long i = 0; i < r->count; i++) {
    for (size_t k = o->begin[i]; k < o->begin[i + 1]; k++) {
      const struct summand *s = &o->items[k];
      if (at > r->offsets[i] && r->items[at - 1].column == s->column)
        r->items[at - 1].value += values[s->place];
      else
        r->items[at++] = (struct item){s->column, values[s->place]};
    }
    r->offsets[i + 1] = at;
  }
}

static int find_rows(const struct matrix *m, struct lines *r, struct error *err) {
  const struct listed listed = coo_listed(m);
  const struct set *set = m->column_set;
  struct numbers copies;
  struct sorted o = {0};
  bool good =
      numbers_new(&copies, set->layout->copies, set->extents[EXTENT_NONEXEC] - set->extents[EXTENT_OWNED]) &&
      pattern_sort(m, listed.pattern, user_column, &copies, &o);
  const size_t entries = good ? o.begin[o.rows] : 0;
  r->count = (long)o.rows;
  r->offsets = array_new((size_t)r->count + 1, sizeof *r->offsets);
  r->items = array_new(entries, sizeof *r->items);
  good = good && r->offsets && r->items;
  if (good)
    add_up(&o, listed.array, r);
  sorted_free(&o);
  numbers_free(&copies);
  return good ? OP_OK : no_memory(m, entries, err);
}

/* ---- those that it declared ---- */

/* Rows of an element: as many as it has components. */
static long long length_of(const struct lines *r, long element, int dim) {
  return r->offsets[(element + 1) * dim] - r->offsets[(element)*dim];
}

static int offsets_from(const struct matrix *m, const long long *lengths, struct lines *out,
                        struct error *err) {
  out->count = m->row_set->size * m->row_dim;
  out->offsets = array_new((size_t)out->count + 1, sizeof *out->offsets);
  for (long i = 0; out->offsets && i < out->count; i++)
    out->offsets[i + 1] = out->offsets[i] + lengths[i];
  out->items = out->offsets ? array_new((size_t)out->offsets[out->count], sizeof *out->items) : NULL;
  return out->items ? OP_OK : no_memory(m, (size_t)out->count, err);
}

static int turn_back(const struct matrix *m, const struct lines *own, struct lines *out, struct error *err) {
  const int *from_user = m->row_set->from_user, dim = m->row_dim;
  long long *lengths = array_new((size_t)own->count, sizeof *lengths);
  for (long i = 0; lengths && i < own->count; i++) {
    const long row = (from_user ? from_user[i / dim] : i / dim) * dim + i % dim;
    lengths[i] = own->offsets[row + 1] - own->offsets[row];
  }
  const int code = lengths ? offsets_from(m, lengths, out, err) : no_memory(m, 0, err);
  for (long e = 0; !code && e < m->row_set->size; e++) {
    const long row = (from_user ? from_user[e] : e) * dim;
    memcpy(out->items + out->offsets[e * dim], own->items + own->offsets[row],
           (size_t)length_of(own, row / dim, dim) * sizeof *out->items);
  }
  free(lengths);
  return code;
}

/* To each rank the rows of what it declared, and the counts of items. NULL: no memory. */
static struct item *pack(const struct matrix *m, const struct lines *own, struct tally *to) {
  const struct halo_side *side = &m->row_set->spread->home.receive;
  struct item *items = array_new((size_t)own->offsets[own->count], sizeof *items), *at = items;
  bool good = items != NULL;
  for (int i = 0; good && i < side->count; i++)
    for (long k = side->first[i]; good && k < side->first[i + 1]; k++) {
      const long e = side->elements[k];
      const long long n = length_of(own, e, m->row_dim);
      memcpy(at, own->items + own->offsets[e * m->row_dim], (size_t)n * sizeof *at);
      at += n;
      good = tally_add(to, side->ranks[i], (long)n);
    }
  if (good)
    return items;
  free(items);
  return NULL;
}

static void unpack(const struct matrix *m, const struct item *at, struct lines *out) {
  const struct halo_side *side = &m->row_set->spread->home.send;
  for (int i = 0; i < side->count; i++)
    for (long k = side->first[i]; k < side->first[i + 1]; k++) {
      const long e = side->elements[k];
      const long long n = length_of(out, e, m->row_dim);
      memcpy(out->items + out->offsets[e * m->row_dim], at, (size_t)n * sizeof *at);
      at += n;
    }
}

static int send_back(struct op_context *ctx, const struct matrix *m, const struct lines *own,
                     struct lines *out, struct error *err) {
  const struct halo_exchange *home = &m->row_set->spread->home;
  const int dim = m->row_dim;
  struct mail mail = {0};
  long long *lengths = array_new((size_t)own->count, sizeof *lengths),
            *told = array_new((size_t)m->row_set->size * (size_t)dim, sizeof *told);
  struct tally to = {0};
  struct item *items = pack(m, own, &to);
  int code = agree_on_success(ctx->agreement,
                              lengths && told && items ? OP_OK : no_memory(m, (size_t)own->count, err), err);
  for (long i = 0; !code && i < own->count; i++)
    lengths[i] = own->offsets[i + 1] - own->offsets[i];
  ctx->comm->where = m->name;
  if (!code)
    code =
        carry_rows(ctx->comm, &home->receive, &home->send, (size_t)dim * sizeof *lengths, lengths, told, err);
  if (!code)
    code = agree_on_success(ctx->agreement, offsets_from(m, told, out, err), err);
  if (!code) {
    code = mail_send(ctx->comm, items, &to, sizeof *items, &mail, err);
    items = NULL;
  }
  if (!code)
    unpack(m, mail.items, out);
  mail_free(&mail);
  free(items);
  tally_free(&to);
  free(lengths);
  free(told);
  return code;
}

/* ---- all ---- */

static int split(const struct matrix *m, struct lines *r, struct csr *out, struct error *err) {
  out->rows = r->count;
  out->entries = r->offsets[r->count];
  out->offsets = r->offsets;
  r->offsets = NULL;
  out->columns = array_new((size_t)out->entries, sizeof *out->columns);
  out->values = array_new((size_t)out->entries, sizeof *out->values);
  if (!out->columns || !out->values)
    return no_memory(m, (size_t)out->entries, err);
  for (long long i = 0; i < out->entries; i++) {
    out->columns[i] = r->items[i].column;
    out->values[i] = r->items[i].value;
  }
  return OP_OK;
}

int csr_make(struct op_context *ctx, struct matrix *m, struct error *err) {
  struct lines own = {0}, mine = {0};
  int code = coo_make(ctx, m, err);
  if (code || (m->coo->csr.offsets && m->coo->csr_values == m->values))
    return code;
  csr_free(&m->coo->csr);
  const double start = clock_seconds();
  code = agree_on_success(ctx->agreement, find_rows(m, &own, err), err);
  if (!code)
    code = m->row_set->spread ? send_back(ctx, m, &own, &mine, err) : turn_back(m, &own, &mine, err);
  if (!code)
    code = split(m, &mine, &m->coo->csr, err);
  lines_free(&own);
  lines_free(&mine);
  if (code)
    csr_free(&m->coo->csr);
  m->coo->csr_values = m->values;
  m->forms.brought += clock_seconds() - start;
  return code;
}
