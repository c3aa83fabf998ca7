#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/log.h"
#include "check/cell.h"
#include "check/pass.h"
#include "check/shadow.h"
#include "check/watch.h"
#include "context/context.h"
#include "context/forced.h"
#include "jit/jit.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "record/launch.h"
#include "record/sites.h"
#include "services/services.h"

/* All elements are watched thoroughly at so many first calls of a loop; later one in so many, another one at each
 * call, so that after as many calls all have been. */
enum { THOROUGH_CALLS = 2, THOROUGH_STRIDE = 16 };

/* The prover goes first, as in a normal run, for its words are better. A backend for CPUs has compiled the loop,
 * and so asked it. */
static int ask_prover(struct op_context *ctx, struct loop *loop, struct error *err) {
  struct jit *jit = NULL;
  if (!space_is_device(loop->space) || loop->compiled)
    return OP_OK;
  const struct jit_wish wish = {.reads = READ_AS_OPENCL};
  struct facts ignored;
  bool asked;
  int code = context_jit(ctx, &jit, err);
  if (!code)
    code = jit_facts(jit, &loop->desc, &wish, &ignored, &asked, err);
  if (code)
    error_prefix(err, "loop %s: ", loop->name);
  code = agree_on_success(ctx->agreement, code, err);
  return code && loop_goes_on(ctx, loop, code, err) ? OP_OK : code;
}

/* Release what check_run keeps with the loop. */
static void check_drop(struct loop *loop) {
  if (!loop->check)
    return;
  cell_free(loop->check->cell);
  free(loop->check);
  loop->check = NULL;
}

static int open_state(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (loop->check)
    return OP_OK;
  if (ask_prover(ctx, loop, err))
    return err->code;
  loop->check = calloc(1, sizeof *loop->check);
  if (!loop->check)
    return error_memory(err, "the checking form", sizeof *loop->check);
  const int code = cell_open(&loop->check->cell, ctx, loop, err);
  if (code)
    check_drop(loop);
  return code;
}

static bool is_news(const struct pass *p) {
  for (int i = 0; i < p->found.list.count; i++)
    if (!findings_find(p->ctx->findings, p->found.list.items[i]))
      return true;
  return false;
}

static int note_broken(struct pass *p, int argument) {
  struct text words = {0};
  text_addf(&words,
            "loop %s, argument %d: the kernel wrote outside the argument for some element, and not "
            "again when the loop was run once more; check its indices, and what it keeps from "
            "element to element",
            p->loop->name, argument + 1);
  return pass_note(p, RULE_OUTSIDE, argument, false, &words);
}

/* Runs again, with each element thoroughly. If nothing is found again, the first findings stay. */
static int run_again(struct pass *p, const struct copies *before) {
  const struct findings first = p->found;
  copies_restore(before, p->launch);
  meets_forget(p);
  memset(p->added, 0, sizeof p->added);
  p->found = (struct findings){0};
  p->stride = 1;
  const int code = pass_forwards(p);
  struct findings other = p->found.list.count ? first : p->found;
  p->found = p->found.list.count ? p->found : first;
  findings_free(&other);
  return code;
}

/* A finding while not every element is watched thoroughly may have its cause at an earlier element, whose guards were
 * not looked at: then all are watched, to find the first. Findings that are listed already are only counted. */
static int run_watched(struct pass *p, const struct copies *before) {
  p->stride = p->state->calls < THOROUGH_CALLS ? 1 : THOROUGH_STRIDE;
  const int code = pass_forwards(p);
  const int broken = cell_broken_guard(p->state->cell, 0);
  if (p->stride == 1 || (code && code != OP_ERR_VIOLATION) || (!code && broken < 0 && !is_news(p)))
    return code;
  const int again = run_again(p, before);
  if (again || code || p->found.list.count)
    return again ? again : code;
  return note_broken(p, broken);
}

/* The map's entries stay what they are, but where elements meet values decide. */
static bool is_order_due(const struct check_state *state) {
  return state->calls == 0 || (state->meets && (state->calls & (state->calls + 1)) == 0);
}

static bool is_looked_at(const struct loop_arg *arg) {
  return arg->form == DESC_DAT && arg->present && arg->dat->set->spread && type_info(arg->type)->is_float &&
         access_reads(arg->access);
}

