#include "check/shadow.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "check/cell.h"
#include "context/context.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/halo.h"
#include "mesh/mesh.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

/* Results differ by rounding: this much of the largest value of the dat or global. Of sums it is the largest sum
 * of absolute values, and each addition may round, in both runs. */
#define TOLERANCE_DOUBLE 1e-10
#define TOLERANCE_FLOAT 1e-4

int shadow_parse(const char *value, const struct backend **backend, int *every, struct error *err) {
  const size_t length = strcspn(value, ":");
  *backend = NULL;
  *every = 1;
  if (!*value)
    return OP_OK;
  for (const struct backend *const *b = backend_list(); *b; b++)
    if (strlen((*b)->name) == length && memcmp((*b)->name, value, length) == 0)
      *backend = *b;
  if (!*backend)
    return error_set(
        err, OP_ERR_ENV,
        "OP2_SHADOW=%s: expected native, seq, openmp or cuda, optionally with :N for each N-th run", value);
  if (value[length] == ':') {
    char *end;
    const long n = strtol(value + length + 1, &end, 10);
    if (*end || n < 1 || n > INT_MAX)
      return error_set(err, OP_ERR_ENV, "OP2_SHADOW=%s: expected a whole number from 1 behind the ':'",
                       value);
    *every = (int)n;
  }
  return OP_OK;
}

static bool has_user_memory(const struct loop_arg *arg) {
  return arg->present &&
         (arg->form == DESC_INFO || (arg->form == DESC_GBL && (arg->access != OP_WORK || arg->started)));
}

static int need_host(struct op_context *ctx, const struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++)
    if (loop->args[i].dat && loop->args[i].present)
      code = dat_need(ctx, loop->args[i].dat, SPACE_HOST, REGION_OWNED, err);
  return code;
}

static void make_absolute(enum type_code type, unsigned char *values, size_t count) {
  const size_t size = type_info(type)->size;
  for (size_t k = 0; k < count; k++) {
    const double value = fabs(type_number(type, values + k * size));
    const float narrow = (float)value;
    memcpy(values + k * size, type == TYPE_FLOAT ? (const void *)&narrow : (const void *)&value, size);
  }
}

/* Dats and slots hold sums of absolute values afterwards. */
static void run(struct cell *cell) {
  const struct loop *loop = cell->loop;
  for (long e = 0; e < loop_end(loop); e++) {
    rows_load(cell, 0, e);
    cell_run(cell, 0, -1);
    for (int i = 0; i < loop->nargs; i++)
      for (int r = 0; is_sum(&loop->args[i]) && r < cell->args[i].rows; r++)
        make_absolute(loop->args[i].type, cell_row(cell, 0, i, r), (size_t)loop->args[i].dim);
    rows_store(cell, e);
  }
}

void shadow_drop(struct shadow_run *run) {
  copies_free(&run->before);
  if (run->second)
    launch_put(run->second);
  free(run->memory);
}

static int make_second(const struct launch *launch, struct shadow_run *run, struct error *err) {
  const struct loop *loop = launch->loop;
  size_t at = 0;
  for (int i = 0; i < loop->nargs; i++)
    run->bytes += has_user_memory(&loop->args[i]) ? loop->args[i].bytes : 0;
  run->memory = array_new(run->bytes, 2);
  if (!run->memory)
    return error_memory(err, "the shadow run", run->bytes);
  run->second = launch_get(loop->shadow, err);
  for (int i = 0; run->second && i < loop->nargs; i++) {
    if (!has_user_memory(&loop->args[i]))
      continue;
    run->second->user[i] = memcpy(run->memory + at, launch->user[i], loop->args[i].bytes);
    at += loop->args[i].bytes;
  }
  memcpy(run->memory + run->bytes, run->memory, run->bytes);
  return run->second ? OP_OK : err->code;
}

int shadow_begin(struct op_context *ctx, struct launch *launch, struct shadow_run *run, struct error *err) {
  *run = (struct shadow_run){0};
  int code = need_host(ctx, launch->loop, err);
  if (!code)
    code = copies_take(&run->before, launch, err);
  if (!code)
    code = make_second(launch, run, err);
  if (code)
    shadow_drop(run);
  return code;
}

double values_largest(enum type_code type, const unsigned char *values, size_t count, double so_far) {
  for (size_t k = 0; k < count && type_info(type)->is_float; k++) {
    const double x = fabs(type_number(type, values + k * type_info(type)->size));
    so_far = isfinite(x) && x > so_far ? x : so_far;
  }
  return so_far;
}

double values_tolerance(enum type_code type) {
  return type == TYPE_FLOAT ? TOLERANCE_FLOAT : TOLERANCE_DOUBLE;
}

