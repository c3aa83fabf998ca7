#include "check/shadow/sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "check/rows.h"
#include "context/context.h"
#include "ranks/agree.h"
#include "ranks/comm.h"

static void make_absolute(enum type_code type, unsigned char *values, size_t count) {
  const size_t size = type_info(type)->size;
  for (size_t k = 0; k < count; k++) {
    const double value = fabs(type_number(type, values + k * size));
    const float narrow = (float)value;
    memcpy(values + k * size, type == TYPE_FLOAT ? (const void *)&narrow : (const void *)&value, size);
  }
}

static void make_dats_absolute(const struct loop *loop) {
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].dat && is_sum(&loop->args[i])) {
      const struct replica *host = &loop->args[i].dat->replicas[SPACE_HOST];
      make_absolute(loop->args[i].type, host->memory, host->bytes / loop->args[i].dat->value_size);
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

int sums_find(struct op_context *ctx, struct launch *launch, void *sums, struct error *err) {
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
