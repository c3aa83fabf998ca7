/* Calls for writers of bridges to solvers. */
#include "api/api.h"
#include "checkpoint/tell.h"
#include "include/op2jit_bridge.h"
#include "mesh/guest.h"
#include "mesh/matrix.h"
#include "ranks/comm.h"
#include "spread/coo.h"
#include "spread/spread.h"
#include "spread/sums.h"
#include "tape/tell.h"

static bool is_missing(const void *out, const char *call, const char *what) {
  if (!out && !api_error()->code)
    error_set(api_error(), OP_ERR_ARGUMENT, "%s: where to put %s is NULL", call, what);
  return !out;
}

int op2jit_layout_of(op_set handle, op_layout_t *out) {
  struct op_context *ctx = api_enter("op_layout", FLUSH);
  if (!ctx)
    return api_refused();
  struct set *set = api_object(ctx, handle, HANDLE_SET, "op_layout", "the set");
  is_missing(out, "op_layout", "the layout");
  int code = api_error()->code;
  if (code) /* the same on all ranks, as everything that is wrong with these calls */
    return api_leave_local(code);
  code = mesh_distribute(ctx, api_error());
  if (!code)
    code = layout_make(ctx, set, api_error());
  if (!code)
    *out = (op_layout_t){.epoch = layout_epoch(ctx->mesh),
                         .first = set->layout->first,
                         .global_size = set->global_size,
                         .owned = set->extents[EXTENT_OWNED],
                         .room = set->extents[EXTENT_NONEXEC],
                         .copies = set->layout->copies,
                         .users = set->layout->users};
  return api_leave(code);
}

int op2jit_dat_shape(op_dat handle, op_dat_shape_t *out) {
  struct op_context *ctx = api_enter("op_dat_shape", KEEP);
  if (!ctx)
    return api_refused();
  const struct dat *dat = handle_object(ctx->handles, handle, HANDLE_DAT);
  if (!dat)
    error_set(api_error(), OP_ERR_HANDLE, "op_dat_shape: the dat is %s",
              handle_diagnosis(ctx->handles, handle, HANDLE_DAT));
  if (!is_missing(out, "op_dat_shape", "the shape") && dat)
    *out = (op_dat_shape_t){
        .set = dat->set->handle, .dim = dat->dim, .is_double = dat->type == TYPE_DOUBLE, .name = dat->name};
  return api_leave_local(api_error()->code);
}

static void tell(const struct op_context *ctx, const struct matrix *m, op_coo_t *out) {
  const struct listed listed = coo_listed(m);
  *out = (op_coo_t){.epoch = layout_epoch(ctx->mesh),
                    .pattern = listed.pattern->number,
                    .version = (long long)m->coo->values,
                    .count = (long long)listed.pattern->count,
                    .rows = listed.pattern->rows,
                    .columns = listed.pattern->columns,
                    .values = listed.array,
                    .own = listed.sums ? listed.sums->offsets[SUMS_OWN] : NULL,
                    .others = listed.sums ? listed.sums->offsets[SUMS_OTHERS] : NULL,
                    .row_set = m->row_set->handle,
                    .column_set = m->column_set->handle,
                    .row_dim = m->row_dim,
                    .column_dim = m->column_dim,
                    .first_row = m->row_set->layout->first * m->row_dim,
                    .owned_rows = (long long)m->row_set->extents[EXTENT_OWNED] * m->row_dim,
                    .all_rows = m->row_set->global_size * m->row_dim,
                    .first_column = m->column_set->layout->first * m->column_dim,
                    .owned_columns = (long long)m->column_set->extents[EXTENT_OWNED] * m->column_dim,
                    .all_columns = m->column_set->global_size * m->column_dim,
                    .name = m->name};
}

int op2jit_coo_of(op_mat mat, op_coo_t *out) {
  struct op_context *ctx = api_enter("op_coo", FLUSH);
  if (!ctx)
    return api_refused();
  struct matrix *m = api_object(ctx, mat, HANDLE_MATRIX, "op_coo", "the matrix");
  is_missing(out, "op_coo", "the lists");
  int code = api_error()->code;
  if (code || (code = coo_check(m, "op_coo", api_error())))
    return api_leave_local(code);
  code = coo_is_listed(ctx, m) ? OP_OK : mesh_distribute(ctx, api_error());
  if (!code)
    code = coo_make(ctx, m, api_error());
  if (!code)
    tell(ctx, m, out);
  return api_leave(code);
}

void op2jit_coo_took(op_mat mat, double seconds) {
  struct op_context *ctx = api_enter("op_coo_took", KEEP);
  if (!ctx)
    return;
  struct matrix *m = handle_object(ctx->handles, mat, HANDLE_MATRIX);
  if (m)
    m->forms.brought += seconds;
  api_leave_local(OP_OK);
}

/* ---- memory of dats ---- */

