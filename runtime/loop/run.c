/* Running a launch: what it needs is made ready, then it goes, and leaves its results. */
#include "loop/loop.h"

#include <string.h>

#include "backend/backend.h"
#include "base/clock.h"
#include "base/log.h"
#include "context/context.h"
#include "context/env.h"
#include "context/forced.h"
#include "context/trace.h"
#include "jit/found.h"
#include "jit/jit.h"
#include "jit/kernel/says.h"
#include "loop/chain/deep.h"
#include "loop/choose.h"
#include "loop/meet.h"
#include "mesh/data.h"
#include "mesh/globals.h"
#include "mesh/guest.h"
#include "mesh/mesh.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "ranks/comm.h"
#include "record/findings.h"
#include "record/launch.h"

/* A direct WRITE leaves nothing of the old values; everything else needs them. */
static bool overwrites(const struct loop *loop, const struct dat *dat) {
  bool all = loop->set == dat->set && !loop->form;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (arg->dat == dat && arg->present)
      all &= !arg->map && arg->access == OP_WRITE;
  }
  return all;
}

/* Placed to be written: it has no values before, so that none go to a device. */
static bool is_hollow(const struct loop *loop, const struct dat *dat) {
  const struct guest *guest = dat->guest;
  return guest && guest->placed && guest->access == OP_WRITE && space_is_device(loop->space) &&
         dat->replicas[loop->space].bytes && overwrites(loop, dat);
}

/* A loop that adds to a result on its way starts from nothing if its own may come late too: it need not wait. */
static int need_gbl(struct op_context *ctx, struct loop *loop, int i, struct error *err) {
  const struct loop_arg *arg = &loop->args[i];
  const bool late = arg->gbl->late > 0;
  if (late && arg->access == OP_INC && results_come_late(ctx, loop))
    return OP_OK;
  const double start = late ? clock_seconds() : 0;
  const int code = gbl_need(ctx, arg->gbl, loop->desc.args[i].kept ? loop->space : SPACE_HOST, err);
  if (late)
    loop_note_wait(loop, start);
  return code;
}

static int need_dats(struct op_context *ctx, struct loop *loop, struct error *err) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if ((!arg->dat && !arg->gbl) || !arg->present)
      continue;
    if (arg->dat && arg->dat->blank && overwrites(loop, arg->dat))
      dat_overwrite(arg->dat);
    if (arg->dat && (is_hollow(loop, arg->dat) ||
                     (dat_is_current(arg->dat, loop->space, REGION_OWNED) && !loop->set->spread)))
      continue;
    int code =
        arg->dat ? dat_need(ctx, arg->dat, loop->space, REGION_OWNED, err) : need_gbl(ctx, loop, i, err);
    if (!code && arg->dat && loop->set->spread)
      code = halo_bring(ctx, arg->dat, loop->space, err);
    if (code)
      return error_prefix(err, "loop %s, argument %d: ", loop->name, i + 1);
  }
  return OP_OK;
}

static bool constants_changed(struct op_context *ctx, struct loop *loop) {
  if (loop->ready.constant_epoch == ctx->mesh->constant_epoch)
    return false;
  loop->ready.constant_epoch = ctx->mesh->constant_epoch;
  for (int i = 0; i < loop->desc.nconsts; i++) {
    const struct desc_const *known = &loop->desc.consts[i];
    const struct constant *constant = mesh_find_constant(ctx->mesh, known->name);
    if (known->folded && memcmp(known->value, constant->value, constant->bytes) != 0)
      return true;
  }
  return false;
}

/* The mesh or the constants have changed since the loop was described. */
static bool is_stale(struct op_context *ctx, struct loop *loop) {
  if (loop->ready.epoch != ctx->mesh->epoch)
    return true;
  return loop->ready.prepared ? constants_changed(ctx, loop)
                              : loop->ready.constant_epoch != ctx->mesh->constant_epoch;
}

int loop_describe_anew(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (!is_stale(ctx, loop))
    return OP_OK;
  tune_drop(ctx, loop);
  if (loop->form && loop->form->drop)
    loop->form->drop(loop);
  loop->ready.prepared = false;
  int code = loop_describe(ctx, loop, err);
  if (!code)
    code = loop_layout(loop, err);
  code = agree_on_loop(ctx, loop, loop->name, code, err);
  /* Half described is as stale as before. */
  if (code)
    loop->ready.epoch = ctx->mesh->epoch - 1;
  return code;
}

/* The program's own function may misuse `x[k]` for a ragged map's rows, too: ask the prover if there is one. Its
 * other findings do not matter here. */
