#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/list.h"
#include "check/shadow.h"
#include "context/context.h"
#include "loop/chain/queue.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "ranks/agree.h"
#include "record/sites.h"

/* Something that a launch writes; the first one in the order of the calls. */
struct written {
  const struct launch *launch;
  int arg;
  unsigned char *memory;
  size_t bytes;
  unsigned char *before, *first;
};

struct writes {
  struct written *items;
  int count;
};

static bool find_memory(const struct launch *launch, int i, unsigned char **memory, size_t *bytes) {
  const struct loop_arg *arg = &launch->loop->args[i];
  if (!arg->present || (arg->form != DESC_INFO && !access_changes(arg->access)))
    return false;
  const struct replica *host = arg->dat ? &arg->dat->replicas[SPACE_HOST] : NULL;
  *memory = host ? host->memory : launch->user[i];
  *bytes = host ? host->bytes : arg->bytes;
  return *memory;
}

static bool is_known(const struct writes *w, const unsigned char *memory) {
  for (int k = 0; k < w->count; k++)
    if (w->items[k].memory == memory)
      return true;
  return false;
}

static bool add(struct writes *w, const struct launch *launch, int i) {
  struct written item = {.launch = launch, .arg = i};
  if (!find_memory(launch, i, &item.memory, &item.bytes) || is_known(w, item.memory))
    return true;
  struct written *items = array_resize(w->items, (size_t)w->count + 1, sizeof *items);
  if (!items)
    return false;
  w->items = items;
  item.before = array_new(item.bytes, 2);
  if (!item.before)
    return false;
  item.first = item.before + item.bytes;
  items[w->count++] = item;
  memcpy(item.before, item.memory, item.bytes);
  return true;
}

static void writes_free(struct writes *w) {
  for (int k = 0; k < w->count; k++)
    free(w->items[k].before);
  free(w->items);
}

/* Dats of a device come to the host before they are looked at; put_back brings them to the device again. */
static int look_at(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  int code = OP_OK;
  for (int l = 0; l < n; l++)
    for (int i = 0; !code && i < launches[l]->loop->nargs; i++) {
      const struct loop_arg *arg = &launches[l]->loop->args[i];
      if (arg->dat && arg->present && arg->access != OP_READ)
        code = dat_need(ctx, arg->dat, SPACE_HOST, REGION_OWNED, err);
      else if (arg->gbl && arg->present) /* ranks' results may be on their way */
        code = gbl_await(ctx, arg->gbl, err);
    }
  return code;
}

static int put_back(struct op_context *ctx, const struct writes *w, struct error *err) {
  int code = OP_OK;
  for (int k = 0; !code && k < w->count; k++) {
    const struct loop *loop = w->items[k].launch->loop;
    struct dat *dat = loop->args[w->items[k].arg].dat;
    if (!dat || (loop->space == SPACE_HOST && !dat->set->spread))
      continue;
    dat_wrote(dat, SPACE_HOST); /* and copies of others' elements are old */
    code = dat_need(ctx, dat, loop->space, REGION_OWNED, err);
  }
  return code;
}

static int find_writes(struct writes *w, struct launch *const *launches, int n, struct error *err) {
  bool good = true;
  for (int l = 0; good && l < n; l++)
    for (int i = 0; good && i < launches[l]->loop->nargs; i++)
      good = add(w, launches[l], i);
  return good ? OP_OK : error_memory(err, "the copies of what a chain writes (OP2_LAZY=check)", 0);
}

static void restore_before(const struct writes *w) {
  for (int k = 0; k < w->count; k++)
    memcpy(w->items[k].memory, w->items[k].before, w->items[k].bytes);
}

static void keep_first(const struct writes *w) {
  for (int k = 0; k < w->count; k++)
    memcpy(w->items[k].first, w->items[k].memory, w->items[k].bytes);
}

static void restore_first(const struct writes *w) {
  for (int k = 0; k < w->count; k++)
    memcpy(w->items[k].memory, w->items[k].first, w->items[k].bytes);
}

