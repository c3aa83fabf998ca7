#include "capture/capture.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/aside.h"
#include "base/list.h"
#include "base/log.h"
#include "capture/taking.h"
#include "context/context.h"
#include "context/env.h"
#include "loop/chain/queue.h"
#include "loop/loop.h"
#include "loop/place.h"
#include "mesh/data.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/kept.h"
#include "record/recorder.h"

/* ---- what is asked for ---- */

static bool parse(struct taking *t, const char *value) {
  const char *call = strchr(value, ':'), *file = call ? strchr(call + 1, ':') : NULL;
  char *end;
  if (!file || call == value || !file[1])
    return false;
  t->call = strtoll(call + 1, &end, 10);
  t->many = 1;
  if (*end == '+') {
    const bool counted = ++end != file;
    t->many = counted ? strtoll(end, &end, 10) : 0;
    if (counted && t->many < 1)
      return false;
  }
  t->loop = strndup(value, (size_t)(call - value));
  t->file = strdup(file + 1);
  return end == file && t->call >= 1 && t->many <= INT_MAX;
}

/* Ranks have a file each. */
static int begin(const struct op_context *ctx, struct taking *t, const char *value, struct error *err) {
  struct text name = {0};
  if (!parse(t, value))
    return error_set(
        err, OP_ERR_ENV,
        "OP2_CAPTURE=%s: expected LOOP:CALL:FILE, where CALL is a number from 1, or CALL+N for N "
        "calls, or CALL+ for all until that loop comes again",
        value);
  if (t->file && !comm_alone(ctx->comm)) {
    text_addf(&name, "%s.%d", t->file, ctx->comm->rank);
    free(t->file);
    t->file = text_take(&name);
  }
  if (!t->loop || !t->file)
    return error_memory(err, "OP2_CAPTURE", strlen(value));
  return aside_check(t->file, err) ? error_prefix(err, "OP2_CAPTURE: ") : OP_OK;
}

/* ---- a call ---- */

static bool is_variable(const struct loop_arg *arg) {
  return arg->present && !arg->gbl &&
         (arg->form == DESC_INFO || (arg->form == DESC_GBL && arg->access != OP_WORK));
}

static int user_number(const struct set *set, long element) {
  return set->to_user ? set->to_user[element] : (int)element;
}

/* The library's number of the element's parent, if it runs over a subset. */
static long parent_of(const struct set *set, long element) {
  return set->sub ? set->sub->own->table[element] : element;
}

/* One process runs all, also before the loop is made ready. */
static long end_of(const struct loop *loop) {
  return loop->set->spread ? loop_end(loop) : loop->set->extents[EXTENT_OWNED];
}

static long long take_numbers(struct taking *t, const struct loop *loop, const struct loop_arg *arg,
                              long long set, struct error *err) {
  const long long number = taking_zeros(t, set, arg->dim, TYPE_INT, "numbers", err);
  const struct set *own = set_numbered(loop->set), *to = arg->map ? arg->map->to : own;
  if (number < 0)
    return -1;
  int *values = (int *)(void *)t->all.data[number].before;
  for (long e = 0; e < end_of(loop); e++) {
    const long element = parent_of(loop->set, e);
    int *row = values + (size_t)t->sets[set].numbers[element] * (size_t)arg->dim;
    for (int c = 0; c < arg->dim; c++)
      row[c] = user_number(
          to, arg->map ? arg->map->table[map_begin(arg->map, e) + (arg->idx < 0 ? c : arg->idx)] : element);
  }
  return number;
}

/* With several ranks a global belongs to one call: its results are those of all ranks. */
static long long take_value(struct taking *t, const struct op_context *ctx, const struct loop_arg *arg,
                            const op_arg *said, struct error *err) {
  if (arg->gbl)
    return comm_alone(ctx->comm) ? taking_global(t, arg->gbl, err)
                                 : taking_variable(t, arg->dim, arg->type, arg->gbl->value, err);
  const void *values = !is_variable(arg) ? NULL : kept_has(said) ? kept_values(ctx, said) : said->data_;
  return values ? taking_variable(t, arg->dim, arg->type, values, err) : -1;
}

