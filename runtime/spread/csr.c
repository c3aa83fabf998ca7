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
#include "spread/csr_layout.h"
#include "spread/parts/mail.h"

/* A summand of one entry, or the whole entry. */
struct item {
  long long column;
  size_t order; /* as they stand in the lists, so that sums are always the same */
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

struct copy {
  long long number, user;
};

static int by_number(const void *a, const void *b) {
  const struct copy *x = a, *y = b;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* List a set's copies, sorted by their numbers. NULL: no memory. */
static struct copy *copies_of(const struct set *set) {
  const long owned = set->extents[EXTENT_OWNED], n = set->extents[EXTENT_NONEXEC] - owned;
  struct copy *copies = array_new((size_t)n, sizeof *copies);
  for (long i = 0; copies && i < n; i++)
    copies[i] = (struct copy){set->layout->copies[i], set->spread->numbers[owned + i]};
  if (copies && n)
    qsort(copies, (size_t)n, sizeof *copies, by_number);
  return copies;
}

static long long user_of(const struct set *set, const struct copy *copies, long long number) {
  const long owned = set->extents[EXTENT_OWNED];
  if (number >= set->layout->first && number < set->layout->first + owned)
    return set->layout->users[number - set->layout->first];
  long low = 0, high = set->extents[EXTENT_NONEXEC] - owned - 1;
  while (low < high) {
    const long middle = low + (high - low) / 2;
    if (copies[middle].number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return copies[low].user;
}

/* ---- the rows that the rank owns ---- */

static int by_column(const void *a, const void *b) {
  const struct item *x = a, *y = b;
  if (x->column != y->column)
    return x->column < y->column ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorted by columns, each once; returns how many are left. */
static long long add_up(struct item *items, long long n) {
  long long left = 0;
  if (n)
    qsort(items, (size_t)n, sizeof *items, by_column);
  for (long long i = 0; i < n; i++)
    if (left && items[left - 1].column == items[i].column)
      items[left - 1].value += items[i].value;
    else
      items[left++] = items[i];
  return left;
}

static void put_items(const struct matrix *m, const struct copy *copies, struct lines *r) {
  const struct listed listed = coo_listed(m);
  const struct pattern *p = listed.pattern;
  const long long first = m->row_set->layout->first * m->row_dim;
  for (size_t k = 0; k < p->count; k++)
    if (p->rows[k] >= 0) {
      const long long number = p->columns[k] / m->column_dim, component = p->columns[k] % m->column_dim;
      r->items[r->offsets[p->rows[k] - first]++] = (struct item){
          user_of(m->column_set, copies, number) * m->column_dim + component, k, listed.array[k]};
    }
  for (long i = r->count; i > 0; i--)
    r->offsets[i] = r->offsets[i - 1];
  r->offsets[0] = 0;
}

static void close_up(struct lines *r) {
  long long at = 0;
  for (long i = 0; i < r->count; i++) {
    const long long begin = r->offsets[i], n = add_up(r->items + begin, r->offsets[i + 1] - begin);
    memmove(r->items + at, r->items + begin, (size_t)n * sizeof *r->items);
    r->offsets[i] = at;
    at += n;
  }
  r->offsets[r->count] = at;
}

static int find_rows(const struct matrix *m, struct lines *r, struct error *err) {
  const struct pattern *p = coo_listed(m).pattern;
  const long long first = m->row_set->layout->first * m->row_dim;
  r->count = m->row_set->extents[EXTENT_OWNED] * m->row_dim;
  struct copy *copies = copies_of(m->column_set);
  r->offsets = array_new((size_t)r->count + 1, sizeof *r->offsets);
  size_t entries = 0;
  for (size_t k = 0; r->offsets && k < p->count; k++)
    if (p->rows[k] >= 0) {
      r->offsets[p->rows[k] - first + 1]++;
      entries++;
    }
  for (long i = 0; r->offsets && i < r->count; i++)
    r->offsets[i + 1] += r->offsets[i];
  r->items = array_new(entries, sizeof *r->items);
  const bool good = copies && r->offsets && r->items;
  if (good) {
    put_items(m, copies, r);
    close_up(r);
  }
  free(copies);
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