double values_allowed(enum type_code type, double additions) {
  const double rounds = 2 * additions * (type == TYPE_FLOAT ? FLT_EPSILON : DBL_EPSILON);
  return fmax(values_tolerance(type), rounds);
}

size_t values_differ(enum type_code type, const unsigned char *a, const unsigned char *b, size_t count,
                     double tolerance) {
  const struct type_info *info = type_info(type);
  const bool members = type_is_struct(type);
  for (size_t k = 0; k < count; k++, a += info->size, b += info->size) {
    if (type_near(type, a, b, members ? TOLERANCE_DOUBLE : 0, members ? TOLERANCE_FLOAT : 0))
      continue;
    const double x = type_number(type, a), y = type_number(type, b);
    if (!info->is_float || !(fabs(x - y) <= tolerance || (isnan(x) && isnan(y))))
      return k;
  }
  return count;
}

void values_place(const struct loop *loop, const struct dat *dat, size_t value, struct text *out) {
  const size_t element = dat->soa ? value % (size_t)dat->stride : value / (size_t)dat->dim;
  const size_t component = dat->soa ? value / (size_t)dat->stride : value % (size_t)dat->dim;
  text_addf(out, "dat \"%s\", element %ld of set \"%s\", component %zu,", dat->name,
            set_said(dat->set, (long)element), dat->set->name, component + loop->desc.origins.fortran);
}

/* The first value of an argument that differs, or `count`. */
static size_t compare(const struct loop_arg *arg, double sum, double additions, const unsigned char *a,
                      const unsigned char *b, size_t count) {
  if (memcmp(a, b, count * type_info(arg->type)->size) == 0)
    return count;
  return values_differ(arg->type, a, b, count,
                       values_allowed(arg->type, additions) * values_largest(arg->type, a, count, sum));
}

/* "kappa = 0.8, n = 3", as op_decl_const or op_update_const was given them. */
static void add_constants(const struct op_context *ctx, const struct loop *loop, struct text *out) {
  enum { NAMES = 6, VALUES = 4 };
  const struct desc *d = &loop->desc;
  for (int c = 0; c < d->nconsts && c < NAMES; c++) {
    const struct constant *constant = mesh_find_constant(ctx->mesh, d->consts[c].name);
    text_addf(out, "%s%s =", c ? ", " : "", constant->name);
    for (int v = 0; v < constant->dim && v < VALUES; v++) {
      text_add_char(out, ' ');
      type_add_shortest(constant->type, constant->value + (size_t)v * type_info(constant->type)->size, out);
    }
    text_add(out, constant->dim > VALUES ? " ..." : "");
  }
  text_add(out, d->nconsts > NAMES ? ", ..." : "");
}

/* Constants are passed to compiled code alone: a kernel that is a C function has the program's variables of these
 * names. */
static void tell_constants(const struct op_context *ctx, const struct loop *loop, struct text *out) {
  const struct desc *d = &loop->desc;
  const bool native = strcmp(loop->backend->name, "native") == 0;
  if (native == (strcmp(loop->shadow->backend->name, "native") == 0) || d->nconsts == 0)
    return;
  text_addf(out,
            "; native runs the kernel's C function, which reads the program's own variables, and %s has what "
            "op_decl_const or op_update_const was given: compare the variable%s with ",
            native ? loop->shadow->backend->name : loop->backend->name, d->nconsts == 1 ? "" : "s");
  add_constants(ctx, loop, out);
}

static int report(const struct op_context *ctx, const struct loop *loop, int i, const char *where,
                  const void *a, const void *b, struct error *err) {
  const struct loop_arg *arg = &loop->args[i];
  struct text constants = {0};
  char x[64], y[64];
  type_print(arg->type, a, x, sizeof x);
  type_print(arg->type, b, y, sizeof y);
  tell_constants(ctx, loop, &constants);
  error_set(
      err, OP_ERR_VIOLATION,
      "argument %d: %s is %s with %s and %s with %s (OP2_SHADOW; allowed are %g of the "
      "largest value in double, %g in single precision, of sums more if the absolute values of what was "
      "added are larger, nothing for integers)%s; if %sOP2_CHECK=on finds "
      "no mistake in the kernel, please report it",
      i + 1, where, x, loop->backend->name, y, loop->shadow->backend->name, TOLERANCE_DOUBLE, TOLERANCE_FLOAT,
      text_str(&constants), constants.length ? "they are equal and " : "");
  text_free(&constants);
  return error_prefix(err, "loop %s, ", loop->name);
}

