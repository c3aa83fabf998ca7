#include "loop/matrix.h"

#include <string.h>

#include "context/context.h"
#include "loop/loop.h"
#include "mesh/handles.h"
#include "mesh/matrix.h"
#include "mesh/subset.h"
#include "ranks/agree.h"
#include "record/recorder.h"
#include "spread/sums.h"

/* One argument: what the program said of it. */
struct said {
  struct op_context *ctx;
  const struct loop_call *call;
  int number; /* from 0 */
  const op_arg *arg;
  struct set *set; /* of the loop */
  struct matrix *matrix;
  struct error *err;
};

bool matrix_is_passed(const struct loop_call *call) {
  bool any = false;
  for (int i = 0; i < call->nargs; i++)
    any |= call->args[i].form_ == ARG_MATRIX;
  return any;
}

static int fail(const struct said *s, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(const struct said *s, int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  loop_refuse(s->err, code, loop_call_told(s->call), s->number + 1, format, args);
  va_end(args);
  return code;
}

static int check_shape(const struct said *s) {
  const struct matrix *m = s->matrix;
  if (s->arg->access_ != OP_INC && s->arg->access_ != OP_WRITE)
    return fail(s, OP_ERR_ACCESS, "matrix \"%s\" is passed with access %s; expected OP_INC or OP_WRITE",
                m->name, (unsigned)s->arg->access_ < ACCESSES ? access_name(s->arg->access_) : "unknown");
  if (s->arg->dim_ != m->row_dim || s->arg->idx_ != m->column_dim)
    return fail(s, OP_ERR_DIM, "the dims are %d and %d, but matrix \"%s\" was declared with %d and %d",
                s->arg->dim_, s->arg->idx_, m->name, m->row_dim, m->column_dim);
  if (s->arg->type_ != TYPE_DOUBLE)
    return fail(s, OP_ERR_TYPE, "the type is not \"double\", which matrix \"%s\" was declared with", m->name);
  return OP_OK;
}

/* NULL in *out: OP_ID. */
static int find_map(const struct said *s, const void *handle, const char *what, struct map **out) {
  const struct set *from = set_numbered(s->set);
  *out = NULL;
  if (handle == OP_ID)
    return OP_OK;
  struct map *map = handle_object(s->ctx->handles, handle, HANDLE_MAP);
  if (!map)
    return fail(s, OP_ERR_HANDLE,
                "the map of the %s is %s; expected OP_ID or a map made by op_decl_map since op_init", what,
                handle_diagnosis(s->ctx->handles, handle, HANDLE_MAP));
  if (map->from != from)
    return fail(
        s, OP_ERR_MAP_SET,
        "map \"%s\" of the %s starts at set \"%s\", but the loop runs over \"%s\"; pass a map from \"%s\"",
        map->name, what, map->from->name, s->set->name, from->name);
  *out = map;
  return OP_OK;
}

static const char *name_of(const struct map *map) {
  return map ? map->name : "OP_ID";
}

static int check_pair(const struct said *s, const struct matrix_pair *pair) {
  const struct matrix *m = s->matrix;
  bool declared = false;
  for (int i = 0; i < m->npairs; i++)
    declared |= m->pairs[i].rows == pair->rows && m->pairs[i].columns == pair->columns;
  if (!declared)
    return fail(
        s, OP_ERR_MAP_SET,
        "matrix \"%s\" was not declared with rows by \"%s\" and columns by \"%s\"; pass one of its pairs, "
        "or declare it with this one too",
        m->name, name_of(pair->rows), name_of(pair->columns));
  return OP_OK;
}

/* The kernel has to know how many targets the element has. */
static int check_counted(const struct said *s, const struct map *map, const void *handle) {
  bool counted = !map || !map->first;
  for (int i = 0; i < s->number; i++)
    counted |= s->call->args[i].map_ == handle && s->call->args[i].form_ != ARG_MATRIX;
  return counted ? OP_OK
                 : fail(s, OP_ERR_ARGUMENT,
                        "map \"%s\" is ragged, and no argument before the matrix goes through it, so that "
                        "the kernel "
                        "gets no number of targets; pass one, such as op_arg_idx(OP_ALL, map)",
                        map->name);
}

static int number_of(const struct matrix *m, const struct segment *s) {
  int i = 0;
  while (m->segments.items[i] != s)
    i++;
  return i;
}

/* The loop's argument: the rows, to add to; or the segment's dat, which the first loop writes whole. */
static op_arg arg_of(const struct matrix *m, const struct segment *s, int access) {
  const bool first = access == OP_WRITE || !s->filled;
  if (m->summed)
    return (op_arg){.dat_ = m->sums->dat->handle,
                    .map_ = m->sums->maps[number_of(m, s)]->handle,
                    .form_ = DESC_DAT,
                    .idx_ = OP_ALL,
                    .dim_ = 1,
                    .type_ = TYPE_DOUBLE,
                    .access_ = OP_INC,
                    .present_ = 1};
  return (op_arg){.dat_ = s->dat->handle,
                  .map_ = OP_ID,
                  .form_ = DESC_DAT,
                  .idx_ = -1,
                  .dim_ = s->dat->dim,
                  .type_ = TYPE_DOUBLE,
                  .access_ = first ? OP_WRITE : OP_INC,
                  .present_ = 1};
}

/* Find the matrix, and the segment in it. */
static int find(struct said *s, struct lowered *to) {
  struct matrix_pair pair;
  s->matrix = handle_object(s->ctx->handles, s->arg->dat_, HANDLE_MATRIX);
  if (!s->matrix)
    return fail(s, OP_ERR_HANDLE, MATRIX_IS_NONE,
                handle_diagnosis(s->ctx->handles, s->arg->dat_, HANDLE_MATRIX));
  int code = s->call->compiled
                 ? fail(s, OP_ERR_ARGUMENT,
                        "matrices go to kernels that are texts, and this one is a function of a "
                        "program of OP2")
                 : check_shape(s);
  if (!code)
    code = find_map(s, s->arg->map_, "rows", &pair.rows);
  if (!code)
    code = find_map(s, s->arg->data_, "columns", &pair.columns);
  if (!code)
    code = check_pair(s, &pair);
  if (!code)
    code = check_counted(s, pair.rows, s->arg->map_);
  if (!code)
    code = check_counted(s, pair.columns, s->arg->data_);
  if (code)
    return code;
  struct segment *segment =
      matrix_segment(s->ctx, s->matrix, s->set, pair, to->segments, s->call->nargs, s->err);
  if (!segment)
    return error_prefix(s->err, "loop %s, argument %d: ", loop_call_told(s->call), s->number + 1);
  to->matrices[s->number] = s->matrix;
  to->segments[s->number] = segment;
  return OP_OK;
}

/* All arguments of one matrix get the same form: at the first of them. */
static int begin(struct said *s, struct lowered *to) {
  struct form_gift gift = {0};
  s->matrix = to->matrices[s->number];
  for (int i = 0; i < s->call->nargs; i++)
    if (to->matrices[i] == s->matrix) {
      if (i < s->number)
        return OP_OK;
      gift.segments[gift.n++] = to->segments[i];
      gift.whole |= s->call->args[i].access_ == OP_WRITE;
    }
  return form_begin(s->ctx, s->matrix, &gift, s->err)
             ? error_prefix(s->err, "loop %s, argument %d: ", loop_call_told(s->call), s->number + 1)
             : OP_OK;
}

static int lower(struct said *s, struct lowered *to) {
  struct segment *segment = to->segments[s->number];
  s->matrix = to->matrices[s->number];
  if (s->arg->access_ == OP_WRITE && matrix_has_others(s->matrix, segment))
    return fail(
        s, OP_ERR_STATE,
        "OP_WRITE sets entries of matrix \"%s\" to which loops by other pairs, sets or fixed rows gave "
        "something already; call op_zero_mat before, or pass OP_INC",
        s->matrix->name);
  to->args[s->number] = arg_of(s->matrix, segment, s->arg->access_);
  to->filled[s->number] = segment->filled;
  to->given[s->number] = true;
  segment->filled = true;
  segment->cleared = false;
  s->matrix->values++;
  return OP_OK;
}

int matrix_lower(struct op_context *ctx, const struct loop_call *call, struct lowered *to,
                 struct error *err) {
  static int (*const stages[])(struct said * s, struct lowered * to) = {find, begin, lower};
  struct set *set = handle_object(ctx->handles, call->set, HANDLE_SET);
  int code = OP_OK;
  *to = (struct lowered){.call = *call};
  to->call.args = to->args;
  memcpy(to->args, call->args, (size_t)call->nargs * sizeof *to->args);
  if (ctx->recorder)
    code = error_set(err, OP_ERR_STATE, "loop %s: it gives something to a matrix, %s", loop_call_told(call),
                     ctx->recorder->no_matrix);
  const int dats = ctx->mesh->next_dat;
  for (size_t stage = 0; set && stage < sizeof stages / sizeof *stages; stage++)
    for (int i = 0; !code && i < call->nargs; i++)
      if (call->args[i].form_ == ARG_MATRIX && call->args[i].present_)
        code = stages[stage](
            &(struct said){
                .ctx = ctx, .call = call, .number = i, .arg = &call->args[i], .set = set, .err = err},
            to);
  /* Errors and new dats are the same on all ranks. */
  if (code || dats != ctx->mesh->next_dat)
    code = agree_on_call(ctx, code, err, "loop %s, with a matrix\n", loop_call_told(call));
  if (code)
    matrix_take_back(to);
  return code;
}

int matrix_gave(struct op_context *ctx, const struct lowered *lowered, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < lowered->call.nargs; i++) {
    struct matrix *m = lowered->matrices[i];
    if (m && !m->forms.asked && !m->summed)
      code = form_recall(ctx, m, loop_find(ctx->loops, loop_hash(&lowered->call), &lowered->call), err);
  }
  return code;
}

void matrix_take_back(struct lowered *lowered) {
  for (int i = lowered->call.nargs - 1; i >= 0; i--)
    if (lowered->given[i])
      lowered->segments[i]->filled = lowered->filled[i];
}
