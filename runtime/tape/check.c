/* Shared parts of dot-product tests, and the test of one loop. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "loop/temporary.h"
#include "ranks/comm.h"
#include "spread/spread.h"
#include "tape/test.h"

static void fill_numbers(enum type_code type, unsigned char *to, size_t values, unsigned long long state) {
  const struct type_info *info = type_info(type);
  for (size_t i = 0; i < values; i++, to += info->size) {
    for (int m = 0; m < info->nmembers; m++)
      if (type_is_real(info->members[m].type))
        fill_numbers(info->members[m].type, to + info->members[m].offset,
                     info->members[m].size / type_info(info->members[m].type)->size,
                     state + (unsigned)m + 7 * i);
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double number = (double)(state >> 40) / (1 << 23) - 1;
    const float narrow = (float)number;
    if (type == TYPE_DOUBLE)
      memcpy(to, &number, sizeof number);
    else if (type == TYPE_FLOAT)
      memcpy(to, &narrow, sizeof narrow);
  }
}

/* Fills companion `number` with random numbers in the program's order, other ones for dots and for bars. Those of a dat begin
 * anew on each rank, with another seed. */
static int put_noise(const struct test *t, const struct thing *companion, bool dots, int number,
                     struct error *err) {
  struct op_context *ctx = t->ctx;
  const struct dat *dat = companion->dat;
  const size_t values = dat ? (size_t)dat->set->size * (size_t)dat->dim : (size_t)companion->gbl->dim;
  const enum type_code type = dat ? dat->type : companion->gbl->type;
  unsigned char *in = array_new(values, type_info(type)->size);
  if (!in)
    return error_memory(err, "random numbers", values * type_info(type)->size);
  const unsigned rank = dat ? (unsigned)ctx->comm->rank : 0;
  fill_numbers(type, in, values,
               ((unsigned long long)t->seed << 32) + (unsigned)number * 4u + !dots + rank * 65537u);
  int code = queue_flush(ctx, err);
  if (!code)
    code = dat ? data_put(ctx, companion->dat, in, err) : gbl_put(ctx, companion->gbl, in, err);
  free(in);
  return code;
}

/* *sum += a . b; and the squares of both. */
static void add_numbers(enum type_code type, const unsigned char *a, const unsigned char *b, size_t values,
                        double sums[3]) {
  const struct type_info *info = type_info(type);
  for (size_t i = 0; i < values; i++, a += info->size, b += info->size) {
    for (int m = 0; m < info->nmembers; m++)
      if (type_is_real(info->members[m].type))
        add_numbers(info->members[m].type, a + info->members[m].offset, b + info->members[m].offset,
                    info->members[m].size / type_info(info->members[m].type)->size, sums);
    if (info->nmembers || !info->is_float)
      continue;
    const double x = type_number(type, a), y = type_number(type, b);
    sums[0] += x * y;
    sums[1] += x * x;
    sums[2] += y * y;
  }
}

static int add_product(struct op_context *ctx, struct thing *a, struct thing *b, double sums[3],
                       struct error *err) {
  if (a->gbl) {
    int code = tape_need_gbl(ctx, a->gbl, err);
    if (!code)
      code = gbl_need(ctx, b->gbl, SPACE_HOST, err);
    if (!code && ctx->comm->rank == 0)
      add_numbers(a->gbl->type, a->gbl->value, b->gbl->value, (size_t)a->gbl->dim, sums);
    return code;
  }
  const size_t values = (size_t)a->dat->set->size * (size_t)a->dat->dim, size = type_info(a->dat->type)->size;
  unsigned char *of_a = array_new(values, size), *of_b = array_new(values, size);
  int code = of_a && of_b ? queue_flush(ctx, err) : error_memory(err, "a sum of products", values * size);
  if (!code)
    code = data_fetch(ctx, a->dat, of_a, 0, a->dat->set->size - 1, err);
  if (!code)
    code = data_fetch(ctx, b->dat, of_b, 0, b->dat->set->size - 1, err);
  if (!code)
    add_numbers(a->dat->type, of_a, of_b, values, sums);
  free(of_a);
  free(of_b);
  return code;
}

