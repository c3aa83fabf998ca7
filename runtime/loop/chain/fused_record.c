#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "context/context.h"
#include "include/op2jit.h"
#include "loop/chain/fused.h"
#include "loop/chain/tiled.h"
#include "loop/choose.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "mesh/mesh.h"
#include "ranks/comm.h"
#include "record/sites.h"

/* So many are kept. */
enum { MOST_FUSED = 256, LONGEST_NAME = 96 };

/* ---- arguments of several loops as one loop's ------------------------------------------------------*/

/* The same row of the same dat; sums of one kernel into one row stay two arguments. */
static bool is_same(const struct loop_arg *a, const struct loop_arg *b, bool one_kernel) {
  return a->form == DESC_DAT && b->form == DESC_DAT && a->present && b->present && a->dat == b->dat &&
         a->map == b->map && a->idx == b->idx && !(one_kernel && a->access != OP_READ);
}

/* One access for two, one after the other. */
static int after(int first, int second) {
  if (first == OP_WRITE)
    return OP_WRITE;
  return first == OP_READ && second == OP_READ ? OP_READ : OP_RW;
}

static int find_same(const struct loop *loop, const struct fusion *f, int member,
                     const struct loop_arg *arg) {
  for (int k = 0; k < loop->nargs; k++) {
    int first, ignored;
    fused_arg_of(f, k, &first, &ignored);
    if (is_same(&loop->args[k], arg, first == member))
      return k;
  }
  return -1;
}

static void add_arg(struct loop *loop, struct fusion *f, int member, int i) {
  const struct loop_arg *arg = &f->members[member]->args[i];
  const int same = find_same(loop, f, member, arg);
  if (same >= 0) {
    loop->args[same].access = after(loop->args[same].access, arg->access);
    f->number[member][i] = (unsigned char)same;
    return;
  }
  loop->key.args[loop->nargs] = f->members[member]->key.args[i];
  loop->args[loop->nargs] = *arg;
  f->number[member][i] = (unsigned char)loop->nargs++;
}

static void add_args(struct loop *loop, struct fusion *f) {
  const int n = f->n;
  memset(f->number, OP_MAX_ARGS, sizeof f->number);
  for (int m = 0; m < n; m++)
    for (int i = 0; i < f->members[m]->nargs; i++)
      add_arg(loop, f, m, i);
  for (int m = 0; m < n; m++)
    for (int i = 0; i < f->members[m]->nargs; i++) {
      const struct loop_arg *arg = &f->members[m]->args[i];
      struct loop_arg *to = &loop->args[f->number[m][i]];
      to->ref = arg->ref < 0 ? -1 : f->number[m][arg->ref];
      to->info = arg->info < 0 ? -1 : f->number[m][arg->info];
    }
}

/* "save_soln+adt_calc"; of many long names the first ones, and how many more. Names of kernels, or of loops in
 * reports. */
static char *join_names(const struct fusion *f, bool kernels) {
  struct text name = {0};
  for (int m = 0; m < f->n; m++) {
    const char *of = kernels ? f->members[m]->key.name : f->members[m]->name;
    if (m && name.length + strlen(of) > LONGEST_NAME) {
      text_addf(&name, "+%d", f->n - m);
      break;
    }
    text_addf(&name, "%s%s", m ? "+" : "", of);
  }
  return text_take(&name);
}

/* ---- records ---------------------------------------------------------------------------------------*/