static int check_native_rows(struct op_context *ctx, const struct loop *loop, struct error *err) {
  const struct jit_wish wish = {.alone = true};
  struct facts ignored;
  struct error said = {0};
  if (loop->backend->plan || loop->compiled || !(desc_any_ragged(&loop->desc) || loop->desc.says & SAYS_ROWS))
    return OP_OK;
  const int code = loop_ask(ctx, loop, &wish, &ignored, &said);
  if (code == OP_ERR_KERNEL || !ctx->jit)
    error_copy(err, &said);
  error_free(&said);
  return err->code;
}

/* From a description to code. */
static int make_ready(struct op_context *ctx, struct loop *loop, struct error *err) {
  loop_count_bytes(loop);
  loop_make_parts(loop);
  loop_find_needs(loop);
  loop_fill_frame(ctx, loop);
  int code = loop_look_for_meetings(ctx, loop, err);
  if (!code)
    code = tune_choose(ctx, loop, err);
  if (!code)
    code = tune_plan(ctx, loop, err);
  if (!code)
    code = tune_code(ctx, loop, err);
  return ctx->peers ? agree_on_success(ctx->agreement, code, err) : code;
}

/* Arguments whose rest must stay are others in the description. */
static int keep_rest(struct op_context *ctx, struct loop *loop, bool recalled, bool *changed,
                     struct error *err) {
  int code = loop_keep_rest(ctx, loop, recalled, changed, err);
  if (code || !*changed)
    return code;
  loop->ready.epoch = ctx->mesh->epoch - 1;
  return loop_describe_anew(ctx, loop, err);
}

/* The kernel is proved on the way to its code, since both need its tree. So the promise of OP_WRITE is believed until then,
 * unless the store knows better. */
static int make_believing(struct op_context *ctx, struct loop *loop, struct error *err) {
  bool changed = false;
  int code = keep_rest(ctx, loop, true, &changed, err);
  loop->desc.believed = true;
  if (!code)
    code = make_ready(ctx, loop, err);
  loop->desc.believed = false;
  const bool wrongly = code == OP_ERR_VIOLATION && err->fact == FOUND_NOT_TO_BELIEVE;
  if (wrongly) {
    error_clear(err);
    tune_drop(ctx, loop);
    code = OP_OK;
  }
  if (!code)
    code = keep_rest(ctx, loop, false, &changed, err);
  return !code && (changed || wrongly) ? make_ready(ctx, loop, err) : code;
}

/* Ranks and devices find out first: what is made there for nothing costs more. */
static int make_knowing(struct op_context *ctx, struct loop *loop, struct error *err) {
  bool changed = false;
  const int code = keep_rest(ctx, loop, false, &changed, err);
  return code ? code : make_ready(ctx, loop, err);
}

static int prepare_anew(struct op_context *ctx, struct loop *loop, struct error *err) {
  int code = loop_describe_anew(ctx, loop, err);
  if (code || loop->ready.prepared)
    return code;
  code = loop->space == SPACE_HOST && comm_alone(ctx->comm) ? make_believing(ctx, loop, err)
                                                            : make_knowing(ctx, loop, err);
  if (!code)
    code = loop_tell_meetings(ctx, loop, err);
  if (!code)
    code = check_native_rows(ctx, loop, err);
  if (code)
    tune_drop(ctx, loop);
  return code;
}

/* A text that is of no use: the program's own function is there, and is what it would have run without. */
static bool is_read_anew(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  return loop->source && code != OP_ERR_MEMORY && code != OP_ERR_MPI && code != OP_ERR_ALIAS &&
         loop->functions->reread(ctx, loop, code, err);
}

static int prepare_by_other_reading(struct op_context *ctx, struct loop *loop, struct error *err) {
  tune_drop(ctx, loop);
  loop->ready.epoch = ctx->mesh->epoch - 1;
  return err->code ? err->code : prepare_anew(ctx, loop, err);
}

bool loop_goes_on(struct op_context *ctx, struct loop *loop, int code, struct error *err) {
  const bool goes_on = code == OP_ERR_VIOLATION && !loop->unproved &&
                       found_evidence((enum prove_found)err->fact) != EVIDENCE_NULL &&
                       context_checked(ctx, loop->name) == CHECKED_LIST;
  struct error lost = {0};
  if (!goes_on)
    return false;
  struct notes notes = {
      .err = &lost, .list = ctx->findings, .place = -1, .elsewhere = err->teller == ERROR_ELSEWHERE};
  const int noted = note(&notes, loop, found_rule(err->fact), -1, error_message(err));
  error_free(&lost);
  if (noted)
    return false;
  error_clear(err);
  loop->unproved = loop->desc.unproved = true;
  loop->ready.epoch = ctx->mesh->epoch - 1;
  return true;
}

