/* Sparse matrices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/list.h"
#include "base/log.h"
#include "context/context.h"
#include "loop/matrix.h"
#include "loop/temporary.h"
#include "mesh/matrix.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/record.h"
#include "spread/coo.h"
#include "spread/spread.h"

/* ---- declaring ---- */

/* NULL in *out: OP_ID. */
static bool find_map(struct op_context *ctx, op_map handle, const char *what, struct map **out) {
  *out = handle == OP_ID ? NULL : api_object(ctx, handle, HANDLE_MAP, "op_decl_mat", what);
  return handle == OP_ID || *out;
}

/* The maps of the pairs, for the caller to free. NULL: the error is set. */
static struct matrix_pair *find_pairs(struct op_context *ctx, int npairs, const op_map rows[],
                                      const op_map columns[], const char *name) {
  if (npairs < 1 || !rows || !columns) {
    error_set(api_error(), OP_ERR_ARGUMENT,
              "matrix \"%s\": %s; expected 1 or more maps of rows and as many of columns", name,
              npairs < 1 ? "there are no pairs" : "the list of maps is NULL");
    return NULL;
  }
  struct matrix_pair *pairs = array_new((size_t)npairs, sizeof *pairs);
  if (!pairs)
    error_memory_of(api_error(), "matrix", name, (size_t)npairs * sizeof *pairs);
  for (int i = 0; pairs && i < npairs; i++)
    if (!find_map(ctx, rows[i], "the map of the rows", &pairs[i].rows) ||
        !find_map(ctx, columns[i], "the map of the columns", &pairs[i].columns)) {
      error_prefix(api_error(), "matrix \"%s\", pair %d: ", name, i + 1);
      free(pairs);
      return NULL;
    }
  return pairs;
}

static void add_map(struct text *facts, const char *what, const struct map *map) {
  text_addf(facts, "%s\t%s\n", what, map ? map->name : "OP_ID");
}

op_mat op2jit_decl_mat(int npairs, const op_map rows[], const op_map columns[], int row_dim, int column_dim,
                       const char *type, const char *name) {
  struct op_context *ctx = api_enter("op_decl_mat", KEEP);
  if (!ctx)
    return NULL;
  const char *shown = name ? name : "unnamed";
  struct text facts = {0};
  struct matrix *m = NULL;
  struct matrix_pair *pairs = find_pairs(ctx, npairs, rows, columns, shown);
  if (pairs && !spread_check(ctx, api_error()))
    m = matrix_new(ctx, npairs, pairs, row_dim, column_dim, type, name, api_error());
  for (int i = 0; pairs && i < npairs; i++) {
    add_map(&facts, "rows", pairs[i].rows);
    add_map(&facts, "columns", pairs[i].columns);
  }
  const int code = agree_on_call(ctx, m ? OP_OK : api_error()->code, api_error(),
                                 "op_decl_mat of matrix \"%s\"\ndims\t%d and %d\n%s", shown, row_dim,
                                 column_dim, text_str(&facts));
  text_free(&facts);
  free(pairs);
  if (!code && ctx->reproducible && ctx->comm->rank == 0)
    log_line(
        ctx->log, LOG_WARN, "loop",
        "matrix %s: OP2_REPRODUCIBLE=on has no effect on its rows, which are added up in the library's order",
        shown);
  if (code && m)
    matrix_free(ctx, m);
  return api_leave_pointer(code ? NULL : m->handle);
}

/* The loop finds what it is in the handles. */
op_arg op2jit_arg_mat(op_mat mat, op_map rows, op_map columns, int row_dim, int column_dim, const char *type,
                      op_access access) {
  return (op_arg){.data_ = columns,
                  .dat_ = (op_dat)(void *)mat,
                  .map_ = rows,
                  .form_ = ARG_MATRIX,
                  .idx_ = column_dim,
                  .dim_ = row_dim,
                  .type_ = (int)type_parse(type, NULL),
                  .access_ = (int)access,
                  .present_ = 1};
}

/* ---- what it holds ---- */

int op2jit_zero_mat(op_mat mat) {
  struct op_context *ctx = api_enter("op_zero_mat", KEEP);
  if (!ctx)
    return api_refused();
  struct matrix *m = api_object(ctx, mat, HANDLE_MATRIX, "op_zero_mat", "the matrix");
  if (m)
    matrix_zero(m);
  return api_leave_local(api_error()->code);
}

