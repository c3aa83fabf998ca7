#include "mesh/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "mesh/handles.h"
#include "mesh/subset.h"

static struct set *row_set_of(const struct matrix_pair *p) {
  return p->rows ? p->rows->to : p->columns->from;
}

static struct set *column_set_of(const struct matrix_pair *p) {
  return p->columns ? p->columns->to : p->rows->from;
}

static const char *map_name(const struct map *map) {
  return map ? map->name : "OP_ID";
}

static int check_pair(const struct matrix_pair *pairs, int i, const char *name, struct error *err) {
  const struct matrix_pair *p = &pairs[i];
  if (!p->rows && !p->columns)
    return error_set(
        err, OP_ERR_ARGUMENT,
        "matrix \"%s\", pair %d: rows and columns are both OP_ID, which says of no set; pass a map "
        "for one of them",
        name, i + 1);
  if (p->rows && p->columns && p->rows->from != p->columns->from)
    return error_set(
        err, OP_ERR_MAP_SET,
        "matrix \"%s\", pair %d: map \"%s\" of the rows starts at set \"%s\", but map \"%s\" of the "
        "columns at set \"%s\"; both are of one set, whose elements have the matrices",
        name, i + 1, p->rows->name, p->rows->from->name, p->columns->name, p->columns->from->name);
  if (row_set_of(p) != row_set_of(&pairs[0]) || column_set_of(p) != column_set_of(&pairs[0]))
    return error_set(
        err, OP_ERR_MAP_SET,
        "matrix \"%s\", pair %d: \"%s\" and \"%s\" lead to rows on set \"%s\" and columns on set "
        "\"%s\", but those of pair 1 are on \"%s\" and \"%s\"; a matrix has one set of rows and one "
        "of columns",
        name, i + 1, map_name(p->rows), map_name(p->columns), row_set_of(p)->name, column_set_of(p)->name,
        row_set_of(&pairs[0])->name, column_set_of(&pairs[0])->name);
  return OP_OK;
}

static int check(int npairs, const struct matrix_pair pairs[], int row_dim, int column_dim, const char *type,
                 const char *name, struct error *err) {
  if (npairs < 1)
    return error_set(err, OP_ERR_ARGUMENT, "matrix \"%s\": %d pairs of maps; expected 1 or more", name,
                     npairs);
  if (row_dim < 1 || column_dim < 1)
    return error_set(err, OP_ERR_DIM, "matrix \"%s\": the dims are %d and %d; expected 1 or more", name,
                     row_dim, column_dim);
  if (type_parse(type, NULL) != TYPE_DOUBLE)
    return error_set(err, OP_ERR_TYPE, "matrix \"%s\": the type is \"%s\"; matrices are of \"double\"", name,
                     type ? type : "NULL");
  for (int i = 0; i < npairs; i++)
    if (check_pair(pairs, i, name, err))
      return err->code;
  return OP_OK;
}

struct matrix *matrix_new(struct op_context *ctx, int npairs, const struct matrix_pair pairs[], int row_dim,
                          int column_dim, const char *type, const char *name, struct error *err) {
  if (check(npairs, pairs, row_dim, column_dim, type, name ? name : "unnamed", err))
    return NULL;
  struct matrix *m = calloc(1, sizeof *m);
  struct matrix_pair *own = array_new((size_t)npairs, sizeof *own);
  if (m)
    *m = (struct matrix){.name = name_copy(name),
                         .row_set = row_set_of(&pairs[0]),
                         .column_set = column_set_of(&pairs[0]),
                         .row_dim = row_dim,
                         .column_dim = column_dim,
                         .pairs = own,
                         .npairs = npairs,
                         .shape = 1,
                         .values = 1};
  if (!m || !own || !m->name || !(m->handle = handle_new(ctx->handles, HANDLE_MATRIX, m)) ||
      !list_add(&ctx->mesh->matrices, m)) {
    if (m && m->handle)
      handle_release(ctx->handles, m->handle, NULL);
    if (m)
      free(m->name);
    free(own);
    free(m);
    error_memory_of(err, "matrix", name, (size_t)npairs * sizeof *own);
    return NULL;
  }
  memcpy(own, pairs, (size_t)npairs * sizeof *own);
  return m;
}