/* Subsets have maps of their own; in the capture they are the set's. An element's matrix is zeros when its kernel begins. */
static int take_arg(struct taking *t, const struct op_context *ctx, const struct loop *loop,
                    const struct loop_call *call, int i, struct capture_call *made, struct error *err) {
  const struct loop_arg *arg = &loop->args[i];
  const bool matrix = arg->dat && arg->dat->segment;
  struct capture_arg *to = &made->args[i];
  *to = (struct capture_arg){
      .form = arg->form,
      .access = arg->form == DESC_DAT || arg->form == DESC_GBL ? (int)loop->key.args[i].access_ : arg->access,
      .present = arg->present,
      .map = -1,
      .idx = -1,
      .dim = arg->dim,
      .ref = arg->ref,
      .may_meet = call->args[i].may_meet_,
      .type = arg->type};
  made->nargs = i + 1;
  if (arg->map && !arg_is_direct(arg)) {
    to->map = taking_map(t, map_origin(arg->map), err);
    to->idx = arg->idx < 0 ? OP_ALL : arg->idx;
  }
  if (err->code)
    return err->code;
  to->access = matrix ? OP_RW : to->access;
  to->data = matrix     ? taking_zeros(t, made->set, arg->dim, arg->type, "an element's matrix", err)
             : arg->dat ? taking_dat(t, arg->dat, err)
             : arg->form == DESC_IDX ? take_numbers(t, loop, arg, made->set, err)
                                     : take_value(t, ctx, arg, &call->args[i], err);
  return err->code;
}

static int take_elements(struct taking *t, const struct loop *loop, struct capture_call *made,
                         struct error *err) {
  const struct taken_set *set = &t->sets[made->set];
  const long long size = t->all.sets[made->set].size;
  unsigned char *runs = array_new((size_t)size, 1);
  made->elements = array_new((size_t)size, sizeof *made->elements);
  for (long e = 0; runs && e < end_of(loop); e++)
    runs[set->numbers[parent_of(loop->set, e)]] = 1;
  for (long long e = 0; runs && made->elements && e < size; e++)
    if (runs[e])
      made->elements[made->count++] = (int)e;
  const bool good = runs && made->elements;
  free(runs);
  if (good && made->count == size) {
    free(made->elements);
    made->elements = NULL;
  }
  return good ? OP_OK : error_memory(err, "a capture", (size_t)size * sizeof(int));
}

static int take_words(const struct loop *loop, const struct loop_call *call, struct capture_call *made,
                      struct error *err) {
  made->name = strdup(loop->desc.kernel_name);
  made->text = strdup(loop->desc.text);
  made->file = strdup(call->file ? call->file : "");
  made->variant = strdup("");
  made->line = call->line;
  return made->name && made->text && made->file && made->variant
             ? OP_OK
             : error_memory(err, "a capture", strlen(loop->desc.text));
}

/* Takes the copies that came from other ranks since the capture got these dats. */
static int take_received(struct taking *t, const struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->form == DESC_DAT && arg->present && access_reads((int)loop->key.args[i].access_))
      for (int d = 0; !code && d < t->all.ndata; d++)
        if (t->data[d].dat == arg->dat)
          code = taking_receive(t, loop, d, err);
  }
  return code;
}

static int take_gifts(struct taking *t, const struct loop *loop, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++) {
    struct dat *dat = loop->args[i].dat;
    const long long to = dat && dat->segment ? taking_dat(t, dat, err) : -1;
    code = err->code;
    if (to >= 0)
      code = taking_give(t, t->last, t->all.calls[t->last].args[i].data, to, (int)loop->key.args[i].access_,
                         err);
  }
  return code;
}