void values_take_halo(const struct dat *dat, const unsigned char *from, unsigned char *to) {
  const long owned = dat->set->extents[EXTENT_OWNED], halo = set_rows(dat->set) - owned;
  for (int c = 0; dat->soa && halo && c < dat->dim; c++) {
    const size_t at = ((size_t)c * (size_t)dat->stride + (size_t)owned) * dat->value_size;
    memcpy(to + at, from + at, (size_t)halo * dat->value_size);
  }
}

/* `first` holds the first backend's values in the layout of the host's memory. */
static int compare_dat(const struct op_context *ctx, const struct loop *loop, int i, const struct sums *sums,
                       const unsigned char *first, struct error *err) {
  const struct dat *dat = loop->args[i].dat;
  unsigned char *second = dat->replicas[SPACE_HOST].memory;
  const size_t rows = dat->soa ? (size_t)dat->stride : (size_t)dat->set->extents[EXTENT_OWNED];
  const size_t count = rows * (size_t)dat->dim;
  values_take_halo(dat, first, second);
  const size_t at = compare(&loop->args[i], sums->size[i], sums->count[i], first, second, count);
  if (at == count)
    return OP_OK;
  struct text where = {0};
  values_place(loop, dat, at, &where);
  int code = report(ctx, loop, i, text_str(&where), first + at * dat->value_size,
                    second + at * dat->value_size, err);
  text_free(&where);
  return code;
}

static int compare_all(const struct op_context *ctx, const struct launch *launch, const struct launch *second,
                       const struct copies *first, const struct sums *sums, struct error *err) {
  const struct loop *loop = launch->loop;
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (first->dats[i])
      code = compare_dat(ctx, loop, i, sums, first->dats[i], err);
    if (code || !has_user_memory(arg))
      continue;
    const unsigned char *a = launch->user[i], *b = second->user[i];
    const size_t value = compare(arg, sums->size[i], sums->count[i], a, b, (size_t)arg->dim);
    const size_t at = value * type_info(arg->type)->size;
    if (value < (size_t)arg->dim)
      code = report(ctx, loop, i, arg->form == DESC_INFO ? "the payload" : "the global", a + at, b + at, err);
  }
  return code;
}

/* Globals are added up over the ranks, too. */
static int add_ranks(struct op_context *ctx, const struct loop *loop, struct sums *out, struct error *err) {
  struct sums all = *out;
  int code = ctx->comm->table->reduce_all(ctx->comm, &all, (int)(sizeof all / sizeof(double)), COMM_DOUBLE,
                                          COMM_SUM, err);
  for (int i = 0; !code && i < loop->nargs; i++)
    if (!loop->args[i].dat) {
      out->size[i] = all.size[i];
      out->count[i] = all.count[i];
    }
  return code;
}

static void make_dats_absolute(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat && is_sum(&loop->args[i])) {
      const struct replica *host = &loop->args[i].dat->replicas[SPACE_HOST];
      make_absolute(loop->args[i].type, host->memory, host->bytes / loop->args[i].dat->value_size);
    }
}

static double largest(double a, double b) {
  return isfinite(b) && b > a ? b : a;
}

static void find_size(const struct launch *launch, int i, struct sums *out) {
  const struct loop_arg *arg = &launch->loop->args[i];
  const size_t size = type_info(arg->type)->size;
  for (int c = 0; !arg->dat && c < arg->dim; c++)
    out->size[i] =
        largest(out->size[i], type_number(arg->type, launch->slots + arg->offset + (size_t)c * size));
  for (long e = 0; arg->dat && e < arg->dat->set->extents[EXTENT_OWNED]; e++)
    for (int c = 0; c < arg->dim; c++)
      out->size[i] = largest(out->size[i], type_number(arg->type, dat_value(arg->dat, e, c)));
}

/* The target that is added to most often, by all arguments of the dat. */
static int count_of_dat(const struct loop *loop, int i, struct sums *out, struct error *err) {
  const struct dat *dat = loop->args[i].dat;
  const size_t targets = (size_t)dat->set->extents[EXTENT_NONEXEC];
  int *counts = array_new(targets, sizeof *counts);
  if (!counts)
    return error_memory(err, "the shadow run", targets * sizeof *counts);
  for (int j = 0; j < loop->nargs; j++) {
    const struct loop_arg *arg = &loop->args[j];
    for (long e = 0; arg->dat == dat && is_sum(arg) && e < loop_end(loop); e++)
      for (long place = arg_begin(arg, e); place < arg_end(arg, e); place++)
        out->count[i] = largest(out->count[i], ++counts[arg_target(arg, place)]);
  }
  free(counts);
  return OP_OK;
}