static void free_items(struct list *list) {
  for (int i = 0; i < list->count; i++)
    free(list->items[i]);
  list_free(list);
}

void matrix_free(struct op_context *ctx, struct matrix *m) {
  handle_release(ctx->handles, m->handle, m->name);
  list_remove(&ctx->mesh->matrices, m);
  free_items(&m->segments);
  free_items(&m->fixings);
  free(m->pairs);
  free(m->name);
  free(m);
}

static struct dat *take_fixing(struct fixing *f) {
  struct dat **of = f->rows ? &f->rows : &f->columns, *dat = *of;
  *of = NULL;
  return dat;
}

struct dat *matrix_take_dat(struct matrix *m) {
  struct dat *dat = NULL;
  for (int i = 0; !dat && i < m->segments.count; i++) {
    struct segment *s = m->segments.items[i];
    dat = s->dat;
    s->dat = NULL;
  }
  for (int i = 0; !dat && i < m->fixings.count; i++)
    dat = take_fixing(m->fixings.items[i]);
  return dat;
}

static bool is_used(const struct matrix *m, const struct fixing *f) {
  bool used = f == m->fixing;
  for (int i = 0; i < m->segments.count; i++)
    used |= ((const struct segment *)m->segments.items[i])->fixing == f;
  return used;
}

struct dat *matrix_take_unused(struct matrix *m) {
  for (int i = 0; i < m->fixings.count; i++) {
    struct fixing *f = m->fixings.items[i];
    struct dat *dat = is_used(m, f) ? NULL : take_fixing(f);
    if (dat)
      return dat;
  }
  return NULL;
}

bool matrix_has_others(const struct matrix *m, const struct segment *segment) {
  bool filled = false;
  for (int i = 0; i < m->segments.count; i++)
    filled |= m->segments.items[i] != segment && ((const struct segment *)m->segments.items[i])->filled;
  return filled;
}

bool matrix_is_filled(const struct matrix *m) {
  return matrix_has_others(m, NULL);
}

bool matrix_uses(const struct matrix *m, const void *object) {
  bool uses = m->row_set == object || m->column_set == object;
  for (int i = 0; i < m->npairs; i++) {
    const struct matrix_pair *p = &m->pairs[i];
    uses |= p->rows == object || p->columns == object || (p->rows ? p->rows : p->columns)->from == object;
  }
  for (int i = 0; i < m->segments.count; i++)
    uses |= ((const struct segment *)m->segments.items[i])->set == object;
  return uses;
}

static bool has_dat(const struct matrix *m, const struct dat *dat) {
  bool has = false;
  for (int i = 0; i < m->segments.count; i++)
    has |= ((const struct segment *)m->segments.items[i])->dat == dat;
  for (int i = 0; i < m->fixings.count; i++) {
    const struct fixing *f = m->fixings.items[i];
    has |= f->rows == dat || f->columns == dat;
  }
  return has;
}

const struct matrix *matrix_of_dat(const struct mesh *mesh, const struct dat *dat) {
  for (int i = 0; i < mesh->matrices.count; i++)
    if (has_dat(mesh->matrices.items[i], dat))
      return mesh->matrices.items[i];
  return NULL;
}

/* ---- segments ---- */

static bool is_taken(const struct segment *s, struct segment *const taken[], int n) {
  bool found = false;
  for (int i = 0; i < n; i++)
    found |= taken[i] == s;
  return found;
}

static bool is_of(const struct segment *s, const struct set *set, struct matrix_pair pair) {
  return s->set == set && s->pair.rows == pair.rows && s->pair.columns == pair.columns;
}