static int take_call(struct taking *t, const struct op_context *ctx, const struct loop *loop,
                     const struct loop_call *call, struct error *err) {
  int code = comm_alone(ctx->comm) ? OP_OK : take_received(t, loop, err);
  struct capture_call *made = code ? NULL : taking_call(t, err);
  if (!made)
    return err->code;
  t->last = t->all.ncalls - 1;
  code = take_words(loop, call, made, err);
  if (!code && (made->set = taking_set(t, set_numbered(loop->set), err)) < 0)
    code = err->code;
  for (int i = 0; !code && i < loop->nargs; i++)
    code = take_arg(t, ctx, loop, call, i, made, err);
  for (int i = 0; !code && i < loop->desc.nconsts; i++)
    if (taking_constant(t, mesh_find_constant(ctx->mesh, loop->desc.consts[i].name), err) < 0)
      code = err->code;
  if (!code)
    code = take_elements(t, loop, made, err);
  return code ? code : take_gifts(t, loop, err);
}

/* The reason why a file cannot hold the loop, NULL: it can. */
static const char *why_not(const struct loop *loop) {
  if (loop->ranged || !loop->desc.text || !*loop->desc.text || loop->desc.entry)
    return "it runs by a function of the program, whose text in C is not known";
  for (int i = 0; i < loop->nargs; i++)
    if (loop->args[i].form == DESC_IDX && loop->args[i].map && loop->args[i].map->first)
      return "it asks for the numbers of a ragged map's targets, which captures do not hold";
  return NULL;
}

/* ---- before and after it ---- */

/* Others' elements, which only a loop knows that is made ready. */
static int bring_copies(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (comm_alone(ctx->comm) || !loop->ready.most_elements)
    return OP_OK;
  struct launch *launch = launch_get(loop, err);
  int code = launch ? loop_prepare(ctx, launch, err) : err->code;
  if (!code)
    code = loop_exchange_now(ctx, launch, loop->space, err);
  if (!code && space_is_device(loop->space))
    code = loop_exchange_now(ctx, launch, SPACE_HOST, err);
  if (launch)
    launch_put(launch);
  return code;
}

/* The newest of everything that it uses is on the host. */
static int bring(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = bring_copies(ctx, loop, err);
  for (int i = 0; !code && i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->dat)
      code = dat_need(ctx, arg->dat, SPACE_HOST, REGION_OWNED, err);
    if (!code && arg->gbl)
      code = gbl_need(ctx, arg->gbl, SPACE_HOST, err);
  }
  return code;
}

/* Dats may be gone, and others may lie in their places. */
static void forget_freed(const struct op_context *ctx, struct taking *t) {
  for (int i = 0; i < t->all.ndata; i++) {
    bool lives = false;
    for (int k = 0; t->data[i].dat && !lives && k < ctx->mesh->dats.count; k++) {
      const struct dat *dat = ctx->mesh->dats.items[k];
      lives = dat == t->data[i].dat && dat->id == t->data[i].id;
    }
    t->data[i].dat = lives ? t->data[i].dat : NULL;
  }
}

/* Written between two calls, by the program; matrices are not. */
static bool was_written(const struct taking *t) {
  for (int i = 0; i < t->all.ndata; i++) {
    const struct taken_data *d = &t->data[i];
    if ((d->dat && !d->dat->segment && d->dat->version != d->version) ||
        (d->gbl && t->all.data[i].after && memcmp(t->all.data[i].after, d->gbl->value, d->gbl->bytes) != 0))
      return true;
  }
  return false;
}

static bool is_over(const struct taking *t, bool again) {
  return t->many ? t->kept == t->many : again;
}

#define NUMBERED_ANEW "the mesh was numbered anew meanwhile"
static void finish(struct op_context *ctx, struct taking *t);
static int write_file(struct op_context *ctx, struct taking *t, bool known, struct error *err);

