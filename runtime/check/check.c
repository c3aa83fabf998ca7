#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "check/pass.h"
#include "check/stale.h"
#include "check/trap.h"
#include "context/checked.h"
#include "context/context.h"
#include "jit/jit.h"
#include "loop/loop.h"
#include "mesh/data.h"
#include "op2jit.h"
#include "ranks/agree.h"
#include "record/launch.h"
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

void check_drop(struct loop *loop) {
  if (!loop->check)
    return;
  cell_free(loop->check->cell);
  free(loop->check);
  loop->check = NULL;
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

/* A loop may run by another reading than what it declared (api/op2/safe.h, loop/partial.h), which is what is checked. Called
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