/* ---- the program's own bars and dots are put aside ---- */

static int exchange(struct op_context *ctx, struct aside *aside, struct error *err) {
  struct change change = {.thing = aside->companion, .kept = aside->dat, .value = aside->value};
  const int code = queue_flush(ctx, err);
  return code ? code : keep_exchange(ctx, &change, err);
}

static int put_aside(struct op_context *ctx, struct aside *aside, struct error *err) {
  struct thing *thing = aside->companion;
  if (thing->dat && !(aside->dat = dat_like(ctx, thing->dat, "put aside", err)))
    return err->code;
  if (thing->gbl && !(aside->value = array_new(thing->gbl->bytes, 1)))
    return error_memory(err, "a global that is put aside", thing->gbl->bytes);
  return exchange(ctx, aside, err);
}

static int take_back(struct op_context *ctx, struct aside *aside, struct error *err) {
  const int code = aside->dat || aside->value ? exchange(ctx, aside, err) : OP_OK;
  if (aside->dat)
    dat_forget(ctx, aside->dat);
  free(aside->value);
  return code;
}

/* ---- the test ---- */

int test_open(struct test *t, void *const *all, int count, struct error *err) {
  const size_t most = (size_t)count;
  t->things = array_new(most, sizeof(struct thing *));
  t->asides = array_new(2 * most, sizeof *t->asides);
  if (!t->things || !t->asides)
    return error_memory(err, "the test of a tape", 2 * most * sizeof *t->asides);
  for (size_t i = 0; i < most; i++) {
    struct thing *thing = all[i];
    bool again = false;
    for (int k = 0; k < t->n; k++)
      again |= t->things[k] == thing;
    if (thing && thing->used && thing->real && !again)
      t->things[t->n++] = thing;
  }
  for (int i = 0; i < t->n; i++) {
    struct aside *aside = &t->asides[2 * i];
    if (!(aside[0].companion = thing_beside(t->ctx, t->things[i], BESIDE_DOT, err)) ||
        !(aside[1].companion = thing_beside(t->ctx, t->things[i], BESIDE_BAR, err)) ||
        put_aside(t->ctx, &aside[0], err) || put_aside(t->ctx, &aside[1], err))
      return err->code;
  }
  return OP_OK;
}

int test_close(struct test *t, int code, struct error *err) {
  struct error own = {0};
  for (int i = 0; i < 2 * t->n; i++) {
    const int back = t->asides[i].companion ? take_back(t->ctx, &t->asides[i], code ? &own : err) : OP_OK;
    code = code ? code : back;
  }
  error_free(&own);
  free(t->things);
  free(t->asides);
  return code;
}

/* True if the test begins with a dot, or a bar, of the thing. */
static bool begins_with(const struct test *t, const struct thing *thing, bool dots) {
  bool active = false;
  if (!t->site)
    return dots ? thing->input : thing->varied;
  for (int a = 0; a < t->site->nargs + t->site->nconstants; a++)
    active |= t->site->things[a] == thing && t->site->active[a];
  return active;
}

int test_put_all(const struct test *t, bool dots, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < t->n; i++) {
    struct thing *companion = dots ? t->things[i]->dot : t->things[i]->bar;
    code = begins_with(t, t->things[i], dots) ? put_noise(t, companion, dots, i, err)
                                              : thing_clear(t->ctx, companion, err);
  }
  return code;
}

int test_add_all(const struct test *t, double sums[3], struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < t->n; i++)
    code = add_product(t->ctx, t->things[i]->dot, t->things[i]->bar, sums, err);
  return code;
}