/* A text that does not compile will not the next time either, unless a constant is declared. */
static int remember_failure(struct loop *loop, int code, const struct error *err) {
  if (code == OP_ERR_COMPILE || code == OP_ERR_VIOLATION)
    error_copy(&loop->failure, err);
  return code;
}

static int prepare_together(struct op_context *ctx, struct loop *loop, struct error *err) {
  int own = prepare_anew(ctx, loop, err);
  int code = agree_on_success(ctx->agreement, own, err);
  for (;;) {
    if (code && is_read_anew(ctx, loop, code, err))
      own = prepare_by_other_reading(ctx, loop, err);
    else if (code && loop_goes_on(ctx, loop, code, err)) {
      tune_drop(ctx, loop);
      own = prepare_anew(ctx, loop, err);
    } else
      break;
    code = agree_on_success(ctx->agreement, own, err);
  }
  if (code && !own)
    tune_drop(ctx, loop);
  loop->ready.prepared = !code;
  return remember_failure(loop, code, err);
}

int loop_prepare(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const bool prepared = loop->ready.prepared && loop->ready.epoch == ctx->mesh->epoch &&
                        loop->ready.constant_epoch == ctx->mesh->constant_epoch;
  const int code = prepared ? OP_OK : prepare_together(ctx, loop, err);
  if (!code && loop->ready.moved != ctx->mesh->moved)
    loop_fill_frame(ctx, loop);
  return code ? code : launch_fit(launch, err);
}

int loop_look(struct op_context *ctx, struct launch *launch,
              int (*look)(struct op_context *ctx, struct launch *launch, void *user, struct error *err),
              void *user, struct error *err) {
  struct loop *loop = launch->loop;
  int code = loop_prepare(ctx, launch, err);
  for (int i = 0; !code && i < loop->nargs; i++)
    if (loop->args[i].dat && loop->args[i].present)
      code = dat_need(ctx, loop->args[i].dat, SPACE_HOST, REGION_OWNED, err);
    else if (loop->args[i].gbl && loop->args[i].present)
      code = gbl_need(ctx, loop->args[i].gbl, SPACE_HOST, err);
  for (int p = 0; !code && p < loop->ready.nparts; p++)
    launch_set_slots(launch, p, p == 0);
  if (!code)
    code = launch_start(launch, err);
  const double start = clock_seconds();
  if (!code)
    code = look(ctx, launch, user, err);
  loop->stats.seconds += clock_seconds() - start;
  return code;
}

int loop_make_ready(struct op_context *ctx, struct launch *launch, bool tries, struct error *err) {
  int code = loop_prepare(ctx, launch, err);
  if (!code)
    code = tune_next(ctx, launch, tries, err);
  if (!code)
    code = need_dats(ctx, launch->loop, err);
  return code ? code : launch_start(launch, err);
}

int loop_make_ready_like(struct op_context *ctx, struct launch *launch, const struct launch *like,
                         struct error *err) {
  int code = launch_fit(launch, err);
  launch->variant = like->variant;
  launch->timed = like->timed;
  launch->seconds = 0;
  if (!code)
    code = launch->loop->backend->select(ctx, launch, err);
  if (!code)
    code = need_dats(ctx, launch->loop, err);
  return code ? code : launch_start(launch, err);
}

/* Only a loop that tells has results in the program's memory, and it has not returned yet: what is there may be
 * read. */
int loop_ready_again(struct op_context *ctx, struct launch *launch, struct error *err) {
  const int code = launch->loop->backend->select(ctx, launch, err);
  if (code)
    return code;
  return launch->loop->ready.tells ? launch_start(launch, err) : launch_start_slots(launch, err);
}

/* An exchange that was begun is ended, also after a failure. */
static int finish_exchange(struct op_context *ctx, struct launch *launch, int code, struct error *err) {
  struct error ignored = {0};
  int status = loop_exchange_finish(ctx, launch, code ? &ignored : err);
  error_free(&ignored);
  return code ? code : status;
}

/* The first part needs no halo: it runs while messages travel. `first`: those before this one have run. */
static int run_parts(struct op_context *ctx, struct launch *launch, int first, bool exchanging,
                     struct error *err) {
  const struct loop *loop = launch->loop;
  int code = OP_OK;
  for (int p = first; !code && p < (launch->deep ? loop->ready.nresults : loop->ready.nparts); p++) {
    if (loop->ready.parts[p].begin < loop->ready.parts[p].end)
      code = loop->backend->run(ctx, launch, p, err);
    if (p == 0 && exchanging)
      code = finish_exchange(ctx, launch, code, err);
    /* The messages of a chain may not bring all that this loop needs. */
    if (p == 0 && exchanging && !code && !launch->deep)
      code = loop_exchange_now(ctx, launch, loop->space, err);
  }
  if (!code && launch->deep)
    code = deep_loop_run(ctx, launch, err);
  if (!code && loop->backend->finish)
    code = loop->backend->finish(ctx, launch, err);
  return code;
}