/* ---- fixed rows and columns ---- */

/* Flags of rows or columns: as the program says them, and as they are kept. */
struct flags {
  op_dat handle;
  const char *what;
  const struct set *set;
  int dim;
  struct dat *said, *made; /* NULL: none */
};

static int check_flags(struct op_context *ctx, const struct matrix *m, struct flags *f) {
  if (!f->handle || api_error()->code)
    return api_error()->code;
  f->said = api_object(ctx, f->handle, HANDLE_DAT, "op_fix_mat", f->what);
  if (!f->said)
    return api_error()->code;
  if (f->said->set != f->set)
    return error_set(api_error(), OP_ERR_MAP_SET,
                     "op_fix_mat: dat \"%s\" is on set \"%s\", but %s of matrix \"%s\" are on set \"%s\"",
                     f->said->name, f->said->set->name, f->what, m->name, f->set->name);
  if (f->said->dim != f->dim)
    return error_set(api_error(), OP_ERR_DIM,
                     "op_fix_mat: dat \"%s\" has dim %d, but %s of matrix \"%s\" have %d components",
                     f->said->name, f->said->dim, f->what, m->name, f->dim);
  if (f->said->type != TYPE_INT)
    return error_set(
        api_error(), OP_ERR_TYPE,
        "op_fix_mat: dat \"%s\" is of \"%s\"; expected \"int\": 1 where something is fixed, else 0",
        f->said->name, type_info(f->said->type)->name);
  return OP_OK;
}

/* Its values, which are no numbers of rows. */
static int check_values(struct op_context *ctx, const struct flags *f) {
  const int code = f->said ? dat_need(ctx, f->said, SPACE_HOST, REGION_OWNED, api_error()) : OP_OK;
  for (long e = 0; !code && f->said && e < f->set->extents[EXTENT_OWNED]; e++)
    for (int c = 0; c < f->dim; c++) {
      const int value = *(const int *)dat_value(f->said, e, c);
      if (value != 0 && value != 1)
        return error_set(
            api_error(), OP_ERR_RANGE,
            "op_fix_mat: dat \"%s\" has %d in component %d of element %ld of set \"%s\"; expected 1 where "
            "something is fixed, else 0",
            f->said->name, value, c + f->set->first_said, set_said(f->set, e), f->set->name);
    }
  return code;
}

static bool is_same(const struct flags *f, const struct dat *old) {
  bool same = !f->said == !old;
  for (long e = 0; same && old && e < f->set->extents[EXTENT_OWNED]; e++)
    for (int c = 0; c < f->dim; c++)
      same &= *(const int *)dat_value(f->said, e, c) == *(const int *)dat_value(old, e, c);
  return same;
}

static int copy_flags(struct op_context *ctx, const struct matrix *m, struct flags *f) {
  if (!f->said)
    return OP_OK;
  f->made = data_new(ctx, f->said->set, f->dim, "int", NULL, m->name, true, api_error());
  if (!f->made)
    return api_error()->code;
  const struct row_store from = dat_rows(f->said), to = dat_rows(f->made);
  for (long e = 0; e < f->set->extents[EXTENT_OWNED]; e++)
    row_copy(&from, e, &to, e);
  dat_wrote(f->made, SPACE_HOST);
  return OP_OK;
}

/* The same once more changes the diagonal alone: no list is made anew. */
static int fix(struct op_context *ctx, struct matrix *m, struct flags *rows, struct flags *columns,
               double diagonal) {
  const struct fixing *old = m->fixing;
  double differ[1] = {
      !(is_same(rows, old ? old->rows : NULL) && is_same(columns, old ? old->columns : NULL))};
  int code = agree_on_largest(ctx->agreement, OP_OK, differ, 1, api_error());
  if (!code && differ[0] < 0.5) {
    m->values += m->fixing && (m->fixing->diagonal < diagonal || m->fixing->diagonal > diagonal);
    if (m->fixing)
      m->fixing->diagonal = diagonal;
    return OP_OK;
  }
  if (!code)
    code = copy_flags(ctx, m, rows);
  if (!code)
    code = copy_flags(ctx, m, columns);
  if (!code)
    code = matrix_fix(m, rows->made, columns->made, diagonal, api_error());
  code = agree_on_success(ctx->agreement, code, api_error());
  for (struct dat *dat; !code && (dat = matrix_take_unused(m));)
    dat_forget(ctx, dat);
  return code;
}