int test_sum(const struct test *t, const double of_y[3], const double of_x[3], struct products *out,
             struct error *err) {
  double all[6];
  memcpy(all, of_y, 3 * sizeof *all);
  memcpy(all + 3, of_x, 3 * sizeof *all);
  const int code = t->ctx->comm->table->reduce_all(t->ctx->comm, all, 6, COMM_DOUBLE, COMM_SUM, err);
  *out = (struct products){all[0], all[3], sqrt(all[1] * all[2]) + sqrt(all[4] * all[5])};
  return code;
}

/* ---- one loop ---- */

/* The data that the tangent loop writes are put aside too, and come back. */
static int put_data_aside(struct test *t, struct aside *data, struct error *err) {
  int code = queue_flush(t->ctx, err);
  for (int i = 0; !code && i < t->n; i++) {
    struct thing *thing = t->things[i];
    data[i].companion = thing;
    if (thing->gbl) {
      if (!(data[i].value = array_new(thing->gbl->bytes, 1)))
        return error_memory(err, "a global that is put aside", thing->gbl->bytes);
      code = gbl_need(t->ctx, thing->gbl, SPACE_HOST, err);
      memcpy(data[i].value, thing->gbl->value, thing->gbl->bytes);
      continue;
    }
    if (!thing->dat) /* a constant, which loops leave as it is */
      continue;
    if (!(data[i].dat = dat_like(t->ctx, thing->dat, "put aside", err)))
      return err->code;
    code = tape_run_copy(t->ctx, thing->dat, data[i].dat, err);
    if (!code)
      code = queue_flush(t->ctx, err);
  }
  return code;
}

/* The tangent from dots x leaves J x, the adjoint from bars y leaves J^T y: both are of all that the loop has. */
static int compare_loop(struct test *t, const struct event *event, struct error *err) {
  const double most = 1e-4;
  double of_y[3] = {0}, of_x[3] = {0};
  struct products found;
  bool ran = false;
  struct aside *data = array_new((size_t)t->n, sizeof *data);
  if (!data)
    return error_memory(err, "the test of a loop", (size_t)t->n * sizeof *data);
  int code = put_data_aside(t, data, err);
  if (!code)
    code = test_put_all(t, true, err);
  if (!code)
    code = test_put_all(t, false, err);
  struct event again = *event;
  if (!code)
    code = tangent_of_event(t->ctx, &again, &ran, err);
  if (!code)
    code = test_add_all(t, of_y, err);
  struct error own = {0};
  for (int i = 0; i < t->n; i++) {
    const int back = data[i].companion ? take_back(t->ctx, &data[i], code ? &own : err) : OP_OK;
    code = code ? code : back;
  }
  error_free(&own);
  free(data);
  if (!code)
    code = tape_run_adjoint(t->ctx, t->site, event_values(event), err);
  if (!code)
    code = test_put_all(t, true, err);
  if (!code)
    code = test_add_all(t, of_x, err);
  if (!code)
    code = test_sum(t, of_y, of_x, &found, err);
  if (!code && !(fabs(found.of_y - found.of_x) <= most * found.norms))
    code = error_set(
        err, OP_ERR_VIOLATION,
        "loop %s: its adjoint is not that of its tangent: <y, J x> is %.17g and <J^T y, x> is %.17g, by "
        "random x and y; give a right one with op_kernel_adjoint, or report this kernel",
        t->site->name, found.of_y, found.of_x);
  return code;
}

int site_test(struct op_context *ctx, const struct event *event, struct error *err) {
  struct site *site = event->site;
  struct test t = {.ctx = ctx, .site = site, .seed = 1};
  void **things = array_new((size_t)(site->nargs + site->nconstants), sizeof *things);
  if (!things)
    return error_memory(err, "the test of a loop", sizeof *things);
  for (int i = 0; i < site->nargs + site->nconstants; i++)
    things[i] = site->things[i];
  site->tested = true;
  int code = test_open(&t, things, site->nargs + site->nconstants, err);
  free(things);
  if (!code)
    code = compare_loop(&t, event, err);
  return test_close(&t, code, err);
}