static int measure_sums(const struct launch *launch, struct cell *cell, struct sums *out, struct error *err) {
  const struct loop *loop = launch->loop;
  int code = OP_OK;
  make_dats_absolute(loop);
  cell->launch = launch;
  run(cell);
  for (int i = 0; !code && i < loop->nargs; i++) {
    if (!is_sum(&loop->args[i]))
      continue;
    find_size(launch, i, out);
    out->count[i] = (double)loop->set->extents[EXTENT_OWNED];
    if (loop->args[i].dat)
      code = count_of_dat(loop, i, out, err);
  }
  return code;
}

/* A look (loop/loop.h): runs the loop element by element on the host, from one slot; dats and slots hold nothing
 * to be used afterwards. Collective. */
static int sums_find(struct op_context *ctx, struct launch *launch, void *sums, struct error *err) {
  struct sums *out = sums;
  const struct loop *loop = launch->loop;
  struct cell *cell = NULL;
  *out = (struct sums){0};
  int code = cell_open(&cell, ctx, loop, err);
  if (!code)
    code = measure_sums(launch, cell, out, err);
  cell_free(cell);
  code = agree_on_success(ctx->agreement, code, err);
  return code ? code : add_ranks(ctx, loop, out, err);
}

/* Finds how much both runs added, from the values before them. */
static int find_sums(struct op_context *ctx, struct launch *launch, const struct copies *before,
                     struct sums *sums, struct error *err) {
  struct copies second = {0};
  int code = agree_on_success(ctx->agreement, copies_take(&second, launch, err), err);
  if (!code) {
    copies_restore(before, launch);
    code = loop_look(ctx, launch, sums_find, sums, err);
    copies_restore(&second, launch);
  }
  copies_free(&second);
  return code;
}

/* Sums of absolute values cost a run, so they are found only if results differ by more than is allowed without them. */
static int judge(struct op_context *ctx, struct launch *launch, const struct shadow_run *run,
                 const struct copies *first, struct error *err) {
  struct sums sums = {0};
  struct error doubt = {0};
  double doubtful = compare_all(ctx, launch, run->second, first, &sums, &doubt) != OP_OK;
  error_free(&doubt);
  int code = agree_on_largest(ctx->agreement, OP_OK, &doubtful, 1, err);
  if (code || doubtful == 0)
    return code;
  code = find_sums(ctx, launch, &run->before, &sums, err);
  return code ? code
              : agree_on_success(ctx->agreement, compare_all(ctx, launch, run->second, first, &sums, err),
                                 err);
}

/* The newest values of the dats that the loop writes are in this space. */
static void wrote(const struct loop *loop, const struct copies *written, enum space space) {
  for (int i = 0; i < loop->nargs; i++)
    if (written->dats[i])
      dat_wrote(loop->args[i].dat, space);
}

/* The shadow's run from the values before the first one; its outcome is in the host's memory afterwards. A
 * device's replicas are told of each exchange of values. */
static int run_again(struct op_context *ctx, const struct launch *launch, const struct shadow_run *run,
                     struct error *err) {
  const struct loop *loop = launch->loop;
  const struct copies *before = &run->before;
  const bool device = space_is_device(loop->shadow->space);
  copies_restore(before, launch);
  if (device)
    wrote(loop, before, SPACE_HOST);
  int code = loop_make_ready(ctx, run->second, true, err);
  if (!code)
    code = loop_go(ctx, run->second, err);
  if (code || !device)
    return code;
  wrote(loop, before, loop->shadow->space);
  return need_host(ctx, loop, err);
}

static void keep_first(const struct launch *launch, const struct copies *first) {
  copies_restore(first, launch);
  if (space_is_device(launch->loop->shadow->space))
    wrote(launch->loop, first, SPACE_HOST);
}

/* The loop has not run at all. */
static void undo(const struct launch *launch, const struct shadow_run *run) {
  const struct loop *loop = launch->loop;
  copies_restore(&run->before, launch);
  wrote(loop, &run->before, SPACE_HOST);
  for (int i = 0; i < loop->nargs; i++)
    if (has_user_memory(&loop->args[i]))
      memcpy(launch->user[i], (unsigned char *)run->second->user[i] + run->bytes, loop->args[i].bytes);
}

int shadow_end(struct op_context *ctx, struct launch *launch, struct shadow_run *run, bool undo_it,
               struct error *err) {
  struct copies first = {0};
  int code = need_host(ctx, launch->loop, err);
  if (!code)
    code = copies_take(&first, launch, err);
  if (!code)
    code = run_again(ctx, launch, run, err);
  const bool ran = !code;
  if (!code)
    code = judge(ctx, launch, run, &first, err);
  if (code && (undo_it || !ran))
    undo(launch, run);
  else
    keep_first(launch, &first);
  copies_free(&first);
  shadow_drop(run);
  return code;
}