static int check_access(const struct dat *dat, op_access access, const char *call) {
  if (access == OP_READ || access == OP_WRITE || access == OP_RW)
    return OP_OK;
  return error_set(api_error(), OP_ERR_ACCESS,
                   "%s of dat \"%s\": the access is %d; expected OP_READ, OP_WRITE or OP_RW", call, dat->name,
                   (int)access);
}

/* Neither lent nor acquired: api_object looks. Its rows are whole there then. */
static struct dat *rows_of(struct op_context *ctx, op_dat handle, enum space space, op_access access,
                           const char *call) {
  struct dat *dat = api_object(ctx, handle, HANDLE_DAT, call, "the dat");
  if (!dat || check_access(dat, access, call))
    return NULL;
  if (mesh_distribute(ctx, api_error()) ||
      (dat_is_apart_in(dat, space) && dat_lay_in_rows(ctx, dat, api_error())))
    return NULL;
  return dat;
}

static int where(const struct op_context *ctx) {
  return ctx->mover && ctx->mover->where ? ctx->mover->where(ctx) : OP_ON_HOST;
}

static int check_device(const struct op_context *ctx, const char *call, const char *instead) {
  if (!api_error()->code && where(ctx) == OP_ON_HOST)
    error_set(api_error(), OP_ERR_STATE,
              "%s: loops run on the host, or where no other library finds their data; call %s", call,
              instead);
  return api_error()->code;
}

static int lend(struct op_context *ctx, op_dat handle, enum space space, op_access access, const char *call,
                op_lent_t *out) {
  void *memory = NULL;
  struct dat *dat = is_missing(out, call, "the memory") ? NULL : rows_of(ctx, handle, space, access, call);
  int code = api_error()->code;
  if (!code)
    code = checkpoint_refuses(ctx, call, "dats that are lent", api_error());
  if (!code && dat->guest && dat->guest->placed)
    code = error_set(api_error(), OP_ERR_STATE, "%s: dat \"%s\" is placed; call op_place_end first", call,
                     dat->name);
  if (!code && access != OP_READ)
    code = tape_refuses_bridge(ctx, dat, call, api_error());
  else if (!code)
    tape_tell_left(ctx, dat);
  if (!code)
    code = guest_lend(ctx, dat, space, access, &memory, api_error());
  if (!code)
    *out = (op_lent_t){.memory = memory,
                       .owned = dat->set->extents[EXTENT_OWNED],
                       .room = dat->set->extents[EXTENT_NONEXEC],
                       .row_bytes = dat->row_bytes,
                       .epoch = layout_epoch(ctx->mesh)};
  return api_leave_local(code);
}

int op2jit_lend(op_dat handle, op_access access, op_lent_t *out) {
  struct op_context *ctx = api_enter("op_lend", FLUSH);
  return ctx ? lend(ctx, handle, SPACE_HOST, access, "op_lend", out) : api_refused();
}

int op2jit_lend_device(op_dat handle, op_access access, op_lent_t *out) {
  struct op_context *ctx = api_enter("op_lend_device", FLUSH);
  if (!ctx)
    return api_refused();
  const int code = check_device(ctx, "op_lend_device", "op_lend");
  return code ? api_leave_local(code) : lend(ctx, handle, space_of_device(0), access, "op_lend_device", out);
}

int op2jit_where_is(void) {
  const struct op_context *ctx = api_context();
  return ctx ? where(ctx) : OP_ON_HOST;
}

/* Behind them the host has room that no row counts. */
static long long values_on_device(const struct dat *dat) {
  const long long rows = dat->set->extents[EXTENT_NONEXEC];
  return dat->apart && rows ? dat->stride * (dat->dim - 1LL) + rows : rows * dat->dim;
}

/* Tell the pieces: the segments and the diagonal. */
static int tell_pieces(struct op_context *ctx, struct matrix *m, int room, op_piece_t pieces[], int *count) {
  const struct coo *coo = m->coo;
  const int n = m->segments.count;
  int code = OP_OK;
  *count = n + 1;
  if (*count > room)
    return error_set(api_error(), OP_ERR_SIZE,
                     "op_coo_device of matrix \"%s\": it is in %d pieces, and there is room for %d", m->name,
                     *count, room);
  for (int i = 0; !code && i < n; i++) {
    const struct segment *s = m->segments.items[i];
    void *memory = NULL;
    if (s->filled)
      code = ctx->mover->lend(ctx, space_of_device(0), s->dat, &memory, api_error());
    pieces[i] =
        (op_piece_t){.memory = memory, .first = (long long)coo->first[i], .count = values_on_device(s->dat)};
  }
  pieces[n] = (op_piece_t){.memory = coo->array + coo->first[n],
                           .first = (long long)coo->first[n],
                           .count = (long long)(coo->first[n + 1] - coo->first[n]),
                           .on_host = 1};
  return code;
}