int loop_go(struct op_context *ctx, struct launch *launch, struct error *err) {
  int code = run_parts(ctx, launch, 0, false, err);
  return code ? code : launch_results(ctx, launch, err);
}

/* `spent` without the time that others made this rank wait, which says nothing about the variant. */
static void note_time(struct op_context *ctx, struct launch *launch, double start, double waited) {
  struct loop *loop = launch->loop;
  const double rest = clock_seconds() - start, spent = rest + launch->ahead;
  launch->ahead = 0;
  loop->stats.seconds += spent;
  if (spent > loop->stats.slowest)
    loop->stats.slowest = spent;
  if (loop->stats.fastest <= 0 || spent < loop->stats.fastest)
    loop->stats.fastest = spent;
  if (ctx->trace->wanted)
    trace_span(ctx->trace, tune_tries(launch) ? TRACE_TRIAL : TRACE_LOOP, loop->name,
               loop->backend->name_of(loop, launch->variant), start, rest,
               loop->stats.bytes - loop->stats.spared);
  progress_end(ctx->log->progress);
  tune_ran(ctx, launch, spent - (loop->stats.waiting_seconds - waited));
}

/* Show the trial if calls are long enough to be seen. */
static void say_trial(const struct op_context *ctx, const struct launch *launch) {
  const double visible = 0.02;
  const struct loop *loop = launch->loop;
  struct progress *progress = ctx->log->progress;
  const long long calls = loop->stats.calls - 1; /* this one is counted already */
  if (progress->form != PROGRESS_NONE && calls > 0 && loop->stats.seconds / (double)calls > visible &&
      tune_tries(launch))
    progress_step(progress, "tuning loop %s: trying %s", loop->name, loop->stats.variant);
}

int loop_run_ready(struct op_context *ctx, struct launch *launch, int first, bool exchanging,
                   struct error *err) {
  struct loop *loop = launch->loop;
  say_trial(ctx, launch);
  int code = OP_OK;
  const double start = clock_seconds(), waited = loop->stats.waiting_seconds;
  double counted[HARDWARE_MOST];
  if (ctx->hardware)
    hardware_read(ctx->hardware, counted);
  if (ctx->trace->ntools)
    trace_loop_begins(ctx->trace, loop->name);
  if (loop->ready.nneeds && !exchanging && !launch->deep)
    code = loop_exchange_start(ctx, launch, loop->space, &exchanging, err);
  if (!code)
    code = run_parts(ctx, launch, first, exchanging, err);
  if (!code && !launch->deep) /* else they are left behind its chain, on all ranks */
    code =
        (loop->set->spread && results_come_late(ctx, loop) ? late_begin : launch_results)(ctx, launch, err);
  if (code)
    return launch_ended(launch, code, err);
  if (ctx->hardware)
    hardware_add(ctx->hardware, counted, 1, loop->stats.hardware);
  loop_mark_written(ctx, loop, !launch->deep);
  note_time(ctx, launch, start, waited);
  return OP_OK;
}

int loop_run_ready_ahead(struct op_context *ctx, struct launch *launch, int parts, struct error *err) {
  struct loop *loop = launch->loop;
  double counted[HARDWARE_MOST];
  const double start = clock_seconds();
  int code = OP_OK;
  if (ctx->hardware)
    hardware_read(ctx->hardware, counted);
  for (int p = 0; !code && p < parts; p++)
    if (loop->ready.parts[p].begin < loop->ready.parts[p].end)
      code = loop->backend->run(ctx, launch, p, err);
  launch->ahead = clock_seconds() - start;
  if (ctx->hardware)
    hardware_add(ctx->hardware, counted, 1, loop->stats.hardware);
  if (ctx->trace->wanted && parts)
    trace_span(ctx->trace, TRACE_LOOP, loop->name, "ahead", start, launch->ahead, 0);
  return code;
}