static int fill(struct op_context *ctx, struct loop *loop, struct loop *const *members, int n,
                uint64_t dropped, struct error *err) {
  const struct loop *first = members[0];
  struct fusion *f = calloc(1, sizeof *f);
  loop->fusion = f;
  loop->backend = first->backend; /* which loop_free asks to drop it */
  loop->space = first->space;
  if (!f)
    return error_memory(err, "a fused loop", sizeof *f);
  f->n = n;
  f->dropped = dropped;
  memcpy((void *)f->members, (const void *)members, (size_t)n * sizeof *members);
  loop->set = first->set;
  loop->key.set = first->key.set;
  loop->key.line = first->key.line;
  loop->key.args = array_new(OP_MAX_ARGS, sizeof *loop->key.args);
  loop->name = join_names(f, false);
  loop->key.name = join_names(f, true);
  loop->key.text = strdup("");
  loop->key.file = strdup(first->key.file);
  if (!loop->key.args || !loop->name || !loop->key.name || !loop->key.text || !loop->key.file)
    return error_memory(err, "the record of a fused loop", sizeof *loop);
  add_args(loop, f);
  int code = tune_new(loop, err);
  if (!code)
    code = loop_describe(ctx, loop, err);
  if (!code &&
      !comm_alone(
          ctx->comm)) /* what ranks must agree on they do when it is made ready, as if it were stale */
    loop->ready.epoch = ctx->mesh->epoch - 1;
  return code ? code : loop_layout(loop, err);
}

/* Its time is told under its members' names. */
static int enter_site(struct op_context *ctx, struct loop *loop, struct error *err) {
  const struct loop_call call = {.text = loop->key.text,
                                 .name = loop->key.name,
                                 .told = loop->name,
                                 .set = loop->key.set,
                                 .nargs = loop->nargs,
                                 .args = loop->key.args,
                                 .file = loop->key.file,
                                 .line = loop->key.line};
  struct loop_site *site = site_get(ctx, &call, err);
  if (!site)
    return err->code;
  site_enter(site, loop);
  return OP_OK;
}

static struct loop *make(struct op_context *ctx, struct loop *const *members, int n, uint64_t dropped,
                         struct error *err) {
  struct loop *loop = calloc(1, sizeof *loop);
  int code = loop ? OP_OK : error_memory(err, "the record of a fused loop", sizeof *loop);
  if (!code)
    code = fill(ctx, loop, members, n, dropped, err);
  if (!code)
    code = enter_site(ctx, loop, err);
  if (!code && !list_add(ctx->fused, loop))
    code = error_memory(err, "the record of a fused loop", sizeof *loop);
  if (code && loop)
    loop_free(ctx, loop);
  return code ? NULL : loop;
}

static bool is_of(const struct loop *loop, struct loop *const *members, int n, uint64_t dropped) {
  const struct fusion *f = loop->fusion;
  bool same = f->n == n && f->dropped == dropped;
  for (int m = 0; same && m < n; m++)
    same = f->members[m] == members[m];
  return same;
}

static void forget_at(struct op_context *ctx, int i) {
  struct loop *loop = ctx->fused->items[i];
  tiled_forget_with(ctx, loop);
  list_remove(ctx->fused, loop);
  loop_free(ctx, loop);
}

void fused_forget(struct op_context *ctx, const void *object) {
  for (int i = ctx->fused->count - 1; i >= 0; i--)
    if (!object || loop_uses(ctx->fused->items[i], object))
      forget_at(ctx, i);
  if (ctx->fused->count == 0)
    list_free(ctx->fused);
}

/* A mesh that was renumbered, or a constant that is compiled in and changed, is the members' to see first. */
static bool is_stale(const struct op_context *ctx, const struct loop *loop) {
  return loop->ready.epoch != ctx->mesh->epoch || loop->ready.constant_epoch != ctx->mesh->constant_epoch;
}

struct loop *fused_get(struct op_context *ctx, struct loop *const *members, int n, uint64_t dropped,
                       struct error *err) {
  for (int i = ctx->fused->count - 1; i >= 0; i--)
    if (is_stale(ctx, ctx->fused->items[i]))
      forget_at(ctx, i);
  for (int i = 0; i < ctx->fused->count; i++)
    if (is_of(ctx->fused->items[i], members, n, dropped))
      return ctx->fused->items[i];
  if (ctx->fused->count >= MOST_FUSED) {
    error_set(err, OP_ERR_SIZE, "there are %d other loops made of several already", MOST_FUSED);
    return NULL;
  }
  return make(ctx, members, n, dropped, err);
}