int op2jit_coo_device(op_mat mat, op_coo_t *out, int room, op_piece_t pieces[], int *count) {
  struct op_context *ctx = api_enter("op_coo_device", FLUSH);
  if (!ctx)
    return api_refused();
  struct matrix *m = api_object(ctx, mat, HANDLE_MATRIX, "op_coo_device", "the matrix");
  is_missing(out, "op_coo_device", "the lists");
  is_missing(pieces && count ? pieces : NULL, "op_coo_device", "the pieces");
  int code = check_device(ctx, "op_coo_device", "op_coo");
  if (code || (code = coo_check(m, "op_coo_device", api_error())))
    return api_leave_local(code);
  code = coo_is_listed(ctx, m) ? OP_OK : mesh_distribute(ctx, api_error());
  if (!code)
    code = coo_make_on_device(ctx, m, space_of_device(0), api_error());
  if (!code)
    code = tell_pieces(ctx, m, room, pieces, count);
  if (!code) {
    tell(ctx, m, out);
    out->values = NULL;
    out->version = (long long)m->values;
  }
  return api_leave(code);
}

/* A dat that is lent is no object of other calls. */
static struct dat *guest_of(struct op_context *ctx, op_dat handle, const char *call) {
  struct dat *dat = handle_object(ctx->handles, handle, HANDLE_DAT);
  if (!dat && !api_error()->code)
    error_set(api_error(), OP_ERR_HANDLE, "%s: the dat is %s", call,
              handle_diagnosis(ctx->handles, handle, HANDLE_DAT));
  return api_error()->code ? NULL : dat;
}

int op2jit_lend_end(op_dat handle) {
  struct op_context *ctx = api_enter("op_lend_end", KEEP);
  if (!ctx)
    return api_refused();
  struct dat *dat = guest_of(ctx, handle, "op_lend_end");
  if (dat && !(dat->guest && dat->guest->lent))
    error_set(api_error(), OP_ERR_STATE, "op_lend_end: dat \"%s\" is not lent; call op_lend first",
              dat->name);
  else if (dat)
    guest_lend_end(ctx, dat);
  return api_leave_local(api_error()->code);
}

static int check_memory(const struct dat *dat, const void *memory, long long rows) {
  const long room = dat->set->extents[EXTENT_NONEXEC];
  if (!memory && room)
    return error_set(api_error(), OP_ERR_ARGUMENT, "op_place of dat \"%s\": the memory is NULL", dat->name);
  if ((uintptr_t)memory % dat->value_size != 0)
    return error_set(api_error(), OP_ERR_ARGUMENT,
                     "op_place of dat \"%s\": the memory is not aligned to %zu bytes", dat->name,
                     dat->value_size);
  if (rows < room)
    return error_set(
        api_error(), OP_ERR_SIZE,
        "op_place of dat \"%s\": the memory has %lld rows, but %ld are needed here, for those of set \"%s\" "
        "that the rank owns and for copies (op_layout says how many)",
        dat->name, rows, room, dat->set->name);
  return OP_OK;
}

int op2jit_place(op_dat handle, void *memory, long long rows, op_access access) {
  struct op_context *ctx = api_enter("op_place", FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = rows_of(ctx, handle, SPACE_HOST, access, "op_place");
  int code = dat ? check_memory(dat, memory, rows) : api_error()->code;
  if (!code)
    code = tape_refuses_bridge(ctx, dat, "op_place", api_error());
  if (!code)
    code = checkpoint_refuses(ctx, "op_place", "dats that are placed", api_error());
  if (!code && dat->guest && dat->guest->placed)
    code = guest_place_end(ctx, dat, api_error());
  if (!code)
    code = guest_place(ctx, dat, memory, access, api_error());
  return api_leave_local(code);
}

int op2jit_place_end(op_dat handle) {
  struct op_context *ctx = api_enter("op_place_end", FLUSH);
  if (!ctx)
    return api_refused();
  struct dat *dat = guest_of(ctx, handle, "op_place_end");
  int code = api_error()->code;
  if (!code && !(dat->guest && dat->guest->placed))
    code = error_set(api_error(), OP_ERR_STATE, "op_place_end: dat \"%s\" is not placed; call op_place first",
                     dat->name);
  if (!code)
    code = tape_refuses_bridge(ctx, dat, "op_place_end", api_error());
  return api_leave_local(code ? code : guest_place_end(ctx, dat, api_error()));
}

/* ---- what bridges keep ---- */

int op2jit_keep(const void *handle, const void *key, void *data, op_keep_release *release) {
  struct op_context *ctx = api_enter("op_keep", KEEP);
  if (!ctx)
    return api_refused();
  if (handle && !handle_lives(ctx->handles, handle))
    error_set(api_error(), OP_ERR_HANDLE, "op_keep: the handle is none of a set, a dat or a matrix");
  else if (!handle_keep(ctx->handles, handle, key, data, release))
    error_memory(api_error(), "what a bridge keeps", 0);
  return api_leave_local(api_error()->code);
}

void *op2jit_kept(const void *handle, const void *key) {
  const struct op_context *ctx = api_context();
  return ctx ? handle_kept(ctx->handles, handle, key) : NULL;
}

int op2jit_comm_fortran(void) {
  const struct op_context *ctx = api_context();
  return ctx ? ctx->comm->fortran : -1;
}