/* One that nothing counts of may be of another fixing from now on: else each op_fix_mat would need memory. */
static struct segment *find(struct matrix *m, const struct set *set, struct matrix_pair pair,
                            struct segment *const taken[], int n) {
  struct segment *empty = NULL;
  for (int i = 0; i < m->segments.count; i++) {
    struct segment *s = m->segments.items[i];
    if (!is_of(s, set, pair) || is_taken(s, taken, n))
      continue;
    if (s->fixing == m->fixing)
      return s;
    if (!s->filled && !empty)
      empty = s;
  }
  if (empty) {
    empty->fixing = m->fixing;
    m->shape++;
  }
  return empty;
}

/* On devices components lie apart, so that threads store side by side. Ranks of different backends have one form. */
static const char *type_of(const struct op_context *ctx) {
  return ctx->mover && !ctx->peers ? "double:soa" : "double";
}

/* The number of values of an element's matrix. 0: too many. */
static int find_values(const struct matrix *m, const struct matrix_pair *p, struct error *err) {
  const double rows = (double)matrix_targets(p->rows) * m->row_dim,
               columns = (double)matrix_targets(p->columns) * m->column_dim;
  if (rows * columns <= MATRIX_MOST_VALUES)
    return (int)(rows * columns);
  error_set(
      err, OP_ERR_SIZE,
      "an element's part of matrix \"%s\" by \"%s\" and \"%s\" has %.0f rows and %.0f columns, more than %d "
      "numbers; apply the operator by loops instead (a shell of the solver)",
      m->name, map_name(p->rows), map_name(p->columns), rows, columns, MATRIX_MOST_VALUES);
  return 0;
}

struct segment *matrix_segment(struct op_context *ctx, struct matrix *m, struct set *set,
                               struct matrix_pair pair, struct segment *const taken[], int n,
                               struct error *err) {
  struct segment *s = find(m, set, pair, taken, n);
  if (s)
    return s;
  const int values = find_values(m, &pair, err);
  if (!values)
    return NULL;
  s = calloc(1, sizeof *s);
  if (!s) {
    error_memory_of(err, "matrix", m->name, sizeof *s);
    return NULL;
  }
  *s = (struct segment){.set = set, .pair = pair, .fixing = m->fixing};
  s->dat = data_new(ctx, set->sub ? set->sub->parent : set, values, type_of(ctx), NULL, m->name, true, err);
  if (!s->dat || !list_add(&m->segments, s)) {
    if (s->dat) {
      data_undo(ctx, s->dat);
      error_memory_of(err, "matrix", m->name, sizeof *s);
    }
    free(s);
    return NULL;
  }
  s->dat->segment = s;
  s->dat->read = true; /* by who wants the matrix */
  m->shape++;
  return s;
}

int matrix_complete(struct op_context *ctx, struct matrix *m, struct error *err) {
  for (int i = 0; i < m->npairs; i++) {
    const struct matrix_pair p = m->pairs[i];
    struct set *set = (p.rows ? p.rows : p.columns)->from;
    bool found = false;
    for (int j = 0; j < m->segments.count; j++)
      found |= is_of(m->segments.items[j], set, p);
    if (!found && !matrix_segment(ctx, m, set, p, NULL, 0, err))
      return err->code;
  }
  return OP_OK;
}

void matrix_zero(struct matrix *m) {
  for (int i = 0; i < m->segments.count; i++)
    ((struct segment *)m->segments.items[i])->filled = false;
  m->values++;
}

int matrix_fix(struct matrix *m, struct dat *rows, struct dat *columns, double diagonal, struct error *err) {
  m->fixing = NULL;
  m->values++;
  m->shape++;
  if (!rows && !columns)
    return OP_OK;
  struct fixing *f = calloc(1, sizeof *f);
  if (!f || !list_add(&m->fixings, f)) {
    free(f);
    return error_memory_of(err, "matrix", m->name, sizeof *f);
  }
  *f = (struct fixing){.rows = rows, .columns = columns, .diagonal = diagonal};
  m->fixing = f;
  return OP_OK;
}