/* No computation gives a NaN of ones only. */
static bool is_spoilt(const struct loop_arg *arg, long target) {
  for (int c = 0; c < arg->dim; c++) {
    const unsigned char *value = dat_value(arg->dat, target, c);
    for (size_t b = 0; b < arg->dat->value_size; b++)
      if (value[b] != 0xff)
        return false;
  }
  return true;
}

static int find_stale(const struct loop *loop, int i, struct notes *notes) {
  const struct loop_arg *arg = &loop->args[i];
  const long owned = arg->dat->set->extents[EXTENT_OWNED], end = loop_end(loop);
  for (long e = arg->map ? 0 : owned; e < end; e++)
    for (long place = arg_begin(arg, e); place < arg_end(arg, e); place++) {
      const long target = arg_target(arg, place);
      if (target < owned || !is_spoilt(arg, target))
        continue;
      return watch_violation(
          loop, RULE_STALE, i, e, notes,
          "it reads element %ld of set \"%s\", which another rank owns, and whose copy here was "
          "not brought up to date; this is a mistake of the library, please report it",
          set_said(arg->dat->set, target), arg->dat->set->name);
    }
  return OP_OK;
}

/* Under MPI: copies of others' elements that are read and were not brought up to date. The checking form spoils
 * all copies before a loop's exchange (loop_exchange_anew), so a stale one shows.
 * After the exchange. OP_ERR_VIOLATION names loop, argument, element and copy. Floating point only: -1 is a number. */
static int stale_find(const struct loop *loop, struct error *err) {
  struct notes first = {.err = err};
  int code = OP_OK;
  for (int i = 0; !code && i < loop->nargs; i++)
    if (is_looked_at(&loop->args[i]))
      code = find_stale(loop, i, &first);
  return code;
}

static int prepare_pass(struct pass *p, struct copies *before, struct error *err) {
  p->state->cell->launch = p->launch;
  int code = stale_find(p->loop, err);
  if (!code)
    code = copies_take(before, p->launch, err);
  if (!code && (p->state->calls == 0 || p->state->meets))
    code = meets_open(p, err);
  return code;
}

/* A division by zero ends the process in the plain run, so the list ends there too. */
static int stop_at_end(const struct pass *p, struct error *err) {
  for (int i = 0; i < p->found.list.count; i++) {
    const struct finding *one = p->found.list.items[i];
    if (one->rule == RULE_DIVISION)
      return error_set(err, OP_ERR_VIOLATION,
                       "%s; the program would end there, so OP2_CHECK=list cannot go on", one->first);
  }
  return OP_OK;
}

static int run(struct pass *p, struct copies *before, struct error *err) {
  p->adds = is_order_due(p->state);
  trap_begin();
  int code = run_watched(p, before);
  if (!code && p->adds)
    code = pass_order(p, before);
  trap_end();
  if (p->notes.list) {
    struct error lost = {0};
    const int merged = findings_merge(p->ctx->findings, &p->found, code ? &lost : err);
    error_free(&lost);
    code = code ? code : merged ? merged : stop_at_end(p, err);
  }
  return code;
}

/* A loop may run by another reading than what it declared (api/op2/safe.c, loop/meet.h), which is what is checked. Called
 * twice, it is as before. */
static void swap_readings(struct loop *loop, int accesses[]) {
  for (int i = 0; i < loop->nargs; i++) {
    const int access = loop->args[i].access;
    loop->args[i].access = accesses[i];
    accesses[i] = access;
  }
}

static void find_declared(const struct loop *loop, int accesses[]) {
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    accesses[i] = arg->dat && arg->access == OP_RW ? (int)loop->key.args[i].access_ : arg->access;
  }
}

int check_run(struct op_context *ctx, struct launch *launch, void *unused, struct error *err) {
  (void)unused;
  struct copies before = {0};
  struct loop *loop = launch->loop;
  int accesses[OP_MAX_ARGS];
  int code = loop_exchange_anew(ctx, launch, err);
  find_declared(loop, accesses);
  swap_readings(loop, accesses);
  if (!code)
    code = open_state(ctx, loop, err);
  struct pass pass = {.ctx = ctx, .launch = launch, .loop = loop, .state = loop->check, .watched = true};
  pass.notes = (struct notes){.err = err,
                              .list = context_checked(ctx, loop->name) == CHECKED_LIST ? &pass.found : NULL};
  if (!code)
    code = prepare_pass(&pass, &before, err);
  const bool begun = !code;
  if (!code)
    code = run(&pass, &before, err);
  code = agree_on_success(ctx->agreement, code, err);
  if (begun)
    copies_restore(&before, launch);
  swap_readings(loop, accesses);
  if (!code)
    pass.state->calls++;
  copies_free(&before);
  meets_free(&pass);
  findings_free(&pass.found);
  return code;
}