static int before(struct op_context *ctx, struct loop *loop, const struct loop_call *call, bool *caught,
                  struct error *err) {
  struct taking *t = ctx->taking;
  const bool named = strcmp(loop->name, t->loop) == 0;
  t->seen += named;
  if (t->active && is_over(t, named))
    finish(ctx, t);
  if (t->done || !(t->active || (named && t->seen == t->call)))
    return OP_OK;
  int code = queue_flush(ctx, err);
  if (!code)
    code = bring(ctx, loop, err);
  if (code)
    return code;
  forget_freed(ctx, t);
  if (!t->active)
    t->epoch = ctx->mesh->epoch;
  else if (!t->failed && ctx->mesh->epoch != t->epoch)
    t->failed = NUMBERED_ANEW;
  else if (!t->failed && was_written(t))
    t->failed = "the program changed data between two of its loops";
  t->active = *caught = true;
  t->kept++;
  t->failed = t->failed ? t->failed : why_not(loop);
  t->start = loop->stats.seconds;
  struct error lost = {0};
  if (!t->failed && take_call(t, ctx, loop, call, &lost))
    t->failed = "there is no memory for it";
  /* A call may end the process. */
  if (!t->failed && t->many == 1)
    write_file(ctx, t, false, &lost);
  error_free(&lost);
  return OP_OK;
}

static int take_after(struct taking *t, long long number, const void *values, struct error *err) {
  struct capture_data *d = &t->all.data[number];
  if (!d->after && !(d->after = malloc(capture_row(d))))
    return error_memory(err, "a capture", capture_row(d));
  memcpy(d->after, values, capture_row(d));
  return OP_OK;
}

/* Results of ranks are of all of them. */
static int take_results(const struct op_context *ctx, struct taking *t, const struct loop *loop,
                        const struct loop_call *call, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && comm_alone(ctx->comm) && i < loop->nargs; i++)
    if (is_variable(&loop->args[i]) && !kept_has(&call->args[i]) &&
        capture_arg_changes(&t->all.calls[t->last].args[i]))
      code = take_after(t, t->all.calls[t->last].args[i].data, call->args[i].data_, err);
  return code;
}

/* Versions of now show at the next call whether the program wrote data in between. */
static int take_state(struct op_context *ctx, struct taking *t, struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < t->all.ndata; i++) {
    const struct taken_data *d = &t->data[i];
    t->data[i].version = d->dat ? d->dat->version : 0;
    code = d->gbl ? gbl_need(ctx, d->gbl, SPACE_HOST, err) : OP_OK;
    if (!code && d->gbl)
      code = take_after(t, i, d->gbl->value, err);
  }
  return code;
}

/* A call that failed is the last one; what came of it is known where OP2_SHADOW found a difference. */
static int after(struct op_context *ctx, struct loop *loop, const struct loop_call *call, int code,
                 struct error *err) {
  struct taking *t = ctx->taking;
  if (!code)
    code = queue_flush(ctx, err);
  struct error lost = {0};
  const bool known = !code || (code == OP_ERR_VIOLATION && ctx->shadow);
  if (known && !t->failed &&
      (take_state(ctx, t, &lost) || (!code && take_results(ctx, t, loop, call, &lost))))
    t->failed = "the values of its globals cannot be had";
  error_free(&lost);
  if (code) { /* on all ranks, also where there will be no file */
    t->unknown = !known;
    finish(ctx, t);
  }
  if (code || t->failed)
    return code;
  struct capture_call *made = &t->all.calls[t->last];
  made->seconds = loop->stats.seconds - t->start;
  free(made->variant);
  made->variant = strdup(loop->stats.variant ? loop->stats.variant : "");
  if (t->many && is_over(t, false))
    finish(ctx, t);
  return OP_OK;
}

/* ---- the file ---- */

static bool changes(const struct capture *c, int data) {
  for (int i = 0; i < c->ncalls; i++)
    for (int a = 0; a < c->calls[i].nargs; a++)
      if (c->calls[i].args[a].data == data && capture_arg_changes(&c->calls[i].args[a]))
        return true;
  return false;
}

static int take_outcome(struct op_context *ctx, struct taking *t, struct error *err) {
  int code = OP_OK;
  forget_freed(ctx, t);
  for (int i = 0; !code && i < t->all.ndata; i++) {
    struct dat *dat = t->data[i].dat;
    if (!dat || !changes(&t->all, i) ||
        dat->version != t->data[i].version) /* the program wrote it behind the last call */
      continue;
    code = dat_need(ctx, dat, SPACE_HOST, REGION_OWNED, err);
    if (!code && !(t->all.data[i].after = taking_rows(t, i, dat)))
      code = error_memory(err, "a capture", 0);
  }
  return code;
}