int op2jit_fix_mat(op_mat mat, op_dat rows, op_dat columns, double diagonal) {
  struct op_context *ctx = api_enter("op_fix_mat", FLUSH);
  if (!ctx)
    return api_refused();
  struct matrix *m = api_object(ctx, mat, HANDLE_MATRIX, "op_fix_mat", "the matrix");
  struct flags of_rows = {.handle = rows, .what = "the rows"},
               of_columns = {.handle = columns, .what = "the columns"};
  if (m) {
    of_rows.set = m->row_set;
    of_rows.dim = m->row_dim;
    of_columns.set = m->column_set;
    of_columns.dim = m->column_dim;
    check_flags(ctx, m, &of_rows);
    check_flags(ctx, m, &of_columns);
  }
  if (m && !api_error()->code && !isfinite(diagonal))
    error_set(api_error(), OP_ERR_ARGUMENT,
              "op_fix_mat of matrix \"%s\": the diagonal is %g, which is no number", m->name, diagonal);
  if (m && !api_error()->code && rows && fabs(diagonal) > 0 && !matrix_has_diagonal(m))
    error_set(api_error(), OP_ERR_ARGUMENT,
              "op_fix_mat of matrix \"%s\": the diagonal is %g, but rows and columns differ, so that it has "
              "none; pass 0",
              m->name, diagonal);
  int code = api_agree("op_fix_mat of matrix \"%s\"\ndiagonal\t%g\nrows\t%s\ncolumns\t%s\n", m ? m->name : "",
                       diagonal, of_rows.said ? of_rows.said->name : "NULL",
                       of_columns.said ? of_columns.said->name : "NULL");
  if (!code)
    code = mesh_distribute(ctx, api_error());
  if (!code) {
    code = check_values(ctx, &of_rows);
    code = code ? code : check_values(ctx, &of_columns);
    code = agree_on_success(ctx->agreement, code, api_error());
  }
  return api_leave(code ? code : fix(ctx, m, &of_rows, &of_columns, diagonal));
}

/* ---- by rows ---- */

static void hand_out(const struct csr *csr, long long *offsets, long long *columns, void *values) {
  const size_t entries = (size_t)csr->entries;
  memcpy(offsets, csr->offsets, ((size_t)csr->rows + 1) * sizeof *offsets);
  if (entries) {
    memcpy(columns, csr->columns, entries * sizeof *columns);
    memcpy(values, csr->values, entries * sizeof *csr->values);
  }
}

int op2jit_fetch_mat(op_mat mat, long long *entries, long long *offsets, long long *columns, void *values) {
  struct op_context *ctx = api_enter("op_fetch_mat", FLUSH);
  if (!ctx)
    return api_refused();
  struct matrix *m = api_object(ctx, mat, HANDLE_MATRIX, "op_fetch_mat", "the matrix");
  const int given = !!offsets + !!columns + !!values;
  if (m && (!entries || (given && given < 3)))
    error_set(
        api_error(), OP_ERR_ARGUMENT, "op_fetch_mat of matrix \"%s\": %s", m->name,
        !entries
            ? "where to put the number of entries is NULL"
            : "some of offsets, columns and values are NULL; pass all three, or none to learn the number");
  if (m && !api_error()->code)
    coo_check(m, "op_fetch_mat", api_error());
  int code = api_agree("op_fetch_mat of matrix \"%s\"\n", m ? m->name : "");
  if (!code && !coo_is_listed(ctx, m))
    code = mesh_distribute(ctx, api_error());
  if (!code)
    code = csr_make(ctx, m, api_error());
  if (!code) {
    *entries = m->coo->csr.entries;
    if (given)
      hand_out(&m->coo->csr, offsets, columns, values);
  }
  return api_leave(code);
}

int op2jit_free_mat(op_mat mat) {
  struct op_context *ctx = api_enter("op_free_mat", FLUSH);
  if (!ctx)
    return api_refused();
  struct matrix *m = api_object(ctx, mat, HANDLE_MATRIX, "op_free_mat", "the matrix");
  const int code = api_agree("op_free_mat of matrix \"%s\"\n", m ? m->name : "");
  if (!code) {
    handle_let_go(ctx->handles, mat);
    form_forget(ctx, m);
    for (struct dat *dat; (dat = matrix_take_dat(m));)
      dat_forget(ctx, dat);
    coo_free(ctx, m);
    matrix_free(ctx, m);
  }
  return api_leave(code);
}