static bool wants_check(const struct op_context *ctx, const struct loop *loop) {
  return context_checked(ctx, loop->name) != CHECKED_OFF;
}

static int tell(const struct op_context *ctx, const struct launch *launch, int code) {
  if (code == OP_ERR_VIOLATION)
    site_tell_capture(ctx, launch->loop, 0, 1);
  return code;
}

/* A checked loop runs plainly afterwards, so that its results are those of a plain run, bit for bit. */
static int run_checked(struct op_context *ctx, struct launch *launch, struct error *err) {
  int code = loop_look(ctx, launch, check_run, NULL, err);
  if (!code)
    code = loop_run_plainly(ctx, launch, err);
  if (!code)
    launch->loop->stats.variant = "checking form";
  return tell(ctx, launch, code);
}

static bool wants_shadow(const struct op_context *ctx, const struct loop *loop) {
  (void)loop;
  return ctx->shadow != NULL;
}

/* Both runs start from the same halos, also where the first one's are on a device only. `undo`: if they differ, the loop has
 * not run. */
static int run_twice(struct op_context *ctx, struct launch *launch, bool undo, struct error *err) {
  const struct loop *loop = launch->loop;
  struct shadow_run run;
  int code = loop_prepare(ctx, launch, err);
  if (!code)
    code = loop_exchange_now(ctx, launch, loop->space, err);
  if (!code && loop->shadow->space == SPACE_HOST)
    code = loop_exchange_now(ctx, launch, SPACE_HOST, err);
  if (!code)
    code = shadow_begin(ctx, launch, &run, err);
  if (code)
    return code;
  code = loop_run_plainly(ctx, launch, err);
  if (code) {
    shadow_drop(&run);
    return code;
  }
  return shadow_end(ctx, launch, &run, undo, err);
}

static int run_shadowed(struct op_context *ctx, struct launch *launch, struct error *err) {
  const bool due = (launch->loop->stats.calls - 1) % ctx->shadow_every == 0;
  return due ? tell(ctx, launch, run_twice(ctx, launch, false, err)) : loop_run_plainly(ctx, launch, err);
}

/* A text that may not be the program's: calls 1, 2, 4 and so on run as the program's own function too, and that counts
 * if they differ. Not the first one alone: where all data are still zero it shows little. */
enum { LAST_COMPARED = 64 };

static bool wants_comparison(const struct op_context *ctx, const struct loop *loop) {
  (void)ctx;
  return loop->doubted;
}

static int run_compared(struct op_context *ctx, struct launch *launch, struct error *err) {
  struct loop *loop = launch->loop;
  const long long call = loop->stats.calls;
  const bool undo = loop->space == SPACE_HOST;
  if (!loop->doubted || !loop->source || !loop->shadow || (call & (call - 1)))
    return loop_run_plainly(ctx, launch, err);
  loop->doubted = call < LAST_COMPARED;
  int code = run_twice(ctx, launch, undo, err);
  if (code != OP_ERR_VIOLATION || !undo)
    return code;
  struct text why = {0};
  text_addf(&why, "the text found gives other results: %s", error_bare(err));
  log_line(ctx->log, site_weight(ctx, loop, "text"), "loop",
           "loop %s: %s; say the program's flags in OP2_CXXFLAGS", loop->name, text_str(&why));
  error_clear(err);
  code = loop->functions->give_up(ctx, loop, code, text_str(&why), err);
  text_free(&why);
  loop->ready.epoch = ctx->mesh->epoch - 1;
  return code ? code : loop_run_plainly(ctx, launch, err);
}

const struct loop_form check_forms[] = {
    {.name = "checked", .orders = true, .wanted = wants_check, .run = run_checked, .drop = check_drop},
    {.name = "shadowed", .wanted = wants_shadow, .run = run_shadowed},
    {.name = "compared", .wanted = wants_comparison, .run = run_compared},
    {0},
};