static size_t compare(const struct written *w, enum type_code type, size_t count) {
  double largest = values_largest(type, w->before, count, 0);
  largest = values_largest(type, w->first, count, values_largest(type, w->memory, count, largest));
  return values_differ(type, w->first, w->memory, count, values_tolerance(type) * largest);
}

static void add_place(const struct written *w, size_t value, struct text *out) {
  const struct loop *loop = w->launch->loop;
  const struct loop_arg *arg = &loop->args[w->arg];
  if (arg->dat)
    values_place(loop, arg->dat, value, out);
  else
    text_addf(out, arg->gbl ? "global \"%s\", value %zu," : "the global%s, value %zu,",
              arg->gbl ? arg->gbl->name : "", value);
}

static int report(const struct written *w, size_t value, int n, struct error *err) {
  const struct launch *launch = w->launch;
  const struct loop_arg *arg = &launch->loop->args[w->arg];
  const size_t at = value * type_info(arg->type)->size;
  struct text place = {0};
  char x[64], y[64];
  type_print(arg->type, w->first + at, x, sizeof x);
  type_print(arg->type, w->memory + at, y, sizeof y);
  add_place(w, value, &place);
  error_set(
      err, OP_ERR_INTERNAL,
      "loop %s, argument %d, called at %s:%d, which waited with %d others: %s is %s in a chain and %s one "
      "by one (OP2_LAZY=check); if OP2_CHECK=on finds no mistake in the kernels, please report it",
      launch->loop->name, w->arg + 1, launch->file ? launch->file : "", launch->line, n - 1, text_str(&place),
      x, y);
  text_free(&place);
  return OP_ERR_INTERNAL;
}

static int compare_all(const struct writes *w, int n, struct error *err) {
  for (int k = 0; k < w->count; k++) {
    const struct loop_arg *arg = &w->items[k].launch->loop->args[w->items[k].arg];
    const struct dat *dat = arg->dat;
    if (dat)
      values_take_halo(dat, w->items[k].first, w->items[k].memory);
    const size_t rows = dat && dat->soa ? (size_t)dat->stride
                        : dat           ? (size_t)dat->set->extents[EXTENT_OWNED]
                                        : 1;
    const size_t count = rows * (size_t)arg->dim, value = compare(&w->items[k], arg->type, count);
    if (value < count)
      return report(&w->items[k], value, n, err);
  }
  return OP_OK;
}

/* They are the first n that wait; calls were counted when they came. */
static void tell_capture(const struct op_context *ctx, const struct loop *first, int n) {
  long long later = 0;
  for (int i = 1; i < ctx->queue->count; i++)
    later += strcmp(ctx->queue->launches[i]->loop->name, first->name) == 0;
  site_tell_capture(ctx, first, later, n);
}

int lazy_check(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  struct writes w = {0};
  struct error ignored = {0};
  int code = look_at(ctx, launches, n, err);
  if (!code)
    code = find_writes(&w, launches, n, err);
  code = agree_on_success(ctx->agreement, code, err);
  if (!code)
    code = queue_run(ctx, launches, n, false, err);
  if (!code)
    code = look_at(ctx, launches, n, err);
  if (!code)
    keep_first(&w);
  restore_before(&w);
  if (!code)
    code = put_back(ctx, &w, err);
  for (int i = 0; !code && i < n; i++)
    code = loop_ready_again(ctx, launches[i], err);
  if (!code)
    code = queue_run(ctx, launches, n, true, err);
  if (!code)
    code = look_at(ctx, launches, n, err);
  if (!code && (code = agree_on_success(ctx->agreement, compare_all(&w, n, err), err)))
    tell_capture(ctx, launches[0]->loop, n);
  if (code)
    restore_before(&w);
  else
    restore_first(&w);
  if (put_back(ctx, &w, code ? &ignored : err) && !code)
    code = err->code;
  error_free(&ignored);
  writes_free(&w);
  return code;
}