void loop_share_time(struct op_context *ctx, struct launch *const *launches, int n, const char *kind,
                     const double *counted, double start, double seconds) {
  double bytes = 0;
  for (int i = 0; i < n; i++)
    bytes += launches[i]->loop->stats.bytes;
  for (int i = 0; i < n; i++) {
    const struct loop *loop = launches[i]->loop;
    struct loop_stats *s = &launches[i]->loop->stats;
    const double share = bytes > 0 ? s->bytes / bytes : 1.0 / n, own = seconds * share;
    s->seconds += own;
    s->tiled_seconds += kind ? own : 0;
    s->slowest = own > s->slowest ? own : s->slowest;
    if (counted)
      hardware_add(ctx->hardware, counted, share, s->hardware);
    tune_passed(launches[i], own);
    if (ctx->trace->ntools)
      trace_loop_begins(ctx->trace, loop->name);
    if (kind)
      trace_span(ctx->trace, TRACE_LOOP, loop->name, kind, start, own, s->bytes);
    start += own;
  }
}

static int finish_all(struct op_context *ctx, struct launch *const *launches, int n, double start,
                      struct error *err) {
  int code = OP_OK;
  for (int i = 0; !code && i < n; i++) {
    code = launch_results(ctx, launches[i], err);
    if (!code)
      loop_mark_written(ctx, launches[i]->loop, true);
  }
  if (!code)
    loop_share_time(ctx, launches, n, NULL, NULL, start, clock_seconds() - start);
  return code;
}

int loop_run_all_ready(struct op_context *ctx, struct launch *const *launches, int n, struct error *err) {
  const struct backend *b = n ? launches[0]->loop->backend : NULL;
  const double start = clock_seconds();
  bool ran = false, one = n > 1 && b->run_chain && comm_alone(ctx->comm);
  int code = OP_OK;
  for (int i = 0; i < n; i++)
    one &= launches[i]->loop->backend == b && launches[i]->loop->space == launches[0]->loop->space;
  if (one)
    code = b->run_chain(ctx, launches, n, &ran, err);
  if (ran)
    return code ? code : finish_all(ctx, launches, n, start, err);
  for (int i = 0; !code && i < n; i++)
    code = loop_run_ready(ctx, launches[i], 0, false, err);
  return code;
}

int loop_run_plainly(struct op_context *ctx, struct launch *launch, struct error *err) {
  const int code = loop_make_ready(ctx, launch, true, err);
  return code ? code : loop_run_ready(ctx, launch, 0, false, err);
}

int loop_exchange_now(struct op_context *ctx, struct launch *launch, enum space space, struct error *err) {
  bool exchanging = false;
  int code = loop_exchange_start(ctx, launch, space, &exchanging, err);
  return code || !exchanging ? code : loop_exchange_finish(ctx, launch, err);
}

static long long bytes_moved(const struct op_context *ctx) {
  return ctx->counters->bytes_to_device + ctx->counters->bytes_from_device;
}

void loop_count_run(struct op_context *ctx, struct loop *loop) {
  if (ctx->diags >= 3) {
    const struct log asked = log_asked(ctx->log);
    log_line(&asked, LOG_INFO, "loop", "loop %s over %ld elements of set \"%s\"", loop->name, loop->set->size,
             loop->set->name);
  }
  ctx->counters->loops++;
  loop->stats.calls++;
}

/* Over a set that is empty on all ranks nothing runs. A text with a mistake is an error all the same, or it would be one
 * for the first mesh only that has such elements: it is read and proved, which is remembered. Where a compiler may run the
 * loop is made ready as any other, so that later runs that only load code have it; where none may, nothing is missed. */
static int look_at_text(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const bool compiles = loop->backend->plan != NULL;
  const struct jit_wish wish = {.reads = space_is_device(loop->space) ? READ_AS_OPENCL : READ_AS_C,
                                .alone = true};
  if (loop->looked_at || loop->ready.prepared || loop->compiled)
    return OP_OK;
  int code = loop_describe_anew(ctx, loop, err);
  if (!code && compiles)
    code = loop_ask(ctx, loop, &wish, &loop->facts, err);
  code = agree_on_success(ctx->agreement, code, err);
  const bool goes_on = code && loop_goes_on(ctx, loop, code, err);
  if (goes_on)
    code = OP_OK;
  code = remember_failure(loop, code, err);
  if (!code && !goes_on && (!compiles || strcmp(env_value(ctx->env, ENV_JIT), "load") != 0))
    code = loop_prepare(ctx, launch, err);
  loop->looked_at = !code;
  return code;
}

int loop_run_now(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  loop_count_run(ctx, loop);
  if (loop->ready.most_elements == 0)
    return look_at_text(ctx, launch, err);
  const long long moved = bytes_moved(ctx);
  const int code = loop->form ? loop->form->run(ctx, launch, err) : loop_run_plainly(ctx, launch, err);
  loop->stats.moved += bytes_moved(ctx) - moved;
  return code;
}
