#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "base/size.h"
#include "check/pass.h"
#include "check/stale.h"
#include "check/trap.h"
#include "check/twin.h"
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

bool check_wanted(const char *value, const char *loop_name) {
  if (strcmp(value, "off") == 0 || !*value)
    return false;
  if (strcmp(value, "on") == 0)
    return true;
  const size_t length = strlen(loop_name);
  for (const char *p = value; *p;) {
    size_t n = strcspn(p, ",");
    if (n == length && memcmp(p, loop_name, n) == 0)
      return true;
    p += n;
    p += *p == ',';
  }
  return false;
}

/* The prover goes first, as in a normal run, for its words are better. A backend for CPUs has compiled the loop,
 * and so asked it. */
static int ask_prover(struct op_context *ctx, const struct loop *loop, struct error *err) {
  struct jit *jit = NULL;
  if (loop->backend->space != SPACE_DEVICE || loop->compiled)
    return OP_OK;
  int code = context_jit(ctx, &jit, err);
  if (!code)
    code = jit_prove(jit, &loop->desc, err);
  if (code)
    error_prefix(err, "loop %s: ", loop->name);
  return agree_on_success(ctx->agreement, code, err);
}

static int open_state(struct op_context *ctx, struct loop *loop, struct error *err) {
  if (loop->check)
    return OP_OK;
  if (ask_prover(ctx, loop, err))
    return err->code;
  loop->check = calloc(1, sizeof *loop->check);
  if (!loop->check)
    return error_memory(err, "the checking form", sizeof *loop->check);
  int code = cell_open(&loop->check->cell, ctx, loop, loop->native != NULL, err);
  if (!code)
    code = twin_open(&loop->check->twin, ctx, loop, err);
  if (code)
    check_drop(loop);
  return code;
}

void check_drop(struct loop *loop) {
  if (!loop->check)
    return;
  cell_free(loop->check->cell);
  twin_free(loop->check->twin);
  free(loop->check);
  loop->check = NULL;
}

static size_t owner_bytes(const struct loop *loop, int i) {
  return (size_t)loop->args[i].dat->set->extents[EXTENT_NONEXEC] * sizeof(int);
}

static int make_owners(struct pass *p, struct error *err) {
  const struct loop *loop = p->loop;
  for (int i = 0; i < loop->nargs; i++) {
    const struct loop_arg *arg = &loop->args[i];
    if (!pass_owns(arg) || !arg->map || pass_first_writer(loop, i) != i)
      continue;
    p->owners[i] = array_new(owner_bytes(loop, i), 1);
    if (!p->owners[i])
      return error_memory(err, "the checking form", owner_bytes(loop, i));
  }
  return OP_OK;
}

static void forget_owners(struct pass *p) {
  for (int i = 0; i < p->loop->nargs; i++)
    if (p->owners[i])
      memset(p->owners[i], 0, owner_bytes(p->loop, i));
}

/* What is found while not every element is watched thoroughly may have begun at an earlier one, whose guards were
 * not looked at: then all are watched, to find the first. */
static int run_watched(struct pass *p, const struct copies *before, struct error *err) {
  p->stride = p->state->calls < THOROUGH_CALLS ? 1 : THOROUGH_STRIDE;
  const int code = pass_forwards(p, err);
  const int broken = cell_broken_guard(p->state->cell, 0);
  if (p->stride == 1 || (code != OP_ERR_VIOLATION && broken < 0))
    return code;
  copies_restore(before, p->launch);
  forget_owners(p);
  p->stride = 1;
  const int again = pass_forwards(p, err);
  return again || code
             ? OP_ERR_VIOLATION
             : error_set(
                   err, OP_ERR_VIOLATION,
                   "loop %s, argument %d: the kernel wrote outside the argument for some element, and not "
                   "again when the loop was run once more; check its indices, and what it keeps from "
                   "element to element",
                   p->loop->name, broken + 1);
}

static int prepare_pass(struct pass *p, struct copies *before, struct error *err) {
  p->state->cell->launch = p->launch;
  twin_take(p->state->twin, p->launch);
  int code = stale_find(p->loop, err);
  if (!code)
    code = copies_take(before, p->launch, err);
  /* The map's entries stay what they are. */
  if (!code && p->state->calls == 0)
    code = make_owners(p, err);
  return code;
}

int check_run(struct op_context *ctx, struct launch *launch, void *unused, struct error *err) {
  (void)unused;
  struct copies before = {0};
  struct loop *loop = launch->loop;
  int code = loop_exchange_anew(ctx, launch, err);
  if (!code)
    code = open_state(ctx, loop, err);
  struct pass pass = {.ctx = ctx, .launch = launch, .loop = loop, .state = loop->check, .watched = true};
  if (!code)
    code = prepare_pass(&pass, &before, err);
  const bool begun = !code;
  trap_begin();
  if (!code)
    code = run_watched(&pass, &before, err);
  if (!code && pass.state->calls == 0)
    code = pass_order(&pass, &before, err);
  trap_end();
  code = agree_on_success(ctx->agreement, code, err);
  if (begun)
    copies_restore(&before, launch);
  if (!code)
    pass.state->calls++;
  copies_free(&before);
  for (int i = 0; i < OP_MAX_ARGS; i++)
    free(pass.owners[i]);
  return code;
}