static int add_facts(const struct op_context *ctx, struct capture *c, struct error *err) {
  struct text machine = {0};
  char numbers[2][16];
  tuning_host(&machine);
  snprintf(numbers[0], sizeof numbers[0], "%d", ctx->comm->rank);
  snprintf(numbers[1], sizeof numbers[1], "%d", ctx->comm->size);
  const char *const facts[][2] = {{"version", VERSION},
                                  {"machine", text_str(&machine)},
                                  {"backend", ctx->backend->name},
                                  {"rank", numbers[0]},
                                  {"ranks", numbers[1]}};
  int code = OP_OK;
  for (size_t i = 0; !code && i < sizeof facts / sizeof *facts; i++)
    code = capture_add_fact(c, facts[i][0], facts[i][1], err);
  for (int i = 0; !code && i < ENV_COUNT; i++)
    if (i != ENV_CAPTURE && env_given(ctx->env, (enum env_name)i) &&
        !strchr(env_value(ctx->env, (enum env_name)i), '/')) /* names of files are nobody's business */
      code = capture_add_fact(c, env_row((enum env_name)i)->name, env_value(ctx->env, (enum env_name)i), err);
  text_free(&machine);
  return code;
}

/* `known`: what comes of the calls. */
static int write_file(struct op_context *ctx, struct taking *t, bool known, struct error *err) {
  struct capture part = {0};
  int code = OP_OK;
  if (ctx->mesh->epoch != t->epoch)
    code = error_set(err, OP_ERR_STATE, NUMBERED_ANEW);
  else if (known)
    code = take_outcome(ctx, t, err);
  if (!code && !t->all.nfacts)
    code = add_facts(ctx, &t->all, err);
  if (!code)
    code = capture_copy(&t->all, &part, err);
  if (!code)
    code = capture_select(&part, NULL, err);
  if (!code)
    code = capture_save(&part, t->file, err);
  capture_free(&part);
  return code;
}

static void finish(struct op_context *ctx, struct taking *t) {
  struct error err = {0};
  t->active = false;
  t->done = true;
  if (t->failed)
    error_set(&err, OP_ERR_STATE, "%s", t->failed);
  else
    write_file(ctx, t, !t->unknown, &err);
  if (err.code)
    log_line(ctx->log, LOG_WARN, "loop", "OP2_CAPTURE: call %lld of loop %s is not kept: %s", t->call,
             t->loop, error_message(&err));
  else
    log_line(ctx->log, LOG_INFO, "loop", "call %lld of loop %s is in %s", t->call, t->loop, t->file);
  error_free(&err);
}

static void passed(struct op_context *ctx, const struct loop *loop) {
  ctx->taking->seen += strcmp(loop->name, ctx->taking->loop) == 0;
}

static const struct catcher catching = {before, after, passed};

int capture_open(struct op_context *ctx, struct error *err) {
  const char *value = env_value(ctx->env, ENV_CAPTURE);
  if (!*value)
    return OP_OK;
  ctx->taking = calloc(1, sizeof *ctx->taking);
  if (!ctx->taking)
    return error_memory(err, "OP2_CAPTURE", sizeof *ctx->taking);
  const int code = begin(ctx, ctx->taking, value, err);
  ctx->catcher = code ? NULL : &catching;
  return code;
}

void capture_close(struct op_context *ctx) {
  struct taking *t = ctx->taking;
  if (t && t->active)
    finish(ctx, t);
  else if (t && !t->done && t->seen >= t->call)
    log_line(
        ctx->log, LOG_WARN, "loop",
        "OP2_CAPTURE: call %lld of loop %s is not kept: it was passed, since a checkpoint is behind it, or "
        "has derivatives",
        t->call, t->loop);
  else if (t && !t->done)
    log_line(ctx->log, LOG_WARN, "loop",
             "OP2_CAPTURE: loop %s was called %lld times, and call %lld was wanted", t->loop, t->seen,
             t->call);
}

void capture_release(struct op_context *ctx) {
  if (ctx->taking)
    taking_free(ctx->taking);
  free(ctx->taking);
}
